// SPDX-License-Identifier: BSD-3-Clause
// Which first lines of procedures and loops stand over the text, since what is in sight belongs to them.

import { Kind, type Model } from '../model/data';
import type { Brackets } from './brackets';
import type { LineIndex } from './lines';

const MOST_HEADS = 4;

export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Procedures and loops of a file by their lines, the outer ones first. */
export function spansOf(model: Model, index: LineIndex, file: number, brackets: Brackets): Span[] {
  const { kind, lineFirst, lineLast, file: fileOf } = model.places;
  const spans: Span[] = brackets.list.map(({ first, last }) => ({ first, last }));
  for (const place of index.places.subarray(index.start[file], index.start[file + 1]))
    if (kind[place] === Kind.Procedure && fileOf[place] === file && lineLast[place] > lineFirst[place])
      spans.push({ first: lineFirst[place], last: lineLast[place] });
  return spans.sort((a, b) => a.first - b.first || b.last - a.last);
}

/** The first lines of the scopes around the first visible line that are not visible themselves. Each takes a row away, so that the first
 *  visible line changes. */
export function headsAround(
  spans: readonly Span[],
  top: number, // the first row in sight
  lineAt: (row: number) => number,
  rowOf: (line: number) => number,
): number[] {
  let heads: number[] = [];
  for (let i = 0; i <= MOST_HEADS; i++) {
    const line = lineAt(top + heads.length);
    const around = spans.filter((s) => s.first < line && line <= s.last);
    const found = [...new Set(around.map((s) => s.first))].filter((first) => rowOf(first) < top + heads.length);
    const next = found.length > MOST_HEADS ? [found[0], ...found.slice(1 - MOST_HEADS)] : found;
    if (next.length <= heads.length) return next.length === heads.length ? next : heads.slice(0, next.length);
    heads = next;
  }
  return heads;
}
