// SPDX-License-Identifier: BSD-3-Clause
// Flat tables: all places of one kind, with the instances of the same source thing in one row or each in its own.

import { Kind, type Model, NONE, type PlaceIx, type Places } from '../model/data';
import { type Groups, makeGroups } from './cells';
import { type Label, labelOf, loopKinds } from './labels';
import { isFrame } from './self';
import { countUp, sortedByValue } from './sort';

export type Level = 'line' | 'loop' | 'procedure' | 'inline' | 'file' | 'module';

export const LEVEL_KIND: { readonly [L in Level]: Kind } = {
  line: Kind.Line,
  loop: Kind.Loop,
  procedure: Kind.Procedure,
  inline: Kind.Inline,
  file: Kind.File,
  module: Kind.Module,
};

/** Places of a level; `fuse`: places with the same source are one group. */
export function groupsOf(model: Model, level: Level, fuse: boolean): Groups {
  const { places } = model;
  const kind = LEVEL_KIND[level];
  const items = ofKind(places, kind);
  const groupOf = new Int32Array(places.count).fill(NONE);
  let count = 0;
  const { same } = places;
  for (let k = 0; k < items.length; k++) {
    const i = items[k];
    const first = fuse ? same[i] : i; // never after the place itself
    groupOf[i] = first === i ? count++ : groupOf[first];
  }
  const start = new Uint32Array(count + 1);
  for (let k = 0; k < items.length; k++) start[groupOf[items[k]] + 1]++;
  for (let g = 0; g < count; g++) start[g + 1] += start[g];
  if (count === items.length) return makeGroups(model, start, items, false, null, groupOf); // each alone, in their order
  const next = start.slice();
  const members = new Uint32Array(items.length);
  for (let k = 0; k < items.length; k++) members[next[groupOf[items[k]]]++] = items[k];
  const groups = makeGroups(model, start, members, kind !== Kind.Line && fuse, null, groupOf);
  return isFrame(kind) ? { ...groups, own: groups.outermost } : groups; // descendants of another group member count as its own
}

const knownKinds = new WeakMap<Places, readonly Uint32Array[]>();

/** The places of one kind, in their order. All kinds are found at once, and remembered. */
function ofKind(places: Places, kind: Kind): Uint32Array {
  let kinds = knownKinds.get(places);
  if (!kinds) knownKinds.set(places, (kinds = byKind(places.kind)));
  return kinds[kind];
}

function byKind(kinds: Uint8Array): Uint32Array[] {
  const at = new Uint32Array(Kind.Line + 2);
  for (let i = 0; i < kinds.length; i++) at[kinds[i] + 1]++;
  for (let k = 0; k <= Kind.Line; k++) at[k + 1] += at[k];
  const starts = at.slice();
  const items = new Uint32Array(kinds.length);
  for (let i = 0; i < kinds.length; i++) items[at[kinds[i]]++] = i;
  return Array.from({ length: Kind.Line + 1 }, (_, k) => items.subarray(starts[k], starts[k + 1]));
}

/** Group numbers in the order of the table; `values` null: by name and line. */
export function sortedGroups(
  model: Model,
  groups: Groups,
  values: Float64Array | null,
  descending: boolean,
): Uint32Array {
  const order = countUp(groups.count);
  if (values) return sortedByValue(order, values, descending);
  const { places } = model;
  const first = (g: number): PlaceIx => groups.members[groups.start[g]];
  const named = places.count > 0 && groups.count > 0 && places.kind[first(0)] < Kind.Loop;
  const names = named ? Array.from(order, (g) => labelOf(model, first(g)).text) : [];
  order.sort((a, b) => {
    const p = first(a);
    const q = first(b);
    const byName = named ? (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0) : 0;
    return byName || places.file[p] - places.file[q] || places.lineFirst[p] - places.lineFirst[q];
  });
  return descending ? order.reverse() : order;
}

/** A row of several instances has the name of its leader, and the kinds of loop of all of them; which instance it is,
 *  it cannot say. */
export function groupLabel(model: Model, groups: Groups, group: number, lead: PlaceIx): Label {
  const label = labelOf(model, lead);
  const members = groups.members.subarray(groups.start[group], groups.start[group + 1]);
  if (members.length === 1) return label;
  const kinds = new Set<string>();
  if (model.places.kind[lead] === Kind.Loop)
    for (const m of members) for (const kind of loopKinds(model, m)) kinds.add(kind);
  return { text: label.text, detail: model.places.kind[lead] === Kind.Inline ? '' : label.detail, badges: [...kinds] };
}
