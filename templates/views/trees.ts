// SPDX-License-Identifier: BSD-3-Clause
// Trees beside the scopes' (calls), each as an App of its own whose places are the tree's nodes: what works on the scopes
// works on them. Sorting, columns, metrics, filter and comparison are those of the page.

import { type Model, NONE, type PlaceIx, type TreeNodes } from '../model/data';
import { CALLS, callRows, type CallRowsTree, foldRecursion, type MadeTree, treeModel } from '../logic/calls';
import type { Column } from '../logic/columns';
import { Memo } from '../logic/memo';
import type { CallRows } from '../state/state';
import type { App } from './app';

export class TreeApp {
  readonly app: App;
  readonly #told = new Memo<CallRows>();
  readonly #followed = new Memo<null>();
  readonly #met = new Memo<null>();
  readonly #opened = new Memo<null>();

  /** `choose`: the action of a click on a node; by default the page's selection follows. */
  constructor(
    private readonly main: App,
    readonly tree: MadeTree,
    make: (model: Model) => App,
    private readonly choose: ((place: PlaceIx) => void) | null = null,
    private readonly rows: CallRowsTree | null = null,
  ) {
    const app = (this.app = make(tree.model));
    app.store.dispatch({ type: 'view', view: 'tree' });
    this.#openHotPath();
    app.onDraw(() => main.drawSoon());
    app.store.subscribe((_, action) => {
      if (action.type === 'sort') main.store.dispatch(action);
      if (action.type === 'select' && action.place !== null) {
        const place = tree.nodes.place[action.place];
        if (choose) choose(place);
        else if (main.state.selected !== place) main.select(place, action.passing);
        this.#showCall(action.place);
      }
      if (action.type !== 'restore') this.#tell();
    });
  }

  /** The page's address has what is open in the tree of calls, by the numbers of its nodes. */
  #tell(): void {
    const { main, app } = this;
    if (!this.rows) return;
    const { expanded, selected } = app.state;
    const rows = this.#told.get([expanded, selected], () => {
      const { origin } = this.rows!;
      return { open: new Set([...expanded].map((i) => origin[i])), selected: selected === null ? null : origin[selected] };
    });
    if (main.state.calls !== rows) main.store.dispatch({ type: 'calls', rows });
  }

  /** Open nodes from the address. */
  #open(rows: CallRows | null): null {
    const { app } = this;
    const { expanded, selected } = app.state;
    if (rows === null && expanded !== app.start.expanded) this.#tell();
    if (rows === null || rows === this.#told.get([expanded, selected], () => rows)) return null;
    const { origin } = this.rows!;
    const at = new Map(Array.from(origin, (node, row) => [node, row]));
    const known = [...rows.open].flatMap((node) => at.get(node) ?? []);
    const state = { expanded: new Set(known), selected: at.get(rows.selected ?? NONE) ?? null };
    app.store.dispatch({ type: 'restore', state, reveal: [] });
    return null;
  }

  #openHotPath(): void {
    const { app } = this;
    app.onDraw(() => {
      const column = app.mainColumn;
      if (this.rows && this.main.state.calls) return;
      if (app.state.expanded.size > 1 || app.state.selected !== null || !column || !app.columns.isReady(column)) return;
      app.openHotPath();
    });
  }

  /** Of a call into code without source, the line it is on. */
  #showCall(node: PlaceIx): void {
    const { places, files } = this.tree.model;
    const [file, callFile] = [places.file[node], places.callFile[node]];
    const line = places.callLine[node];
    if (callFile !== NONE && files[callFile].state === 'text' && (file === NONE || files[file].state !== 'text'))
      this.main.store.dispatch({ type: 'show-source', source: { file: callFile, first: line, last: line } });
  }

  /** Selections in the page apply here. */
  follow(): void {
    const { main, app } = this;
    const { sortBy, descending, shown, form, ofParent, filter, least, typed, base, selected } = main.state;
    this.#followed.get([sortBy, descending, shown, form, ofParent, filter, least, typed, base], () => {
      const state = { sortBy, descending, shown, form, ofParent, filter, least, typed, base };
      app.store.dispatch({ type: 'restore', state, reveal: [] });
      return null;
    });
    if (app.arrivals !== main.arrivals) {
      app.arrivals = main.arrivals;
      app.drawSoon();
    }
    if (this.rows) this.#opened.get([main.state.calls], () => this.#open(main.state.calls));
    const column = app.mainColumn;
    if (!this.choose && column && app.columns.isReady(column))
      this.#met.get([selected], () => this.#meet(selected, column));
  }

  /** Selects the costliest node of a place that was selected elsewhere. */
  #meet(place: PlaceIx | null, column: Column): null {
    const { app } = this;
    const { nodes } = this.tree;
    const { selected } = app.state;
    if (place === null || (selected !== null && (nodes.place[selected] === place || this.rows?.site[selected] === place))) return null;
    const values = app.columns.values(column, null);
    let best = NONE;
    for (let i = 0; i < nodes.count; i++)
      if ((nodes.place[i] === place || this.rows?.site[i] === place) && (best === NONE || values[i] > values[best])) best = i;
    if (best !== NONE) app.select(best, true);
    return null;
  }
}

