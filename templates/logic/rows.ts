// SPDX-License-Identifier: BSD-3-Clause
// The rows of whichever table is shown, behind one interface. Remembered by what they depend on.

import { type Model, NONE, type PlaceIx } from '../model/data';
import type { State } from '../state/state';
import { type Cells, type Groups, leader } from './cells';
import type { Column, Columns } from './columns';
import { groupLabel, groupsOf, type Level, LEVEL_KIND, sortedGroups } from './flat';
import { type Label, labelIn } from './labels';
import { Memo } from './memo';
import { matcherFor } from './search';
import { sortedByValue, turnedRound } from './sort';
import {
  type Children,
  childrenOf,
  flattened,
  markMatches,
  ROW_OPEN,
  ROW_PARENT,
  SortedChildren,
  type TreeRows,
  visibleRows,
} from './tree';

export interface Table {
  readonly count: number;
  readonly isTree: boolean;
  readonly hidden: number; // rows below the threshold
  place(row: number): PlaceIx; // of a fused row: its costliest instance
  depth(row: number): number;
  isExpanded(row: number): boolean;
  hasChildren(row: number): boolean;
  instances(row: number): number;
  label(row: number): Label;
  value(row: number, column: Column): number;
  error(row: number, column: Column): number;
  /** The largest value of a column here, before filtering; in a tree that is the total. */
  largest(column: Column): number;
  /** The row that shows this place, or the nearest scope around it that has one; NONE. */
  rowOf(place: PlaceIx): number;
}

class TreeTable implements Table {
  readonly isTree = true;
  readonly hidden = 0;
  readonly count: number;
  readonly #rowByPlace: Int32Array;

  constructor(
    private readonly model: Model,
    private readonly columns: Columns,
    private readonly rows: TreeRows,
  ) {
    this.count = rows.count;
    this.#rowByPlace = new Int32Array(model.places.count).fill(NONE);
    for (let row = 0; row < rows.count; row++) this.#rowByPlace[rows.place[row]] = row;
  }

  place = (row: number): PlaceIx => this.rows.place[row];
  depth = (row: number): number => this.rows.depth[row];
  isExpanded = (row: number): boolean => (this.rows.flags[row] & ROW_OPEN) !== 0;
  hasChildren = (row: number): boolean => (this.rows.flags[row] & ROW_PARENT) !== 0;
  instances = (): number => 1;
  label = (row: number): Label => labelIn(this.model, this.rows.place[row]);
  value = (row: number, column: Column): number => this.columns.at(column, this.rows.place[row]);
  error = (row: number, column: Column): number =>
    this.columns.error(column, this.value(row, column), null, this.rows.place[row]);
  largest = (column: Column): number => this.columns.total(column);

  rowOf(place: PlaceIx): number {
    for (let at = place; at !== NONE; at = this.model.places.parent[at])
      if (this.#rowByPlace[at] !== NONE) return this.#rowByPlace[at];
    return NONE;
  }
}

const maxima = new WeakMap<Float64Array, number>();

/** The largest absolute value; NaN: there is none. Cached. */
function largestOf(values: Float64Array): number {
  let max = maxima.get(values);
  if (max === undefined) {
    max = NaN;
    for (let i = 0; i < values.length; i++) {
      const size = Math.abs(values[i]);
      if (size > max || (max !== max && size === size)) max = size;
    }
    maxima.set(values, max);
  }
  return max;
}

class FlatTable implements Table {
  readonly isTree = false;
  readonly count: number;
  readonly #rowByGroup: Int32Array;
  readonly #leaders = new Map<number, PlaceIx>();

  constructor(
    private readonly model: Model,
    private readonly columns: Columns,
    private readonly groups: Groups,
    private readonly order: Uint32Array,
    private readonly leadBy: Float64Array | null,
    readonly hidden: number,
  ) {
    this.count = order.length;
    this.#rowByGroup = new Int32Array(groups.count).fill(NONE);
    for (let row = 0; row < order.length; row++) this.#rowByGroup[order[row]] = row;
  }

