// SPDX-License-Identifier: BSD-3-Clause
// What each thread and rank spent at a place: the rows of the table "thread_values", in which a thread that has none there
// spent nothing.

import { type Model, NONE, type PlaceIx, type TableInfo, type TableRows } from '../model/data';
import { niceStep } from './axis';

export interface Share {
  readonly process: number; // its rank, or a number behind those
  readonly thread: number;
  readonly name: string;
  readonly value: number;
}

/** Threads with less than this part of the busiest one's value are kept by a library, and sleep. */
const IDLE = 0.01;

export interface Distribution {
  readonly place: PlaceIx; // the requested scope, or the nearest one around it with values by thread
  readonly shares: readonly Share[]; // by rank, then by thread; without those that are idle all the time
  readonly idle: number; // how many those are
  readonly hasProcesses: boolean;
  readonly ranks: ReadonlySet<number>; // the processes that are ranks: mpirun and the like are not
}

const column = (info: TableInfo, name: string): number => info.columns.findIndex((c) => c.name === name);

/** The metrics (names) that are known by thread. */
export function metricsByThread(info: TableInfo, rows: TableRows): string[] {
  const at = column(info, 'metric');
  if (at < 0) return [];
  return [...new Set(Array.from(rows.cells[at], (cell) => rows.strings[cell] ?? ''))];
}

/** null: the table has nothing of this metric. */
export function distributionAt(
  model: Model,
  info: TableInfo,
  rows: TableRows,
  metric: string,
  place: PlaceIx,
): Distribution | null {
  const [places, metrics, processes, threads, names, values] = [
    'place',
    'metric',
    'process',
    'thread',
    'name',
    'value',
  ].map((name) => rows.cells[column(info, name)]);
  if (!places || !metrics || !processes || !threads || !values) return null;
  const known = new Set<PlaceIx>();
  const all = new Map<string, Share>();
  const busy = new Map<string, number>(); // the largest value of a thread: in the whole program, as a rule
  const isOfMetric = (row: number): boolean => rows.strings[metrics[row]] === metric;
  const key = (row: number): string => `${processes[row]} ${threads[row]}`;
  for (let row = 0; row < info.rows; row++) {
    if (!isOfMetric(row)) continue;
    known.add(places[row]);
    busy.set(key(row), Math.max(busy.get(key(row)) ?? 0, values[row] || 0));
    const name = names ? (rows.strings[names[row]] ?? '') : '';
    if (!all.has(key(row))) all.set(key(row), { process: processes[row], thread: threads[row], name, value: 0 });
  }
  if (all.size === 0) return null;
  let at = place;
  while (at !== NONE && !known.has(at)) at = model.places.parent[at];
  if (at === NONE) return null;
  for (let row = 0; row < info.rows; row++)
    if (places[row] === at && isOfMetric(row))
      all.set(key(row), { ...all.get(key(row))!, value: (all.get(key(row))!.value || 0) + values[row] });
  const least = IDLE * [...busy.values()].reduce((a, b) => Math.max(a, b), 0);
  const active = [...all].filter(([thread]) => busy.get(thread)! >= least);
  const shares = active.map(([, s]) => s).sort((a, b) => a.process - b.process || a.thread - b.thread);
  const parts = new Set(shares.map((s) => s.process));
  return { place: at, shares, idle: all.size - shares.length, hasProcesses: parts.size > 1, ranks: new Set(model.processes.map((p) => p.rank).filter((r) => parts.has(r))) };
}

export interface Summed {
  readonly mean: number;
  readonly least: Share;
  readonly most: Share;
  /** How much longer the last takes than all would if the work were even; of the mean. */
  readonly imbalance: number;
}

export function summed(shares: readonly Share[]): Summed {
  const mean = shares.reduce((sum, s) => sum + s.value, 0) / shares.length;
  const least = shares.reduce((a, b) => (b.value < a.value ? b : a));
  const most = shares.reduce((a, b) => (b.value > a.value ? b : a));
  return { mean, least, most, imbalance: mean > 0 ? most.value / mean - 1 : 0 };
}

/** The units that should be balanced: ranks, each with all its threads (those that a library keeps for itself wait), or threads. */
export function evenParts({ shares, ranks }: Distribution): readonly Share[] {
  if (ranks.size < 2) return shares;
  const all = new Map<number, Share>();
  for (const s of shares)
    if (ranks.has(s.process)) all.set(s.process, { ...s, value: (all.get(s.process)?.value ?? 0) + s.value });
  return [...all.values()];
}

export const sortedShares = (shares: readonly Share[]): Share[] =>
  [...shares].sort((a, b) => b.value - a.value || a.process - b.process || a.thread - b.thread);

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** How many threads have how much: bins of a round width. */
export function histogram(shares: readonly Share[]): Bin[] {
  const values = shares.map((s) => s.value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const wanted = Math.max(4, Math.min(24, Math.ceil(Math.sqrt(values.length)) + 1));
  const step = niceStep(high - low || Math.abs(high) || 1, wanted);
  const first = Math.floor(low / step);
  const bins = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => ({
    from: (first + i) * step,
    to: (first + i + 1) * step,
    count: 0,
  }));
  for (const v of values) bins[Math.min(bins.length - 1, Math.floor(v / step) - first)].count++;
  return bins;
}
