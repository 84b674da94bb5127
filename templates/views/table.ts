// The table pane's grid: the scope tree, or one of the flat tables.

import { type Column, isExclusive, Kind, metricOf, NONE, type PlaceIx } from '../model/data';
import { formatExact, formatPercent, formatScaled, type Scale, share } from '../logic/format';
import { describe, shortName, surroundings } from '../logic/labels';
import type { Table } from '../logic/rows';
import type { App } from './app';
import { button, h, preference, visible } from './dom';
import { VirtualRows } from './rows';

const ROW = 22;
const NARROWEST_NAME = 240;
const NARROWEST_METRIC = 124;
const GLYPHS = ['◆', '▣', '▤', 'ƒ', '⤷', '↻', '·'] as const;

export function columnTitle(app: App, column: Column): string {
  const metric = app.model.metrics[metricOf(column)];
  const lines = [`${metric.displayName} (${isExclusive(column) ? 'exclusive' : 'inclusive'})`];
  if (metric.description) lines.push(metric.description);
  if (metric.unit) lines.push(`Unit: ${metric.unit}`);
  if (metric.formula) lines.push(`Computed: ${metric.name} = ${metric.formula}`);
  if (metric.event)
    lines.push(`Measured: ${metric.event}${metric.period ? `, one sample every ${formatExact(metric.period)}` : ''}`);
  if (metric.estimated) lines.push('Estimated: the event was counted only part of the time');
  lines.push(
    isExclusive(column)
      ? 'Exclusive: the cost of the lines directly in a scope, without inner loops and inlined calls'
      : 'Inclusive: the cost of a scope with everything inside it',
  );
  return visible(lines.join('\n'));
}

export class TablePane {
  readonly element: HTMLElement;
  private readonly grid: HTMLElement;
  private readonly head: HTMLElement;
  private readonly body: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly rows: VirtualRows;
  private drawn: readonly unknown[] = [];
  private table!: Table;
  private revealed = '';
  private linkedRows: ReadonlySet<number> = new Set();
  private scales: ReadonlyMap<Column, Scale> = new Map();

  constructor(private readonly app: App) {
    this.head = h('div', { class: 'grid-head', role: 'row' });
    this.body = h('div', { class: 'grid-body', role: 'rowgroup' });
    this.grid = h('div', { class: 'grid', id: 'table', tabindex: '0' }, this.head, this.body);
    this.empty = h('p', { class: 'empty', hidden: true });
    this.element = h('div', { class: 'grid-frame' }, this.grid, this.empty);
    this.rows = new VirtualRows(
      this.grid,
      this.body,
      ROW,
      () => this.head.offsetHeight,
      (row) => this.makeRow(row),
    );
    this.grid.addEventListener('keydown', (event) => this.onKey(event));
    this.body.addEventListener('click', (event) => this.onClick(event));
    this.body.addEventListener('dblclick', (event) => this.onDoubleClick(event));
    new ResizeObserver(() => this.layOut(this.app.columns().length)).observe(this.grid);
  }

  focus(): void {
    this.grid.focus();
  }

  draw(): void {
    const { app } = this;
    const { state } = app;
    this.table = app.table();
    const columns = app.columns();
    const inputs = [
      this.table,
      columns.join(),
      state.exact,
      state.selected,
      state.source,
      app.textVersion,
      app.visits,
      state.sortBy,
      state.descending,
    ];
    if (inputs.every((x, i) => Object.is(x, this.drawn[i]))) return;
    this.drawn = inputs;
    this.grid.setAttribute('role', this.table.isTree ? 'treegrid' : 'grid');
    this.grid.setAttribute('aria-label', this.table.isTree ? 'Scope tree' : 'Flat table');
    this.grid.setAttribute('aria-rowcount', String(this.table.count + 1));
    this.layOut(columns.length);
    this.scales = new Map(columns.map((c) => [c, app.tableScale(c)]));
    this.drawHead(columns);
    this.linkedRows = this.findLinkedRows();
    this.rows.reset(this.table.count);
    this.drawEmpty();
    this.revealSelected();
  }

