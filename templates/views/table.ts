// SPDX-License-Identifier: BSD-3-Clause
// The table pane's grid: the scope tree, or one of the flat tables. Only the rows and columns in sight are made.

import { Kind, NONE, type PlaceIx } from '../model/data';
import type { Column, ColumnId } from '../logic/columns';
import {
  formatAs,
  formatExact,
  formatPercent,
  formatShort,
  formatSigned,
  type Scale,
  share,
  unitIn,
} from '../logic/format';
import { badgeTitle, describe, folded, shortName, surroundings } from '../logic/labels';
import { findingsAt } from '../logic/diagnosis';
import { same } from '../logic/memo';
import { RATIO_NEEDS, type Table } from '../logic/rows';
import { parseFilter } from '../logic/search';
import { isPage } from '../state/state';
import type { App } from './app';
import { button, h, preference, visible } from './dom';
import { findingMark } from './marks';
import { VirtualRows } from './rows';

const ROW = 22;
const NARROWEST_NAME = 240;
const NARROWEST_METRIC = 118;
const WIDEST_METRIC = 166;
const WIDE_METRIC = 190; // of exact numbers
const GLYPHS = ['◆', '▣', '▤', 'ƒ', '⤷', '↻', '·'] as const;
/** Levels that are indented in full; those below by a few pixels each, and below the deepest one the depth is a number: the
 *  name keeps most of its column. */
const INDENTED = 7;
const DEEPEST = 19;
/** Columns beyond the edge of sight that are made all the same. */
const OVERSCAN = 1;

const indentOf = (depth: number): number =>
  12 * Math.min(depth, INDENTED) + 3 * Math.max(0, Math.min(depth, DEEPEST) - INDENTED);

export function columnTitle(app: App, column: Column): string {
  const { metric } = column;
  const lines = [
    `${metric.displayName}${metric.hasExclusive ? ` (${column.exclusive ? 'exclusive' : 'inclusive'})` : ''}`,
  ];
  if (metric.description) lines.push(metric.description);
  if (metric.unit) lines.push(`Unit: ${metric.unit}`);
  if (metric.formula) lines.push(`Computed: ${metric.name} = ${metric.formula}`);
  if (metric.event)
    lines.push(`Measured: ${metric.event}${metric.period ? `, one sample every ${formatExact(metric.period)}` : ''}`);
  if (metric.estimated) lines.push('Estimated: the event was counted only part of the time');
  if (column.difference)
    lines.push(
      `Percent: of ${column.difference.base.metric.displayName} in the whole program; + is worse. Grey: within the noise of sampling. Code that ran in only one run counts as 0 in the other`,
    );
  if (app.columns.isRatio(column))
    lines.push(
      `Sorted by it, rows below ${RATIO_NEEDS * 100}% of the program come last: a ratio of a few samples is not reliable`,
    );
  lines.push(
    column.exclusive
      ? 'Exclusive: the procedure’s own code with its loops and inlined calls, without the functions it calls; of a loop, without inner loops'
      : 'Inclusive: the scope with everything inside it; on call paths, with everything it calls. The darker part of a bar is exclusive',
  );
  const failure = app.columns.failure(column);
  if (failure) lines.push(`Not available: ${failure}`);
  return visible(lines.join('\n'));
}

/** A value with its share, samples and error, in words: for tooltips. */
export function valueTitle(app: App, column: Column, value: number, error: number): string {
  const { metric } = column;
  const parts = [`${formatExact(value)} ${visible(metric.unit)}`];
  const whole = app.columns.whole(column);
  const percent = formatPercent(value, whole);
  if (percent) parts.push(`${column.difference ? formatSigned(percent, value) : percent}%`);
  if (metric.period > 0 && metric.formula === '')
    parts.push(`${formatExact(Math.round(value / metric.period))} samples`);
  if (error > 0) {
    const scale = app.scaleAmong(column, value);
    parts.push(`± ${formatShort(error, scale, error)} ${visible(scale.unit)}`);
    if (column.difference && Math.abs(value) < error) parts.push('within the noise');
  }
  return parts.join(', ');
}

