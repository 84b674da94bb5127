// SPDX-License-Identifier: BSD-3-Clause
// The search for findings: what was looked for and where, as a graph that goes from the left to the right. Each step has its
// state, its value against the threshold, and the experiment that answered it. What leads nowhere is closed.

import { NONE } from '../model/data';
import { isSearch, openSteps, searchSteps, type Step } from '../logic/diagnosis';
import { plural } from '../logic/format';
import { labelOf } from '../logic/labels';
import { Memo, same } from '../logic/memo';
import type { App } from './app';
import { button, h, muted, svg, visible } from './dom';
import type { Pane, PaneType } from './panes';

const MOST = 400; // steps that are drawn
const ROW = 20;
const INDENT = 18;

class SearchPane implements Pane {
  readonly element = h('section', { class: 'pane facts-pane', 'aria-label': 'Search for findings' });
  #drawn: readonly unknown[] = [];
  readonly #steps = new Memo<Step[]>();
  readonly #turned = new Set<number>(); // steps that are not as they come: open, or closed
  #turns = 0;

  constructor(
    private readonly app: App,
    private readonly index: number,
  ) {}

  draw(): void {
    const { model, arrivals } = this.app;
    const inputs = [arrivals, this.#turns];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    const info = model.tables[this.index];
    const rows = model.tableRows.of(this.index);
    if (!rows) {
      const why = visible(model.tableRows.failure(this.index) ?? 'Reading …');
      this.element.replaceChildren(h('p', { class: 'empty small' }, why));
      return;
    }
    const steps = this.#steps.get([rows], () => searchSteps(info, rows));
    const open = openSteps(steps, (row) => this.#isOpen(steps, row));
    const shown = open.slice(0, MOST);
    this.element.replaceChildren(
      this.#heading(steps),
      h('div', { class: 'search-graph' }, this.#lines(steps, shown), ...shown.map((at) => this.#row(steps, at.row, at.depth))),
      open.length > MOST ? h('p', { class: 'muted' }, `and ${open.length - MOST} more`) : '',
    );
  }

  #isOpen(steps: readonly Step[], row: number): boolean {
    return steps[row].leads !== this.#turned.has(row);
  }

  #heading(steps: readonly Step[]): HTMLElement {
    const count = (state: Step['state']): number => steps.filter((s) => s.state === state).length;
    const states = (['true', 'false', 'unknown', 'pruned', 'not measurable', 'not reached'] as const)
      .map((state) => ({ state, n: count(state) }))
      .filter(({ n }) => n > 0);
    const experiments = steps.reduce((most, s) => Math.max(most, s.experiment || 0), 0);
    return h(
      'p',
      { class: 'why-title' },
      h('b', null, 'The search'),
      ` ${plural(steps.length, 'step')} in ${plural(experiments, 'experiment')}: `,
      ...states.map(({ state, n }) => h('span', { class: `step-state ${stateClass(state)}` }, `${n} ${state}`)),
    );
  }

  /** From each step to those it led to. */
  #lines(steps: readonly Step[], shown: readonly { row: number; depth: number }[]): SVGElement {
    const at = new Map(shown.map(({ row }, i) => [row, i]));
    const paths = shown.flatMap(({ row, depth }, i) => {
      const from = at.get(steps[row].parent);
      if (from === undefined) return [];
      const x = (depth - 1) * INDENT + 8;
      const bottom = i * ROW + ROW / 2;
      return [svg('path', { d: `M${x} ${from * ROW + ROW / 2 + 6}V${bottom - 4}q0 4 4 4H${x + INDENT - 7}` })];
    });
    const deepest = shown.reduce((most, { depth }) => Math.max(most, depth), 0);
    const graph = svg('svg', { width: (deepest + 1) * INDENT, height: shown.length * ROW, class: 'search-lines' }, ...paths);
    graph.setAttribute('aria-hidden', 'true');
    return graph;
  }

  #row(steps: readonly Step[], row: number, depth: number): HTMLElement {
    const { app } = this;
    const step = steps[row];
    const hasPlace = step.place !== NONE && step.place < app.model.places.count;
    const element = h(
      'div',
      { class: `search-step ${stateClass(step.state)}`, title: visible(describe(step)) },
      this.#knob(steps, row),
      h('span', { class: 'step-name' }, visible(step.hypothesis)),
      hasPlace && step.place > 0
        ? button(visible(labelOf(app.model, step.place).text), 'Go there', () => app.selectInTree(step.place), 'crumb')
        : muted(' the program '),
      h('span', { class: 'step-state' }, step.state),
      Number.isNaN(step.value) ? null : h('span', { class: 'step-value' }, `${step.value.toFixed(1)}%`),
      Number.isNaN(step.value) || Number.isNaN(step.threshold) ? null : muted(` of ${step.threshold}%`),
      muted(` experiment ${step.experiment}`),
      step.note ? h('span', { class: 'muted step-note' }, visible(` ${step.note}`)) : null,
    );
    element.style.paddingLeft = `${depth * INDENT}px`;
    return element;
  }

  /** The node of the graph; where steps come from it, a click opens or closes them. */
  #knob(steps: readonly Step[], row: number): HTMLElement {
    const n = steps[row].children.length;
    if (n === 0) return h('span', { class: 'step-knob' });
    const isOpen = this.#isOpen(steps, row);
    const knob = button(isOpen ? '−' : '+', `${isOpen ? 'Close' : 'Open'} what came from it (${n})`, () => this.#turn(row), 'step-knob');
    knob.setAttribute('aria-expanded', String(isOpen));
    return knob;
  }

  #turn(row: number): void {
    if (!this.#turned.delete(row)) this.#turned.add(row);
    this.#turns++;
    this.app.drawSoon();
  }
}

const stateClass = (state: string): string => `is-${state.replace(/[^a-z]/g, '-')}`;

function describe(step: Step): string {
  const value = Number.isNaN(step.value) ? '' : `: ${step.value.toFixed(1)}%, held against ${step.threshold}%`;
  return `${step.hypothesis} is ${step.state}${value}, in experiment ${step.experiment}${step.note ? `; ${step.note}` : ''}`;
}

export const searchPane: PaneType = {
  name: 'search',
  title: 'Search graph',
  slot: 'data',
  isThere: (app) => app.model.tables.some(isSearch),
  make: (app) => new SearchPane(app, app.model.tables.findIndex(isSearch)),
};
