// SPDX-License-Identifier: BSD-3-Clause
// Where the numbers come from: runs, events, warnings.

import type { Metric, Process } from '../model/data';
import { factName } from '../logic/compare';
import { formatExact, formatScaled } from '../logic/format';
import type { App } from './app';
import { button, h, visible } from './dom';
import { cell, factsTable, type Head } from './facts';

const NUMBERS = ['Rank', 'Threads', 'Seconds', 'Period', 'Samples', 'Total'];
const headsOf = (names: readonly string[]): Head[] =>
  names.filter(Boolean).map((text) => ({ text, isNumber: NUMBERS.includes(text) }));

function when(p: Process): string {
  return p.startMs > 0
    ? new Date(p.startMs)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC')
    : '';
}

function exit(p: Process): string {
  const lost = p.complete ? '' : ', before it could write what it did last';
  if (p.exitStatus < 0) return p.complete ? '' : 'cut off: the measurement has no end';
  const signal = p.exitStatus & 0x7f;
  if (signal) return `killed by signal ${signal}${lost}`;
  return `exit status ${p.exitStatus >> 8}${lost}`;
}

export function runsTable(processes: readonly Process[]): HTMLElement {
  if (processes.length === 0)
    return h(
      'p',
      { class: 'muted' },
      'Unknown: the measurements were imported from a file that does not describe its run.',
    );
  const some = processes.slice(0, 200);
  const ranks = some.some((p) => p.rank >= 0);
  return h(
    'div',
    null,
    factsTable(
      headsOf([
        ranks ? 'Rank' : '',
        'Command',
        'Host',
        'Processor',
        'Threads',
        'Start',
        'Seconds',
        'End',
        'Measurement',
      ]),
      some.map((p) =>
        h(
          'tr',
          null,
          ranks ? cell(p.rank >= 0 ? String(p.rank) : '', true) : null,
          h('td', { class: 'code' }, visible(p.command)),
          cell(visible(p.host)),
          h('td', { title: visible(p.kernel) }, visible(p.machine)),
          cell(String(p.threads), true),
          cell(when(p)),
          cell(p.seconds === null ? '' : p.seconds.toFixed(3), true),
          cell(exit(p)),
          h(
            'td',
            { class: 'code', title: p.sampler ? `recorded with ${visible(p.sampler)}` : undefined },
            visible(p.source),
          ),
        ),
      ),
    ),
    processes.length > some.length ? h('p', { class: 'muted' }, `and ${processes.length - some.length} more`) : null,
  );
}

function samples(app: App, m: Metric, i: number): string {
  const total = app.columns.total(app.columns.of(i));
  if (m.period === 0 || Number.isNaN(total)) return '';
  return formatExact(Math.round(total / m.period));
}

function total(app: App, m: Metric, i: number): string {
  const column = app.columns.of(i);
  const sum = app.columns.total(column);
  if (app.columns.failure(column) !== undefined) return 'cannot be read';
  if (!app.columns.isReady(column)) return '…';
  return m.summed ? formatExact(sum) : formatScaled(sum, app.scale(column));
}

export function metricsTable(app: App): HTMLElement {
  return factsTable(
    headsOf(['Metric', 'Event or formula', 'Period', 'Samples', 'Total', 'Unit', 'What it is']),
    app.model.metrics.map((m, i) =>
      h(
        'tr',
        null,
        h('th', { scope: 'row' }, visible(m.displayName)),
        h('td', { class: 'code' }, visible(m.formula ? `= ${m.formula}` : m.event)),
        cell(m.formula ? '' : m.period ? formatExact(m.period) : 'exact', true),
        cell(samples(app, m, i), true),
        cell(total(app, m, i), true),
        h('td', { class: 'unit' }, visible(m.unit)),
        h(
          'td',
          { class: 'muted' },
          visible(m.description),
          m.estimated ? ' Estimated: counted part of the time and scaled up.' : '',
        ),
      ),
    ),
  );
}

export function aboutDialog(app: App, close: () => void): HTMLElement {
  const { model } = app;
  const known = model.runs.flatMap((r) =>
    r.facts
      .slice(0, 200)
      .map(([name, value]) =>
        h('tr', null, cell(visible(r.name)), cell(visible(factName(name))), h('td', { class: 'code' }, visible(value))),
      ),
  );
  return h(
    'div',
    { class: 'dialog-body wide' },
    h('header', { class: 'dialog-head' }, h('h2', null, 'About this database'), button('Close', 'Esc', close)),
    h('h3', null, model.warnings.length ? 'Warnings: limitations of these results' : 'Warnings'),
    model.warnings.length
      ? h('ul', { class: 'warnings' }, ...model.warnings.map((w) => h('li', null, visible(w))))
      : h('p', { class: 'muted' }, 'None.'),
    h('h3', null, 'Runs'),
    runsTable(model.processes),
    known.length ? factsTable(headsOf(['Run', 'Compilation and environment', 'Known of it']), known) : null,
    h('h3', null, 'Metrics'),
    metricsTable(app),
    h('h3', null, 'Database'),
    h(
      'p',
      { class: 'muted' },
      `${formatExact(model.places.count)} places, ${formatExact(model.files.length)} source files (${formatExact(model.files.filter((f) => f.state === 'text').length)} with text), format ${model.version}, written by ${visible(model.generator)}.`,
    ),
  );
}
