// Call paths: the table of the tree of calls, and the inspector's tabs of who calls what is selected, and of what it calls.

import { Kind, NONE, type PlaceIx } from '../model/data';
import { type Call, type Callers, type Calls, callersOf, callsOf } from '../logic/calls';
import { formatPercent, formatScaled } from '../logic/format';
import { labelOf } from '../logic/labels';
import { Memo, same } from '../logic/memo';
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
    return this.app.state.view === 'calls' && this.app.trees.callsIndex >= 0;
  }

  draw(): void {
    const { trees } = this.app;
    this.element.hidden = !this.isShown;
    if (!this.isShown) return;
    const tree = trees.calls();
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

/** Bottom-up, from what is selected. */
class CallersPane implements Pane {
  readonly element = h('section', { class: 'pane callers-tree', 'aria-label': 'Callers of what is selected' });
  readonly #tables = new TreeTables('callers', 'Called from');
  readonly #made = new Memo<{ tree: TreeApp; isCut: boolean } | null>();
  #shown: unknown = undefined; // null: that there is nothing

  constructor(private readonly app: App) {
    this.element.addEventListener('keydown', (event) => event.stopPropagation());
  }

  draw(): void {
    const { app } = this;
    const { selected } = app.state;
    const calls = app.trees.calls();
    if (!calls || selected === null) {
      this.#shown = undefined;
      this.element.replaceChildren(nothing(selected === null ? 'Select a row to see who called it.' : 'Reading …'));
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
      app.model.places.kind[selected] < Kind.Procedure
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

/** Who calls the selected procedure, and what it (or the selected part of it) calls. */
class CallsPane implements Pane {
  readonly element = h('section', { class: 'pane callers', 'aria-label': 'Calls from and to what is selected' });
  #drawn: readonly unknown[] = [];

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const { selected } = app.state;
    const calls = app.trees.calls();
    const inputs = [selected, calls, app.heatColumn, app.arrivals];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    if (!calls || selected === null) {
      const text = selected === null ? 'Select a row to see who called it, and what it calls.' : 'Reading …';
      this.element.replaceChildren(nothing(text));
      return;
    }
    const found = callsOf(app.model, calls.tree, selected);
    if (!found) return this.element.replaceChildren(nothing('Select a procedure, or something in one.'));
    if (found.callers.rows.length === 0 && found.callees.rows.length === 0)
      return this.element.replaceChildren(notOnPaths(app, selected));
    this.element.replaceChildren(
      ...this.#list('Called by', calls, found.callers, (c) => c.caller),
      ...this.#list(`Calls from ${labelOf(app.model, selected).text}`, calls, found.callees, (c) => c.callee),
    );
  }

  #list(title: string, tree: TreeApp, calls: Calls, other: (call: Call) => PlaceIx): HTMLElement[] {
    const columns = tree.app.columns;
    const column = tree.app.inclusive(tree.app.heatColumn!);
    const values = columns.values(column, calls.cells);
    const order = calls.rows.map((_, i) => i).sort((a, b) => compareValues(values[a], values[b], true) || a - b);
    const text = (value: number): string => {
      const percent = formatPercent(value, columns.whole(column));
      return (percent ? `${percent}%` : formatScaled(value, tree.app.scale(column))) || 'no data';
    };
    return [
      h('p', { class: 'why-title' }, h('b', null, visible(title)), calls.rows.length ? '' : ': nobody'),
      h(
        'ul',
        { class: 'parts' },
        ...order.slice(0, MOST).map((i) => this.#item(text(values[i]), calls.rows[i], other(calls.rows[i]))),
      ),
      ...(order.length > MOST ? [h('p', { class: 'muted' }, `and ${order.length - MOST} cheaper ones`)] : []),
    ];
  }

  #item(value: string, call: Call, other: PlaceIx): HTMLElement {
    const { app } = this;
    const go = (place: PlaceIx, text: string): HTMLElement =>
      button(visible(text), 'Select it', () => app.select(place), 'crumb');
    const name = (place: PlaceIx): string => labelOf(app.model, place).text;
    return h(
      'li',
      null,
      h('span', { class: 'n' }, value),
      go(other, name(other)),
      ...(app.model.places.kind[call.line] === Kind.Line
        ? [muted(' at '), go(call.line, name(call.line))]
        : []),
      ...(call.loop === NONE ? [] : [muted(' in '), go(call.loop, name(call.loop))]),
    );
  }
}

const isThere = (app: App): boolean => app.mainColumn !== null && app.trees.callsIndex >= 0;

export const callPanes: readonly PaneType[] = [
  {
    name: 'callers-tree',
    title: 'Callers',
    slot: 'inspect',
    room: 'Callers',
    isThere,
    make: (app) => new CallersPane(app),
  },
  {
    name: 'calls',
    title: 'Calls in and out',
    slot: 'inspect',
    room: 'Callers',
    isThere,
    make: (app) => new CallsPane(app),
  },
];