  place(row: number): PlaceIx {
    let place = this.#leaders.get(row);
    if (place === undefined) {
      const { groups, leadBy } = this;
      place = leadBy ? leader(groups, this.order[row], leadBy) : groups.members[groups.start[this.order[row]]];
      this.#leaders.set(row, place);
    }
    return place;
  }
  depth = (): number => 0;
  isExpanded = (): boolean => false;
  hasChildren = (): boolean => false;
  instances = (row: number): number => this.groups.start[this.order[row] + 1] - this.groups.start[this.order[row]];
  label = (row: number): Label => groupLabel(this.model, this.groups, this.order[row], this.place(row));
  value = (row: number, column: Column): number => this.columns.values(column, this.groups)[this.order[row]];
  error = (row: number, column: Column): number =>
    this.columns.error(column, this.value(row, column), this.groups, this.order[row]);

  largest(column: Column): number {
    return largestOf(this.columns.values(column, this.groups));
  }

  rowOf(place: PlaceIx): number {
    for (let at = place; at !== NONE; at = this.model.places.parent[at])
      if (this.groups.groupOf[at] !== NONE) return this.#rowByGroup[this.groups.groupOf[at]];
    return NONE;
  }
}

/** Of a ratio, rows with less than this share of the weight (the initial sort column) come after all others. */
export const RATIO_NEEDS = 0.005;

/** Inputs of the tables, in addition to the state. */
export interface Subject {
  readonly columns: Columns;
  readonly shown?: readonly Column[]; // rows that are blank in all of these are left out
  readonly sort: Column | null; // null: by name
  readonly weight: Column | null; // the base of the threshold
}

interface Sorted {
  readonly groups: Groups;
  readonly values: Float64Array | null;
  readonly descending: boolean;
  readonly order: Uint32Array;
}

/** How far it is known which cells are blank in all shown columns. */
interface Blanks {
  asked: number; // so many columns
  left: Uint32Array | null; // cells that are blank in all of them; null: all cells
  marks: Uint8Array | null; // the same by cell, when all were asked
}

export class Tables {
  readonly children: Children;
  readonly #levels = new Map<string, Groups>();
  readonly #sorted = new Memo<SortedChildren>();
  readonly #marks = new Memo<Uint8Array | null>();
  readonly #tree = new Memo<Table>();
  private readonly order = new Memo<Uint32Array>();
  #lastSorted: Sorted | null = null;
  readonly #flat = new Memo<Table>();
  readonly #blank = new Memo<Blanks>();

  constructor(
    private readonly model: Model,
    children: Children | null = null,
  ) {
    this.children = children ?? childrenOf(model.places);
  }

  of(state: State, subject: Subject): Table {
    return Object.hasOwn(LEVEL_KIND, state.view)
      ? this.#flatTable(state, subject, state.view as Level)
      : this.#treeTable(state, subject);
  }

