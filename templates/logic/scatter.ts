// SPDX-License-Identifier: BSD-3-Clause
// Two facts about each loop, one against the other. What can stand on an axis: metrics, and the numbers that tables have
// about loops (the flops of an iteration, the cycles it takes at least).

import { Kind, type Model, NONE, type PlaceIx } from '../model/data';
import { leader } from './cells';
import type { Column, Columns } from './columns';
import { shortName } from './labels';
import type { Tables } from './rows';
import { countUp, sortedByValue } from './sort';

export interface AxisChoice {
  readonly id: string; // a column's, "1/" and one, or "table.column"
  readonly title: string;
  readonly unit: string;
  readonly column: Column | null;
  readonly table: number; // NONE: of a metric
  readonly tableColumn: number;
}

const NOT_A_FACT = new Set(['confidence', 'severity', 'line', 'gain']);

/** Metrics first. */
export function axisChoices(columns: Columns, shown: readonly Column[]): AxisChoice[] {
  const { model } = columns;
  const metrics = [...new Set([...shown, ...model.metrics.map((_, i) => columns.of(i))])];
  const choices: AxisChoice[] = metrics
    .filter((c) => !c.exclusive)
    .map((column) => ({
      id: column.id,
      title: shortName(column.metric),
      unit: column.metric.unit,
      column,
      table: NONE,
      tableColumn: NONE,
    }));
  for (const column of metrics.filter((c) => /^(MEMORY_BALANCE|BYTES_PER_FLOP)$/.test(c.metric.name)))
    choices.push({
      id: `1/${column.id}`,
      title: 'operations per byte',
      unit: 'FLOP/B',
      column,
      table: NONE,
      tableColumn: NONE,
    });
  model.tables.forEach((info, table) => {
    const about = info.columns.filter((c) => c.type === 'ref');
    if (info.name !== 'loop_quality' || about.length !== 1 || about[0].to !== 'place') return;
    info.columns.forEach((c, tableColumn) => {
      if (c.type !== 'number' || NOT_A_FACT.has(c.name)) return;
      const id = `${info.name}.${c.name}`;
      choices.push({ id, title: c.title, unit: c.unit, column: null, table, tableColumn });
    });
  });
  return choices;
}

export interface Dot {
  readonly place: PlaceIx;
  readonly x: number;
  readonly y: number;
  readonly weight: number; // 0 to 1: its part of the program
}

const MOST = 1500;

/** One dot for each loop of the source that has both, the heaviest last; null: something is still on its way. */
export function dotsOf(columns: Columns, tables: Tables, x: AxisChoice, y: AxisChoice, weight: Column): Dot[] | null {
  const cells = tables.level('loop', true);
  const [a, b] = [x, y].map((axis) => valuesOf(columns, axis, cells.groupOf, cells.count, cells));
  if (!a || !b || !columns.isReady(weight)) return null;
  const weights = columns.values(weight, cells);
  const byPlace = columns.values(weight, null);
  const whole = columns.total(weight);
  const order = sortedByValue(
    countUp(cells.count).filter(
      (g) => Number.isFinite(a[g]) && Number.isFinite(b[g]),
    ),
    weights,
    true,
  );
  return Array.from(order.subarray(0, MOST), (g) => ({
    place: leader(cells, g, byPlace),
    x: a[g],
    y: b[g],
    weight: Math.max(0, weights[g] / whole || 0),
  })).reverse();
}

function valuesOf(
  columns: Columns,
  axis: AxisChoice,
  groupOf: Int32Array,
  count: number,
  cells: ReturnType<Tables['level']>,
): Float64Array | null {
  if (axis.column) {
    if (!columns.isReady(axis.column)) return null;
    const values = columns.values(axis.column, cells);
    return axis.id.startsWith('1/') ? values.map((v) => 1 / v) : values;
  }
  return tableValues(columns.model, axis, groupOf, count);
}

/** Of a loop with several copies: that of the copy with the largest value. */
function tableValues(model: Model, axis: AxisChoice, groupOf: Int32Array, count: number): Float64Array | null {
  const rows = model.tableRows.of(axis.table);
  if (!rows) return null;
  const info = model.tables[axis.table];
  const places = rows.cells[info.columns.findIndex((c) => c.type === 'ref' && c.to === 'place')];
  const out = new Float64Array(count).fill(NaN);
  places.forEach((place, row) => {
    if (model.places.kind[place] !== Kind.Loop) return;
    const value = rows.cells[axis.tableColumn][row];
    const group = groupOf[place];
    if (value > out[group] || Number.isNaN(out[group])) out[group] = value;
  });
  return out;
}

export interface Roof {
  readonly flops: number; // the largest y seen
  readonly bytes: number; // the largest y / x seen
}

/** If x is work per byte and y work per second, the roofline that the dots themselves show to be possible; null: otherwise. */
export function roofOf(x: AxisChoice, y: AxisChoice, dots: readonly Dot[]): Roof | null {
  if (!/^flops?\/b(ytes?)?$/i.test(x.unit) || !/^[GMT ]*flops?\/s$/i.test(y.unit)) return null;
  const known = dots.filter((d) => d.x > 0 && d.y > 0);
  if (known.length === 0) return null;
  return { flops: Math.max(...known.map((d) => d.y)), bytes: Math.max(...known.map((d) => d.y / d.x)) };
}
