// SPDX-License-Identifier: BSD-3-Clause
// The top of the front page: what was measured, run by run, and where the time went as bars: modules, threads, phases, arrays.

import { type Metric, NONE, type PlaceIx, type Process, type Run } from '../model/data';
import type { Column } from '../logic/columns';
import { allDifferences, counterpart, differences, firstDifference } from '../logic/compare';
import { distributionAt, evenParts, type Share, sortedShares, summed } from '../logic/distribution';
import { formatExact, formatPercent, formatShort, plural, scaleFor, timeText } from '../logic/format';
import { shortName } from '../logic/labels';
import { Memory } from '../logic/memory';
import { barrierName, Rows, stacks } from '../logic/phases';
import { type Part, whereParts } from '../logic/summary';
import type { App } from './app';
import { nameOf } from './distribution';
import { h, muted, visible } from './dom';

const MOST_PARTS = 6; // --part-N; 0 is waiting, 7 the rest
const MOST_RUNS = 6;
const MOST_BARS = 64; // threads, sorted; of more every n-th
const TIME_UNITS = ['ns', 'us', 'µs', 'ms', 's', 'seconds'];

export const isTime = (m: Metric): boolean => m.formula === '' && TIME_UNITS.includes(m.unit);

// ---- facts ----

/** `column`: the default metric; null: nothing was measured. */
export function factsStrip(app: App, column: Column | null): HTMLElement {
  const { runs, processes } = app.model;
  const first = processes[runs[0]?.root ?? 0];
  const lines = [first ? runLine(app, first) : [], ...numberLines(app, column)];
  return h(
    'section',
    { class: 'strip', 'aria-label': 'What was measured' },
    ...lines.filter((l) => l.length > 0).map((l) => h('p', { class: 'facts-line' }, ...l)),
  );
}

