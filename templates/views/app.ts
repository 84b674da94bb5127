// SPDX-License-Identifier: BSD-3-Clause
// What the panes share: the model, the state, and the handful of things a user does that touch more than one pane.

import { firstMetric, Kind, type Model, NONE, type PlaceIx } from '../model/data';
import { SourceTexts } from '../model/load';
import { type Column, type ColumnId, columnId, Columns } from '../logic/columns';
import type { Groups } from '../logic/cells';
import { CALLS } from '../logic/calls';
import { comparedColumns } from '../logic/compare';
import { type FileLines, fileLines, type LineIndex, lineIndex, linesByFile, placesOnLine } from '../logic/lines';
import { Memo } from '../logic/memo';
import { type Subject, type Table, Tables } from '../logic/rows';
import { type Scale, scaleAmong, scaleFor } from '../logic/format';
import { ancestors, type Children, hotPath, sourceOf, subtree } from '../logic/tree';
import type { Page, State, View } from '../state/state';
import { Store } from '../state/store';
import { TreeApps } from './trees';

/** Opening a whole tree of a million scopes at once is not useful. */
const MOST_EXPANDED = 100_000;
const MOST_SHOWN_INSTANCES = 1000;

export function startState(model: Model): State {
  const first = firstMetric(model.metrics);
  const shown: ColumnId[] = [];
  model.metrics.forEach((m, i) => {
    if (!m.display) return;
    shown.push(columnId(i, false)); // its bar shows the exclusive part
  });
  // of many, the cache misses: the others are selected when they are needed
  const misses = shown.filter((_, i) => /misses$/.test(model.metrics.filter((m) => m.display)[i].unit));
  if (shown.length > 5 && misses.length > 1) shown.splice(0, shown.length, ...misses.slice(0, 3));
  const sortBy = first < 0 ? null : columnId(first, false);
  return {
    view: 'summary',
    sortBy,
    descending: sortBy !== null,
    shown,
    form: 'scaled',
    ofParent: false,
    fuse: true,
    flatten: 0,
    hot: 50,
    fold: false,
    least: 0,
    filter: '',
    selected: null,
    source: null,
    beside: false,
    about: false,
    expanded: new Set([0]),
    calls: null,
    zoom: 0,
    base: '',
    typed: [],
    layout: { picture: '', reading: 'source', inspect: 'card', flame: `tree-${CALLS}`, time: 'barriers', memory: 'memory', data: '' },
    panel: 'none',
  };
}

export class App {
  readonly store: Store;
  readonly tables: Tables;
  readonly texts: SourceTexts;
  readonly start: State;
  readonly trees: TreeApps;
  readonly #columnSet = new Memo<Columns>();
  private readonly shown = new Memo<readonly Column[]>();
  readonly #linked = new Memo<readonly PlaceIx[]>();
  readonly #lineCache = new Map<number, FileLines>();
  #index: LineIndex | null = null;
  #files: Groups | null = null;
  #drawers: (() => void)[] = [];
  #frame = 0;

  constructor(
    readonly model: Model,
    texts: SourceTexts | null = null,
    children: Children | null = null,
  ) {
    this.start = startState(model);
    this.store = new Store(this.start);
    this.tables = new Tables(model, children);
    this.texts = texts ?? new SourceTexts(() => this.arrived());
    this.trees = new TreeApps(this, (tree) => new App(tree, this.texts));
    this.store.subscribe((_, action) => {
      if (action.type === 'select' || action.type === 'restore') this.visits++;
      if (action.type !== 'select' || !action.passing) this.notice = '';
      this.drawSoon();
    });
  }

  /** A block of the database came, or could not be read. */
  arrived(): void {
    this.arrivals++;
    this.drawSoon();
  }

  /** Counts the times somebody went to a place, so that the table scrolls there then and not whenever it is drawn. */
  visits = 0;

  /** Counts arrivals of blocks, for views that remember what they drew. */
  arrivals = 0;

  /** Status of the last action. */
  notice = '';

  get state(): State {
    return this.store.state;
  }

  get columns(): Columns {
    return this.#columnSet.get([this.state.typed], () => new Columns(this.model, this.state.typed));
  }

  column(id: ColumnId | null): Column | null {
    return id === null ? null : this.columns.get(id);
  }