  /** The rows of all places that stand on the marked line; in a tree only those that are open. */
  private findLinkedRows(): ReadonlySet<number> {
    const rows = new Set<number>();
    for (const place of this.app.instances()) {
      const row = this.table.rowOf(place);
      if (row !== NONE && (!this.table.isTree || this.table.place(row) === place)) rows.add(row);
    }
    return rows;
  }

  /** The name column takes half, or what the user drew it to; few metrics may be wider, for their names. */
  private layOut(columns: number): void {
    const width = this.grid.clientWidth;
    const wanted = Number(preference.get('name-width'));
    const name =
      wanted >= NARROWEST_NAME
        ? Math.min(wanted, Math.max(NARROWEST_NAME, width - 80))
        : Math.max(NARROWEST_NAME, Math.min(400, width * 0.5));
    const metric = this.app.state.exact
      ? 190
      : Math.max(NARROWEST_METRIC, Math.min(166, Math.floor((width - name) / Math.max(columns, 1))));
    this.grid.style.setProperty(
      '--columns',
      wanted ? `${name}px repeat(${columns}, ${metric}px)` : `minmax(${name}px, 1fr) repeat(${columns}, ${metric}px)`,
    );
    this.grid.style.setProperty('--width', `${name + columns * metric}px`);
  }

