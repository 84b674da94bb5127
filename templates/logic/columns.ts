// SPDX-License-Identifier: BSD-3-Clause
// Columns: a metric, a formula, a difference, a ratio: whatever has a value at a place or a set of places. A column is
// named by a short text, which stands in the address:
//
//     3i  3e        metric 3, inclusive and exclusive
//     t0i           the first metric typed in the page
//     3-1i  3/1i    metric 3 less metric 1, and divided by it

import { Kind, type Metric, type MetricIx, type Model, NONE, type PlaceIx, type Present } from '../model/data';
import { cellCount, type Cells, type Groups, sumOver } from './cells';
import { type Formula, parseFormula, quoteName, readFormula, type Reference } from './formula';
import { shortName } from './labels';

export type ColumnId = string;

/** A metric that somebody typed. */
export interface Typed {
  readonly name: string;
  readonly formula: string;
}

export interface Column {
  readonly id: ColumnId;
  readonly metric: Metric; // its title, and its unit
  readonly exclusive: boolean;
  readonly index: MetricIx; // of the database; NONE: computed by the page
  readonly formula: Formula | null; // of columns that are not stored, and of stored values over several places
  readonly difference: { readonly of: Column; readonly base: Column } | null;
  readonly operands: readonly Column[];
}

export const columnId = (metric: MetricIx, exclusive: boolean): ColumnId => `${metric}${exclusive ? 'e' : 'i'}`;

const isMeasured = (metric: Metric): boolean => metric.formula === '';

export class Columns {
  readonly #known = new Map<ColumnId, Column | null>();
  readonly #byName = new Map<string, string>(); // name: id without its last letter
  readonly #computed = new WeakMap<object, Map<ColumnId, Float64Array>>();
  readonly #ofPlaces = {}; // the key of `computed` for places themselves
  readonly #blanks = new Map<number, Float64Array>();
  private modules: Int32Array | null = null;

  constructor(
    readonly model: Model,
    readonly typed: readonly Typed[] = [],
  ) {
    model.metrics.forEach((m, i) => this.#byName.set(m.name, String(i)));
    model.metrics.forEach((m, i) => this.#byName.has(m.displayName) || this.#byName.set(m.displayName, String(i)));
    model.metrics.forEach((m, i) => this.#byName.has(shortName(m)) || this.#byName.set(shortName(m), String(i)));
    typed.forEach((t, i) => this.#byName.has(t.name) || this.#byName.set(t.name, `t${i}`));
  }

  /** null: there is no such column in this database. */
  get(id: ColumnId): Column | null {
    let column = this.#known.get(id);
    if (column === undefined) {
      this.#known.set(id, null); // a formula cannot name itself
      this.#known.set(id, (column = this.#make(id)));
    }
    return column;
  }

  of(metric: MetricIx, exclusive = false): Column {
    return this.get(columnId(metric, exclusive && this.model.metrics[metric].hasExclusive))!;
  }

  #make(id: ColumnId): Column | null {
    const match = /^(t?)(\d+)(?:([-/])(\d+))?([ie])$/.exec(id);
    if (!match) return null;
    const exclusive = match[5] === 'e';
    if (match[3]) return match[1] ? null : this.#makePair(id, Number(match[2]), match[3], Number(match[4]), exclusive);
    return match[1]
      ? this.#makeTyped(id, Number(match[2]), exclusive)
      : this.#makeMetric(id, Number(match[2]), exclusive);
  }

  /** The metric's number, by the run, name and statistic of an operand in a formula. */
  #indexOf(r: Reference): string | undefined {
    const inRun = r.run ? `${r.run}.${r.name}` : r.name;
    if (!r.statistic) return this.#byName.get(inRun);
    const statistic = (name: string): string => `${r.statistic}(${quoteName(name)} over ${r.over})`;
    const names = [statistic(inRun), r.run ? `${r.run}.${statistic(r.name)}` : statistic(r.name)];
    return names.map((n) => this.#byName.get(n)).find((at) => at !== undefined);
  }

  /** The columns that a formula's references are of; a whole is inclusive unless the formula says otherwise. */
  #named(references: readonly Reference[], exclusive: boolean): Column[] | null {
    const columns = references.map((r) => {
      const at = this.#indexOf(r);
      const own = r.form ? r.form === 'exclusive' : r.at === '' && exclusive;
      return at === undefined ? null : (this.get(`${at}${own ? 'e' : 'i'}`) ?? this.get(`${at}i`));
    });
    return columns.every((c) => c !== null) ? columns : null;
  }

  #makeMetric(id: ColumnId, index: number, exclusive: boolean): Column | null {
    const metric = this.model.metrics[index];
    if (!metric || (exclusive && !metric.hasExclusive)) return null;
    const formula = isMeasured(metric) ? null : parseFormula(metric.formula);
    const operands = formula ? this.#named(formula.references, exclusive) : null;
    let difference: Column['difference'] = null;
    if (formula?.isDifference && operands?.length === 2) {
      const [of, base] = operands;
      const comparable = isMeasured(of.metric) && isMeasured(base.metric) && of.metric.event === base.metric.event;
      if (comparable && of.metric.unit === base.metric.unit) difference = { of, base };
    }
    return { id, metric, exclusive, index, formula: operands && formula, difference, operands: operands ?? [] };
  }

  #makeTyped(id: ColumnId, index: number, exclusive: boolean): Column | null {
    const typed = this.typed[index];
    const wanted = typed && parseFormula(typed.formula);
    const operands = wanted && this.#named(wanted.references, exclusive);
    if (!wanted || !operands) return null;
    const units = new Set(operands.map((o) => o.metric.unit));
    const formula = parseFormula(
      typed.formula,
      [...units].find((u) => /^[num]?s$/u.test(u)),
    )!;
    const isSum = formula.isSum && units.size === 1 && formula.references.every((r) => r.at === '');
    return {
      id,
      metric: computedMetric(typed.name, typed.formula, isSum ? [...units][0] : '', 'Typed in this page'),
      exclusive,
      index: NONE,
      formula,
      difference: null,
      operands,
    };
  }

