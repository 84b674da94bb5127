// Flat tables: all places of one kind, with the instances of the same source thing in one row or each in its own.

import { columnValues, type Column, isExclusive, Kind, metricOf, type Model, NONE, type PlaceIx } from '../model/data';
import { type Formula, parseFormula } from './formula';
import { type Label, labelOf, loopKinds } from './labels';
import { compareValues } from './tree';

export type Level = 'line' | 'loop' | 'procedure' | 'inline' | 'file' | 'module';

export const LEVEL_KIND: { readonly [L in Level]: Kind } = {
  line: Kind.Line,
  loop: Kind.Loop,
  procedure: Kind.Procedure,
  inline: Kind.Inline,
  file: Kind.File,
  module: Kind.Module,
};

/** Sets of places that are shown as one row. */
export interface Groups {
  readonly count: number;
  readonly start: Uint32Array; // members of group g are members[start[g] .. start[g + 1])
  readonly members: Uint32Array; // PlaceIx
  readonly outermost: Uint8Array; // by position in members: not inside another member of the same group
  readonly groupOf: Int32Array; // by place; NONE: in no group
}

function isNested(model: Model, place: PlaceIx, group: number, groupOf: Int32Array): boolean {
  const { parent } = model.places;
  for (let up = parent[place]; up !== NONE; up = parent[up]) if (groupOf[up] === group) return true;
  return false;
}

export function groupsOf(model: Model, level: Level, fuse: boolean): Groups {
  const { places } = model;
  const kind = LEVEL_KIND[level];
  const groupOf = new Int32Array(places.count).fill(NONE);
  const byFirst = new Map<PlaceIx, number>();
  let count = 0;
  let total = 0;
  for (let i = 0; i < places.count; i++) {
    if (places.kind[i] !== kind) continue;
    total++;
    const first = fuse ? places.same[i] : i;
    let group = byFirst.get(first);
    if (group === undefined) byFirst.set(first, (group = count++));
    groupOf[i] = group;
  }
  const start = new Uint32Array(count + 1);
  for (let i = 0; i < places.count; i++) if (groupOf[i] !== NONE) start[groupOf[i] + 1]++;
  for (let g = 0; g < count; g++) start[g + 1] += start[g];
  const next = start.slice();
  const members = new Uint32Array(total);
  const outermost = new Uint8Array(total);
  for (let i = 0; i < places.count; i++) {
    if (groupOf[i] === NONE) continue;
    const at = next[groupOf[i]]++;
    members[at] = i;
    outermost[at] =
      kind === Kind.Line || start[groupOf[i] + 1] - start[groupOf[i]] === 1 || !isNested(model, i, groupOf[i], groupOf)
        ? 1
        : 0;
  }
  return { count, start, members, outermost, groupOf };
}

/** Adding skips blanks; nothing but blanks is blank. */
const add = (sum: number, value: number): number =>
  Number.isNaN(value) ? sum : Number.isNaN(sum) ? value : sum + value;

/** A metric's value over several places: measured ones are summed, computed ones are their formula over the sums of
 *  what they name. */
export class Sums {
  private readonly formulas: (Formula | null)[];
  private readonly byName: ReadonlyMap<string, number>;

  constructor(private readonly model: Model) {
    this.formulas = model.metrics.map((m) => (m.summed ? null : parseFormula(m.formula)));
    this.byName = new Map(model.metrics.map((m, i) => [m.name, i]));
  }

  /** Of members[from .. to) of the groups, or of all places in `members` where `outermost` is null. */
  over(
    members: ArrayLike<PlaceIx>,
    outermost: Uint8Array | null,
    from: number,
    to: number,
    column: Column,
    depth = 0,
  ): number {
    const { model } = this;
    if (to - from === 1) return columnValues(model, column)[members[from]];
    const metric = metricOf(column);
    if (model.metrics[metric].summed) {
      const values = columnValues(model, column);
      let sum = NaN;
      for (let i = from; i < to; i++)
        if (isExclusive(column) || !outermost || outermost[i]) sum = add(sum, values[members[i]]);
      return sum;
    }
    const formula = this.formulas[metric];
    if (!formula || depth > 32) return NaN;
    return formula((name) => {
      const operand = this.byName.get(name);
      return operand === undefined
        ? NaN
        : this.over(members, outermost, from, to, operand * 2 + (column & 1), depth + 1);
    });
  }

  /** False where values of several places cannot be brought together for this metric. */
  canFuse(metric: number): boolean {
    return this.model.metrics[metric].summed || this.formulas[metric] !== null;
  }
}

/** One column of a flat table. */
export function groupValues(groups: Groups, sums: Sums, column: Column): Float64Array {
  const values = new Float64Array(groups.count);
  for (let g = 0; g < groups.count; g++)
    values[g] = sums.over(groups.members, groups.outermost, groups.start[g], groups.start[g + 1], column);
  return values;
}

/** Group numbers in the order of the table; `values` null: by name and line. */
export function sortedGroups(
  model: Model,
  groups: Groups,
  values: Float64Array | null,
  descending: boolean,
): Uint32Array {
  const order = Uint32Array.from({ length: groups.count }, (_, g) => g);
  if (values) return order.sort((a, b) => compareValues(values[a], values[b], descending) || a - b);
  const { places } = model;
  const first = (g: number): PlaceIx => groups.members[groups.start[g]];
  const named = places.count > 0 && groups.count > 0 && places.kind[first(0)] < Kind.Loop;
  const names = named ? Array.from(order, (g) => labelOf(model, first(g)).text) : [];
  const direction = descending ? -1 : 1;
  return order.sort((a, b) => {
    const p = first(a);
    const q = first(b);
    const byName = named ? (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0) : 0;
    return (
      direction * (byName || places.file[p] - places.file[q] || places.lineFirst[p] - places.lineFirst[q] || a - b)
    );
  });
}

/** The costliest member of a group: the one to go to. */
export function leader(model: Model, groups: Groups, group: number, column: Column): PlaceIx {
  const values = columnValues(model, column);
  let best = groups.members[groups.start[group]];
  for (let i = groups.start[group]; i < groups.start[group + 1]; i++)
    if (values[groups.members[i]] > values[best] || Number.isNaN(values[best])) best = groups.members[i];
  return best;
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
