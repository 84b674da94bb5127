// SPDX-License-Identifier: BSD-3-Clause
// Two facts about every loop, one against the other: a dot for each loop of the source, as large as its share. Where they
// are work per byte and work per second, it is a roofline.

import type { Axis } from '../logic/axis';
import { axisOf } from '../logic/axis';
import { formatPercent } from '../logic/format';
import { labelOf, surroundings } from '../logic/labels';
import { same } from '../logic/memo';
import { type AxisChoice, axisChoices, type Dot, dotsOf, type Roof, roofOf } from '../logic/scatter';
import type { App } from './app';
import { bottomAxis, chart, ChartFrame, choice, colour, leftAxis, type Plot, plotOf } from './chart';
import { button, h, muted, svg, visible } from './dom';
import { cell, factsTable } from './facts';
import type { Pane, PaneType } from './panes';

const MOST_ROWS = 300;
/** The radius of the whole program; axes leave that margin. */
const WIDEST_DOT = 18;

const plain = (value: number): string => String(Number(value.toPrecision(4)));

/** An axis with its choice, the scale of its numbers and how they are written. */
interface Side {
  readonly choice: AxisChoice;
  readonly axis: Axis;
  readonly label: string;
  number(value: number): string;
}

class ScatterPane implements Pane {
  private readonly frame = new ChartFrame('Two metrics of each loop', 'loops', () => this.#redraw());
  readonly element = this.frame.element;
  #drawn: readonly unknown[] = [];
  private x = '';
  private y = '';

  constructor(private readonly app: App) {
    this.element.addEventListener('click', (event) => {
      const dot = (event.target as Element).closest('[data-place]');
      if (dot) app.select(Number(dot.getAttribute('data-place')));
    });
  }

  draw(): void {
    const { app } = this;
    const inputs = [app.state.selected, app.columns, app.shownColumns(), app.arrivals];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    this.#redraw();
  }

  #axes(): { all: readonly AxisChoice[]; x: AxisChoice; y: AxisChoice } {
    const { app } = this;
    const all = axisChoices(app.columns, app.shownColumns());
    const find = (...ids: (string | undefined)[]): AxisChoice | undefined =>
      ids.map((id) => all.find((a) => a.id === id)).find((a) => a !== undefined);
    const rate = all.find((a) => a.unit === 'FLOP/s')?.id;
    const y = find(this.y, rate, app.mainColumn?.id) ?? all[0];
    const intensity = all.find((a) => a.id.startsWith('1/'))?.id;
    const ratio = all.find((a) => a.column !== null && a !== y && app.columns.isRatio(a.column))?.id;
    const x = find(this.x, intensity, ratio, 'loop_quality.intensity') ?? all.find((a) => a !== y) ?? y;
    return { all, x, y };
  }

  #redraw(): void {
    const { app, frame } = this;
    const { all, x, y } = this.#axes();
    const dots = app.mainColumn && dotsOf(app.columns, app.tables, x, y, app.mainColumn);
    if (!dots) return frame.showNothing('Reading …');
    const set = (which: 'x' | 'y') => (id: string) => {
      this[which] = id;
      this.#redraw();
    };
    const titles = all.map((a) => ({ id: a.id, title: visible(a.title) }));
    const choices = [
      choice('Upwards', titles, y.id, set('y')),
      h('span', { class: 'over' }, 'over'),
      choice('To the right', titles, x.id, set('x')),
    ];
    if (dots.length === 0)
      return frame.showNothing(`No loop has both ${visible(y.title)} and ${visible(x.title)}: choose others.`, choices);
    const across = this.#side(x, dots, (d) => d.x);
    const up = this.#side(y, dots, (d) => d.y);
    const hint = muted('each dot a loop, as large as its share');
    frame.show([...choices, hint], this.#picture(dots, across, up), () => this.#table(dots, across, up));
  }