function runLine(app: App, first: Process): (HTMLElement | string)[] {
  const { processes } = app.model;
  const commands = [...new Set([first, ...processes].map((p) => p.command))];
  const started =
    first.startMs > 0
      ? new Date(first.startMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
      : '';
  const hosts = [...new Set(processes.map((p) => p.host))];
  const facts = [
    hosts.length > 1 ? plural(hosts.length, 'host') : first.host,
    first.machine,
    started,
    processes.length > 1 ? plural(processes.length, 'process', 'processes') : '',
  ];
  return [
    h('b', { class: 'code', title: visible(commands.join('\n')) }, visible(commands[0])),
    commands.length > 1 ? muted(`and ${plural(commands.length - 1, 'other command')}`) : '',
    ...facts.filter(Boolean).map((f) => h('span', { class: 'fact' }, visible(f))),
  ];
}

/** One line for the command; if runs are compared, one for each, and their differences. */
function numberLines(app: App, column: Column | null): HTMLElement[][] {
  const { model, columns } = app;
  if (!column) return [];
  const byRun = model.runs.length > 1 && firstDifference(columns) !== null;
  if (!byRun) return [numberLine(app, column, model.processes)];
  const lines = model.runs.slice(0, MOST_RUNS).map((run) => {
    const metric = run.name === model.runs[column.metric.run]?.name ? column.index : counterpart(model, column.index, run.name);
    const name = h('b', { class: 'run-name', title: visible(run.command) }, visible(run.name));
    const of = model.processes.slice(run.firstProcess, run.firstProcess + run.processes);
    return [name, ...(metric === NONE ? [] : numberLine(app, columns.of(metric), of))];
  });
  const others = model.runs.length - MOST_RUNS;
  if (others > 0) lines.push([muted(`and ${plural(others, 'other run')}`)]);
  if (differences(model).length === 0)
    lines.push([muted('Same command, machine, events and load modules in all runs.')]);
  return lines;
}

function numberLine(app: App, column: Column, processes: readonly Process[]): HTMLElement[] {
  const { model, columns } = app;
  const fact = (value: string, what: string, title = ''): HTMLElement =>
    h('span', { class: 'fact', title: title || undefined }, h('b', null, value), ` ${what}`);
  const total = columns.total(column);
  const scale = app.scale(column);
  const name = isTime(column.metric) ? 'CPU time' : visible(shortName(column.metric));
  // "4.2 M L1 misses", not "M misses L1 misses"
  const unit = visible(scale.unit).split(' ').filter((word) => !name.split(' ').includes(word));
  const facts = [
    fact(
      formatShort(total, scale, columns.error(column, total)) || '–',
      [...unit, name].join(' '),
      `${formatExact(total)} ${column.metric.unit}: ${column.metric.description}`,
    ),
  ];
  const wall = Math.max(...processes.map((p) => p.seconds ?? NaN));
  if (Number.isFinite(wall)) facts.push(fact(wall >= 100 ? wall.toFixed(0) : wall.toFixed(2), 's from start to end'));
  const threads = processes.reduce((n, p) => n + p.threads, 0);
  if (threads > 0) facts.push(fact(String(threads), threads === 1 ? 'thread' : 'threads'));
  const ranks = processes.filter((p) => p.rank >= 0).length;
  if (ranks > 1) facts.push(fact(String(ranks), 'ranks'));
  if (column.metric.period > 0 && column.metric.formula === '') {
    const samples = Math.round(total / column.metric.period);
    facts.push(fact(formatExact(samples), 'samples', `one every ${formatExact(column.metric.period)} ${column.metric.unit}`));
  }
  if (columns.isReady(column)) {
    const parts = whereParts(model, columns.values(column, null));
    const source = parts.reduce((sum, p) => sum + p.withSource, 0);
    facts.push(
      fact(String(parts.length), parts.length === 1 ? 'module' : 'modules'),
      fact(`${formatPercent(source, total) || '0'}%`, 'with source lines'),
    );
  }
  const bad = processes.find((p) => !p.complete || (p.exitStatus > 0 && isMain(model.runs, model.processes, p)));
  if (bad) facts.push(h('span', { class: 'fact warn' }, bad.complete ? 'ended with an error' : 'was cut off'));
  return facts;
}

/** Commands that scripts try may fail; the program, and ranks, may not. */
const isMain = (runs: readonly Run[], processes: readonly Process[], p: Process): boolean =>
  p.rank >= 0 || !runs.length || runs.some((run) => processes[run.root] === p);

// ---- where: the modules ----

export function whereBars(app: App, column: Column): HTMLElement[] {
  const compared = allDifferences(app.columns).map((c) => c.difference!);
  const runs = compared.length ? [compared[0].base, ...compared.map((d) => d.of)].slice(0, MOST_RUNS) : [column];
  for (const run of runs) if (!app.columns.isReady(run)) return [];
  const whole = Math.max(...runs.map((r) => Math.abs(app.columns.total(r))));
  const bars = runs.map((run) => ({ run, parts: whereParts(app.model, app.columns.values(run, null)) }));
  // a module has its colour in every bar
  const names = [...new Set(bars.flatMap((b) => b.parts.map((p) => p.name)))];
  const colourOf = (name: string): number => 1 + (names.indexOf(name) % MOST_PARTS);
  return [
    h(
      'section',
      { class: 'where', 'aria-label': 'Distribution of the samples' },
      h('h2', null, 'Where'),
      h(
        'div',
        { class: 'where-bars' },
        ...bars.map(({ run, parts }) => moduleBar(app, run, parts, whole, colourOf, runs.length > 1)),
      ),
      h('p', { class: 'muted small' }, `${isTime(column.metric) ? 'Time' : visible(shortName(column.metric))} by binary and library; hatched: no source line information.`),
    ),
  ];
}

function moduleBar(
  app: App,
  column: Column,
  parts: readonly Part[],
  whole: number,
  colourOf: (name: string) => number,
  isNamed: boolean,
): HTMLElement {
  const total = app.columns.total(column);
  const rest = parts.slice(MOST_PARTS).reduce((sum, p) => sum + p.value, 0);
  const scale = app.scale(column);
  const row = h('div', { class: 'where-bar', role: 'list' });
  for (const part of parts.slice(0, MOST_PARTS)) {
    const percent = formatPercent(part.value, total);
    row.append(
      piece(part.value / whole, {
        name: `${part.name} ${percent}%`,
        title: `${part.name}: ${percent}%, ${formatShort(part.value, scale, app.columns.error(column, part.value))} ${scale.unit}; ${formatPercent(part.withSource, part.value)}% of it on known source lines`,
        className: `part-${colourOf(part.name)}`,
        hatched: (part.value - part.withSource) / part.value,
        go: () => app.selectInTree(part.place),
      }),
    );
  }
  if (rest > 0)
    row.append(
      spacer(
        rest / whole,
        `${plural(parts.length - MOST_PARTS, 'other module')}: ${formatPercent(rest, total)}%`,
        'where-rest',
      ),
    );
  if (total < whole) row.append(spacer((whole - total) / whole, '', 'where-nothing'));
  const text = `${shortName(column.metric)} ${formatShort(total, scale, app.columns.error(column, total))} ${scale.unit}`;
  return h('div', { class: 'where-line' }, isNamed ? h('span', { class: 'where-run' }, visible(text)) : null, row);
}

interface Piece {
  readonly name: string;
  readonly title: string;
  readonly className: string;
  readonly hatched?: number; // part of it
  go(): void;
}

/** A part of a bar: a button, as wide as its share. */
function piece(share: number, { name, title, className, hatched = 0, go }: Piece): HTMLElement {
  const element = h(
    'button',
    { type: 'button', class: `where-part ${className}`, title: visible(title), onclick: go },
    h('span', { class: 'where-name' }, visible(name)),
  );
  element.style.setProperty('--hatched', `${(hatched * 100).toFixed(1)}%`);
  const item = h('div', { role: 'listitem', class: 'where-item' }, element);
  item.style.flexGrow = String(share);
  return item;
}

function spacer(share: number, title: string, className: string): HTMLElement {
  const element = h(
    'div',
    { class: className, role: 'listitem', title: title || undefined },
    title ? h('span', { class: 'where-name' }, title) : null,
  );
  element.style.flexGrow = String(share);
  return element;
}

// ---- threads, phases, arrays: if there is more than one of them ----

/** Each stands there from the start, so that nothing moves when its table comes. */
export function moreBars(app: App, column: Column): HTMLElement[] {
  return [threadBar(app, column), phaseBar(app), arrayBar(app)].filter((bar) => bar !== null);
}

const bar = (title: string, content: HTMLElement | null, words: string): HTMLElement =>
  h(
    'section',
    { class: 'where', 'aria-label': title },
    h('h2', null, title),
    content ?? h('div', { class: 'where-bar' }),
    h('p', { class: 'muted small' }, visible(words)),
  );

const hasRows = (app: App, name: string): boolean => app.model.tables.some((t) => t.name === name && t.rows > 0);

/** Shows a page, about the whole program. */
const inspect = (app: App, name: string, place: PlaceIx = 0) => (): void => {
  app.showPage(name === 'memory' ? 'memory' : 'time', name, place);
};

/** The ranks or threads of the program, the one with most first, and how uneven they are. */
function threadBar(app: App, column: Column): HTMLElement | null {
  const { model } = app;
  const main = model.processes[model.runs[column.metric.run]?.root ?? model.runs[0]?.root ?? 0];
  const ranks = model.processes.filter((p) => p.rank >= 0).length;
  if (!hasRows(app, 'thread_values') || !(ranks > 1 || (main?.threads ?? 0) > 1)) return null;
  const table = Rows.of(model, 'thread_values');
  if (!table) return bar('Threads', null, 'Reading …');
  const given = distributionAt(model, table.info, table.rows, column.metric.name, 0);
  if (!given || given.shares.length < 2) return null;
  const byRank = given.ranks.size > 1;
  const shares = evenParts(given);
  const { mean, most, imbalance } = summed(shares);
  const scale = scaleFor(column.metric, most.value);
  const value = (x: number): string => `${formatShort(x, scale, app.columns.error(column, x))} ${scale.unit}`;
  const words = `Imbalance ${(imbalance * 100).toFixed(0)}%: ${byRank ? `rank ${most.process}` : nameOf(most, given)} has most, ${value(most.value)}; the mean of ${plural(shares.length, byRank ? 'rank' : 'thread')} is ${value(mean)}${given.idle ? `; ${plural(given.idle, 'idle thread')} not counted` : ''}.`;
  const picture = threadBars(app, shares, words);
  return bar(byRank ? 'Ranks' : 'Threads', picture, words);
}

/** A small column for each rank or thread, the tallest first. */
export function threadBars(app: App, shares: readonly Share[], words: string, place = 0): HTMLElement {
  const all = sortedShares(shares);
  const step = Math.ceil(all.length / MOST_BARS);
  const most = all[0].value;
  const columns = all
    .filter((_, i) => i % step === 0)
    .map((s) => {
      const element = h('span', { class: 'thread-bar' });
      element.style.height = `${(most > 0 ? (100 * s.value) / most : 0).toFixed(1)}%`;
      return element;
    });
  return h(
    'button',
    { type: 'button', class: 'thread-bars', title: visible(words), 'aria-label': visible(words), onclick: inspect(app, 'threads', place) },
    ...columns,
  );
}

/** Phases and the barriers that end them, as long as they took: the dark part is spent waiting. */
function phaseBar(app: App): HTMLElement | null {
  if (!hasRows(app, 'barriers')) return null;
  const barriers = Rows.of(app.model, 'barriers');
  if (!barriers) return bar('Phases', null, 'Reading …');
  const [stack] = stacks(barriers, MOST_PARTS);
  if (!stack || !(stack.total > 0)) return null;
  const row = h('div', { class: 'where-bar', role: 'list' });
  for (const { row: at, work, wait, colour } of stack.phases) {
    const name = at === NONE ? 'others' : barrierName(barriers, at);
    const time = work + wait;
    if (!(time > 0)) continue;
    row.append(
      piece(time / stack.total, {
        name: `${formatPercent(time, stack.total)}% ${name}`,
        title: `The phase before ${name}: ${timeText(time)}, of which ${timeText(wait)} from the first thread's arrival to the last one's`,
        className: at === NONE ? 'part-7' : `part-${colour + 1}`,
        hatched: wait / time,
        go: inspect(app, 'barriers', at === NONE ? 0 : Math.max(0, barriers.value('place', at))),
      }),
    );
  }
  return bar('Phases', row, `The hatched part of a phase is spent waiting at the barrier that ends it.${lastOf(barriers)}`);
}

/** Whom the others wait for at the barrier with most idle time. */
function lastOf(barriers: Rows): string {
  const idle = (row: number): number => barriers.value('idle', row) || 0;
  const worst = barriers.all().reduce((a, b) => (idle(b) > idle(a) ? b : a));
  const last = barriers.text('last_thread', worst);
  if (!(idle(worst) > 0) || last === '') return '';
  const share = barriers.value('last_share', worst);
  return ` Most waiting, ${timeText(idle(worst))}: ${barrierName(barriers, worst)}${share > 0 ? `, where ${last} is last in ${share.toFixed(0)}% of ${plural(barriers.value('episodes', worst), 'time')}` : ''}.`;
}

/** The misses of a simulated memory by array, at its last cache. */
function arrayBar(app: App): HTMLElement | null {
  if (!Memory.isThere(app.model)) return null;
  const memory = Memory.of(app.model, 0);
  if (!memory) return bar('Misses', null, 'Reading …');
  const level = memory.levels.filter((l) => l.misses > 0 && !/TLB/i.test(l.name)).pop();
  if (!level) return null;
  const row = h('div', { class: 'where-bar', role: 'list' });
  const arrays = memory.arrays(level).filter((a) => a.misses > 0);
  arrays.slice(0, MOST_PARTS).forEach((a, i) => {
    const name = memory.arrayName(a.object) || 'no array known';
    row.append(
      piece(a.misses / level.misses, {
        name: `${name} ${formatPercent(a.misses, level.misses)}%`,
        title: `${name}: ${formatExact(a.misses)} misses of ${formatExact(a.accesses)} accesses`,
        className: `part-${i + 1}`,
        go: inspect(app, 'memory'),
      }),
    );
  });
  const rest = arrays.slice(MOST_PARTS).reduce((sum, a) => sum + a.misses, 0);
  if (rest > 0) row.append(spacer(rest / level.misses, plural(arrays.length - MOST_PARTS, 'other array'), 'where-rest'));
  return bar('Misses', row, `${formatExact(level.misses)} misses at ${level.name}, by array.`);
}