  #makePair(id: ColumnId, a: number, sign: string, b: number, exclusive: boolean): Column | null {
    const of = this.get(columnId(a, exclusive));
    const base = this.get(columnId(b, exclusive));
    if (!of || !base) return null;
    const text = `"${of.metric.name}" ${sign} "${base.metric.name}"`;
    const name =
      sign === '-'
        ? `${of.metric.displayName} − ${base.metric.displayName}`
        : `${of.metric.displayName} ÷ ${base.metric.displayName}`;
    const metric = computedMetric(
      name,
      text,
      sign === '-' ? of.metric.unit : '',
      sign === '-' ? 'A difference: + is more than in the base run' : 'A ratio: 1 is as in the base run',
    );
    const formula = parseFormula(text);
    return {
      id,
      metric,
      exclusive,
      index: NONE,
      formula,
      difference: sign === '-' ? { of, base } : null,
      operands: [of, base],
    };
  }

  // ---- values ----

  /** The metrics of the database a column is made of. */
  metricsOf(column: Column): MetricIx[] {
    if (column.difference || column.index === NONE) return column.operands.flatMap((o) => this.metricsOf(o));
    return [column.index];
  }

  /** Requests missing data. */
  isReady(column: Column): boolean {
    // all of them, so that all are asked for at once
    const { values } = this.model;
    const isHere = (m: MetricIx): boolean =>
      (values.present ? values.present(m, column.exclusive) : values.of(m, column.exclusive)) !== null;
    return this.metricsOf(column).filter((m) => !isHere(m)).length === 0;
  }

  failure(column: Column): string | undefined {
    return this.metricsOf(column)
      .map((m) => this.model.values.failure(m))
      .find((f) => f !== undefined);
  }

  /** By cell; blank where a block is still missing. Remembered as long as the cells live. */
  values(column: Column, cells: Cells): Float64Array {
    if (!cells && column.index !== NONE && !column.difference)
      return this.model.values.of(column.index, column.exclusive) ?? this.#blank(this.model.places.count);
    const key = cells ?? this.#ofPlaces;
    let all = this.#computed.get(key);
    if (!all) this.#computed.set(key, (all = new Map()));
    let values = all.get(column.id);
    if (values) return values;
    if (!this.isReady(column)) return this.#blank(cellCount(this.model, cells));
    values = this.#compute(column, cells);
    all.set(column.id, values);
    return values;
  }

  /** At one place; of stored values, the others need not be made for it. */
  at(column: Column, place: PlaceIx): number {
    const { values } = this.model;
    if (column.index !== NONE && !column.difference && values.at)
      return values.at(column.index, column.exclusive, place) ?? NaN;
    return this.values(column, null)[place];
  }

  /** Of some cells (null: all) those without a value; null: that is not here (yet). Stored values are not made for it. */
  blankAmong(column: Column, cells: Cells, among: Uint32Array | null): Uint32Array | null {
    const isStored = column.index !== NONE && !column.difference && !(cells && column.formula);
    const present = isStored ? this.model.values.present?.(column.index, column.exclusive) : undefined;
    if (present === null || (present === undefined && !this.isReady(column))) return null;
    const count = among?.length ?? cellCount(this.model, cells);
    const blank = new Uint32Array(count);
    let n = 0;
    if (present && !cells) {
      const { state, bits } = present;
      for (let i = 0; i < count; i++) if ((state[among ? among[i] : i] & bits) === 0) blank[n++] = among ? among[i] : i;
    } else if (present && cells) {
      const has = groupHas(present, cells, column.exclusive);
      for (let i = 0; i < count; i++) if (!has(among ? among[i] : i)) blank[n++] = among ? among[i] : i;
    } else {
      const values = this.values(column, cells);
      for (let i = 0; i < count; i++) if (Number.isNaN(values[among ? among[i] : i])) blank[n++] = among ? among[i] : i;
    }
    return blank.slice(0, n);
  }

  /** One for all columns that are not here. */
  #blank(count: number): Float64Array {
    let values = this.#blanks.get(count);
    if (!values) this.#blanks.set(count, (values = new Float64Array(count).fill(NaN)));
    return values;
  }

  #compute(column: Column, cells: Cells): Float64Array {
    if (column.difference) return this.#difference(column.difference.of, column.difference.base, cells);
    const count = cellCount(this.model, cells);
    if (cells && column.index !== NONE && (column.metric.summed || !column.formula)) {
      const stored = this.model.values.of(column.index, column.exclusive);
      if (!stored) return this.#blank(count);
      const sums = sumOver(cells, stored, column.exclusive);
      if (!column.metric.summed)
        for (let g = 0; g < count; g++) if (cells.start[g + 1] - cells.start[g] > 1) sums[g] = NaN;
      return sums;
    }
    return this.#evaluate(column, cells);
  }

  #evaluate(column: Column, cells: Cells): Float64Array {
    const count = cellCount(this.model, cells);
    if (!column.formula) return this.#blank(count);
    const { references } = column.formula;
    return column.formula.evaluate((i) => this.#operand(references[i], column.operands[i], cells), count);
  }

  /** The formula's value at each place, ignoring stored ones; null: an operand is not here yet. */
  byFormula(column: Column): Float64Array | null {
    return column.operands.filter((o) => !this.isReady(o)).length ? null : this.#evaluate(column, null);
  }

  #operand(r: Reference, column: Column, cells: Cells): Float64Array | number {
    if (r.at === 'total') return this.values(column, null)[0] ?? NaN;
    if (r.at === '') return this.values(column, cells);
    if (cells) return NaN; // several places have no one parent
    const values = this.values(column, null);
    return values.map((_, place) => values[this.model.places.parent[place]] ?? NaN);
  }

  /** A place that ran in only one of the runs is 0 in the other, if its module was measured there. */
  #difference(of: Column, base: Column, cells: Cells): Float64Array {
    const a = this.values(of, cells);
    const b = this.values(base, cells);
    const inA = this.#measured(of);
    const inB = this.#measured(base);
    const out = new Float64Array(a.length);
    for (let i = 0; i < out.length; i++) {
      let x = a[i];
      let y = b[i];
      if (Number.isNaN(x) && !Number.isNaN(y) && this.#anyMeasured(inA, cells, i)) x = 0;
      if (Number.isNaN(y) && !Number.isNaN(x) && this.#anyMeasured(inB, cells, i)) y = 0;
      out[i] = x - y;
    }
    return out;
  }

  /** By place: whether its module has a value (of a module, the program), or was there without a sample. */
  #measured(column: Column): (place: number) => boolean {
    const values = this.values(this.get(`${column.id.slice(0, -1)}i`) ?? column, null);
    const { modules } = this.#withModules();
    const { places, runs } = this.model;
    const there = new Set(runs[column.metric.run]?.modules);
    const idle = (place: number): boolean =>
      places.kind[place] === Kind.Module && there.has(places.strings[places.name[place]].replace(/^.*\//, ''));
    return (place) => !Number.isNaN(values[modules[place]]) || idle(place) || idle(modules[place]);
  }

  #withModules(): { modules: Int32Array } {
    const { places } = this.model;
    if (!this.modules) {
      this.modules = new Int32Array(places.count);
      for (let i = 0; i < places.count; i++) {
        const up = places.parent[i];
        this.modules[i] = places.kind[up] === Kind.Module ? up : this.modules[up]; // of modules 0, the program
      }
    }
    return { modules: this.modules };
  }

  #anyMeasured(measured: (place: number) => boolean, cells: Cells, cell: number): boolean {
    if (!cells) return measured(cell);
    for (let i = cells.start[cell]; i < cells.start[cell + 1]; i++) if (measured(cells.members[i])) return true;
    return false;
  }

  // ---- what its numbers mean ----

  /** Of the whole program. */
  total(column: Column): number {
    const inclusive = column.exclusive ? (this.get(`${column.id.slice(0, -1)}i`) ?? column) : column;
    return this.at(inclusive, 0) ?? NaN;
  }

  /** The value of 100%; NaN: shares of it are meaningless. */
  whole(column: Column): number {
    if (column.difference) return Math.abs(this.total(column.difference.base));
    return column.metric.percent ? Math.abs(this.total(column)) : NaN;
  }

  /** Twice the standard deviation of a sampled value; 0: exact; NaN: not known. */
  error(column: Column, value: number, cells: Cells = null, cell = 0): number {
    if (Number.isNaN(value)) return NaN;
    if (column.difference) {
      const { of, base } = column.difference;
      const a = this.error(of, zero(cells ? this.values(of, cells)[cell] : this.at(of, cell)));
      const b = this.error(base, zero(cells ? this.values(base, cells)[cell] : this.at(base, cell)));
      return Math.hypot(a, b);
    }
    if (!isMeasured(column.metric)) return NaN;
    return 2 * Math.sqrt(Math.abs(value) * column.metric.period);
  }

  /** Whether a value is worth a place among the largest: a ratio says little where next to nothing ran. */
  isRatio(column: Column): boolean {
    return !column.metric.summed && !column.difference;
  }

  /** Why this cannot be a metric of the page, or null. */
  refuse(typed: Typed): string | null {
    if (!/^[\p{L}_][\p{L}\p{N}_:.]*$/u.test(typed.name))
      return 'A metric is given as NAME = FORMULA; a name is letters, digits, _, . and :';
    if (this.#byName.has(typed.name)) return `There is a metric '${typed.name}' already`;
    const formula = readFormula(typed.formula);
    if (typeof formula === 'string') return `${typed.name}: ${formula}`;
    const unknown = formula.references.find((r) => this.#indexOf(r) === undefined);
    if (!unknown) return null;
    const quoted = [...this.#byName.keys()].find((n) => n.includes(unknown.name) && /[^\p{L}\p{N}_:.]/u.test(n));
    return `${typed.name}: there is no metric '${unknown.name}' before this one${quoted ? `; a name like "${quoted}" is given in quotes` : ''}`;
  }
}

/** Whether any member of a group that counts has a value. */
function groupHas({ state, bits }: Present, { start, members, own, outermost }: Groups, exclusive: boolean): (g: number) => boolean {
  const counts = exclusive ? own : outermost;
  return (g) => {
    for (let i = start[g]; i < start[g + 1]; i++)
      if ((state[members[i]] & bits) !== 0 && (counts === null || counts[i] !== 0)) return true;
    return false;
  };
}

const zero = (x: number): number => (Number.isNaN(x) ? 0 : x);

function computedMetric(name: string, formula: string, unit: string, description: string): Metric {
  return {
    name,
    displayName: name,
    unit,
    description,
    formula,
    event: '',
    period: 0,
    percent: false,
    display: true,
    sortBy: false,
    estimated: false,
    hasExclusive: true,
    summed: false,
    run: NONE,
  };
}
