// SPDX-License-Identifier: BSD-3-Clause
// What each thread and rank spent at the selected place: in their order, sorted, or how many spent how much.

import { linearAxis } from '../logic/axis';
import {
  type Distribution,
  distributionAt,
  evenParts,
  histogram,
  metricsByThread,
  type Share,
  sortedShares,
  summed,
} from '../logic/distribution';
import { formatPercent, formatShort, plural, type Scale, scaleFor } from '../logic/format';
import { labelOf, shortName } from '../logic/labels';
import type { Metric } from '../model/data';
import { same } from '../logic/memo';
import type { App } from './app';
import { bottomAxis, chart, ChartFrame, choice, colour, leftAxis, MARGIN, type Plot, plotOf, segments } from './chart';
import { h, muted, svg, visible } from './dom';
import { cell, factsTable } from './facts';
import type { Pane, PaneType } from './panes';

const TABLE = 'thread_values';
const MOST_ROWS = 500;
const MOST_BARS = 400; // more are an outline

type Form = 'order' | 'sorted' | 'histogram';

interface Drawn {
  readonly metric: Metric;
  readonly scale: Scale;
  readonly given: Distribution;
}

class DistributionPane implements Pane {
  private readonly frame = new ChartFrame('By thread and rank', 'threads', () => this.#redraw());
  readonly element = this.frame.element;
  #drawn: readonly unknown[] = [];
  #form: Form = 'order';
  #wanted = ''; // a metric chosen here

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const inputs = [app.state.selected, app.heatColumn, app.arrivals];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    this.#redraw();
  }

  #redraw(): void {
    const { app, frame } = this;
    const { model, state } = app;
    const at = model.tables.findIndex((t) => t.name === TABLE);
    const rows = at < 0 ? null : model.tableRows.of(at);
    if (!rows) return frame.showNothing(visible(model.tableRows.failure(at) ?? 'Reading …'));
    const names = metricsByThread(model.tables[at], rows);
    const name = [this.#wanted, app.heatColumn?.metric.name ?? '', names[0]].find((n) => names.includes(n)) ?? '';
    const given = distributionAt(model, model.tables[at], rows, name, state.selected ?? 0);
    const metric = model.metrics.find((m) => m.name === name);
    if (!given || !metric)
      return frame.showNothing('This place has no values by thread: they are stored only for the most expensive places.');
    if (given.shares.length === 1)
      return frame.showNothing('The program ran in one thread: there is nothing to compare.');
    const scale = scaleFor(metric, summed(given.shares).most.value);
    const drawn = { metric, scale, given };
    frame.show(this.#choices(names, name, given), this.#picture(drawn), () => this.#table(drawn));
  }

  #choices(names: readonly string[], name: string, given: Distribution): HTMLElement[] {
    const { model, state } = this.app;
    const forms = [
      ['order', given.ranks.size ? 'By rank' : given.hasProcesses ? 'By process' : 'By thread', 'In their order'],
      ['sorted', 'Sorted', 'Largest value first'],
      ['histogram', 'Histogram', 'Number of threads by value'],
    ] as const;
    const titles = names.map((id) => {
      const metric = model.metrics.find((m) => m.name === id);
      return { id, title: visible(metric ? shortName(metric) : id) };
    });
    const metrics = choice('Metric', titles, name, (id) => {
      this.#wanted = id;
      this.#redraw();
    });
    const isElsewhere = state.selected !== null && given.place !== state.selected;
    return [
      h(
        'b',
        {
          class: 'chart-title',
          title: isElsewhere ? 'The nearest enclosing scope that has values by thread' : undefined,
        },
        visible(labelOf(model, given.place).text),
      ),
      segments('Form', forms, this.#form, (form) => {
        this.#form = form;
        this.#redraw();
      }),
      ...(names.length > 1 ? [metrics] : []),
      this.#words(given),
    ];
  }

  #words(given: Distribution): HTMLElement {
    const threads = plural(given.shares.length, 'thread');
    const byRank = given.ranks.size > 1;
    const { most, mean, imbalance } = summed(evenParts(given));
    const name = byRank ? `rank ${most.process}` : nameOf(most, given);
    const said = imbalance > 0.005 && mean > 0 ? `; the most, ${name}, is ${percentMore(imbalance)} over the mean` : '';
    return muted(visible(`${byRank ? `${plural(given.ranks.size, 'rank')}, ` : ''}${threads}${said}`));
  }

  #picture(drawn: Drawn): SVGElement {
    const { size } = this.frame;
    const plot = plotOf(size);
    const marks = this.#form === 'histogram' ? this.#bins(drawn, plot) : this.#bars(drawn, plot);
    const where = labelOf(this.app.model, drawn.given.place).text;
    return chart(
      size,
      visible(`${shortName(drawn.metric)} of ${where} by thread; “Numbers” has it as a table`),
      ...marks,
    );
  }

  #ordered({ shares }: Distribution): readonly Share[] {
    return this.#form === 'sorted' ? sortedShares(shares) : shares;
  }

  #bars({ metric, scale, given }: Drawn, plot: Plot): SVGElement[] {
    const shares = this.#ordered(given);
    const axis = linearAxis(shares.map((s) => s.value));
    const { mean, most } = summed(shares);
    const step = 1 / shares.length;
    const y = plot.y(axis.at(mean));
    const text = (value: number): string => formatShort(value, { ...scale, decimals: Math.min(2, scale.decimals) });
    return [
      leftAxis(plot, axis, visible(`${shortName(metric)} ${scale.unit}`), (v) => plain(v / scale.divisor)),
      ...(shares.length > MOST_BARS ? [outline(shares, plot, axis.at)] : []),
      ...(shares.length > MOST_BARS ? [] : shares).map((s, i) =>
        svg(
          'g',
          {},
          svg('title', {}, visible(`${nameOf(s, given)}: ${text(s.value)} ${scale.unit}`)),
          svg('rect', {
            x: plot.x(i * step) + (shares.length < 100 ? 1 : 0),
            width: Math.max(0.5, plot.width * step - (shares.length < 100 ? 2 : 0)),
            y: plot.y(axis.at(s.value)),
            height: Math.max(0, plot.y(axis.at(0)) - plot.y(axis.at(s.value))),
            fill: colour(s === most ? 'accent' : 'part-1'),
          }),
        ),
      ),
      svg('line', { x1: plot.x(0), x2: plot.x(1), y1: y, y2: y, stroke: colour('text'), 'stroke-dasharray': '4 3' }),
      svg('text', { x: plot.x(1), y: y - 3, 'text-anchor': 'end', fill: colour('text') }, `mean ${text(mean)}`),
      ...names(shares, plot),
    ];
  }

  #bins({ metric, scale, given }: Drawn, plot: Plot): SVGElement[] {
    const bins = histogram(given.shares);
    const axis = linearAxis(bins.map((b) => b.count));
    const step = 1 / bins.length;
    const every = Math.ceil(bins.length / 10);
    const number = (v: number): string => plain(v / scale.divisor);
    return [
      leftAxis(plot, axis, 'threads', plain),
      ...bins.map((b, i) =>
        svg(
          'g',
          {},
          svg(
            'title',
            {},
            `${plural(b.count, 'thread')} from ${number(b.from)} to ${number(b.to)} ${visible(scale.unit)}`,
          ),
          svg('rect', {
            x: plot.x(i * step) + 0.5,
            width: Math.max(0.5, plot.width * step - 1),
            y: plot.y(axis.at(b.count)),
            height: Math.max(0, plot.y(0) - plot.y(axis.at(b.count))),
            fill: colour('part-1'),
          }),
        ),
      ),
      bottomAxis(
        plot,
        {
          isLog: false,
          ticks: bins.filter((_, i) => i % every === 0).map((b) => b.from),
          at: (v) => (v - bins[0].from) / (bins[bins.length - 1].to - bins[0].from),
        },
        visible(`${shortName(metric)} ${scale.unit}`),
        number,
      ),
    ];
  }

  #table({ metric, scale, given }: Drawn): HTMLElement {
    const { mean } = summed(given.shares);
    const shares = this.#form === 'order' ? given.shares : sortedShares(given.shares);
    const heads = [
      ...(given.hasProcesses ? [{ text: 'Rank', isNumber: true }] : []),
      { text: 'Thread', isNumber: true },
      'Name',
      { text: visible(shortName(metric)), unit: visible(scale.unit), isNumber: true },
      { text: 'of the mean', isNumber: true },
    ];
    const rows = shares
      .slice(0, MOST_ROWS)
      .map((s) =>
        h(
          'tr',
          null,
          given.hasProcesses ? cell(String(s.process), true) : null,
          cell(String(s.thread), true),
          cell(visible(s.name)),
          cell(formatShort(s.value, scale), true),
          cell(`${formatPercent(s.value, mean) || '0'}%`, true),
        ),
      );
    const more = shares.length - rows.length;
    return h(
      'div',
      { class: 'chart-table' },
      factsTable(heads, rows),
      more > 0 ? h('p', { class: 'muted' }, `and ${plural(more, 'other')}`) : null,
    );
  }
}

