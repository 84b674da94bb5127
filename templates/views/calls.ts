// SPDX-License-Identifier: BSD-3-Clause
// Call paths: the table of the tree of calls, and the inspector's tabs of who calls what is selected, and of what it calls.

import { Kind, NONE, type PlaceIx } from '../model/data';
import { type Call, type Callers, type Calls, callersOf, callsOf } from '../logic/calls';
import { formatPercent, formatScaled } from '../logic/format';
import { folded, labelOf } from '../logic/labels';
import { Memo } from '../logic/memo';
import { compareValues } from '../logic/sort';
import { sourceOf } from '../logic/tree';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import type { Pane, PaneType } from './panes';
import { TablePane } from './table';
import type { TreeApp } from './trees';

const MOST = 100;

/** Tables of trees, made when they are first seen. */
class TreeTables {
  readonly #made = new WeakMap<TreeApp, TablePane>();

  constructor(
    private readonly id: string,
    private readonly subject: string,
  ) {}

  of(tree: TreeApp): TablePane {
    let table = this.#made.get(tree);
    if (!table) this.#made.set(tree, (table = new TablePane(tree.app, this.id, this.subject)));
    return table;
  }
}

/** Top-down, where the page's table stands. */
export class CallsTable {
  readonly element = h('div', { class: 'calls-frame' });
  readonly #tables = new TreeTables('calls', 'Call');
  #table: TablePane | null = null;

  constructor(private readonly app: App) {}

  get isShown(): boolean {
    return this.app.state.view === 'calls';
  }

  draw(): void {
    const { trees } = this.app;
    this.element.hidden = !this.isShown;
    if (!this.isShown) return;
    if (trees.callsIndex < 0) {
      this.element.replaceChildren(
        h('p', { class: 'empty' }, 'No call paths were recorded. “hpcview record -- ./program” records them by default; for perf, use “perf record -g”.'),
      );
      return;
    }
    const tree = trees.callRows();
    if (!tree) {
      const why = trees.failure(trees.callsIndex) ?? 'Reading …';
      this.element.replaceChildren(h('p', { class: 'empty' }, visible(why)));
      return;
    }
    const table = this.#tables.of(tree);
    if (this.#table !== table) this.element.replaceChildren((this.#table = table).element);
    this.#table.draw();
  }

  focus = (): void => this.#table?.focus();
  onKey = (event: KeyboardEvent): void => this.#table?.onKey(event);
}

const nothing = (text: string): HTMLElement => h('p', { class: 'empty small' }, text);

const notOnPaths = (app: App, place: PlaceIx): HTMLElement =>
  nothing(`${visible(labelOf(app.model, place).text)} is on no call path.`);

/** Bottom-up, from the selection. */
class CallersPane implements Pane {
  readonly element = h('section', { class: 'pane callers-tree', 'aria-label': 'Callers of the selection' });
  readonly #tables = new TreeTables('callers', 'Called from');
  readonly #made = new Memo<{ tree: TreeApp; isCut: boolean } | null>();
  #shown: unknown = undefined; // null: to show that there is nothing

  constructor(private readonly app: App) {
    this.element.addEventListener('keydown', (event) => event.stopPropagation());
  }

  draw(): void {
    const { app } = this;
    const { selected } = app.state;
    const calls = app.trees.calls();
    if (!calls || selected === null) {
      this.#shown = undefined;
      this.element.replaceChildren(nothing(selected === null ? 'Select a row to see its callers.' : 'Reading …'));
      return;
    }
    const made = this.#made.get([calls, selected], () => this.#make(calls, selected));
    if (made !== this.#shown) this.#show(made, selected);
    if (!made) return;
    made.tree.follow();
    this.#tables.of(made.tree).draw();
  }

  #make(calls: TreeApp, selected: PlaceIx): { tree: TreeApp; isCut: boolean } | null {
    const { app } = this;
    const callers: Callers | null =
      selected === 0
        ? null
        : callersOf(app.model, calls.tree.nodes, calls.tree.model.values, selected);
    const show = (place: PlaceIx): void => {
      const source = sourceOf(app.model, place);
      if (source) app.store.dispatch({ type: 'show-source', source });
    };
    return callers && { tree: app.trees.on(callers, show), isCut: callers.isCut };
  }

  #show(made: { tree: TreeApp; isCut: boolean } | null, selected: PlaceIx): void {
    this.#shown = made;
    if (!made) return this.element.replaceChildren(notOnPaths(this.app, selected));
    this.element.replaceChildren(
      h(
        'p',
        { class: 'why-title' },
        'Callers of ',
        h('b', null, visible(labelOf(this.app.model, selected).text)),
        muted(` with all it called, and what is around each call; shares are of its cost${made.isCut ? '; longer paths are cut' : ''}`),
      ),
      this.#tables.of(made.tree).element,
    );
  }
}

const FEW = 5;

/** The callers of a place's procedure, or the callers of an inlined call, and the place's callees; nothing if it is on no path. */
export function callLists(app: App, place: PlaceIx): HTMLElement[] {
  const calls = app.trees.smallCalls();
  const found = calls && callsOf(app.model, calls.tree, place);
  if (!calls || !found) return [];
  return [
    ...callList(app, 'Called from', calls, found.callers, (c) => c.caller),
    ...callList(app, 'Calls', calls, found.callees, (c) => c.callee),
  ];
}

function callList(app: App, title: string, tree: TreeApp, calls: Calls, other: (call: Call) => PlaceIx): HTMLElement[] {
  if (calls.rows.length === 0) return [];
  const { columns } = tree.app;
  const column = tree.app.inclusive(tree.app.heatColumn!);
  const values = columns.values(column, calls.cells);
  const order = calls.rows.map((_, i) => i).sort((a, b) => compareValues(values[a], values[b], true) || a - b);
  const text = (value: number): string => {
    const percent = formatPercent(value, columns.whole(column));
    return (percent ? `${percent}%` : formatScaled(value, tree.app.scale(column))) || 'no data';
  };
  const list = h('ul', { class: 'parts' });
  const show = (many: number): void =>
    list.replaceChildren(...order.slice(0, many).map((i) => callItem(app, text(values[i]), calls.rows[i], other(calls.rows[i]))));
  show(FEW);
  const more = order.length - FEW;
  const all = button(`${more} more`, `All, up to ${MOST}`, () => (show(MOST), all.remove()), 'link');
  return [h('h3', null, title), list, ...(more > 0 ? [all] : [])];
}

function callItem(app: App, value: string, call: Call, other: PlaceIx): HTMLElement {
  const go = (place: PlaceIx): HTMLElement =>
    button(visible(folded(labelOf(app.model, place).text)), 'Select it', () => app.select(place), 'crumb');
  return h(
    'li',
    null,
    h('span', { class: 'n' }, value),
    go(other),
    ...(call.line !== other && app.model.places.kind[call.line] === Kind.Line ? [muted(' at '), go(call.line)] : []),
    ...(call.loop === NONE ? [] : [muted(' in '), go(call.loop)]),
  );
}

const isThere = (app: App): boolean => app.mainColumn !== null && app.trees.callsIndex >= 0;

export const callPanes: readonly PaneType[] = [
  {
    name: 'callers-tree',
    title: 'Callers',
    slot: 'inspect',
    isThere,
    make: (app) => new CallersPane(app),
  },
];