export class TablePane {
  readonly element: HTMLElement;
  readonly #grid: HTMLElement;
  readonly #head: HTMLElement;
  readonly #body: HTMLElement;
  readonly #empty: HTMLElement;
  readonly #rows: VirtualRows;
  #drawn: readonly unknown[] = [];
  private table!: Table;
  #revealed = '';
  #linkedRows: ReadonlySet<number> = new Set();
  #scales = new Map<ColumnId, Scale>();
  #nameWidth = NARROWEST_NAME;
  #metricWidth = NARROWEST_METRIC;
  #inSight: readonly [number, number] = [0, 0]; // columns from, to
  #seen = 0; // how much of its width one sees; 0: nothing, or that is not known
  #left = 0; // how far it is scrolled sideways

  constructor(
    private readonly app: App,
    private readonly id = 'table',
    private readonly subject = 'Scope', // the kind of a row of the tree
  ) {
    this.#head = h('div', { class: 'grid-head', role: 'row' });
    this.#body = h('div', { class: 'grid-body', role: 'rowgroup' });
    this.#grid = h('div', { class: 'grid', id, tabindex: '0' }, this.#head, this.#body);
    this.#empty = h('p', { class: 'empty', hidden: true });
    this.element = h('div', { class: 'grid-frame' }, this.#grid, this.#empty);
    new ResizeObserver(() => this.#look(true)).observe(this.#grid);
    this.#grid.addEventListener('scroll', () => this.#look(false), { passive: true }); // before its rows change
    this.#rows = new VirtualRows(
      this.#grid,
      this.#body,
      ROW,
      () => this.#head.offsetHeight,
      (row) => this.#makeRow(row),
      (row, old) => this.#makeBriefRow(row, old),
    );
    this.#grid.addEventListener('keydown', (event) => this.onKey(event));
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    this.#body.addEventListener('dblclick', (event) => this.#onDoubleClick(event));
  }

  get #rowId(): string {
    return this.id === 'table' ? 'row-' : `${this.id}-row-`;
  }

  focus(): void {
    this.#grid.focus();
  }

  draw(): void {
    const { app } = this;
    const { state } = app;
    if (state.view === 'summary' || state.view === 'calls' || isPage(state.view)) return;
    this.table = app.table();
    const columns = app.shownColumns();
    const content = [this.table, columns, state.form, state.ofParent, app.arrivals, state.sortBy, state.descending];
    const marks = [state.selected, state.source, app.visits];
    const isSame = same(content, this.#drawn);
    if (isSame && same(marks, this.#drawn, content.length)) return;
    this.#drawn = [...content, ...marks];
    this.#linkedRows = this.#findLinkedRows();
    if (isSame) this.#rows.restyle((row, element) => this.#mark(row, element));
    else this.#drawAll(columns);
    this.#revealSelected();
  }

  #drawAll(columns: readonly Column[]): void {
    this.#grid.setAttribute('role', this.table.isTree ? 'treegrid' : 'grid');
    this.#grid.setAttribute('aria-label', this.table.isTree ? `${this.subject} tree` : 'Flat table');
    this.#grid.setAttribute('aria-rowcount', String(this.table.count + 1));
    this.#grid.setAttribute('aria-colcount', String(columns.length + 1));
    this.#scales.clear();
    this.#layOut(columns.length);
    this.#inSight = this.#columnsInSight(columns.length);
    this.#drawHead(columns);
    this.#rows.reset(this.table.count);
    this.#drawEmpty();
  }

  #scale(column: Column): Scale {
    let scale = this.#scales.get(column.id);
    if (!scale) this.#scales.set(column.id, (scale = this.app.tableScale(column)));
    return scale;
  }

  /** The rows of all places on the marked line; in a tree only those that are open. */
  #findLinkedRows(): ReadonlySet<number> {
    const rows = new Set<number>();
    for (const place of this.app.instances()) {
      const row = this.table.rowOf(place);
      if (row !== NONE && (!this.table.isTree || this.table.place(row) === place)) rows.add(row);
    }
    return rows;
  }

