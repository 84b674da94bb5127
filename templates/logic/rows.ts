// The rows of whichever table is shown, behind one interface. Remembered by what they depend on.

import { columnValues, type Column, type Model, NONE, type PlaceIx } from '../model/data';
import type { State } from '../state/state';
import {
  groupLabel,
  groupsOf,
  type Groups,
  groupValues,
  leader,
  type Level,
  LEVEL_KIND,
  sortedGroups,
  Sums,
} from './flat';
import { type Label, labelOf } from './labels';
import { matcherFor } from './search';
import { type Children, childrenOf, markMatches, SortedChildren, type TreeRows, visibleRows } from './tree';

export interface Table {
  readonly count: number;
  readonly isTree: boolean;
  place(row: number): PlaceIx; // of a fused row: its costliest instance
  depth(row: number): number;
  isExpanded(row: number): boolean;
  hasChildren(row: number): boolean;
  instances(row: number): number;
  label(row: number): Label;
  value(row: number, column: Column): number;
  /** The largest value a column has here, whatever is filtered out; in a tree that is the total. */
  largest(column: Column): number;
  /** The row that shows this place, or the nearest scope around it that has one; NONE. */
  rowOf(place: PlaceIx): number;
}

/** A value remembered until one of its inputs is another. */
export class Memo<T> {
  private inputs: readonly unknown[] | null = null;
  private result!: T;

  get(inputs: readonly unknown[], make: () => T): T {
    if (!this.inputs || inputs.length !== this.inputs.length || inputs.some((x, i) => !Object.is(x, this.inputs![i]))) {
      this.result = make();
      this.inputs = inputs;
    }
    return this.result;
  }
}

class TreeTable implements Table {
  readonly isTree = true;
  readonly count: number;
  private readonly rowByPlace = new Map<PlaceIx, number>();

  constructor(
    private readonly model: Model,
    private readonly rows: TreeRows,
  ) {
    this.count = rows.place.length;
    rows.place.forEach((place, row) => this.rowByPlace.set(place, row));
  }

  place = (row: number): PlaceIx => this.rows.place[row];
  depth = (row: number): number => this.rows.depth[row];
  isExpanded = (row: number): boolean => this.rows.expanded[row];
  hasChildren = (row: number): boolean => this.rows.hasChildren[row];
  instances = (): number => 1;
  label = (row: number): Label => labelOf(this.model, this.rows.place[row]);
  value = (row: number, column: Column): number => columnValues(this.model, column)[this.rows.place[row]];

  largest = (column: Column): number => columnValues(this.model, column & ~1)[0];

  rowOf(place: PlaceIx): number {
    for (let at = place; at !== NONE; at = this.model.places.parent[at]) {
      const row = this.rowByPlace.get(at);
      if (row !== undefined) return row;
    }
    return NONE;
  }
}

class FlatTable implements Table {
  readonly isTree = false;
  readonly count: number;
  private readonly rowByGroup: Int32Array;
  private readonly leaders = new Map<number, PlaceIx>();
  private readonly maxima = new Map<Column, number>();

  constructor(
    private readonly model: Model,
    private readonly groups: Groups,
    private readonly order: Uint32Array,
    private readonly values: (column: Column) => Float64Array,
    private readonly leadBy: Column,
  ) {
    this.count = order.length;
    this.rowByGroup = new Int32Array(groups.count).fill(NONE);
    order.forEach((group, row) => (this.rowByGroup[group] = row));
  }

  place(row: number): PlaceIx {
    let place = this.leaders.get(row);
    if (place === undefined)
      this.leaders.set(row, (place = leader(this.model, this.groups, this.order[row], this.leadBy)));
    return place;
  }
  depth = (): number => 0;
  isExpanded = (): boolean => false;
  hasChildren = (): boolean => false;
  instances = (row: number): number => this.groups.start[this.order[row] + 1] - this.groups.start[this.order[row]];
  label = (row: number): Label => groupLabel(this.model, this.groups, this.order[row], this.place(row));
  value = (row: number, column: Column): number => this.values(column)[this.order[row]];

  largest(column: Column): number {
    let max = this.maxima.get(column);
    if (max === undefined) {
      max = NaN;
      for (const v of this.values(column)) if (!(v <= max) && !Number.isNaN(v)) max = v;
      this.maxima.set(column, max);
    }
    return max;
  }

  rowOf(place: PlaceIx): number {
    for (let at = place; at !== NONE; at = this.model.places.parent[at])
      if (this.groups.groupOf[at] !== NONE) return this.rowByGroup[this.groups.groupOf[at]];
    return NONE;
  }
}

/** Everything known about one level of flat table, per setting of `fuse`. */
interface LevelData {
  readonly groups: Groups;
  readonly columns: Map<Column, Float64Array>;
}

export class Tables {
  readonly children: Children;
  readonly sums: Sums;
  private readonly levels = new Map<string, LevelData>();
  private readonly sorted = new Memo<SortedChildren>();
  private readonly marks = new Memo<Uint8Array | null>();
  private readonly tree = new Memo<Table>();
  private readonly flat = new Memo<Table>();

  constructor(private readonly model: Model) {
    this.children = childrenOf(model.places);
    this.sums = new Sums(model);
  }

  of(state: State): Table {
    return state.view === 'tree' ? this.treeTable(state) : this.flatTable(state, state.view);
  }

  private treeTable(state: State): Table {
    const { sortBy, descending, filter, expanded } = state;
    const sorted = this.sorted.get(
      [sortBy, descending],
      () => new SortedChildren(this.model, this.children, sortBy, descending),
    );
    const marks = this.marks.get([filter.trim()], () => {
      const matches = matcherFor(this.model, filter, false);
      return matches && markMatches(this.model.places, matches);
    });
    return this.tree.get(
      [sorted, marks, expanded],
      () => new TreeTable(this.model, visibleRows(sorted, this.children, expanded, marks)),
    );
  }

  private flatTable(state: State, level: Level): Table {
    const { sortBy, descending, fuse, filter } = state;
    return this.flat.get([level, sortBy, descending, fuse, filter.trim()], () => {
      const data = this.level(level, fuse);
      const values = (column: Column): Float64Array => {
        let known = data.columns.get(column);
        if (!known) data.columns.set(column, (known = groupValues(data.groups, this.sums, column)));
        return known;
      };
      let order = sortedGroups(this.model, data.groups, sortBy === null ? null : values(sortBy), descending);
      const matches = matcherFor(this.model, filter, true);
      if (matches) order = order.filter((g) => this.anyMember(data.groups, g, matches));
      return new FlatTable(this.model, data.groups, order, values, sortBy ?? 0);
    });
  }

  private anyMember(groups: Groups, group: number, matches: (place: PlaceIx) => boolean): boolean {
    for (let i = groups.start[group]; i < groups.start[group + 1]; i++) if (matches(groups.members[i])) return true;
    return false;
  }

  private level(level: Level, fuse: boolean): LevelData {
    const key = `${level} ${fuse}`;
    let data = this.levels.get(key);
    if (!data) this.levels.set(key, (data = { groups: groupsOf(this.model, level, fuse), columns: new Map() }));
    return data;
  }

  /** Whether the database has any place of this level. */
  has(level: Level): boolean {
    return this.model.places.kind.includes(LEVEL_KIND[level]);
  }
}
