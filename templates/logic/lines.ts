// SPDX-License-Identifier: BSD-3-Clause
// From source lines to places, and what each line and file costs.

import { type FileIx, Kind, type Model, NONE, type PlaceIx, type TreeNodes } from '../model/data';
import { type Groups, makeGroups } from './cells';
import { compareValues, countUp, sortedByValue } from './sort';

/** The places of each file: lines themselves, and scopes that begin or are called there. */
export interface LineIndex {
  readonly start: Uint32Array; // of file f: places[start[f] .. start[f + 1])
  readonly places: Uint32Array;
}

/** Source location of a place: a call's is the calling line, others' is their first line; NONE: unknown. */
function standsIn(model: Model, i: PlaceIx): FileIx {
  const { places } = model;
  if (places.kind[i] < Kind.Procedure) return NONE;
  return places.kind[i] === Kind.Inline && places.callFile[i] !== NONE ? places.callFile[i] : places.file[i];
}
const standsOn = (model: Model, i: PlaceIx): number =>
  model.places.kind[i] === Kind.Inline && model.places.callFile[i] !== NONE
    ? model.places.callLine[i]
    : model.places.lineFirst[i];

function byFile(model: Model, fileOf: (place: PlaceIx) => FileIx): { start: Uint32Array; places: Uint32Array } {
  const { count } = model.places;
  const start = new Uint32Array(model.files.length + 1);
  for (let i = 0; i < count; i++) {
    const file = fileOf(i);
    if (file !== NONE) start[file + 1]++;
  }
  for (let f = 0; f < model.files.length; f++) start[f + 1] += start[f];
  const next = start.slice();
  const places = new Uint32Array(start[model.files.length]);
  for (let i = 0; i < count; i++) {
    const file = fileOf(i);
    if (file !== NONE) places[next[file]++] = i;
  }
  return { start, places };
}

export const lineIndex = (model: Model): LineIndex => byFile(model, (i) => standsIn(model, i));

/** The lines of each file: exclusive costs of files. */
export function linesByFile(model: Model): Groups {
  const { kind, file } = model.places;
  const own = byFile(model, (i) => (kind[i] === Kind.Line ? file[i] : NONE));
  return makeGroups(model, own.start, own.places, false);
}

/** The lines of one file: inclusive of scopes that begin or are called there, and exclusive. */
export interface FileLines {
  readonly numbers: Uint32Array; // line numbers, ascending
  readonly groups: Groups;
  readonly at: ReadonlyMap<number, number>; // line number: group
}

export function fileLines(model: Model, index: LineIndex, file: FileIx): FileLines {
  const all = index.places.subarray(index.start[file], index.start[file + 1]);
  const lines = new Float64Array(all.length);
  for (let i = 0; i < all.length; i++) lines[i] = standsOn(model, all[i]);
  const order = sortedByValue(countUp(all.length), lines, false);
  const members = new Uint32Array(all.length);
  const own = new Uint8Array(all.length);
  const numbers: number[] = [];
  const start: number[] = [];
  for (let i = 0; i < members.length; i++) {
    const line = lines[order[i]];
    members[i] = all[order[i]];
    own[i] = model.places.kind[members[i]] === Kind.Line ? 1 : 0;
    if (i > 0 && lines[order[i - 1]] === line) continue;
    numbers.push(line);
    start.push(i);
  }
  start.push(members.length);
  return {
    numbers: Uint32Array.from(numbers),
    groups: makeGroups(model, Uint32Array.from(start), members, true, own),
    at: new Map(numbers.map((n, g) => [n, g])),
  };
}

/** Longer chains of lines of one file on one call path are taken for recursion. */
const LONGEST_CHAIN = 200;

/** By group what the lines of a file cost on call paths, with all that they call; in recursion the outermost call counts. */
export function withCalls({ count, parent, place }: TreeNodes, { groups }: FileLines, values: Float64Array): Float64Array {
  const out = new Float64Array(groups.count).fill(NaN);
  const { groupOf } = groups;
  const nearest = new Int32Array(count); // the node itself or the nearest one above it that is in the file
  for (let i = 0; i < count; i++) {
    const group = groupOf[place[i]];
    let up = i === 0 ? NONE : nearest[parent[i]];
    nearest[i] = group === NONE ? up : i;
    if (group === NONE || Number.isNaN(values[i])) continue;
    for (let steps = 0; up !== NONE && groupOf[place[up]] !== group && steps < LONGEST_CHAIN; steps++)
      up = up === 0 ? NONE : nearest[parent[up]];
    if (up === NONE) out[group] = (out[group] || 0) + values[i];
  }
  return out;
}

/** Every place on this line, the costliest first; if the line has no cost of its own, the scopes that begin or are called there. */
export function placesOnLine(model: Model, lines: FileLines, values: Float64Array, line: number): PlaceIx[] {
  const group = lines.at.get(line);
  if (group === undefined) return [];
  const { groups } = lines;
  const all = Array.from(groups.members.subarray(groups.start[group], groups.start[group + 1]));
  const own = all.filter((place) => model.places.kind[place] === Kind.Line);
  return (own.length ? own : all).sort((a, b) => compareValues(values[a], values[b], true));
}

/** Scopes that begin or are called on a line: inlined calls, loops, procedures. */
export function scopesOnLine(model: Model, lines: FileLines, line: number): PlaceIx[] {
  const group = lines.at.get(line);
  if (group === undefined) return [];
  const { groups } = lines;
  return Array.from(groups.members.subarray(groups.start[group], groups.start[group + 1])).filter(
    (place) => model.places.kind[place] !== Kind.Line,
  );
}

/** The costliest line, by its own cost, or 0. */
export function hottestLine(lines: FileLines, own: Float64Array): number {
  let best = 0;
  let value = -Infinity;
  lines.numbers.forEach((line, g) => {
    if (line > 0 && Math.abs(own[g]) > value) {
      best = line;
      value = Math.abs(own[g]);
    }
  });
  return best;
}
