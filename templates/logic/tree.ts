// SPDX-License-Identifier: BSD-3-Clause
// The scope tree: children, order, the rows that are visible, the hot path.

import { type FileIx, Kind, type Model, NONE, type PlaceIx, type Places } from '../model/data';
import type { Matcher } from './search';
import { sortedByValue } from './sort';

export interface Children {
  readonly start: Uint32Array; // children of i are list[start[i] .. start[i + 1])
  readonly list: Uint32Array;
}

export function childrenOf(places: { readonly count: number; readonly parent: Int32Array }): Children {
  const start = new Uint32Array(places.count + 1);
  for (let i = 1; i < places.count; i++) start[places.parent[i] + 1]++;
  for (let i = 0; i < places.count; i++) start[i + 1] += start[i];
  const next = start.slice();
  const list = new Uint32Array(Math.max(0, places.count - 1));
  for (let i = 1; i < places.count; i++) list[next[places.parent[i]]++] = i;
  return { start, list };
}

export const childCount = (children: Children, place: PlaceIx): number =>
  children.start[place + 1] - children.start[place];

/** Children in the order of some values (null: of the database), remembered per place. */
export class SortedChildren {
  readonly #known = new Map<PlaceIx, Uint32Array>();

  constructor(
    private readonly children: Children,
    private readonly values: Float64Array | null,
    private readonly descending: boolean,
  ) {}

  of(place: PlaceIx): Uint32Array {
    const { children, values, descending } = this;
    let sorted = this.#known.get(place);
    if (!sorted) {
      const list = children.list.subarray(children.start[place], children.start[place + 1]);
      sorted = values ? sortedByValue(list, values, descending) : descending ? list.slice().reverse() : list;
      this.#known.set(place, sorted);
    }
    return sorted;
  }
}

export interface TreeRows {
  readonly count: number;
  readonly place: Uint32Array;
  readonly depth: Uint16Array;
  readonly flags: Uint8Array; // ROW_OPEN, ROW_PARENT
}
export const ROW_OPEN = 1;
export const ROW_PARENT = 2; // has children

const SHOWN = 1; // matches, or is below one that does
const OPEN = 2; // has a match below
const MATCH = 4;

export function markMatches(places: Places, matches: Matcher): Uint8Array {
  const marks = new Uint8Array(places.count);
  for (let i = 0; i < places.count; i++) {
    if (matches(i)) marks[i] = SHOWN | MATCH;
    else if (i > 0 && marks[places.parent[i]] & SHOWN) marks[i] = SHOWN;
  }
  for (let i = places.count - 1; i > 0; i--) if (marks[i] & (OPEN | MATCH)) marks[places.parent[i]] |= OPEN;
  return marks;
}

/** Rows are collected in arrays that grow. */
class RowList {
  count = 0;
  place = new Uint32Array(1024);
  depth = new Uint16Array(1024);
  flags = new Uint8Array(1024);

  push(place: PlaceIx, depth: number, flags: number): void {
    if (this.count === this.place.length) {
      const grow = <T extends Uint32Array | Uint16Array | Uint8Array>(old: T, larger: T): T => (
        larger.set(old),
        larger
      );
      this.place = grow(this.place, new Uint32Array(this.count * 2));
      this.depth = grow(this.depth, new Uint16Array(this.count * 2));
      this.flags = grow(this.flags, new Uint8Array(this.count * 2));
    }
    this.place[this.count] = place;
    this.depth[this.count] = Math.min(depth, 65535);
    this.flags[this.count++] = flags;
  }
}

/** The rows to show, from `root` down. With marks, only matches and their ancestors, which are open regardless of `expanded`; with
 *  `hidden`, without the places it names. */