  /** Its visible part. */
  #look(isResized: boolean): void {
    if (isResized) this.#seen = this.#grid.clientWidth;
    this.#left = this.#grid.scrollLeft;
    if (this.table && this.#seen > 0) this.#seeColumns(isResized); // else it is invisible
  }

  /** The name column takes what the others leave, or what the user drew it to. */
  #layOut(columns: number): void {
    const width = (this.#seen ||= this.#grid.clientWidth);
    const wanted = Number(preference.get('name-width'));
    const isExact = this.app.state.form === 'exact';
    this.#grid.classList.toggle('exact', isExact); // which may be cut; to clip each value would take a fifth of a frame
    const widest = isExact ? WIDE_METRIC : WIDEST_METRIC;
    const fit = Math.floor((width - Math.max(NARROWEST_NAME, Math.min(400, width * 0.5))) / Math.max(columns, 1));
    this.#metricWidth = Math.max(isExact ? WIDE_METRIC : NARROWEST_METRIC, Math.min(widest, fit));
    const narrowest = Math.min(NARROWEST_NAME, width * 0.6);
    this.#nameWidth =
      wanted >= NARROWEST_NAME
        ? Math.min(wanted, Math.max(narrowest, width - 80))
        : Math.max(narrowest, width - columns * this.#metricWidth);
    this.#grid.style.setProperty('--name', `${this.#nameWidth}px`);
    this.#grid.style.setProperty('--metric', `${this.#metricWidth}px`);
    this.#grid.style.setProperty('--width', `${this.#nameWidth + columns * this.#metricWidth}px`);
  }

  #columnsInSight(columns: number): readonly [number, number] {
    const room = Math.max(0, this.#seen - this.#nameWidth);
    return [
      Math.max(0, Math.floor(this.#left / this.#metricWidth) - OVERSCAN),
      Math.min(columns, Math.ceil((this.#left + room) / this.#metricWidth) + OVERSCAN),
    ];
  }

  /** After scrolling sideways or another size: other columns. */
  #seeColumns(isResized: boolean): void {
    const columns = this.app.shownColumns();
    if (isResized) this.#layOut(columns.length);
    const seen = this.#columnsInSight(columns.length);
    if (seen[0] === this.#inSight[0] && seen[1] === this.#inSight[1]) return;
    this.#inSight = seen;
    this.#drawHead(columns);
    this.#rows.reset(this.table.count);
  }

  /** The right edge of the name column's head, to be dragged; a double click gives the width back to the page. */
  #nameHandle(): HTMLElement {
    const handle = h('span', {
      class: 'handle',
      title: 'Drag to make the names wider; double click for the width that fits',
    });
    const redraw = (): void => this.#seeColumns(true);
    handle.addEventListener('pointerdown', (down) => {
      handle.setPointerCapture(down.pointerId);
      const move = (e: PointerEvent): void => {
        preference.set(
          'name-width',
          String(Math.max(NARROWEST_NAME, Math.round(e.clientX - this.#grid.getBoundingClientRect().left))),
        );
        redraw();
      };
      handle.addEventListener('pointermove', move);
      handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', move), {
        once: true,
      });
    });
    handle.addEventListener('dblclick', () => {
      preference.set('name-width', '');
      redraw();
    });
    return handle;
  }

  #revealSelected(): void {
    const { selected, view, sortBy, descending, filter } = this.app.state;
    const row = selected === null ? NONE : this.table.rowOf(selected);
    if (row === NONE) this.#grid.removeAttribute('aria-activedescendant');
    else this.#grid.setAttribute('aria-activedescendant', `${this.#rowId}${row}`);
    // opening and closing rows must not move what one looks at
    const key = [view, sortBy, descending, filter === '', this.app.visits].join();
    if (key === this.#revealed) return;
    const cameFromElsewhere = !this.#revealed.startsWith(`${view},`);
    this.#revealed = key;
    this.#rows.reveal(row, cameFromElsewhere ? 'middle' : 'near');
  }

  #drawHead(columns: readonly Column[]): void {
    const { app } = this;
    const { view } = app.state;
    const names: { readonly [view: string]: string } = {
      summary: '',
      tree: this.subject,
      calls: '',
      line: 'Line',
      loop: 'Loop',
      procedure: 'Procedure',
      inline: 'Inlined procedure',
      file: 'File',
      module: 'Load module',
    };
    const order = this.table.isTree ? 'in source order' : 'by name';
    const isByName = app.state.sortBy === null;
    const focused = document.activeElement?.closest<HTMLElement>('.sort')?.dataset['column'];
    const name = this.#headCell(null, 'name', names[view], isByName ? order : '', `Sort ${order}`);
    name.append(this.#nameHandle());
    const [from, to] = this.#inSight;
    this.#head.replaceChildren(
      name,
      ...columns.slice(from, to).map((c, i) => {
        const unit = unitIn(app.state.form, c.metric, this.#scale(c));
        const percent = this.#isOfParent(c) ? '% of parent' : '';
        const failed = app.columns.failure(c) !== undefined;
        const bottom = failed
          ? 'cannot be read'
          : [c.exclusive ? 'excl.' : '', unit, percent].filter(Boolean).join(' · ');
        const cell = this.#headCell(
          c.id,
          'metric',
          `${shortName(c.metric)}${c.metric.estimated ? ' ≈' : ''}`,
          bottom,
          columnTitle(app, c),
        );
        cell.classList.toggle('failed', failed);
        this.#place(cell, from + i);
        return cell;
      }),
    );
    if (focused !== undefined) this.#head.querySelector<HTMLElement>(`.sort[data-column="${focused}"]`)?.focus();
  }

  #headCell(by: ColumnId | null, className: string, top: string, bottom: string, title: string): HTMLElement {
    const { sortBy, descending } = this.app.state;
    const isSorted = by === sortBy;
    return h(
      'div',
      {
        class: `cell ${className}${isSorted ? ' sorted' : ''}`,
        role: 'columnheader',
        'aria-sort': isSorted ? (descending ? 'descending' : 'ascending') : 'none',
        title,
      },
      h(
        'button',
        {
          type: 'button',
          class: 'sort',
          'data-column': by ?? 'name',
          onclick: () => this.app.store.dispatch({ type: 'sort', by }),
        },
        h('span', { class: 'head-top' }, visible(top)),
        h(
          'span',
          { class: 'head-bottom' },
          visible(bottom),
          h('span', { class: 'arrow', 'aria-hidden': 'true' }, isSorted ? (descending ? '▼' : '▲') : ''),
        ),
      ),
    );
  }

  /** Puts a metric's head where its column stands, also when the widths of columns change. */
  #place(cell: HTMLElement, column: number): void {
    cell.style.left = `calc(var(--name) + var(--metric) * ${column})`;
    cell.setAttribute('aria-colindex', String(column + 2));
  }

  // ---- rows ----

  #makeRow(row: number): HTMLElement {
    const { app, table } = this;
    const place = table.place(row);
    const [from, to] = this.#inSight;
    const element = h(
      'div',
      {
        class: `row kind-${app.model.places.kind[place]}${row % 2 ? ' odd' : ''}`,
        role: 'row',
        id: `${this.#rowId}${row}`,
        'data-row': String(row),
        'data-place': String(place),
        'aria-rowindex': String(row + 2),
        'aria-level': table.isTree ? String(table.depth(row) + 1) : undefined,
        'aria-expanded': table.isTree && table.hasChildren(row) ? String(table.isExpanded(row)) : undefined,
      },
      this.#nameCell(row, place),
      ...app
        .shownColumns()
        .slice(from, to)
        .map((c, i) => {
          const cell = this.#valueCell(row, from + i, c);
          cell.setAttribute('aria-colindex', String(from + i + 2));
          if (i === 0 && from > 0) cell.style.marginLeft = `calc(var(--metric) * ${from})`; // of those out of sight
          return cell;
        }),
    );
    this.#mark(row, element);
    return element;
  }

  /** Its name alone. */
  #makeBriefRow(row: number, old?: HTMLElement): HTMLElement {
    const element =
      old ?? h('div', { role: 'row' }, h('div', { class: 'cell name', role: 'gridcell' }, document.createTextNode('')));
    element.className = `row${row % 2 ? ' odd' : ''}`;
    element.dataset['row'] = String(row);
    (element.firstChild!.firstChild as Text).data = visible(folded(this.table.label(row).text));
    return element;
  }

  #mark(row: number, element: HTMLElement): void {
    const { table } = this;
    const { selected } = this.app.state;
    const isSelected =
      selected !== null && table.rowOf(selected) === row && (!table.isTree || selected === table.place(row));
    element.classList.toggle('selected', isSelected);
    element.classList.toggle('linked', this.#linkedRows.has(row));
    element.setAttribute('aria-selected', String(isSelected));
  }

  #nameCell(row: number, place: PlaceIx): HTMLElement {
    const { app, table } = this;
    const label = table.label(row);
    const kind = app.model.places.kind[place];
    const short = folded(label.text);
    const title = visible(describe(app.model, place));
    const cell = h('div', { class: 'cell name', role: 'gridcell', title });
    if (table.isTree) {
      const depth = table.depth(row);
      cell.style.paddingLeft = `${6 + indentOf(depth)}px`;
      if (depth > DEEPEST) cell.append(h('span', { class: 'depth', title: `Depth ${depth}` }, String(depth)));
      cell.append(
        h('span', {
          class: `twisty${table.hasChildren(row) ? (table.isExpanded(row) ? ' open' : ' closed') : ''}`,
          'aria-hidden': 'true',
        }),
      );
    }
    cell.append(
      h('span', { class: `glyph glyph-${kind}`, 'aria-hidden': 'true' }, GLYPHS[kind]),
      h('span', { class: 'label', 'data-name': short !== label.text && label.text }, visible(short)),
    );
    for (const badge of label.badges) cell.append(h('span', { class: 'badge', title: badgeTitle(badge) || undefined }, badge));
    const found = findingMark(app, findingsAt(app.model, place));
    if (found) cell.append(found);
    const instances = table.instances(row);
    if (instances > 1)
      cell.append(
        h(
          'span',
          { class: 'badge count', title: `${instances} instances in the program, added up in this row` },
          `×${instances}`,
        ),
      );
    const call = (kind === Kind.Inline || label.detail.startsWith('called at')) && instances === 1;
    const snippet = this.#snippet(place);
    const { detail } = label;
    if (detail)
      cell.append(
        h('span', { class: `detail${call ? ' call' : ''}`, 'data-call': call ? 'yes' : undefined }, visible(detail)),
      );
    else if (snippet) cell.append(h('span', { class: 'snippet' }, visible(snippet)));
    else if (!table.isTree) cell.append(h('span', { class: 'detail' }, visible(surroundings(app.model, place))));
    return cell;
  }