  /** The right edge of the name column's head, to be dragged; a double click gives the width back to the page. */
  private nameHandle(): HTMLElement {
    const handle = h('span', {
      class: 'handle',
      title: 'Drag to make the names wider; double click for the width that fits',
    });
    const redraw = (): void => this.layOut(this.app.columns().length);
    handle.addEventListener('pointerdown', (down) => {
      handle.setPointerCapture(down.pointerId);
      const move = (e: PointerEvent): void => {
        preference.set(
          'name-width',
          String(Math.max(NARROWEST_NAME, Math.round(e.clientX - this.grid.getBoundingClientRect().left))),
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

  private revealSelected(): void {
    const { selected, view, sortBy, descending, filter } = this.app.state;
    const row = selected === null ? NONE : this.table.rowOf(selected);
    if (row === NONE) this.grid.removeAttribute('aria-activedescendant');
    else this.grid.setAttribute('aria-activedescendant', `row-${row}`);
    // opening and closing rows must not move what one looks at
    const key = [view, sortBy, descending, filter === '', this.app.visits].join();
    if (key === this.revealed) return;
    const cameFromElsewhere = !this.revealed.startsWith(`${view},`);
    this.revealed = key;
    this.rows.reveal(row, cameFromElsewhere ? 'middle' : 'near');
  }

  private drawHead(columns: readonly Column[]): void {
    const { app } = this;
    const { sortBy, descending } = app.state;
    const arrow = (by: Column | null): string => (by === sortBy ? (descending ? '▼' : '▲') : '');
    const aria = (by: Column | null): string => (by === sortBy ? (descending ? 'descending' : 'ascending') : 'none');
    const cell = (by: Column | null, className: string, top: string, bottom: string, title: string): HTMLElement =>
      h(
        'div',
        {
          class: `cell ${className}${by === sortBy ? ' sorted' : ''}`,
          role: 'columnheader',
          'aria-sort': aria(by),
          title,
        },
        h(
          'button',
          {
            type: 'button',
            class: 'sort',
            tabindex: '-1',
            'data-column': by === null ? 'name' : String(by),
            onclick: () => app.store.dispatch({ type: 'sort', by }),
          },
          h('span', { class: 'head-top' }, visible(top)),
          h(
            'span',
            { class: 'head-bottom' },
            visible(bottom),
            h('span', { class: 'arrow', 'aria-hidden': 'true' }, arrow(by)),
          ),
        ),
      );
    const names = {
      tree: 'Scope',
      line: 'Line',
      loop: 'Loop',
      procedure: 'Procedure',
      inline: 'Inlined procedure',
      file: 'File',
      module: 'Load module',
    };
    const order = this.table.isTree ? 'in source order' : 'by name';
    const name = cell(null, 'name', names[app.state.view], sortBy === null ? order : '', `Sort ${order}`);
    name.append(this.nameHandle());
    this.head.replaceChildren(
      name,
      ...columns.map((c) => {
        const metric = app.model.metrics[metricOf(c)];
        const unit = app.state.exact ? metric.unit : app.tableScale(c).unit;
        const part = !metric.hasExclusive || app.state.view === 'line' ? '' : isExclusive(c) ? 'excl.' : 'incl.';
        return cell(
          c,
          'metric',
          `${shortName(metric)}${metric.estimated ? ' ≈' : ''}`,
          [part, unit].filter(Boolean).join(' · '),
          columnTitle(app, c),
        );
      }),
    );
  }

  // ---- rows ----

  private makeRow(row: number): HTMLElement {
    const { app, table } = this;
    const place = table.place(row);
    const selected = app.state.selected;
    const isSelected = selected !== null && table.rowOf(selected) === row && (!table.isTree || selected === place);
    const isLinked = this.linkedRows.has(row);
    return h(
      'div',
      {
        class: `row kind-${app.model.places.kind[place]}${isSelected ? ' selected' : ''}${isLinked ? ' linked' : ''}${row % 2 ? ' odd' : ''}`,
        role: 'row',
        id: `row-${row}`,
        'data-row': String(row),
        'data-place': String(place),
        'aria-rowindex': String(row + 2),
        'aria-selected': String(isSelected),
        'aria-level': table.isTree ? String(table.depth(row) + 1) : undefined,
        'aria-expanded': table.isTree && table.hasChildren(row) ? String(table.isExpanded(row)) : undefined,
      },
      this.nameCell(row, place),
      ...app.columns().map((c) => this.valueCell(row, c)),
    );
  }

  private nameCell(row: number, place: PlaceIx): HTMLElement {
    const { app, table } = this;
    const label = table.label(row);
    const kind = app.model.places.kind[place];
    const title = visible(describe(app.model, place));
    const cell = h('div', { class: 'cell name', role: 'gridcell', title });
    if (table.isTree) {
      cell.style.paddingLeft = `${6 + Math.min(table.depth(row), 40) * 12}px`;
      cell.append(
        h('span', {
          class: `twisty${table.hasChildren(row) ? (table.isExpanded(row) ? ' open' : ' closed') : ''}`,
          'aria-hidden': 'true',
        }),
      );
    }
    cell.append(
      h('span', { class: `glyph glyph-${kind}`, 'aria-hidden': 'true' }, GLYPHS[kind]),
      h('span', { class: 'label' }, visible(label.text)),
    );
    for (const badge of label.badges) cell.append(h('span', { class: 'badge' }, badge));
    const instances = table.instances(row);
    if (instances > 1)
      cell.append(
        h(
          'span',
          { class: 'badge count', title: `${instances} instances in the program, added up in this row` },
          `×${instances}`,
        ),
      );
    const call = kind === Kind.Inline && instances === 1;
    const snippet = this.snippet(place);
    const { detail } = label;
    if (detail)
      cell.append(
        h('span', { class: `detail${call ? ' link' : ''}`, 'data-call': call ? 'yes' : undefined }, visible(detail)),
      );
    else if (snippet) cell.append(h('span', { class: 'snippet' }, visible(snippet)));
    else if (!table.isTree) cell.append(h('span', { class: 'detail' }, visible(surroundings(app.model, place))));
    return cell;
  }

  /** The text of a line, where we have it. */
  private snippet(place: PlaceIx): string {
    const { places, files } = this.app.model;
    if (places.kind[place] !== Kind.Line || places.file[place] === NONE) return '';
    const lines = this.app.texts.get(files[places.file[place]]);
    return lines?.[places.lineFirst[place] - 1]?.trim().slice(0, 200) ?? '';
  }

  private valueCell(row: number, column: Column): HTMLElement {
    const { app, table } = this;
    const metric = app.model.metrics[metricOf(column)];
    const value = table.value(row, column);
    const sorted = column === app.state.sortBy ? ' sorted' : '';
    if (Number.isNaN(value)) {
      const fused = table.instances(row) > 1 && !app.tables.sums.canFuse(metricOf(column));
      return h('div', {
        class: `cell metric${sorted}`,
        role: 'gridcell',
        title: fused
          ? 'No value: the page cannot compute this metric over several instances'
          : 'No data here (which is not 0)',
      });
    }
    const total = app.total(column);
    const percent = metric.percent ? formatPercent(value, total) : '';
    const cell = h('div', {
      class: `cell metric${sorted}`,
      role: 'gridcell',
      title: `${formatExact(value)} ${visible(metric.unit)}${percent ? `, ${percent}%` : ''}`,
    });
    if (percent) {
      const bar = h('span', { class: 'bar' });
      bar.style.width = `${(share(value, total) * 100).toFixed(1)}%`;
      cell.append(bar);
    }
    cell.append(
      h(
        'span',
        { class: 'value' },
        app.state.exact ? formatExact(value) : formatScaled(value, this.scales.get(column)!),
      ),
    );
    if (metric.percent) cell.append(h('span', { class: 'percent' }, percent && `${percent}%`));
    return cell;
  }

  private drawEmpty(): void {
    const { app, table } = this;
    const { filter, view } = app.state;
    this.empty.hidden = table.count > 0;
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
      this.empty.replaceChildren(
        `Nothing here contains “${visible(filter)}”. `,
        button('Clear the filter', 'Esc', () => app.store.dispatch({ type: 'filter', text: '' })),
      );
    else this.empty.replaceChildren(why[view] ?? 'The database has no places: nothing was measured.');
  }

  // ---- hands ----

  private rowAt(event: Event): number {
    const element = (event.target as Element).closest<HTMLElement>('[data-row]');
    return element ? Number(element.dataset['row']) : NONE;
  }

  private onClick(event: MouseEvent): void {
    const row = this.rowAt(event);
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

  private onDoubleClick(event: MouseEvent): void {
    const row = this.rowAt(event);
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
        move(at + this.rows.pageSize());
        break;
      case 'PageUp':
        move(at - this.rows.pageSize());
        break;
      case 'Home':
        move(0);
        break;
      case 'End':
        move(this.table.count - 1);
        break;
      case 'ArrowRight':
        this.openOrEnter(at);
        break;
      case 'ArrowLeft':
        this.closeOrLeave(at);
        break;
      case '*':
        if (at !== NONE && this.table.isTree) this.app.expandBelow(this.table.place(at));
        break;
      case ' ':
        if (at !== NONE && this.table.hasChildren(at)) this.app.toggle(this.table.place(at));
        break;
      case 'Enter':
        if (at !== NONE) this.enter(at);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  private enter(row: number): void {
    if (this.table.isTree) this.app.select(this.table.place(row));
    else this.app.selectInTree(this.table.place(row));
  }

  private openOrEnter(row: number): void {
    if (row === NONE || !this.table.hasChildren(row)) return;
    if (this.table.isExpanded(row)) this.app.select(this.table.place(row + 1), true);
    else this.app.store.dispatch({ type: 'expand', places: [this.table.place(row)] });
  }

  private closeOrLeave(row: number): void {
    if (row === NONE || !this.table.isTree) return;
    const place = this.table.place(row);
    const up = this.app.model.places.parent[place];
    if (this.table.isExpanded(row) && this.app.state.expanded.has(place))
      this.app.store.dispatch({ type: 'collapse', places: [place] });
    else if (up !== NONE) this.app.select(up, true);
  }
}