const SMALL = 300_000; // nodes

export class TreeApps {
  readonly #known = new Map<string, TreeApp>();
  readonly #rows = new Map<TreeApp, TreeApp>();

  constructor(
    private readonly main: App,
    private readonly make: (model: Model) => App,
  ) {}

  /** null: still on its way. */
  of(index: number): TreeApp | null {
    const { model, state } = this.main;
    const nodes = model.treeNodes.of(index);
    if (!nodes) return null;
    const isFolded = state.fold && model.trees[index].name === CALLS;
    const key = `${index} ${isFolded}`;
    let tree = this.#known.get(key);
    if (!tree) {
      const made = this.#treeOf(index, nodes, isFolded);
      tree = new TreeApp(this.main, made, this.make);
      this.#known.set(key, tree);
    }
    tree.follow();
    return tree;
  }

  #treeOf(index: number, nodes: TreeNodes, isFolded: boolean): MadeTree {
    const { model } = this.main;
    const values = model.treeValues[index];
    return isFolded ? foldRecursion(model, nodes, values) : { nodes, model: treeModel(model, nodes, values) };
  }

  /** The tree of calls; NONE: no paths were measured. */
  get callsIndex(): number {
    return this.main.model.trees.findIndex((t) => t.name === CALLS && t.nodes > 1);
  }

  calls(): TreeApp | null {
    const { callsIndex } = this;
    return callsIndex < 0 ? null : this.of(callsIndex);
  }

  /** The same, one row a call: the view Calls. */
  callRows(): TreeApp | null {
    const { main } = this;
    const calls = this.calls();
    const { mainColumn: column } = main;
    if (!calls || !column || !calls.app.columns.isReady(calls.app.own(column))) return null;
    let rows = this.#rows.get(calls);
    if (!rows) {
      const made = callRows(main.model, calls.tree);
      rows = new TreeApp(main, made, this.make, null, made);
      this.#rows.set(calls, rows);
    }
    rows.follow();
    return rows;
  }

  /** The same, but null if it is too large to be read for a part of a view. */
  smallCalls(): TreeApp | null {
    const { callsIndex, main } = this;
    return callsIndex >= 0 && main.model.trees[callsIndex].nodes <= SMALL ? this.calls() : null;
  }

  /** Whether small call paths are there, but not here yet. */
  get isComing(): boolean {
    const { callsIndex } = this;
    return callsIndex >= 0 && this.main.model.trees[callsIndex].nodes <= SMALL && this.failure(callsIndex) === undefined;
  }

  /** Why it cannot be read. */
  failure(index: number): string | undefined {
    const { model, mainColumn } = this.main;
    return model.treeNodes.failure(index) ?? model.treeValues[index].failure(mainColumn?.index ?? 0);
  }

  /** An App on a tree that a view made. */
  on(tree: MadeTree, choose: (place: PlaceIx) => void): TreeApp {
    return new TreeApp(this.main, tree, this.make, choose);
  }
}
