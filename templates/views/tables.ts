// SPDX-License-Identifier: BSD-3-Clause
// The tables beside the places, in the view Data: one pane for each, with a filter, and all rows or those about what is
// selected. A table that a folder declares has its pane with that.

import { NONE, type TableColumn, type TableInfo, type TableRows } from '../model/data';
import { csvText } from '../logic/csv';
import { plural } from '../logic/format';
import { folded, labelOf } from '../logic/labels';
import { same } from '../logic/memo';
import { cellText, isAboutPlaces, rowsAbout } from '../logic/tables';
import type { App } from './app';
import { button, h, muted, saveFile, visible } from './dom';
import { cell, factsTable } from './facts';
import type { Pane, PaneType } from './panes';

const MOST = 500;

const isNumber = (c: TableColumn): boolean => c.type !== 'text' && c.type !== 'ref';

class TableOfFacts implements Pane {
  readonly element: HTMLElement;
  readonly #head = h('div', { class: 'facts-head' });
  readonly #rows = h('div', null);
  readonly #filter: HTMLInputElement;
  #drawn: readonly unknown[] = [];

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
    const inputs = [selected, about, app.arrivals, this.#filter.value];
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
    this.#drawHead(found.length, () => csvText([info.columns.map((c) => c.name), ...found.map(texts)]));
    this.#rows.replaceChildren(
      found.length
        ? this.#table(rows, found.slice(0, MOST))
        : h('p', { class: 'muted' }, `No row ${wanted ? 'has this text' : 'is about this place'}; the table has ${plural(info.rows, 'row')}.`),
      found.length > MOST ? muted(`and ${found.length - MOST} more; CSV has all`) : '',
    );
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
    return factsTable(
      info.columns.map((c) => ({
        text: visible(c.title),
        unit: visible(c.unit),
        title: visible(c.description),
        isNumber: isNumber(c),
      })),
      shown.map((row) => h('tr', null, ...info.columns.map((_, c) => this.#cell(rows, row, c)))),
    );
  }

  #cell(rows: TableRows, row: number, c: number): HTMLElement {
    const { app, info } = this;
    const column = info.columns[c];
    const value = rows.cells[c][row];
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
