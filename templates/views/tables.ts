// The inspector's tabs for tables beside the places: one for each table of the database, with the rows about what is
// selected. A room that declares a table has its pane with that.

import { NONE, type TableColumn, type TableInfo, type TableRows } from '../model/data';
import { plural } from '../logic/format';
import { labelOf } from '../logic/labels';
import { same } from '../logic/memo';
import { cellText, isAboutPlaces, rowsAbout } from '../logic/tables';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import { cell, factsTable } from './facts';
import type { Pane, PaneType } from './panes';
import { roomOfTable } from './rooms';

const MOST = 200;

const isNumber = (c: TableColumn): boolean => c.type !== 'text' && c.type !== 'ref';

class TableOfFacts implements Pane {
  readonly element: HTMLElement;
  #drawn: readonly unknown[] = [];

  constructor(
    private readonly app: App,
    private readonly index: number,
    private readonly info: TableInfo,
  ) {
    this.element = h('section', { class: 'pane facts-pane', 'aria-label': visible(info.title) });
  }

  draw(): void {
    const { app, info, index } = this;
    const { selected } = app.state;
    const inputs = [selected, app.arrivals];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    const rows = app.model.tableRows.of(index);
    if (!rows) {
      this.element.replaceChildren(
        h('p', { class: 'empty small' }, visible(app.model.tableRows.failure(index) ?? 'Reading …')),
      );
      return;
    }
    const place = selected ?? 0;
    const found = rowsAbout(app.model, info, rows, place);
    const subject = isAboutPlaces(info) && place !== 0 ? ` about ${labelOf(app.model, place).text}` : '';
    this.element.replaceChildren(
      h(
        'p',
        { class: 'why-title' },
        h('b', null, visible(info.title)),
        visible(` ${plural(found.length, 'row')}${subject} `),
        muted(visible(info.description)),
      ),
      found.length
        ? this.#table(rows, found.slice(0, MOST))
        : h(
            'p',
            { class: 'muted' },
            `Nothing here about the selected place; the whole table has ${plural(info.rows, 'row')}.`,
          ),
      found.length > MOST ? h('p', { class: 'muted' }, `and ${found.length - MOST} more`) : '',
      found.length === 0 && place !== 0
        ? button('Show all', 'Select the whole program', () => app.select(0), 'link')
        : '',
    );
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
    slot: 'inspect',
    room: roomOfTable(info.name),
    isThere: () => info.rows > 0 && !SHOWN_ELSEWHERE.has(info.name),
    make: () => new TableOfFacts(app, i, info),
  }));
