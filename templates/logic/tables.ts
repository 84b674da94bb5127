// SPDX-License-Identifier: BSD-3-Clause
// Tables beside the places: which of their rows are about a place, and what their cells say.

import { type Model, NONE, type PlaceIx, type TableColumn, type TableInfo, type TableRows } from '../model/data';
import { formatExact } from './format';
import { labelOf } from './labels';

/** Whether rows of a table are about places. */
export const isAboutPlaces = (info: TableInfo): boolean =>
  info.columns.some((c) => c.type === 'ref' && c.to === 'place');

/** A table's rows, the weightiest first; of a table about places only those about `place` or its descendants. */
export function rowsAbout(model: Model, info: TableInfo, rows: TableRows, place: PlaceIx): number[] {
  const refs = info.columns.flatMap((c, i) => (c.type === 'ref' && c.to === 'place' ? [rows.cells[i]] : []));
  const within = refs.length && place !== 0 ? placesWithin(model, place) : null;
  const found: number[] = [];
  for (let row = 0; row < info.rows; row++)
    if (!within || refs.some((cells) => cells[row] >= 0 && within[cells[row]])) found.push(row);
  const weight = info.columns.findIndex((c) => c.type === 'count' || c.type === 'number');
  if (weight < 0) return found;
  const w = rows.cells[weight];
  return found.sort((a, b) => (w[b] || 0) - (w[a] || 0));
}

/** By place: it is `place`, or inside it. */
export function placesWithin(model: Model, place: PlaceIx): Uint8Array {
  const { parent, count } = model.places;
  const within = new Uint8Array(count);
  within[place] = 1;
  for (let i = place + 1; i < count; i++) within[i] = within[parent[i]];
  return within;
}

/** A cell as text; "" for missing. */
export function cellText(model: Model, column: TableColumn, rows: TableRows, cell: number): string {
  if (Number.isNaN(cell)) return '';
  switch (column.type) {
    case 'text':
      return rows.strings[cell] ?? '';
    case 'ref':
      return refText(model, column, cell);
    case 'time':
      return `${(cell / 1e9).toFixed(6)} s`;
    default:
      return number(cell);
  }
}

function refText(model: Model, column: TableColumn, row: number, depth = 0): string {
  if (row === NONE) return '';
  if (column.to === 'place' && row < model.places.count) return labelOf(model, row).text;
  if (column.to === 'metric') return model.metrics[row]?.displayName ?? '';
  if (column.to === 'file') return model.files[row]?.name ?? '';
  if (column.to === 'run') return model.runs[row]?.name ?? '';
  if (column.to === 'process') {
    const process = model.processes[row];
    return process ? (process.rank >= 0 ? `rank ${process.rank}` : process.source) : '';
  }
  return tableRefText(model, column, row, depth);
}

const isAlone = (model: Model, process: number): boolean =>
  model.processes.length === 1 || model.runs.some((run) => run.processes === 1 && run.firstProcess === process);

/** A row of another table is called by its columns up to the first text; without texts, up to the first number. */
function tableRefText(model: Model, column: TableColumn, row: number, depth: number): string {
  const at = model.tables.findIndex((t) => t.name === column.to);
  const rows = at < 0 || depth > 2 ? null : model.tableRows.of(at);
  if (!rows) return `${column.to} ${row}`;
  const { columns } = model.tables[at];
  const last = columns.some((c) => c.type === 'text') ? 'text' : 'count';
  const until = columns.findIndex((c) => c.type === last);
  const words = columns.slice(0, until < 0 ? columns.length : until + 1).map((c, i) => {
    const cell = rows.cells[i][row];
    if (c.type === 'time' || c.type === 'number' || Number.isNaN(cell)) return '';
    if (c.to === 'process' && isAlone(model, cell)) return ''; // its run has no other
    if (c.type === 'count') return `#${cell}`;
    return c.type === 'text' ? (rows.strings[cell] ?? '') : refText(model, c, cell, depth + 1);
  });
  return words.filter(Boolean).join(' ') || `${column.to} ${row}`;
}

function number(x: number): string {
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e15) return formatExact(x);
  return (size >= 1e6 || size < 1e-3 ? x.toExponential(3) : String(Number(x.toPrecision(4)))).replace(/^-/, '−');
}

export interface Finding {
  readonly place: PlaceIx; // NONE: about the whole run
  readonly severity: number; // 0 to 1; NaN: unknown
  readonly confidence: number; // 0 to 1; NaN: unknown
  readonly weight: number; // the sort key: the severity, which is the likely gain
  readonly title: string;
  readonly run: string; // of several
  readonly more: readonly string[]; // evidence, remedy
}

/** Texts of a finding that the table has and a list has no space for. */
const LONG_TEXTS = new Set(['explanation', 'path', 'name']);

/** The rows of the table "findings", the worst first; null: there is none, or it is not loaded yet. */
export function findings(model: Model): readonly Finding[] | null {
  const at = model.tables.findIndex((t) => t.name === 'findings');
  const rows = at < 0 ? null : model.tableRows.of(at);
  if (!rows) return null;
  const { columns } = model.tables[at];
  const place = columns.findIndex((c) => c.type === 'ref' && c.to === 'place');
  const severity = columns.findIndex((c) => c.name === 'severity');
  const confidence = columns.findIndex((c) => c.name === 'confidence');
  const scale = columns[severity]?.unit === '%' ? 0.01 : 1;
  const texts = columns.flatMap((c, i) => (c.type === 'text' && !LONG_TEXTS.has(c.name) ? [i] : []));
  const run = columns.findIndex((c) => c.type === 'ref' && c.to === 'run');
  const text = (column: number, row: number): string => rows.strings[rows.cells[column][row]] ?? '';
  const all = Array.from({ length: model.tables[at].rows }, (_, row) => ({
    place: place < 0 ? NONE : rows.cells[place][row],
    severity: severity < 0 ? NaN : rows.cells[severity][row] * scale,
    confidence: confidence < 0 ? NaN : rows.cells[confidence][row],
    weight: severity < 0 ? 0 : rows.cells[severity][row],
    title: texts.length ? text(texts[0], row) : '',
    run: run < 0 ? '' : refText(model, columns[run], rows.cells[run][row]),
    more: texts
      .slice(1)
      .map((t) => text(t, row))
      .filter(Boolean),
  }));
  return all.sort((a, b) => (b.weight || 0) - (a.weight || 0));
}
