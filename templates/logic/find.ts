// SPDX-License-Identifier: BSD-3-Clause
// Finding text in a source.

/** Of one text; more are not counted. */
export const MOST_FOUND = 10_000;

/** Where a text was found, in the order of the lines. */
export interface Found {
  readonly row: number; // its line less one
  readonly at: number; // the first character
  readonly length: number;
}

/** Upper and lower case are the same. */
export function findText(lines: readonly string[], wanted: string): Found[] {
  const found: Found[] = [];
  if (wanted === '') return found;
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'gi');
  for (let row = 0; row < lines.length; row++)
    for (const match of lines[row].matchAll(pattern)) {
      found.push({ row, at: match.index, length: match[0].length });
      if (found.length === MOST_FOUND) return found;
    }
  return found;
}

/** The first that is in this row or after it, else the first of all; -1: none. */
export function foundFrom(found: readonly Found[], row: number): number {
  const at = found.findIndex((f) => f.row >= row);
  return at >= 0 ? at : Math.min(0, found.length - 1);
}

/** The next, or the one before, round the end. */
export const foundNext = (found: readonly Found[], at: number, step: 1 | -1): number =>
  found.length === 0 ? -1 : at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;

/** Pieces of a line's text, one after the other, each cut where what was found begins and ends. */
export function cutAt<T extends { readonly text: string }>(
  pieces: readonly T[],
  found: readonly Found[],
): { readonly piece: T; readonly text: string; readonly found: Found | null }[] {
  const cut: { piece: T; text: string; found: Found | null }[] = [];
  let from = 0;
  let next = 0;
  for (const piece of pieces) {
    const end = from + piece.text.length;
    for (let at = from; at < end;) {
      while (next < found.length && found[next].at + found[next].length <= at) next++;
      const here = found[next];
      const isIn = here !== undefined && here.at <= at;
      const to = Math.min(end, here === undefined ? end : isIn ? here.at + here.length : here.at);
      cut.push({ piece, text: piece.text.slice(at - from, to - from), found: isIn ? here : null });
      at = to;
    }
    from = end;
  }
  return cut;
}