/** Threads often have their program's name, all of them. */
export function nameOf(s: Share, { shares, hasProcesses, ranks }: Distribution): string {
  const number = `${hasProcesses ? `${ranks.has(s.process) ? 'rank' : 'process'} ${s.process} ` : ''}thread ${s.thread}`;
  return s.name && shares.filter((o) => o.name === s.name).length === 1 ? `${number} (${s.name})` : number;
}
const percentMore = (part: number): string => `${(part * 100).toFixed(part < 0.1 ? 1 : 0)}%`;
const plain = (v: number): string => String(Number(v.toPrecision(4)));

function outline(shares: readonly Share[], plot: Plot, at: (value: number) => number): SVGElement {
  const points = shares.map(
    (s, i) => `${plot.x(i / (shares.length - 1)).toFixed(1)} ${plot.y(at(s.value)).toFixed(1)}`,
  );
  const base = plot.y(at(0)).toFixed(1);
  const d = `M${plot.x(0)} ${base} L${points.join(' L')} L${plot.x(1).toFixed(1)} ${base} Z`;
  return svg('path', { d, fill: colour('part-1') });
}

/** Under the bars, as many as fit. */
function names(shares: readonly Share[], plot: Plot): SVGElement[] {
  const every = Math.max(1, Math.ceil((shares.length * 34) / plot.width));
  const processes = new Set(shares.map((s) => s.process)).size;
  const name = (s: Share): string =>
    processes === 1 ? String(s.thread) : processes === shares.length ? String(s.process) : `${s.process}.${s.thread}`;
  return shares.flatMap((s, i) =>
    i % every === 0
      ? [
          svg(
            'text',
            {
              x: plot.x((i + 0.5) / shares.length),
              y: plot.y(0) + MARGIN.bottom / 2 - 3,
              'text-anchor': 'middle',
              fill: colour('muted'),
            },
            name(s),
          ),
        ]
      : [],
  );
}

export const distributionPane: PaneType = {
  name: 'threads',
  title: 'Ranks and threads',
  slot: 'time',
  isThere: (app) => app.model.tables.some((t) => t.name === TABLE && t.rows > 0),
  make: (app) => new DistributionPane(app),
};
