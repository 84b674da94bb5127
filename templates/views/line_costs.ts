// SPDX-License-Identifier: BSD-3-Clause
// What stands beside each line of the source: its cost by the metric the table is sorted by, as number, share and heat;
// its cost by the table's other columns, where somebody asks for them; and how many places it became.

import type { Column } from '../logic/columns';
import { formatAs, formatPercent, formatSigned, type Scale, unitIn } from '../logic/format';
import { labelOf, shortName } from '../logic/labels';
import { type FileLines, scopesOnLine, withCalls } from '../logic/lines';
import type { App } from './app';
import { h, muted, visible } from './dom';
import { valueTitle } from './table';

/** Costs of a file's lines by one column. */
interface Cost {
  readonly column: Column;
  readonly all: Float64Array; // by group: inclusive of scopes that begin or are called there
  readonly own: Float64Array;
  readonly ownColumn: Column;
  readonly scale: Scale;
}

export interface Costs extends Cost {
  readonly lines: FileLines;
  readonly hottest: number; // the largest own cost
  readonly more: readonly Cost[]; // by further columns
}

const largestOf = (values: Float64Array): number =>
  values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);

function costOf(app: App, lines: FileLines, of: Column): Cost {
  const column = app.inclusive(of);
  const ownColumn = app.own(of);
  const all = withCallsOf(app, lines, column) ?? app.columns.values(column, lines.groups);
  const own = app.columns.values(ownColumn, lines.groups);
  return { column, all, own, ownColumn, scale: app.scaleAmong(column, Math.max(largestOf(all), largestOf(own))) };
}

/** With all that the lines call, if call paths were measured; they are not read for this alone when there are many. */
function withCallsOf(app: App, lines: FileLines, column: Column): Float64Array | null {
  const tree = app.trees.smallCalls();
  const same = tree?.app.columns.get(column.id);
  if (!same || !tree || app.columns.isRatio(column) || !tree.app.columns.isReady(same)) return null;
  const values = app.columns.values(column, lines.groups);
  const calls = withCalls(tree.tree.nodes, lines, tree.app.columns.values(same, null));
  return values.map((v, g) => (Number.isNaN(calls[g]) || calls[g] < v ? v : calls[g])); // some runs have no call paths
}

/** Null if no file is shown. */
export function costsOf(app: App, column: Column): Costs | null {
  const { source, beside, shown } = app.state;
  if (!source) return null;
  const lines = app.fileLines(source.file);
  const main = costOf(app, lines, column);
  const others = new Map<string, Column>(); // each metric once, in the order of the table
  for (const id of beside ? shown : []) {
    const other = app.columns.get(id);
    if (other && app.inclusive(other).id !== main.column.id) others.set(app.inclusive(other).id, other);
  }
  const more = [...others.values()].map((other) => costOf(app, lines, other));
  return { ...main, lines, hottest: largestOf(main.own), more };
}

// ---- the cells of a line ----

function valueCell(app: App, costs: Costs, cost: Cost, line: number, group: number, className: string): HTMLElement {
  const cell = h('span', { class: className, role: 'gridcell' });
  const all = cost.all[group];
  if (Number.isNaN(all)) return cell;
  const own = cost.own[group];
  const { groups } = costs.lines;
  const error = app.columns.error(cost.column, all, groups, group);
  cell.textContent = signed(cost, all, formatAs(app.state.form, all, cost.column.metric, cost.scale, error));
  cell.title = valueTitle(app, cost.column, all, error);
  if (all === own) return cell;
  cell.classList.add('with');
  const scopes = scopesOnLine(app.model, costs.lines, line).map((p) => labelOf(app.model, p).text);
  cell.title += `\nwith ${visible([...new Set(scopes)].slice(0, 5).join(', ')) || 'what the line calls'}`;
  cell.title += `\nthe line itself: ${Number.isNaN(own) ? 'nothing' : valueTitle(app, cost.ownColumn, own, app.columns.error(cost.ownColumn, own, groups, group))}`;
  return cell;
}

const signed = (cost: Cost, value: number, text: string): string =>
  cost.column.difference ? formatSigned(text, value) : text;

function shareCell(app: App, cost: Cost, group: number): HTMLElement {
  const all = cost.all[group];
  const percent = formatPercent(all, app.columns.whole(cost.column));
  const cell = h('span', { class: 'line-percent', role: 'gridcell' }, percent && `${signed(cost, all, percent)}%`);
  cell.classList.toggle('with', all !== cost.own[group]);
  return cell;
}

function countCell(app: App, line: number): HTMLElement {
  const cell = h('span', { class: 'line-count', role: 'gridcell' });
  const places = app.placesOnLine(app.state.source!.file, line).length;
  if (places > 1) {
    cell.textContent = `×${places}`;
    cell.title = `${places} places of the program come from this line`;
  }
  return cell;
}

const empty = (className: string): HTMLElement => h('span', { class: className, role: 'gridcell' });

/** Value, share, the further columns, and from how many places. */
export function gutterCells(app: App, costs: Costs, line: number): HTMLElement[] {
  const group = costs.lines.at.get(line);
  if (group === undefined)
    return [
      empty('line-value'),
      empty('line-percent'),
      ...costs.more.map(() => empty('line-more')),
      empty('line-count'),
    ];
  return [
    valueCell(app, costs, costs, line, group, 'line-value'),
    Number.isNaN(costs.all[group]) ? empty('line-percent') : shareCell(app, costs, group),
    ...costs.more.map((cost) => valueCell(app, costs, cost, line, group, 'line-more')),
    countCell(app, line),
  ];
}

// ---- the head above them ----

const MEANING =
  'For each line, over all its places. Where a line begins a loop or a procedure, or calls an inlined function, its number is their inclusive cost, in grey; the colour is the cost of the line itself.';

function metricHead(app: App, cost: Cost, className: string, title: string): HTMLElement {
  const unit = unitIn(app.state.form, cost.column.metric, cost.scale);
  return h(
    'span',
    { class: className, title: visible(`${cost.column.metric.displayName}${unit && `, ${unit}`}: ${title}`) },
    visible(shortName(cost.column.metric)),
    unit && muted(` ${visible(unit)}`),
  );
}

export function gutterHead(app: App, costs: Costs): HTMLElement[] {
  const main = `the metric the table is sorted by. ${MEANING}`;
  if (costs.more.length === 0)
    return [
      metricHead(app, costs, 'source-head-metric', main),
      muted(' · grey: with what begins or is called there'),
    ];
  return [
    metricHead(app, costs, 'source-head-main', main),
    h(
      'span',
      { class: 'source-head-more' },
      ...costs.more.map((cost) => metricHead(app, cost, 'source-head-column', MEANING)),
    ),
  ];
}