  #side(choice: AxisChoice, dots: readonly Dot[], value: (dot: Dot) => number): Side {
    const axis = axisOf(dots.map(value));
    const most = Math.max(...axis.ticks.map(Math.abs));
    const isMetric = choice.column !== null && !choice.id.startsWith('1/');
    const scale = isMetric ? this.app.scaleAmong(choice.column!, most) : { divisor: 1, unit: choice.unit };
    return {
      choice,
      axis,
      label: visible(`${choice.title} ${scale.unit}`.trim()),
      number: (v) => plain(v / scale.divisor),
    };
  }

  #picture(dots: readonly Dot[], x: Side, y: Side): SVGElement {
    const { size } = this.frame;
    const plot = plotOf(size, WIDEST_DOT);
    const roof = roofOf(x.choice, y.choice, dots);
    return chart(
      size,
      `${y.label} over ${x.label} of ${dots.length} loops; “Numbers” has it as a table`,
      leftAxis(plot, y.axis, y.label, y.number),
      bottomAxis(plot, x.axis, x.label, x.number),
      ...(roof ? roofLines(roof, plot, x, y) : []),
      ...dots.map((dot) => this.#dot(dot, plot, x, y)),
    );
  }

  #dot(dot: Dot, plot: Plot, x: Side, y: Side): SVGElement {
    const { model, state } = this.app;
    const isOn = state.selected === dot.place;
    const r = 3 + (WIDEST_DOT - 3) * Math.sqrt(dot.weight);
    const [cx, cy] = [plot.x(x.axis.at(dot.x)), plot.y(y.axis.at(dot.y))];
    const { text } = labelOf(model, dot.place);
    const words = `${text} ${surroundings(model, dot.place)}: ${y.number(dot.y)} over ${x.number(dot.x)}, ${formatPercent(dot.weight, 1)}% of the program`;
    const circle = svg('circle', {
      cx,
      cy,
      r,
      fill: colour('kind-5'),
      'fill-opacity': 0.75,
      stroke: colour(isOn ? 'accent' : 'loop'),
      'stroke-width': isOn ? 3 : 1,
    });
    const side = cx > plot.x(0.7) ? ([cx - r - 4, 'end'] as const) : ([cx + r + 4, 'start'] as const);
    const name = svg('text', { x: side[0], y: cy + 4, 'text-anchor': side[1], fill: colour('text') });
    if (dot.weight >= 0.1 || isOn) name.append(visible(text.replace(/^loop at /, '')));
    return svg('g', { 'data-place': dot.place, class: 'dot' }, svg('title', {}, visible(words)), circle, name);
  }

  #table(dots: readonly Dot[], x: Side, y: Side): HTMLElement {
    const { app } = this;
    const heads = [
      'Loop',
      { text: y.label, isNumber: true },
      { text: x.label, isNumber: true },
      { text: 'of the program', isNumber: true },
    ];
    const rows = [...dots]
      .reverse()
      .slice(0, MOST_ROWS)
      .map((d) =>
        h(
          'tr',
          null,
          cell(button(visible(labelOf(app.model, d.place).text), 'Go there', () => app.selectInTree(d.place), 'crumb')),
          cell(y.number(d.y), true),
          cell(x.number(d.x), true),
          cell(`${formatPercent(d.weight, 1)}%`, true),
        ),
      );
    return h('div', { class: 'chart-table' }, factsTable(heads, rows));
  }
}

/** The highest rate, and the highest traffic, that any loop of this run reached. */
function roofLines(roof: Roof, plot: Plot, x: Side, y: Side): SVGElement[] {
  const [across, up] = [x.axis, y.axis];
  const stroke = { stroke: colour('text'), 'stroke-dasharray': '5 3', fill: 'none' };
  const knee = roof.flops / roof.bytes;
  const clamp = (part: number): number => Math.max(0, Math.min(1, part));
  const points: string[] = [];
  for (let i = 0; i <= 60; i++) {
    const part = i / 60;
    const [first, last] = [across.ticks[0], across.ticks[across.ticks.length - 1]];
    const intensity = across.isLog ? first * (last / first) ** part : first + part * (last - first);
    const height = up.at(Math.min(roof.flops, roof.bytes * intensity));
    if (height >= 0 && height <= 1) points.push(`${plot.x(part).toFixed(1)} ${plot.y(height).toFixed(1)}`);
  }
  return [
    svg('path', { d: `M${points.join(' L')}`, ...stroke }),
    svg(
      'text',
      { x: plot.x(clamp(across.at(knee))), y: plot.y(clamp(up.at(roof.flops))) - 4, fill: colour('text') },
      `best seen here: ${y.number(roof.flops)} ${y.label.split(' ').pop()}, ${(roof.bytes / 1e9).toPrecision(3)} GB/s`,
    ),
  ];
}

export const scatterPane: PaneType = {
  name: 'loops',
  title: 'Scatter',
  slot: 'picture',
  isThere: (app) =>
    app.mainColumn !== null && app.tables.has('loop') && axisChoices(app.columns, app.shownColumns()).length > 1,
  make: (app) => new ScatterPane(app),
};