  /** The default metric; null if nothing was measured. */
  get mainColumn(): Column | null {
    const first = firstMetric(this.model.metrics);
    return first < 0 ? null : this.columns.of(first);
  }

  /** The column whose values colour the source and order its places: the one sorted by. */
  get heatColumn(): Column | null {
    return this.column(this.state.sortBy) ?? this.mainColumn;
  }

  /** The same column over lines' own cost. */
  own(column: Column): Column {
    return this.columns.get(column.id.replace(/i$/, 'e')) ?? column;
  }

  inclusive(column: Column): Column {
    return this.columns.get(column.id.replace(/e$/, 'i')) ?? column;
  }

  subject(): Subject {
    const shown = this.shownColumns();
    const sort = this.column(this.state.sortBy);
    const isWeight = sort !== null && !Number.isNaN(this.columns.whole(sort)) && !this.columns.isRatio(sort);
    return { columns: this.columns, shown, sort, weight: isWeight ? sort : this.mainColumn };
  }

  table(): Table {
    return this.tables.of(this.state, this.subject());
  }

  get lines(): LineIndex {
    return (this.#index ??= lineIndex(this.model));
  }

  /** The lines of each file, for the costs of files. */
  get files(): Groups {
    return (this.#files ??= linesByFile(this.model));
  }

  fileLines(file: number): FileLines {
    let lines = this.#lineCache.get(file);
    if (!lines) this.#lineCache.set(file, (lines = fileLines(this.model, this.lines, file)));
    return lines;
  }

  /** For a column of the current table. */
  tableScale(column: Column): Scale {
    return this.scaleAmong(column, this.table().largest(column));
  }

  scaleAmong(column: Column, largest: number): Scale {
    return scaleAmong(column.metric, this.#size(column), largest);
  }

  /** For the whole program. */
  scale(column: Column): Scale {
    return scaleFor(column.metric, this.#size(column));
  }

  /** The base of a column's shares: of a difference, the value that it is a part of. */
  #size(column: Column): number {
    return column.difference ? this.columns.whole(column) : this.columns.total(column);
  }

  /** The columns the current table shows: a line has no parts, so its exclusive columns would only repeat the others. */
  shownColumns(): readonly Column[] {
    const { shown, view } = this.state;
    return this.shown.get([shown, view === 'line', this.columns], () => {
      const wanted =
        view === 'line' ? shown.filter((c) => !c.endsWith('e') || !shown.includes(c.replace(/e$/, 'i'))) : shown;
      return wanted.map((id) => this.columns.get(id)).filter((c) => c !== null);
    });
  }

  /** Where the marked line stands in the tree; empty unless one line is marked. */
  instances(): readonly PlaceIx[] {
    const { source } = this.state;
    const column = this.heatColumn;
    return this.#linked.get([source?.file, source?.first, source?.last, column, this.arrivals], () =>
      source && source.first > 0 && source.first === source.last ? this.placesOnLine(source.file, source.first) : [],
    );
  }

  placesOnLine(file: number, line: number): PlaceIx[] {
    const column = this.heatColumn;
    return column ? placesOnLine(this.model, this.fileLines(file), this.columns.values(column, null), line) : [];
  }

  // ---- what users do ----

  select(place: PlaceIx, passing = false, view?: View): void {
    if (place >= this.model.places.count) return; // an empty database has not even a root
    const reveal = ancestors(this.model.places, place);
    const { zoom } = this.state;
    if (zoom !== 0 && place !== zoom && !reveal.includes(zoom)) this.store.dispatch({ type: 'zoom', place: 0 });
    this.store.dispatch({
      type: 'select',
      place,
      source: sourceOf(this.model, place),
      reveal,
      passing,
      ...(view ? { view } : {}),
    });
  }

  selectInTree(place: PlaceIx): void {
    this.select(place, false, 'tree');
  }

  markLine(file: number, line: number, passing = false): void {
    const found = this.placesOnLine(file, line);
    const { selected } = this.state;
    const place = found.length === 0 ? null : selected !== null && found.includes(selected) ? selected : found[0];
    this.store.dispatch({
      type: 'select',
      place,
      source: { file, first: line, last: line },
      reveal: place === null ? [] : ancestors(this.model.places, place),
      passing,
    });
  }

  /** The next, or the one before, of the places on the marked line. */
  cycle(step: 1 | -1): void {
    const all = this.instances();
    if (all.length === 0) return;
    const at = this.state.selected === null ? -1 : all.indexOf(this.state.selected);
    const place = all[at < 0 ? 0 : (at + step + all.length) % all.length];
    const { source } = this.state;
    this.store.dispatch({ type: 'select', place, source, reveal: ancestors(this.model.places, place) });
  }

  /** Opens the tree wherever the marked line stands. */
  showAllInstances(): void {
    const all = this.instances();
    const open = all.slice(0, MOST_SHOWN_INSTANCES).flatMap((place) => ancestors(this.model.places, place));
    this.store.dispatch({ type: 'view', view: 'tree' });
    this.store.dispatch({ type: 'expand', places: [...new Set(open)] });
    if (all.length > MOST_SHOWN_INSTANCES)
      this.notice = `${MOST_SHOWN_INSTANCES} of ${all.length} places are open; the others are less costly`;
  }

  /** Opens it, and gives its end. */
  openHotPath(from: PlaceIx = 0): PlaceIx {
    const column = this.heatColumn;
    if (!column || from >= this.model.places.count) return from;
    const values = this.columns.values(this.inclusive(column), null);
    const path = hotPath(this.model, this.tables.children, values, from, this.state.hot / 100);
    this.store.dispatch({ type: 'expand', places: path });
    return path[path.length - 1];
  }

  followHotPath(from: PlaceIx): void {
    if (this.heatColumn && from < this.model.places.count) this.selectInTree(this.openHotPath(from));
  }

  /** The contents of the table: the tree of calls, or the scopes and tables derived from them. */
  get front(): App {
    return (this.state.view === 'calls' && this.trees.callRows()?.app) || this;
  }

  /** Sorts by the next column to the right, or the one before; after the last comes the name. */
  sortByNeighbour(step: 1 | -1): void {
    const order = [null, ...this.shownColumns().map((c) => c.id)];
    const at = Math.max(0, order.indexOf(this.state.sortBy));
    this.store.dispatch({ type: 'sort', by: order[(at + step + order.length) % order.length] });
  }

  toggle(place: PlaceIx): void {
    this.store.dispatch({ type: this.state.expanded.has(place) ? 'collapse' : 'expand', places: [place] });
  }

  expandBelow(place: PlaceIx): void {
    if (place >= this.model.places.count) return;
    const { places, isCut } = subtree(this.tables.children, place, MOST_EXPANDED);
    this.store.dispatch({ type: 'expand', places });
    if (isCut)
      this.notice = `The upper ${MOST_EXPANDED.toLocaleString('en')} scopes are open; those below them stay closed`;
  }

  /** The nearest scope that can be the root of tree and pictures. */
  zoomTo(place: PlaceIx): void {
    const { kind, parent } = this.model.places;
    let root = place;
    while (root > 0 && kind[root] === Kind.Line) root = parent[root];
    if (root !== NONE && root < this.model.places.count) this.store.dispatch({ type: 'zoom', place: root });
  }

  flattenBy(step: 1 | -1): void {
    const levels = Math.max(0, Math.min(50, this.state.flatten + step));
    this.store.dispatch({ type: 'flatten', levels });
  }

  /** "": ends the comparison. */
  compareWith(base: string): void {
    const shown = base ? comparedColumns(this.model, base, this.start.shown) : this.start.shown;
    const difference = shown.find((id) => id.includes('-'));
    this.store.dispatch({ type: 'compare', base, shown, sortBy: difference ?? this.start.sortBy });
  }

  /** Shows one of the pages, about a place. */
  showPage(view: Page, pane: string, place: PlaceIx = 0): void {
    this.store.dispatch({ type: 'pane', slot: view, name: pane });
    this.select(place, false, view);
  }

  /** Shows a table, and if a place is given only the rows about it. */
  showTable(name: string, place: PlaceIx | null = null): void {
    this.store.dispatch({ type: 'about', on: place !== null });
    this.showPage('data', `table-${name}`, place ?? this.state.selected ?? 0);
  }

  // ---- drawing ----

  onDraw(draw: () => void): void {
    this.#drawers.push(draw);
  }

  drawSoon(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.draw();
    });
  }

  draw(): void {
    for (const draw of this.#drawers) draw();
  }
}
