// SPDX-License-Identifier: BSD-3-Clause
// The tables beside the places, in the view Data: one pane for each, with a filter, and all rows or those about what is
// selected. A table that a folder declares has its pane with that.

import { NONE, type TableColumn, type TableInfo, type TableRows } from '../model/data';
import { csvText } from '../logic/csv';
import { formatScaled, plural, type Scale, timeScale } from '../logic/format';
import { folded, labelOf } from '../logic/labels';
import { same } from '../logic/memo';
import { compareValues } from '../logic/sort';
import { cellText, isAboutPlaces, rowsAbout } from '../logic/tables';
import type { App } from './app';
import { button, h, muted, saveFile, visible } from './dom';
import { cell, factsTable } from './facts';
import type { Pane, PaneType } from './panes';

const MOST = 500;

const isNumber = (c: TableColumn): boolean => c.type !== 'text' && c.type !== 'ref';

/** How the numbers of a column are written: with one unit, and their points in line. */
interface Style {
  readonly scale: Scale;
  readonly origin: number; // of times: the earliest in the table
}

class TableOfFacts implements Pane {
  readonly element: HTMLElement;
  readonly #head = h('div', { class: 'facts-head' });
  readonly #rows = h('div', null);
  readonly #filter: HTMLInputElement;
  #drawn: readonly unknown[] = [];
  #by = NONE; // the column that sorts; NONE: the weightiest first
  #isUp = false;

  constructor(
    private readonly app: App,
    private readonly index: number,
    private readonly info: TableInfo,
  ) {
    this.#filter = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Filter',
      'aria-label': 'Filter rows by any text in them',
      oninput: () => app.drawSoon(),
    });
    this.element = h(
      'section',
      { class: 'pane facts-pane', 'aria-label': visible(info.title) },
      h('p', { class: 'why-title' }, h('b', null, visible(info.title)), ' ', muted(visible(info.description))),
      this.#head,
      this.#rows,
    );
  }

  draw(): void {
    const { app, info } = this;
    const { selected, about } = app.state;
    const inputs = [selected, about, app.arrivals, this.#filter.value, this.#by, this.#isUp];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    const rows = app.model.tableRows.of(this.index);
    if (!rows) {
      this.#rows.replaceChildren(
        h('p', { class: 'empty small' }, visible(app.model.tableRows.failure(this.index) ?? 'Reading …')),
      );
      return;
    }
    const place = (about && selected) || 0;
    const wanted = this.#filter.value.toLowerCase();
    const texts = (row: number): string[] => info.columns.map((c, i) => cellText(app.model, c, rows, rows.cells[i][row]));
    const found = rowsAbout(app.model, info, rows, place).filter(
      (row) => wanted === '' || texts(row).some((t) => t.toLowerCase().includes(wanted)),
    );
    if (this.#by >= 0) this.#sort(rows, found);
    this.#drawHead(found.length, () => csvText([info.columns.map((c) => c.name), ...found.map(texts)]));
    this.#rows.replaceChildren(
      found.length
        ? this.#table(rows, found.slice(0, MOST))
        : h('p', { class: 'muted' }, `No row ${wanted ? 'has this text' : 'is about this place'}; the table has ${plural(info.rows, 'row')}.`),
      found.length > MOST ? muted(`and ${found.length - MOST} more; CSV has all`) : '',
    );
  }

  #sort(rows: TableRows, found: number[]): void {
    const column = this.info.columns[this.#by];
    const cells = rows.cells[this.#by];
    const text = (row: number): string => cellText(this.app.model, column, rows, cells[row]);
    found.sort((a, b) => {
      const order = isNumber(column)
        ? compareValues(cells[a], cells[b], !this.#isUp)
        : text(a).localeCompare(text(b), 'en', { numeric: true }) * (this.#isUp ? 1 : -1);
      return order || a - b;
    });
  }

  #drawHead(count: number, csv: () => string): void {
    const { app, info } = this;
    const { selected, about } = app.state;
    const canChoose = isAboutPlaces(info) && selected !== null && selected > 0;
    const toggle = h('input', { type: 'checkbox', onchange: () => app.store.dispatch({ type: 'about', on: !about }) });
    toggle.checked = about;
    const tools = [
      muted(plural(count, 'row')),
      canChoose
        ? h('label', { class: 'check' }, toggle, `only about ${visible(folded(labelOf(app.model, selected).text))}`)
        : '',
      button('CSV', 'Save these rows as CSV', () => saveFile(`${info.name}.csv`, 'text/csv', csv())),
    ];
    if (this.#filter.parentNode !== this.#head) this.#head.append(this.#filter);
    while (this.#filter.nextSibling) this.#filter.nextSibling.remove(); // the filter keeps the focus
    this.#head.append(...tools);
  }

  #table(rows: TableRows, shown: readonly number[]): HTMLElement {
    const { info } = this;
    const styles = this.#styles(rows);
    return factsTable(
      info.columns.map((c, i) => ({
        text: visible(c.title),
        unit: visible(styles[i]?.scale.unit ?? ''),
        title: visible(c.type === 'time' ? `${c.description} (after the first of this table)` : c.description),
        isNumber: isNumber(c),
        sorted: this.#by === i ? (this.#isUp ? 'ascending' : 'descending') : 'none',
        sort: () => {
          this.#isUp = this.#by === i ? !this.#isUp : !isNumber(c); // numbers from the largest, texts from A
          this.#by = i;
          this.app.drawSoon();
        },
      })),
      shown.map((row) => h('tr', null, ...info.columns.map((_, c) => this.#cell(rows, row, c, styles[c])))),
    );
  }

  #styles(rows: TableRows): (Style | null)[] {
    const { columns } = this.info;
    const of = (c: number): number[] => Array.from(rows.cells[c]).filter((x) => !Number.isNaN(x));
    const origin = columns.reduce((least, c, i) => (c.type === 'time' ? of(i).reduce((a, b) => Math.min(a, b), least) : least), Infinity);
    return columns.map((c, i) => {
      if (!isNumber(c)) return null;
      const most = of(i).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
      if (c.type === 'time') return { origin, scale: timeScale(most - origin) };
      const digits = (x: number): number => (String(Number(x.toPrecision(4))).split('.')[1] ?? '').length;
      const decimals = Math.min(most >= 100 ? 1 : most >= 1 ? 2 : 4, of(i).reduce((all, x) => Math.max(all, digits(x)), 0));
      return { origin: 0, scale: c.unit === 'ns' ? timeScale(most) : { divisor: 1, decimals, unit: c.unit } };
    });
  }

  #cell(rows: TableRows, row: number, c: number, style: Style | null): HTMLElement {
    const { app, info } = this;
    const column = info.columns[c];
    const value = rows.cells[c][row];
    if (style) return cell(formatScaled(value - style.origin, style.scale), true);
    const text = visible(cellText(app.model, column, rows, value));
    if (column.type !== 'ref' || column.to !== 'place' || value === NONE) return cell(text, isNumber(column));
    return cell(button(text, 'Go there', () => app.selectInTree(value), 'crumb'));
  }
}

/** Tables whose own pane shows all of them. */
const SHOWN_ELSEWHERE = new Set(['instructions', 'instruction_counts']);

/** A pane for each table. */
export const tablePanes = (app: App): PaneType[] =>
  app.model.tables.map((info, i) => ({
    name: `table-${info.name}`,
    title: info.title,
    slot: 'data',
    isThere: () => info.rows > 0 && !SHOWN_ELSEWHERE.has(info.name),
    make: () => new TableOfFacts(app, i, info),
  }));
