// Barriers and phases: stacked columns of phase and barrier times, absolute and as parts of the whole; who waited for
// whom; and where each barrier is. Each picture has its numbers in the table below it.

import { NONE, type TableInfo, type TableRows } from '../model/data';
import { cellText } from '../logic/tables';
import type { App } from './app';
import { button, h, visible } from './dom';
import type { Pane, PaneType } from './panes';

const MOST = 40;

interface Loaded {
  readonly info: TableInfo;
  readonly rows: TableRows;
}

class BarriersPane implements Pane {
  readonly element = h('section', { class: 'pane facts-pane', 'aria-label': 'Barriers and phases' });
  private drawn: readonly unknown[] = [];
  private normalized = false;

  constructor(private readonly app: App) {}

  draw(): void {
    const inputs = [this.app.arrivals, this.normalized];
    if (inputs.every((x, i) => Object.is(x, this.drawn[i]))) return;
    this.drawn = inputs;
    const barriers = this.table('barriers');
    if (!barriers) {
      this.element.replaceChildren(h('p', { class: 'empty small' }, 'Reading …'));
      return;
    }
    this.element.replaceChildren(...this.stack(barriers), ...this.matrix());
  }

  private table(name: string): Loaded | null {
    const { model } = this.app;
    const at = model.tables.findIndex((t) => t.name === name);
    const rows = at < 0 ? null : model.tableRows.of(at);
    return rows && { info: model.tables[at], rows };
  }

  private value(t: Loaded, column: string, row: number): number {
    const at = t.info.columns.findIndex((c) => c.name === column);
    return at < 0 ? NaN : t.rows.cells[at][row];
  }

  private text(t: Loaded, column: string, row: number): string {
    const at = t.info.columns.findIndex((c) => c.name === column);
    return at < 0 ? '' : visible(cellText(this.app.model, t.info.columns[at], t.rows, t.rows.cells[at][row]));
  }

  /** Of a row, the time before its barrier time, and that: phases last from barrier to barrier. */
  private parts(t: Loaded, row: number): readonly [number, number] {
    const phase = this.value(t, 'phase', row) || 0;
    const barrier = Math.min(this.value(t, 'barrier', row) || 0, phase);
    return [phase - barrier, barrier];
  }

  private order(t: Loaded): number[] {
    const rows = Array.from({ length: t.info.rows }, (_, i) => i);
    const phase = (row: number): number => this.value(t, 'phase', row) || 0;
    return rows.sort((a, b) => phase(b) - phase(a) || a - b).slice(0, MOST);
  }

  private stack(t: Loaded): HTMLElement[] {
    const order = this.order(t);
    const all = order.map((row) => this.parts(t, row));
    const longest = Math.max(...all.map(([work, wait]) => work + wait), 1);
    const width = (part: number, of: number): string => `${((part / (of || 1)) * 100).toFixed(2)}%`;
    const bars = order.map((row, i) => {
      const [work, wait] = all[i];
      const whole = this.normalized ? work + wait : longest;
      const place = this.value(t, 'place', row);
      const label = `${this.text(t, 'name', row)} ${this.text(t, 'place', row)} ${this.text(t, 'kind', row)}`.trim();
      return h(
        'tr',
        null,
        h('td', null, place === NONE ? label : button(label, 'Go there', () => this.app.selectInTree(place), 'crumb')),
        h('td', { class: 'n' }, this.text(t, 'episodes', row)),
        h('td', { class: 'n' }, milliseconds(work + wait)),
        h('td', { class: 'n' }, milliseconds(wait)),
        h(
          'td',
          { class: 'barrier-bar', title: `${milliseconds(work)} ms until the first came, ${milliseconds(wait)} ms until the last` },
          styled(h('span', { class: 'barrier-work' }), 'width', width(work, whole)),
          styled(h('span', { class: 'barrier-wait' }), 'width', width(wait, whole)),
        ),
        h('td', null, this.text(t, 'last_thread', row)),
      );
    });
    return [
      h(
        'p',
        { class: 'why-title' },
        h('b', null, 'Phases and the barriers that end them '),
        button(
          this.normalized ? 'Show times' : 'Show parts of each phase',
          'Absolute times, or each phase as a whole',
          () => {
            this.normalized = !this.normalized;
            this.app.drawSoon();
          },
          'link',
        ),
      ),
      grid(['Ended by', 'Episodes', 'Phase ms', 'Barrier ms', 'until the first came, until the last', 'Most often last'], bars),
    ];
  }

  /** Who waited (rows) for whom (columns). */
  private matrix(): HTMLElement[] {
    const t = this.table('waits_for');
    if (!t || t.info.rows === 0) return [];
    const rows = Array.from({ length: t.info.rows }, (_, i) => i);
    const names = (column: string): string[] => [...new Set(rows.map((row) => this.text(t, column, row)))].sort(compareNames);
    const waiters = names('waiter').slice(0, MOST);
    const others = names('thread').slice(0, MOST);
    const sums = new Map(rows.map((row) => [`${this.text(t, 'waiter', row)}\n${this.text(t, 'thread', row)}`, this.value(t, 'waited', row)]));
    const most = Math.max(...sums.values(), 1);
    const cell = (waiter: string, other: string): HTMLElement => {
      const waited = sums.get(`${waiter}\n${other}`) ?? 0;
      const shade = `color-mix(in srgb, var(--part-0) ${((waited / most) * 80).toFixed(0)}%, transparent)`;
      return styled(h('td', { class: 'n' }, waited ? milliseconds(waited) : ''), 'background', shade);
    };
    return [
      h('p', { class: 'why-title' }, h('b', null, 'Who waits for whom '), h('span', { class: 'muted' }, 'ms; columns came last')),
      grid(
        ['waits', ...others.map((o) => `for ${o}`)],
        waiters.map((w) => h('tr', null, h('td', null, w), ...others.map((o) => cell(w, o)))),
      ),
    ];
  }
}

/** "#2" before "#10". */
const compareNames = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** The page allows no style attributes in markup. */
function styled(element: HTMLElement, property: 'width' | 'background', value: string): HTMLElement {
  element.style[property] = value;
  return element;
}

const milliseconds = (ns: number): string => (ns / 1e6).toFixed(3);

function grid(heads: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  return h(
    'div',
    { class: 'scroll-x' },
    h(
      'table',
      { class: 'facts' },
      h('thead', null, h('tr', null, ...heads.map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, ...rows),
    ),
  );
}

export const barriersPane: PaneType = {
  name: 'barriers',
  title: 'Phases',
  slot: 'inspect',
  room: 'Phases',
  isThere: (app) => app.model.tables.some((t) => t.name === 'barriers' && t.rows > 0 && t.columns.some((c) => c.name === 'phase')),
  make: (app) => new BarriersPane(app),
};