export function visibleRows(
  sorted: SortedChildren,
  children: Children,
  expanded: ReadonlySet<PlaceIx>,
  marks: Uint8Array | null,
  root: PlaceIx = 0,
  hidden: ((place: PlaceIx) => boolean) | null = null,
  first: Uint32Array | null = null, // in the place of the root
): TreeRows {
  const rows = new RowList();
  if (children.start.length === 1 || (marks && !marks[root])) return rows; // no places, or none that matches
  const stack: { of: Uint32Array; at: number }[] = [{ of: first ?? Uint32Array.of(root), at: 0 }];
  while (stack.length) {
    const top = stack[stack.length - 1];
    if (top.at === top.of.length) {
      stack.pop();
      continue;
    }
    const place = top.of[top.at++];
    if ((marks && !marks[place]) || (hidden && place !== root && hidden(place))) continue;
    const hasChildren = childCount(children, place) > 0;
    const open = hasChildren && (expanded.has(place) || (marks !== null && (marks[place] & OPEN) !== 0));
    rows.push(place, stack.length - 1, (open ? ROW_OPEN : 0) | (hasChildren ? ROW_PARENT : 0));
    if (open) stack.push({ of: sorted.of(place), at: 0 });
  }
  return rows;
}

/** The rows below `root` after that many levels were flattened: each time rows are replaced by their children. */
export function flattened(children: Children, root: PlaceIx, levels: number): Uint32Array {
  let level = children.list.subarray(children.start[root], children.start[root + 1]);
  for (let i = 1; i < levels; i++) {
    const next: number[] = [];
    for (const place of level) {
      if (childCount(children, place) === 0) next.push(place);
      for (let c = children.start[place]; c < children.start[place + 1]; c++) next.push(children.list[c]);
    }
    if (next.length === level.length && next.every((p, at) => p === level[at])) break; // nothing has parts
    level = Uint32Array.from(next);
  }
  return level;
}

/** From `from` down: each time the costliest child, if it has at least `part` of its parent's value; `from` comes first. Code of a module
 *  without source is always entered, for any share of its procedures: a missing file is not a useful answer. */
export function hotPath(model: Model, children: Children, values: Float64Array, from: PlaceIx, part = 0.5): PlaceIx[] {
  const { kind, file } = model.places;
  const path = [from];
  for (let at = from; ;) {
    let best = NONE;
    for (let i = children.start[at]; i < children.start[at + 1]; i++) {
      const child = children.list[i];
      if (values[child] > 0 && (best === NONE || values[child] > values[best])) best = child;
    }
    const nameless = kind[at] === Kind.File && file[at] === NONE;
    if (best === NONE || !(values[best] >= part * values[at] || nameless)) return path;
    path.push(best);
    at = best;
  }
}

/** All places above `place`, the nearest first. */
export function ancestors(places: Places, place: PlaceIx): PlaceIx[] {
  const up: PlaceIx[] = [];
  for (let i = places.parent[place]; i !== NONE; i = places.parent[i]) up.push(i);
  return up;
}

/** `place` and everything below it that has children; at most `limit` of them, the upper ones first. */
export function subtree(children: Children, place: PlaceIx, limit: number): { places: PlaceIx[]; isCut: boolean } {
  const found: PlaceIx[] = [];
  let level = [place];
  while (level.length) {
    const next: PlaceIx[] = [];
    for (const at of level) {
      if (childCount(children, at) === 0) continue;
      if (found.length === limit) return { places: found, isCut: true };
      found.push(at);
      for (let i = children.start[at]; i < children.start[at + 1]; i++) next.push(children.list[i]);
    }
    level = next;
  }
  return { places: found, isCut: false };
}

export interface SourceLines {
  readonly file: FileIx;
  readonly first: number; // 0: the file alone
  readonly last: number;
}

/** The source to show with a place: its own lines; of an inlined call whose lines are unknown, the call. null: none is known; undefined:
 *  the place is above files. */
export function sourceOf(model: Model, place: PlaceIx): SourceLines | null | undefined {
  const { places } = model;
  if (places.kind[place] < Kind.File) return undefined;
  const file = places.file[place];
  const first = places.lineFirst[place];
  if (places.kind[place] === Kind.Inline && (file === NONE || first === 0) && places.callFile[place] !== NONE)
    return { file: places.callFile[place], first: places.callLine[place], last: places.callLine[place] };
  if (file === NONE) return null;
  return places.kind[place] === Kind.File
    ? { file, first: 0, last: 0 }
    : { file, first, last: Math.max(first, places.lineLast[place]) };
}
