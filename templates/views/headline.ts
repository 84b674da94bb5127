// SPDX-License-Identifier: BSD-3-Clause
// The first sentence of the summary, and the efficiencies of programs with ranks or threads.

import { Kind, NONE, type PlaceIx } from '../model/data';
import type { Column } from '../logic/columns';
import { allDifferences, runOf } from '../logic/compare';
import { findingsAt } from '../logic/diagnosis';
import { formatPercent, formatShort, plural } from '../logic/format';
import type { HotPlace } from '../logic/hot_places';
import { baseName, enclosing, fileName, folded, labelOf, shortName } from '../logic/labels';
import { efficiency, Rows } from '../logic/phases';
import type { App } from './app';
import { button, h, visible } from './dom';
import { isTime } from './run_summary';

/** MPI's functions by the names users call: PMPI_Send; in Fortran ompi_send_f, pmpi_send_. */
export const calleeName = (app: App, callee: PlaceIx): string =>
  folded(labelOf(app.model, callee).text)
    .replace(/^PMPI_/, 'MPI_')
    .replace(/^(?:ompi_mpi_(\w+)|ompi_(\w+)_f|p?mpi_(\w+?)_+)$/, (_, ...[c, f, g]) => `MPI_${(c ?? f ?? g).replace(/^./, (x: string) => x.toUpperCase())}`);

const link = (app: App, place: PlaceIx, text: string): HTMLElement =>
  button(visible(text), 'Show it in the code', () => app.selectInTree(place), 'headline-link');

export function headline(app: App, column: Column, hot: readonly HotPlace[] | null): HTMLElement | null {
  const [first, ...others] = allDifferences(app.columns);
  if (first) {
    const lines = others.map((other) => h('p', { class: 'subline' }, verdict(app, other)));
    return h('section', { class: 'headline' }, h('h1', null, verdict(app, first)), ...lines);
  }
  if (!hot) return h('section', { class: 'headline' }, h('h1', null, 'Reading the call paths …'));
  const [top, next] = hot;
  const whole = app.columns.whole(column);
  if (!top || !(whole > 0)) return null;
  const second = next && next.value >= 0.05 * whole ? h('p', { class: 'subline' }, ...sentence(app, column, next, whole)) : null;
  return h('section', { class: 'headline' }, h('h1', null, ...sentence(app, column, top, whole)), second);
}

function sentence(app: App, { metric }: Column, { place, callee, value }: HotPlace, whole: number): (HTMLElement | string)[] {
  const percent = `${Math.round((100 * value) / whole)}% of ${isTime(metric) ? 'the run is spent' : `${visible(shortName(metric))} are`} `;
  const around = enclosing(app.model, app.model.places.parent[place], [Kind.Procedure, Kind.Inline]);
  const name = folded(labelOf(app.model, place).text).replace(/^(waiting in \S+) \(function at .*/, '$1');
  const inside = around && app.model.places.kind[place] >= Kind.Loop ? ` in ${visible(around)}` : '';
  if (callee !== NONE)
    return [`${percent}in ${visible(calleeName(app, callee))}, called ${app.model.places.kind[place] === Kind.Line ? 'at' : 'from'} `, link(app, place, name), `${inside}${lastAt(app, place)}.`];
  const { file, lineFirst } = app.model.places;
  const line = file[place] === NONE ? name : `${baseName(fileName(app.model, file[place]))}:${lineFirst[place]}`;
  const finding = findingsAt(app.model, place).find(({ title }) => !title.includes(name) && !title.includes(line));
  const why = finding ? `: ${folded(finding.title).replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())}` : '';
  return [`${percent}${name.startsWith('waiting') ? '' : 'in '}`, link(app, place, name), visible(`${inside}${why}.`)];
}

/** The thread that arrives last at a barrier or collective on this line. */
function lastAt(app: App, line: PlaceIx): string {
  const barriers = Rows.of(app.model, 'barriers');
  const { same } = app.model.places;
  const row = barriers?.all().find((r) => same[barriers.value('place', r)] === same[line]) ?? NONE;
  const share = barriers && row >= 0 ? barriers.value('last_share', row) : NaN;
  if (!barriers || !(share > 0)) return '';
  return visible(`; ${barriers.text('last_thread', row)} arrives last in ${share.toFixed(0)}% of ${plural(barriers.value('episodes', row), 'time')}`);
}

/** Of two runs: which is faster, by how much, and whether the difference exceeds the sampling error. */
function verdict(app: App, difference: Column): string {
  const { columns, model } = app;
  const { of, base } = difference.difference!;
  const [value, before] = [columns.total(difference), columns.total(base)];
  if (!columns.isReady(difference) || Number.isNaN(value) || !(before > 0)) return '';
  const error = columns.error(difference, value, null, 0);
  const scale = app.scale(base);
  const text = (x: number): string => `${formatShort(x, scale, error)} ${scale.unit}`;
  const [one, other] = [of, base].map((c) => runOf(model, c.index));
  const numbers = `${text(before + value)} instead of ${text(before)}`;
  return visible(
    Math.abs(value) < error
      ? `${one} and ${other} do not differ beyond the noise of sampling: ${numbers}, ± ${text(error)}.`
      : `${one} takes ${formatPercent(Math.abs(value), before)}% ${value < 0 ? 'less' : 'more'} than ${other}: ${numbers}, ± ${text(error)}.`,
  );
}

/** Parallel efficiency = load balance × the rest, as POP defines them, from busy time and waiting at barriers. */
export function efficiencies(app: App): HTMLElement | null {
  const e = efficiency(app.model);
  if (!e) return null;
  const part = (value: number, name: string, title: string): HTMLElement =>
    h('span', { class: 'fact', title }, h('b', null, `${Math.round(100 * value)}%`), ` ${name}`);
  return h(
    'p',
    { class: 'facts-line', 'aria-label': 'Efficiencies' },
    part(e.parallel, 'parallel efficiency', 'Share of the time of all threads, in phases and at barriers, that is not waiting'),
    '=',
    part(e.balance, 'load balance', 'Mean busy time of the threads divided by that of the busiest one'),
    '×',
    part(e.parallel / e.balance, 'synchronization', 'Time lost to waiting although the threads have equal work in total'),
  );
}
