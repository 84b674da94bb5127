// What the panes share: the model, the state, and the handful of things a user does that touch more than one pane.

import { type Column, columnOf, columnValues, metricOf, type Model, type PlaceIx } from '../model/data';
import { SourceTexts } from '../model/load';
import { type LineIndex, lineIndex, placesOnLine } from '../logic/lines';
import { Memo, type Table, Tables } from '../logic/rows';
import { type Scale, scaleAmong, scaleFor } from '../logic/format';
import { ancestors, hotPath, sourceOf, subtree } from '../logic/tree';
import type { State } from '../state/state';
import { Store } from '../state/store';

/** Opening a whole tree of a million scopes at once helps nobody. */
const MOST_EXPANDED = 100_000;
const MOST_SHOWN_INSTANCES = 1000;

export function startState(model: Model): State {
  const shown: Column[] = [];
  model.metrics.forEach((m, i) => {
    if (!m.display) return;
    shown.push(columnOf(i, false));
    if (m.hasExclusive && m.formula === '') shown.push(columnOf(i, true));
  });
  const wanted = model.metrics.findIndex((m) => m.sortBy);
  const sortBy = model.metrics.length === 0 ? null : wanted >= 0 ? columnOf(wanted, false) : (shown[0] ?? 0);
  return {
    view: 'tree',
    sortBy,
    descending: sortBy !== null,
    shown,
    exact: false,
    fuse: true,
    filter: '',
    selected: null,
    source: null,
    expanded: new Set([0]),
    panel: 'none',
  };
}

export class App {
  readonly store: Store;
  readonly tables: Tables;
  readonly lines: LineIndex;
  readonly texts: SourceTexts;
  readonly start: State;
  private readonly linked = new Memo<readonly PlaceIx[]>();
  private readonly scales = new Map<Column, Scale>();
  private drawers: (() => void)[] = [];
  private frame = 0;

  constructor(readonly model: Model) {
    this.start = startState(model);
    this.store = new Store(this.start);
    this.tables = new Tables(model);
    this.lines = lineIndex(model);
    this.texts = new SourceTexts(() => {
      this.textVersion++;
      this.drawSoon();
    });
    this.store.subscribe((_, action) => {
      if (action.type === 'select' || action.type === 'restore') this.visits++;
      this.drawSoon();
    });
  }

  /** Counts the times somebody went to a place, so that the table scrolls there then and not whenever it is drawn. */
  visits = 0;

  /** Counts arrivals of source text, for views that remember what they drew. */
  textVersion = 0;

  get state(): State {
    return this.store.state;
  }

  table(): Table {
    return this.tables.of(this.state);
  }

  /** The column whose values colour the source: the one sorted by. */
  get heatColumn(): Column {
    return this.state.sortBy ?? this.start.sortBy ?? 0;
  }

  total(column: Column): number {
    return columnValues(this.model, column & ~1)[0] ?? NaN;
  }

  /** For a column of the current table. */
  tableScale(column: Column): Scale {
    return this.scaleAmong(column, this.table().largest(column));
  }

  scaleAmong(column: Column, largest: number): Scale {
    return scaleAmong(this.model.metrics[metricOf(column)], this.total(column), largest);
  }

  /** For the whole program. */
  scale(column: Column): Scale {
    let scale = this.scales.get(column);
    if (!scale) this.scales.set(column, (scale = scaleFor(this.model.metrics[metricOf(column)], this.total(column))));
    return scale;
  }

  /** The columns the current table shows: a line has no parts, so its exclusive columns would only repeat the others. */
  columns(): readonly Column[] {
    const { shown, view } = this.state;
    return view === 'line' ? shown.filter((c) => (c & 1) === 0 || !shown.includes(c - 1)) : shown;
  }

  /** Where the marked line stands in the tree; empty unless one line is marked. */
  instances(): readonly PlaceIx[] {
    const { source } = this.state;
    const column = this.heatColumn;
    return this.linked.get([source?.file, source?.first, source?.last, column], () =>
      source && source.first > 0 && source.first === source.last
        ? placesOnLine(this.model, this.lines, column, source.file, source.first)
        : [],
    );
  }

  // ---- what users do ----

  select(place: PlaceIx, passing = false): void {
    if (place >= this.model.places.count) return; // an empty database has not even a root
    this.store.dispatch({
      type: 'select',
      place,
      source: sourceOf(this.model, place),
      reveal: ancestors(this.model.places, place),
      passing,
    });
  }

  selectInTree(place: PlaceIx): void {
    this.store.dispatch({ type: 'view', view: 'tree' });
    this.select(place);
  }

  markLine(file: number, line: number, passing = false): void {
    const source = { file, first: line, last: line };
    const found = placesOnLine(this.model, this.lines, this.heatColumn, file, line);
    const { selected } = this.state;
    const place = found.length === 0 ? null : selected !== null && found.includes(selected) ? selected : found[0];
    this.store.dispatch({
      type: 'select',
      place,
      source,
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
    const { places } = this.model;
    const open = this.instances()
      .slice(0, MOST_SHOWN_INSTANCES)
      .flatMap((place) => ancestors(places, place));
    this.store.dispatch({ type: 'view', view: 'tree' });
    this.store.dispatch({ type: 'expand', places: [...new Set(open)] });
  }

  followHotPath(from: PlaceIx): void {
    if (from >= this.model.places.count) return;
    const path = hotPath(this.model, this.tables.children, this.heatColumn, from);
    this.store.dispatch({ type: 'view', view: 'tree' });
    this.store.dispatch({ type: 'expand', places: path });
    this.select(path[path.length - 1]);
  }

  /** Sorts by the next column to the right, or the one before; after the last comes the name. */
  sortByNeighbour(step: 1 | -1): void {
    const order = [null, ...this.columns()];
    const at = Math.max(0, order.indexOf(this.state.sortBy));
    this.store.dispatch({ type: 'sort', by: order[(at + step + order.length) % order.length] });
  }

  toggle(place: PlaceIx): void {
    this.store.dispatch({ type: this.state.expanded.has(place) ? 'collapse' : 'expand', places: [place] });
  }

  expandBelow(place: PlaceIx): void {
    if (place >= this.model.places.count) return;
    this.store.dispatch({ type: 'expand', places: subtree(this.tables.children, place, MOST_EXPANDED) });
  }

  // ---- drawing ----

  onDraw(draw: () => void): void {
    this.drawers.push(draw);
  }

  drawSoon(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw(): void {
    for (const draw of this.drawers) draw();
  }
}
