// SPDX-License-Identifier: BSD-3-Clause
// The loops of a source file, as brackets beside its lines.

import { type FileIx, Kind, type Model, type PlaceIx } from '../model/data';

/** Loops over the same lines are one bracket: copies of a loop, and its vector body and remainder. */
export interface Bracket {
  readonly first: number;
  readonly last: number;
  readonly track: number; // 0: the outermost
  readonly loops: readonly PlaceIx[];
}

export interface Brackets {
  readonly list: readonly Bracket[]; // by first line, the outer one first
  readonly tracks: number;
}

/** Deeper nests share the last track: a gutter is narrow. */
export const MOST_TRACKS = 5;

export function loopBrackets(model: Model, members: ArrayLike<PlaceIx>, file: FileIx): Brackets {
  const { kind, lineFirst, lineLast, file: fileOf } = model.places;
  const byLines = new Map<string, { first: number; last: number; loops: PlaceIx[] }>();
  for (let i = 0; i < members.length; i++) {
    const place = members[i];
    const first = lineFirst[place];
    const last = lineLast[place];
    if (kind[place] !== Kind.Loop || fileOf[place] !== file || first === 0 || last < first) continue;
    const key = `${first}-${last}`;
    const known = byLines.get(key);
    if (known) known.loops.push(place);
    else byLines.set(key, { first, last, loops: [place] });
  }
  const list: Bracket[] = [];
  const open: number[] = []; // last lines
  for (const range of [...byLines.values()].sort((a, b) => a.first - b.first || b.last - a.last)) {
    while (open.length && open[open.length - 1] < range.first) open.pop();
    list.push({ ...range, track: Math.min(open.length, MOST_TRACKS - 1) });
    open.push(range.last);
  }
  return { list, tracks: list.reduce((most, b) => Math.max(most, b.track + 1), 0) };
}

/** The loops of a bracket that lie in no other loop of it: their costs add up. */
export function outermost(model: Model, bracket: Bracket): PlaceIx[] {
  const all = new Set(bracket.loops);
  return bracket.loops.filter((loop) => !all.has(model.places.parent[loop]));
}
