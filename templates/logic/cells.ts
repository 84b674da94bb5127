// SPDX-License-Identifier: BSD-3-Clause
// What a column has values on: the places of the tree themselves, or sets of places (rows of a flat table, lines of a
// file). A set's inclusive value is that of its outermost members; its exclusive one is the sum over `own` members.

import { type Model, NONE, type PlaceIx } from '../model/data';

/** Sets of places that are shown as one row. */
export interface Groups {
  readonly count: number;
  readonly start: Uint32Array; // members of group g are members[start[g] .. start[g + 1])
  readonly members: Uint32Array; // PlaceIx
  readonly outermost: Uint8Array; // by position in members: not inside another member of the same group
  readonly own: Uint8Array | null; // by position: counts for exclusive values; null: all do
  readonly groupOf: Int32Array; // by place; NONE: in no group (or in more than one)
}

/** null: the places themselves. */
export type Cells = Groups | null;

export const cellCount = (model: Model, cells: Cells): number => (cells ? cells.count : model.places.count);

/** From the members of each group, one after the other in `members`. */
export function makeGroups(
  model: Model,
  start: Uint32Array,
  members: Uint32Array,
  canNest: boolean,
  own: Uint8Array | null = null,
  known: Int32Array | null = null, // groups by place, if they are known already
): Groups {
  const { parent } = model.places;
  const count = start.length - 1;
  const groupOf = known ?? new Int32Array(model.places.count).fill(NONE);
  const outermost = new Uint8Array(members.length).fill(1);
  if (!known) for (let g = 0; g < count; g++) for (let i = start[g]; i < start[g + 1]; i++) groupOf[members[i]] = g;
  for (let g = 0; canNest && g < count; g++) {
    if (start[g + 1] - start[g] === 1) continue;
    for (let i = start[g]; i < start[g + 1]; i++)
      for (let up = parent[members[i]]; up !== NONE; up = parent[up])
        if (groupOf[up] === g) {
          outermost[i] = 0;
          break;
        }
  }
  return { count, start, members, outermost, own, groupOf };
}

/** Adding skips blanks; nothing but blanks is blank. */
export function sumOver(groups: Groups, values: Float64Array, exclusive: boolean): Float64Array {
  const { count, start, members } = groups;
  const counts = exclusive ? groups.own : groups.outermost;
  const out = new Float64Array(count);
  for (let g = 0; g < count; g++) {
    let sum = NaN;
    for (let i = start[g]; i < start[g + 1]; i++) {
      if (counts && !counts[i]) continue;
      const value = values[members[i]];
      if (!Number.isNaN(value)) sum = Number.isNaN(sum) ? value : sum + value;
    }
    out[g] = sum;
  }
  return out;
}

/** The costliest member of a group: the one to go to. */
export function leader(groups: Groups, group: number, values: Float64Array): PlaceIx {
  let best = groups.members[groups.start[group]];
  for (let i = groups.start[group] + 1; i < groups.start[group + 1]; i++) {
    const place = groups.members[i];
    if (Math.abs(values[place]) > Math.abs(values[best]) || Number.isNaN(values[best])) best = place;
  }
  return best;
}