  /** The text of a line, where we have it. */
  #snippet(place: PlaceIx): string {
    const { places, files } = this.app.model;
    if (places.kind[place] !== Kind.Line || places.file[place] === NONE) return '';
    const lines = this.app.texts.get(files[places.file[place]]);
    return lines?.[places.lineFirst[place] - 1]?.trim().slice(0, 200) ?? '';
  }

  #valueCell(row: number, at: number, column: Column): HTMLElement {
    const { app, table } = this;
    const value = table.value(row, column);
    const sorted = column.id === app.state.sortBy ? ' sorted' : '';
    if (Number.isNaN(value))
      return h('div', { class: `cell metric${sorted}`, role: 'gridcell', title: this.#whyBlank(row, column) });
    const whole = this.#whole(row, column);
    const percent = formatPercent(value, whole);
    const error = table.error(row, column);
    const isNoise = column.difference !== null && Math.abs(value) < error;
    const cell = h('div', {
      class: `cell metric${sorted}${isNoise ? ' noise' : ''}`,
      role: 'gridcell',
      title: valueTitle(app, column, value, error),
    });
    if (percent) this.#bar(cell, row, at, column, value, whole, isNoise);
    const text = formatAs(app.state.form, value, column.metric, this.#scale(column), error);
    const sign = (t: string): string => (column.difference ? formatSigned(t, value) : t);
    cell.append(h('span', { class: 'value' }, sign(text)));
    if (!Number.isNaN(whole)) cell.append(h('span', { class: 'percent' }, percent && `${sign(percent)}%`));
    return cell;
  }

  #isOfParent(column: Column): boolean {
    return this.app.state.ofParent && this.table.isTree && !Number.isNaN(this.app.columns.whole(column));
  }

  /** The value of 100% in a row: the program, or the surrounding scope; NaN: shares are meaningless. */
  #whole(row: number, column: Column): number {
    const { columns, model } = this.app;
    const up = this.#isOfParent(column) ? model.places.parent[this.table.place(row)] : NONE;
    if (up === NONE) return columns.whole(column);
    const base = column.difference?.base ?? column;
    return Math.abs(columns.at(this.app.inclusive(base), up));
  }

  /** The share as a bar below the cell's text: of an inclusive value with its own part darker, which is the bar's left
   *  border, of a difference in the colour of its sign. (Two layers of background took half of the time of scrolling.) */
  #bar(cell: HTMLElement, row: number, at: number, column: Column, value: number, whole: number, isNoise: boolean): void {
    const { app, table } = this;
    const part = (of: number): string => `calc(var(--metric) * ${share(Math.abs(of), whole).toFixed(3)})`;
    if (share(Math.abs(value), whole) < 0.0005) return; // nothing to be seen
    cell.classList.add('barred');
    if (column.difference) cell.classList.add(isNoise ? 'same' : value < 0 ? 'better' : 'worse');
    const bar = h('i', { class: 'cell-bar' });
    bar.style.left = `calc(var(--name) + var(--metric) * ${at})`;
    bar.style.width = part(value);
    cell.prepend(bar);
    const own = column.difference || app.state.view === 'line' ? column : app.own(column);
    if (own === column || !app.columns.isReady(own)) return;
    const inside = table.value(row, own);
    if (inside > 0) bar.style.borderLeftWidth = part(inside);
  }

  #whyBlank(row: number, column: Column): string {
    const { columns } = this.app;
    const failure = columns.failure(column);
    if (failure) return `This metric cannot be read: ${failure}`;
    if (!columns.isReady(column)) return 'Reading …';
    if (this.table.instances(row) > 1 && columns.isRatio(column) && !column.formula)
      return 'No value: the page cannot compute this metric over several instances';
    if (this.app.model.isMade && !column.metric.summed)
      return 'No value: after folding recursion only metrics that can be added up are known, statistics over threads are not';
    return 'No data here (which is not 0)';
  }

  #drawEmpty(): void {
    const { app, table } = this;
    const { filter, view } = app.state;
    this.#empty.hidden = table.count > 0;
    if (table.count > 0) return;
    const why: { readonly [view: string]: string } = {
      line: 'No sample fell on code with line numbers. Compile with -g to see source lines.',
      loop: 'No sample fell inside a loop, or the loops of this program were not recovered.',
      inline:
        'No sample fell in an inlined call. The compiler inlined nothing where the time went, or the code has no debug information (-g).',
      procedure: 'No procedures: no sample fell in code with symbols.',
      file: 'No files: no sample fell in code with debug information.',
    };
    if (filter)
      this.#empty.replaceChildren(
        visible(`${parseFilter(filter).problem ?? `Nothing here contains “${filter}”`}. `),
        button('Clear the filter', 'Esc', () => app.store.dispatch({ type: 'filter', text: '' })),
      );
    else if (table.hidden > 0)
      this.#empty.replaceChildren(
        `All ${formatExact(table.hidden)} rows are below ${this.app.state.least}%. `,
        button('Show all', '', () => app.store.dispatch({ type: 'least', percent: 0 })),
      );
    else this.#empty.replaceChildren(why[view] ?? 'The database has no places: nothing was measured.');
  }

  // ---- hands ----

  #rowAt(event: Event): number {
    const element = (event.target as Element).closest<HTMLElement>('[data-row]');
    return element ? Number(element.dataset['row']) : NONE;
  }

  #onClick(event: MouseEvent): void {
    const row = this.#rowAt(event);
    if (row === NONE) return;
    const target = event.target as Element;
    const place = this.table.place(row);
    const { places } = this.app.model;
    if (target.closest('.twisty') && this.table.hasChildren(row)) {
      if (event.altKey && !this.table.isExpanded(row)) this.app.expandBelow(place);
      else this.app.toggle(place);
    } else if (target.closest('[data-call]') && places.callFile[place] !== NONE) {
      const line = places.callLine[place];
      this.app.store.dispatch({
        type: 'select',
        place,
        source: { file: places.callFile[place], first: line, last: line },
        reveal: [],
      });
    } else this.app.select(place);
  }

  #onDoubleClick(event: MouseEvent): void {
    const row = this.#rowAt(event);
    if (row !== NONE && this.table.hasChildren(row) && !(event.target as Element).closest('.twisty'))
      this.app.toggle(this.table.place(row));
  }

  onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { selected } = this.app.state;
    const at = selected === null ? NONE : this.table.rowOf(selected);
    const move = (row: number): void => {
      if (this.table.count) this.app.select(this.table.place(Math.max(0, Math.min(this.table.count - 1, row))), true);
    };
    switch (event.key) {
      case 'ArrowDown':
        move(at + 1);
        break;
      case 'ArrowUp':
        move(at - 1);
        break;
      case 'PageDown':
        move(at + this.#rows.pageSize());
        break;
      case 'PageUp':
        move(at - this.#rows.pageSize());
        break;
      case 'Home':
        move(0);
        break;
      case 'End':
        move(this.table.count - 1);
        break;
      case 'ArrowRight':
        this.#openOrEnter(at);
        break;
      case 'ArrowLeft':
        this.#closeOrLeave(at);
        break;
      case '*':
        if (at !== NONE && this.table.isTree) this.app.expandBelow(this.table.place(at));
        break;
      case ' ':
        if (at !== NONE && this.table.hasChildren(at)) this.app.toggle(this.table.place(at));
        break;
      case 'Enter':
        if (at !== NONE) this.#enter(at);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  #enter(row: number): void {
    if (this.table.isTree) this.app.select(this.table.place(row));
    else this.app.selectInTree(this.table.place(row));
  }

  #openOrEnter(row: number): void {
    if (row === NONE || !this.table.hasChildren(row)) return;
    if (this.table.isExpanded(row)) this.app.select(this.table.place(row + 1), true);
    else this.app.store.dispatch({ type: 'expand', places: [this.table.place(row)] });
  }

  #closeOrLeave(row: number): void {
    if (row === NONE || !this.table.isTree) return;
    const place = this.table.place(row);
    const up = this.app.model.places.parent[place];
    if (this.table.isExpanded(row) && this.app.state.expanded.has(place))
      this.app.store.dispatch({ type: 'collapse', places: [place] });
    else if (up !== NONE) this.app.select(up, true);
  }
}