  #treeTable(state: State, subject: Subject): Table {
    const { descending, filter, expanded, least, zoom, flatten } = state;
    const { columns, sort } = subject;
    const values = sort && columns.values(sort, null);
    const sorted = this.#sorted.get([values, descending], () => new SortedChildren(this.children, values, descending));
    const marks = this.#marks.get([filter.trim()], () => {
      const matches = matcherFor(this.model, filter, true);
      return matches && markMatches(this.model.places, matches);
    });
    const isLight = this.#lightness(subject, null, least);
    const isBlank = this.#blankness(subject, null);
    const isHidden =
      isBlank === null ? isLight : (place: PlaceIx) => isBlank[place] === 1 || (isLight !== null && isLight(place));
    return this.#tree.get(
      [columns, sorted, marks, expanded, zoom, flatten, isLight === null ? 0 : least, isBlank && subject.shown],
      () => {
        const top = flatten > 0 ? flattened(this.children, zoom, flatten) : null;
        const first = top && values ? sortedByValue(top, values, descending) : top;
        const rows = visibleRows(sorted, this.children, expanded, marks, zoom, isHidden, first);
        return new TreeTable(this.model, columns, rows);
      },
    );
  }

  /** Whether a cell is blank in all shown columns, as those of pure callers are: 1; null: not known yet, or none is blank. Columns are
   *  requested one after the other, while any cell is blank. */
  #blankness({ columns, shown }: Subject, cells: Cells): Uint8Array | null {
    if (!shown?.length) return null;
    const known = this.#blank.get([columns, shown, cells], () => ({ asked: 0, left: null, marks: null }));
    while (known.asked < shown.length && known.left?.length !== 0) {
      const column = shown[known.asked];
      const left = columns.failure(column) === undefined ? columns.blankAmong(column, cells, known.left) : null;
      if (!left) return null;
      known.left = left;
      known.asked++;
    }
    if (!known.left?.length) return null;
    if (!known.marks) {
      known.marks = new Uint8Array(cells ? cells.count : this.model.places.count);
      for (const cell of known.left) known.marks[cell] = 1;
    }
    return known.marks;
  }

  /** Whether a cell has less than `percent` of the whole; null: none has. */
  #lightness(subject: Subject, cells: Cells, percent: number): ((cell: number) => boolean) | null {
    const { columns, weight } = subject;
    const least = weight && percent > 0 ? (columns.whole(weight) * percent) / 100 : NaN;
    if (!weight || Number.isNaN(least)) return null;
    const values = columns.values(weight, cells);
    return (cell) => !(Math.abs(values[cell]) >= least);
  }

  #flatTable(state: State, subject: Subject, level: Level): Table {
    const { descending, fuse, filter, least } = state;
    const { columns, sort, weight } = subject;
    const groups = this.level(level, fuse);
    const values = sort && columns.values(sort, groups);
    const weights = weight && columns.values(weight, groups);
    const order = this.order.get([groups, values, descending], () => {
      const all = this.#sortedGroups(groups, values, descending);
      const isLight = sort && columns.isRatio(sort) ? this.#lightness(subject, groups, RATIO_NEEDS * 100) : null;
      return isLight ? heavyFirst(all, isLight) : all;
    });
    const isBlank = this.#blankness(subject, groups);
    return this.#flat.get([columns, order, weights, filter.trim(), least, isBlank && subject.shown], () => {
      const full = isBlank ? without(order, isBlank) : order;
      let shown = full;
      const isLight = this.#lightness(subject, groups, least);
      if (isLight) shown = shown.filter((g) => !isLight(g));
      const hidden = full.length - shown.length;
      const matches = matcherFor(this.model, filter, false);
      if (matches) shown = shown.filter((g) => this.#anyMember(groups, g, matches));
      const leadBy = sort ?? weight;
      return new FlatTable(this.model, columns, groups, shown, leadBy && columns.values(leadBy, null), hidden);
    });
  }

  /** If only the direction changed, the last result is reversed. */
  #sortedGroups(groups: Groups, values: Float64Array | null, descending: boolean): Uint32Array {
    const last = this.#lastSorted;
    const isSame = last?.groups === groups && last.values === values;
    if (isSame && last.descending === descending) return last.order;
    const order =
      isSame && values
        ? turnedRound(last.order, values)
        : sortedGroups(this.model, groups, values, descending);
    this.#lastSorted = { groups, values, descending, order };
    return order;
  }

  #anyMember(groups: Groups, group: number, matches: (place: PlaceIx) => boolean): boolean {
    for (let i = groups.start[group]; i < groups.start[group + 1]; i++) if (matches(groups.members[i])) return true;
    return false;
  }

  level(level: Level, fuse: boolean): Groups {
    const key = `${level} ${fuse}`;
    let groups = this.#levels.get(key);
    if (!groups) this.#levels.set(key, (groups = groupsOf(this.model, level, fuse)));
    return groups;
  }

  /** Whether the database has any place of this level. */
  has(level: Level): boolean {
    return this.model.places.kind.includes(LEVEL_KIND[level]);
  }
}

function without(order: Uint32Array, left: Uint8Array): Uint32Array {
  const out = new Uint32Array(order.length);
  let n = 0;
  for (let i = 0; i < order.length; i++) if (left[order[i]] === 0) out[n++] = order[i];
  return n === order.length ? order : out.slice(0, n);
}

function heavyFirst(order: Uint32Array, isLight: (cell: number) => boolean): Uint32Array {
  const out = new Uint32Array(order.length);
  let n = 0;
  for (const g of order) if (!isLight(g)) out[n++] = g;
  for (const g of order) if (isLight(g)) out[n++] = g;
  return out;
}
