// SPDX-License-Identifier: BSD-3-Clause
// Phases and the barriers that end them, out of the tables of a database: stacks by run, the loops of a phase and the phases of
// a loop, kept episodes on a time axis, who waits for whom.

import { type Model, NONE, type PlaceIx, type TableInfo, type TableRows } from '../model/data';
import { cellText, rowsAbout } from './tables';

/** "rank 2 #0 app" is rank 2, "#1 app" thread 1: most threads have the name of their program. */
export const threadName = (text: string): string =>
  text.replace(/^(.*?) ?#(\d+)( .*)?$/, (_, who: string, n: string) => (who && n === '0' ? who : `${who} thread ${n}`.trim()));

/** A table that is here, by the names of its columns. */
export class Rows {
  readonly #columns = new Map<string, number>();

  constructor(
    private readonly model: Model,
    readonly info: TableInfo,
    readonly rows: TableRows,
  ) {
    info.columns.forEach((c, i) => this.#columns.set(c.name, i));
  }

  /** null: there is none, or it is not loaded yet. */
  static of(model: Model, name: string): Rows | null {
    const at = model.tables.findIndex((t) => t.name === name);
    const rows = at < 0 ? null : model.tableRows.of(at);
    return rows && new Rows(model, model.tables[at], rows);
  }

  get count(): number {
    return this.info.rows;
  }

  /** NaN (of references NONE): missing. */
  value(column: string, row: number): number {
    const at = this.#columns.get(column);
    return at === undefined ? NaN : this.rows.cells[at][row];
  }

  text(column: string, row: number): string {
    const at = this.#columns.get(column);
    if (at === undefined) return '';
    const text = cellText(this.model, this.info.columns[at], this.rows, this.rows.cells[at][row]);
    return this.info.columns[at].to === 'threads' ? threadName(text) : text;
  }

  /** Of which run a row is; the only one where tables do not say. */
  run(row: number): number {
    const run = this.value('run', row);
    return Number.isNaN(run) || run === NONE ? 0 : run;
  }

  all(): number[] {
    return Array.from({ length: this.count }, (_, i) => i);
  }
}

export interface Phase {
  readonly row: number; // of the table of barriers; NONE: several small ones
  readonly work: number; // ns until the first thread came
  readonly wait: number; // ns from the first to the last: the barrier time
  readonly colour: number; // the same for one barrier in all runs
}
export interface Stack {
  readonly run: number;
  readonly phases: readonly Phase[]; // in the order in which their barriers were met first
  readonly total: number;
}

const whole = (x: number): number => x || 0;

/** The key of a barrier, the same in every run. */
export const barrierName = (barriers: Rows, row: number): string =>
  [barriers.text('name', row), barriers.text('place', row), barriers.text('kind', row)].filter(Boolean).join(' ');

const phaseOf = (barriers: Rows, row: number, colour: number): Phase => {
  const phase = whole(barriers.value('phase', row));
  const wait = Math.min(whole(barriers.value('barrier', row)), phase);
  return { row, work: phase - wait, wait, colour };
};

/** The barriers with most phase time in any run; all others are one. */
function largest(barriers: Rows, most: number): ReadonlyMap<string, number> {
  const times = new Map<string, { time: number; first: number }>();
  for (const row of barriers.all()) {
    const name = barrierName(barriers, row);
    const known = times.get(name);
    const first = Math.min(whole(barriers.value('number', row)), known?.first ?? Infinity);
    times.set(name, { time: Math.max(whole(barriers.value('phase', row)), known?.time ?? 0), first });
  }
  const chosen = [...times].sort((a, b) => b[1].time - a[1].time).slice(0, most);
  return new Map(chosen.sort((a, b) => a[1].first - b[1].first).map(([name], i) => [name, i]));
}

/** One stack a run: phase 1, barrier 1, phase 2, ... */
export function stacks(barriers: Rows, most = 12): Stack[] {
  const colours = largest(barriers, most);
  const runs = [...new Set(barriers.all().map((row) => barriers.run(row)))].sort((a, b) => a - b);
  return runs.map((run) => {
    const rows = barriers.all().filter((row) => barriers.run(row) === run);
    const named = rows.map((row) => phaseOf(barriers, row, colours.get(barrierName(barriers, row)) ?? NONE));
    const shown = named.filter((p) => p.colour !== NONE).sort((a, b) => a.colour - b.colour);
    const rest = named.filter((p) => p.colour === NONE);
    const sum = (of: (p: Phase) => number): number => rest.reduce((all, p) => all + of(p), 0);
    const phases = rest.length
      ? [...shown, { row: NONE, work: sum((p) => p.work), wait: sum((p) => p.wait), colour: most }]
      : shown;
    return { run, phases, total: phases.reduce((all, p) => all + p.work + p.wait, 0) };
  });
}

export interface LoopOfPhase {
  readonly place: PlaceIx;
  readonly begun: number; // row of the table of barriers, NONE: before the first one
  readonly ended: number;
  readonly event: string;
  readonly share: number; // percent of the phase
  readonly samples: number;
}

const loopAt = (loops: Rows, row: number): LoopOfPhase => ({
  place: loops.value('place', row),
  begun: loops.value('begun', row),
  ended: loops.value('ended', row),
  event: loops.text('event', row),
  share: loops.value('share', row),
  samples: loops.value('samples', row),
});
const hottestFirst = (a: LoopOfPhase, b: LoopOfPhase): number => b.samples - a.samples || a.place - b.place;

/** The loops of the phases that this barrier ends, the hottest first. Phases that other barriers began count by their samples. */
export function loopsBefore(loops: Rows, barrier: number): LoopOfPhase[] {
  const all = loops.all().map((row) => loopAt(loops, row)).filter((l) => l.ended === barrier);
  const samples = new Map<string, number>(); // of an event, and of its phases that one barrier begins
  for (const l of all)
    for (const of of [`${l.event}`, `${l.begun} ${l.event}`]) samples.set(of, (samples.get(of) ?? 0) + l.samples);
  const found = new Map<string, LoopOfPhase>();
  for (const l of all) {
    const key = `${l.place} ${l.event}`;
    const known = found.get(key);
    const weight = samples.get(`${l.begun} ${l.event}`)! / (samples.get(`${l.event}`) || 1);
    found.set(key, { ...l, samples: l.samples + (known?.samples ?? 0), share: l.share * weight + (known?.share ?? 0) });
  }
  return [...found.values()].filter((l) => l.place !== NONE).sort(hottestFirst);
}

/** The phases in which a place, or what is in it, was sampled. */
export function phasesOf(model: Model, loops: Rows, place: PlaceIx): LoopOfPhase[] {
  const sums = new Map<string, LoopOfPhase>();
  for (const row of rowsAbout(model, loops.info, loops.rows, place)) {
    const loop = loopAt(loops, row);
    const key = `${loops.run(row)} ${loop.begun} ${loop.event}`;
    const known = sums.get(key);
    sums.set(key, {
      ...loop,
      place,
      share: loop.share + (known?.share ?? 0),
      samples: loop.samples + (known?.samples ?? 0),
    });
  }
  return [...sums.values()].sort(hottestFirst);
}

export interface Bar {
  readonly lane: number;
  readonly episode: number; // row of the table of episodes
  readonly begin: number; // ns after the first
  readonly arrived: number;
  readonly last: number; // when the last one came
}
export interface Timeline {
  readonly lanes: readonly string[]; // threads
  readonly bars: readonly Bar[];
  readonly end: number;
}

const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** The kept episodes of a run: each thread works from the phase's begin until it arrives, and waits until the last has. */
export function timeline(episodes: Rows, arrivals: Rows, run: number): Timeline {
  const rows = arrivals.all().filter((row) => arrivals.run(row) === run && arrivals.value('episode', row) !== NONE);
  const names = new Map<number, string>(rows.map((row) => [arrivals.value('thread', row), arrivals.text('thread', row)]));
  const order = [...names.keys()].sort((a, b) => byName(names.get(a)!, names.get(b)!) || a - b);
  const lanes = new Map(order.map((thread, i) => [thread, i]));
  const begins = rows.map((row) => episodes.value('begin', arrivals.value('episode', row)));
  const origin = begins.reduce((least, t) => Math.min(least, t), Infinity);
  const bars = rows.map((row) => {
    const episode = arrivals.value('episode', row);
    return {
      lane: lanes.get(arrivals.value('thread', row))!,
      episode,
      begin: episodes.value('begin', episode) - origin,
      arrived: arrivals.value('arrived', row) - origin,
      last: episodes.value('last', episode) - origin,
    };
  });
  bars.sort((a, b) => a.begin - b.begin || a.lane - b.lane);
  return { lanes: order.map((t) => names.get(t)!), bars, end: bars.reduce((most, b) => Math.max(most, b.last), 0) };
}

export interface InRange {
  readonly work: number; // of all threads, ns
  readonly wait: number;
  readonly episodes: number;
  readonly barriers: readonly { readonly row: number; readonly work: number; readonly wait: number; readonly last: string }[]; // the longest first
}

/** What threads did between two times, as far as episodes of it are kept. */
export function inRange(data: Timeline, episodes: Rows, from: number, to: number): InRange {
  const part = (begin: number, end: number): number => Math.max(0, Math.min(end, to) - Math.max(begin, from));
  const barriers = new Map<number, { row: number; work: number; wait: number; lasts: number[] }>();
  const met = new Set<number>();
  for (const b of data.bars) {
    if (!(part(b.begin, b.last) > 0)) continue;
    met.add(b.episode);
    const row = episodes.value('barrier', b.episode);
    const one = barriers.get(row) ?? { row, work: 0, wait: 0, lasts: data.lanes.map(() => 0) };
    barriers.set(row, one);
    one.work += part(b.begin, b.arrived);
    one.wait += part(b.arrived, b.last);
    if (b.arrived === b.last) one.lasts[b.lane]++;
  }
  const all = [...barriers.values()].sort((a, b) => b.work + b.wait - a.work - a.wait);
  return {
    work: all.reduce((sum, b) => sum + b.work, 0),
    wait: all.reduce((sum, b) => sum + b.wait, 0),
    episodes: met.size,
    barriers: all.map(({ row, work, wait, lasts }) => ({ row, work, wait, last: data.lanes[lasts.indexOf(Math.max(...lasts))] })),
  };
}

/** The places of these phases, by their shares of them in the whole run: of 1, the hottest first. */
export function placesInRange(loops: Rows, range: InRange): [PlaceIx, number][] {
  const places = new Map<PlaceIx, number>();
  for (const { row, work, wait } of range.barriers)
    for (const { place, share } of loopsBefore(loops, row))
      places.set(place, (places.get(place) ?? 0) + ((share / 100) * (work + wait)) / (range.work + range.wait));
  return [...places].sort((a, b) => b[1] - a[1]);
}

export interface Matrix {
  readonly waiters: readonly string[];
  readonly others: readonly string[];
  readonly waited: (waiter: string, other: string) => number; // ns
  readonly most: number;
}

/** Wait matrix of a run: waiting threads and those they waited for. */
export function whoWaits(waits: Rows, run: number): Matrix {
  const rows = waits.all().filter((row) => waits.run(row) === run);
  const names = (column: string): string[] => [...new Set(rows.map((row) => waits.text(column, row)))].sort(byName);
  const sums = new Map<string, number>();
  for (const row of rows) {
    const key = `${waits.text('waiter', row)}\n${waits.text('thread', row)}`;
    sums.set(key, (sums.get(key) ?? 0) + whole(waits.value('waited', row)));
  }
  return {
    waiters: names('waiter'),
    others: names('thread'),
    waited: (waiter, other) => sums.get(`${waiter}\n${other}`) ?? 0,
    most: Math.max(...sums.values(), 1),
  };
}

export interface Efficiency {
  readonly parallel: number; // of 1
  readonly balance: number;
}

/** How much of the threads' time is work and not waiting, over all barriers; null: not measured, or one thread. */
export function efficiency(model: Model): Efficiency | null {
  const rows = Rows.of(model, 'barrier_threads');
  if (!rows) return null;
  const busy = new Map<number, number>();
  let waited = 0;
  for (const row of rows.all()) {
    const thread = rows.value('thread', row);
    busy.set(thread, (busy.get(thread) ?? 0) + whole(rows.value('busy', row)));
    waited += whole(rows.value('waited', row));
  }
  const all = [...busy.values()];
  const sum = all.reduce((a, b) => a + b, 0);
  if (all.length < 2 || !(sum > 0)) return null;
  return { parallel: sum / (sum + waited), balance: sum / all.length / Math.max(...all) };
}
