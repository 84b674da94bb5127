// From source lines to places, and what each line and file costs.

import { type Column, columnValues, type FileIx, Kind, type Model, NONE, type PlaceIx } from '../model/data';
import type { Sums } from './flat';
import { compareValues } from './tree';

/** The Line places of each file, by line. */
export interface LineIndex {
  readonly start: Uint32Array; // of file f: places[start[f] .. start[f + 1])
  readonly places: Uint32Array;
}

export function lineIndex(model: Model): LineIndex {
  const { places } = model;
  const start = new Uint32Array(model.files.length + 1);
  const counts = (i: PlaceIx): boolean => places.kind[i] === Kind.Line && places.file[i] !== NONE;
  for (let i = 0; i < places.count; i++) if (counts(i)) start[places.file[i] + 1]++;
  for (let f = 0; f < model.files.length; f++) start[f + 1] += start[f];
  const next = start.slice();
  const list = new Uint32Array(start[model.files.length]);
  for (let i = 0; i < places.count; i++) if (counts(i)) list[next[places.file[i]]++] = i;
  for (let f = 0; f < model.files.length; f++)
    list.subarray(start[f], start[f + 1]).sort((a, b) => places.lineFirst[a] - places.lineFirst[b] || a - b);
  return { start, places: list };
}

/** The cost of a file's own lines, wherever they were inlined to; NaN: no data. */
export function fileCosts(model: Model, index: LineIndex, sums: Sums, column: Column): Float64Array {
  return Float64Array.from(model.files, (_, f) =>
    index.start[f] === index.start[f + 1]
      ? NaN
      : sums.over(index.places, null, index.start[f], index.start[f + 1], column),
  );
}

export interface LineCost {
  readonly value: number;
  readonly instances: number; // how many places of the tree stand on this line
}

/** By line number, only lines with places. */
export function lineCosts(
  model: Model,
  index: LineIndex,
  sums: Sums,
  column: Column,
  file: FileIx,
): Map<number, LineCost> {
  const costs = new Map<number, LineCost>();
  const end = index.start[file + 1];
  for (let from = index.start[file]; from < end;) {
    const line = model.places.lineFirst[index.places[from]];
    let to = from + 1;
    while (to < end && model.places.lineFirst[index.places[to]] === line) to++;
    costs.set(line, { value: sums.over(index.places, null, from, to, column), instances: to - from });
    from = to;
  }
  return costs;
}

/** Every place that stands on this line, the costliest first; where no cost fell on it, the scopes that begin or are
 *  called there. */
export function placesOnLine(model: Model, index: LineIndex, column: Column, file: FileIx, line: number): PlaceIx[] {
  const { places } = model;
  const values = columnValues(model, column);
  let found: PlaceIx[] = [];
  for (let i = index.start[file]; i < index.start[file + 1]; i++)
    if (places.lineFirst[index.places[i]] === line) found.push(index.places[i]);
  if (found.length === 0)
    for (let i = 0; i < places.count; i++) {
      const begins = places.file[i] === file && places.lineFirst[i] === line && places.kind[i] >= Kind.Procedure;
      if (begins || (places.kind[i] === Kind.Inline && places.callFile[i] === file && places.callLine[i] === line))
        found.push(i);
    }
  found = found.sort((a, b) => compareValues(values[a], values[b], true) || a - b);
  return found;
}

/** The file's costliest line, or 0. */
export function hottestLine(costs: ReadonlyMap<number, LineCost>): number {
  let best = 0;
  let value = -Infinity;
  for (const [line, cost] of costs)
    if (line > 0 && cost.value > value) {
      best = line;
      value = cost.value;
    }
  return best;
}
