// The scope tree: children, order, the rows that are visible, the hot path.

import {
  columnValues,
  type Column,
  type FileIx,
  Kind,
  type Model,
  NONE,
  type PlaceIx,
  type Places,
} from '../model/data';
import type { Matcher } from './search';

export interface Children {
  readonly start: Uint32Array; // children of i are list[start[i] .. start[i + 1])
  readonly list: Uint32Array;
}

export function childrenOf(places: Places): Children {
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

/** Larger first (or smaller, when `descending` is false); blanks last in either case; else the order of the database. */
export function compareValues(a: number, b: number, descending: boolean): number {
  if (a === b) return 0;
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return descending ? b - a : a - b;
}

/** Children in the order of a column, remembered per place. */
export class SortedChildren {
  private readonly known = new Map<PlaceIx, Uint32Array>();
  private readonly values: Float64Array | null;

  constructor(
    model: Model,
    private readonly children: Children,
    column: Column | null,
    private readonly descending: boolean,
  ) {
    this.values = column === null ? null : columnValues(model, column);
  }

  of(place: PlaceIx): Uint32Array {
    let sorted = this.known.get(place);
    if (!sorted) {
      sorted = this.children.list.slice(this.children.start[place], this.children.start[place + 1]);
      const { values, descending } = this;
      if (values) sorted.sort((a, b) => compareValues(values[a], values[b], descending) || a - b);
      else if (descending) sorted.reverse();
      this.known.set(place, sorted);
    }
    return sorted;
  }
}

export interface TreeRows {
  readonly place: PlaceIx[];
  readonly depth: number[];
  readonly expanded: boolean[];
  readonly hasChildren: boolean[];
}

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

/** The rows to show. With marks, only what matches and the way to it, which is open whatever `expanded` says. */
export function visibleRows(
  sorted: SortedChildren,
  children: Children,
  expanded: ReadonlySet<PlaceIx>,
  marks: Uint8Array | null,
): TreeRows {
  const rows: TreeRows = { place: [], depth: [], expanded: [], hasChildren: [] };
  if (children.start.length === 1 || (marks && !marks[0])) return rows; // no places, or none that matches
  const stack: { of: Uint32Array; at: number }[] = [{ of: Uint32Array.of(0), at: 0 }];
  while (stack.length) {
    const top = stack[stack.length - 1];
    if (top.at === top.of.length) {
      stack.pop();
      continue;
    }
    const place = top.of[top.at++];
    if (marks && !marks[place]) continue;
    const hasChildren = childCount(children, place) > 0;
    const open = hasChildren && (expanded.has(place) || (marks !== null && (marks[place] & OPEN) !== 0));
    rows.place.push(place);
    rows.depth.push(stack.length - 1);
    rows.expanded.push(open);
    rows.hasChildren.push(hasChildren);
    if (open) stack.push({ of: sorted.of(place), at: 0 });
  }
  return rows;
}

/** From `from` down: each time the costliest child, as long as it has at least half of its parent's value. `from` comes
 *  first. */
export function hotPath(model: Model, children: Children, column: Column, from: PlaceIx): PlaceIx[] {
  const values = columnValues(model, column & ~1);
  const path = [from];
  for (let at = from; ;) {
    let best = NONE;
    for (let i = children.start[at]; i < children.start[at + 1]; i++) {
      const child = children.list[i];
      if (values[child] > 0 && (best === NONE || values[child] > values[best])) best = child;
    }
    if (best === NONE || !(values[best] >= 0.5 * values[at])) return path;
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

/** `place` and everything below it that has children; at most `limit` of them. */
export function subtree(children: Children, place: PlaceIx, limit: number): PlaceIx[] {
  const found: PlaceIx[] = [];
  const todo = [place];
  while (todo.length && found.length < limit) {
    const at = todo.pop()!;
    if (childCount(children, at) === 0) continue;
    found.push(at);
    for (let i = children.start[at]; i < children.start[at + 1]; i++) todo.push(children.list[i]);
  }
  return found;
}

export interface SourceLines {
  readonly file: FileIx;
  readonly first: number; // 0: the file alone
  readonly last: number;
}

/** The source to show with a place: its own lines; of an inlined call whose lines are unknown, the call.
 *  null: none is known; undefined: the place is above files and has nothing to say. */
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
