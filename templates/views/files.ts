// SPDX-License-Identifier: BSD-3-Clause
// The file pane: which source files cost what.

import { NONE } from '../model/data';
import { formatExact, formatPercent, formatScaled, formatSigned, share } from '../logic/format';
import { shortName } from '../logic/labels';
import { Memo, same } from '../logic/memo';
import { compareValues } from '../logic/sort';
import type { Column } from '../logic/columns';
import type { App } from './app';
import { h, muted, visible } from './dom';
import type { Pane, PaneType } from './panes';
import { VirtualRows } from './rows';

const ROW = 21;

/** The row of costs on no line of any file; among files it is NONE. */
const ELSEWHERE = NONE;

class FilesPane implements Pane {
  readonly element: HTMLElement;
  readonly #list: HTMLElement;
  readonly #body: HTMLElement;
  readonly #caption: HTMLElement;
  readonly #rows: VirtualRows;
  readonly #order = new Memo<number[]>();
  #files: readonly number[] = [];
  #values: Float64Array = new Float64Array();
  private column!: Column;
  #elsewhere = NaN;
  #drawn: readonly unknown[] = [];

  constructor(private readonly app: App) {
    this.#body = h('div', { class: 'files-body' });
    this.#list = h(
      'div',
      { class: 'files-scroll', id: 'files', role: 'listbox', tabindex: '0', 'aria-label': 'Source files' },
      this.#body,
    );
    this.#caption = muted();
    this.element = h(
      'section',
      { class: 'pane files', 'aria-label': 'Source files' },
      h('header', { class: 'pane-head' }, this.#caption),
      this.#list,
    );
    this.#rows = new VirtualRows(
      this.#list,
      this.#body,
      ROW,
      () => 0,
      (row) => this.#makeRow(row),
    );
    this.#body.addEventListener('click', (event) => {
      const row = (event.target as Element).closest<HTMLElement>('[data-file]');
      if (row) this.#show(Number(row.dataset['file']));
    });
    this.#list.addEventListener('keydown', (event) => this.#onKey(event));
  }

  draw(): void {
    const { app } = this;
    const column = app.heatColumn;
    const shown = app.state.source?.file ?? -2;
    if (app.model.files.length === 0 || !column) {
      this.#body.replaceChildren(
        h(
          'p',
          { class: 'empty small' },
          'No source file is known: the program has no debug information (compile with -g).',
        ),
      );
      return;
    }
    const inputs = [column, shown, app.state.form, app.arrivals];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    this.column = app.own(column);
    this.#values = app.columns.values(this.column, app.files);
    this.#elsewhere = this.#costElsewhere();
    this.#files = this.#order.get([this.#values, this.#elsewhere], () => {
      const all = app.model.files.map((_, f) => f);
      all.sort((a, b) => compareValues(this.#values[a], this.#values[b], true) || a - b);
      return Number.isNaN(this.#elsewhere) ? all : [...all, ELSEWHERE];
    });
    this.#caption.textContent = `${visible(shortName(this.column.metric))} ${visible(app.scale(column).unit)} of each file’s own lines, wherever they were inlined`;
    this.#rows.reset(this.#files.length);
    const row = this.#files.indexOf(shown);
    this.#rows.reveal(row, 'near');
    if (row >= 0) this.#list.setAttribute('aria-activedescendant', `file-${shown}`);
  }

  /** Costs that no file's lines have, so that all rows add up to the total; NaN: none, or unknown. */
  #costElsewhere(): number {
    const { columns } = this.app;
    if (columns.isRatio(this.column)) return NaN;
    let rest = columns.total(this.column);
    for (const value of this.#values) if (!Number.isNaN(value)) rest -= value;
    return Math.abs(rest) > 1e-9 * Math.abs(columns.total(this.column)) ? rest : NaN;
  }

  #makeRow(row: number): HTMLElement {
    const file = this.#files[row];
    if (file === ELSEWHERE)
      return this.#rowOf(
        file,
        this.#elsewhere,
        'code without source lines',
        '',
        'Code without line information: see its load modules',
        true,
      );
    const { name, state } = this.app.model.files[file];
    const slash = name.lastIndexOf('/') + 1;
    const title = `${name}${state === 'text' ? '' : '\n(no source text in the database)'}`;
    return this.#rowOf(
      file,
      this.#values[file],
      name.slice(slash),
      name.slice(0, Math.max(0, slash - 1)),
      title,
      state !== 'text',
    );
  }

  #rowOf(file: number, value: number, base: string, dir: string, title: string, isAbsent: boolean): HTMLElement {
    const { app, column } = this;
    const selected = file !== ELSEWHERE && app.state.source?.file === file;
    const whole = app.columns.whole(column);
    const bar = h('span', { class: `bar${column.difference ? (value < 0 ? ' better' : ' worse') : ''}` });
    bar.style.width = `${(share(Math.abs(value), whole) * 100).toFixed(1)}%`;
    const percent = formatPercent(value, whole);
    const sign = (text: string): string => (column.difference ? formatSigned(text, value) : text);
    return h(
      'div',
      {
        class: `file${selected ? ' selected' : ''}${isAbsent ? ' absent' : ''}`,
        role: 'option',
        id: `file-${file}`,
        'aria-selected': String(selected),
        'data-file': String(file),
        title: visible(title),
      },
      h(
        'span',
        { class: 'file-name' },
        h('span', { class: 'base' }, visible(base)),
        dir ? muted(` ${visible(dir)}`) : null,
      ),
      h(
        'span',
        { class: 'file-value', title: formatExact(value) },
        bar,
        h('span', { class: 'value' }, sign(formatScaled(value, app.scale(column), app.columns.error(column, value)))),
      ),
      h('span', { class: 'file-percent' }, percent && `${sign(percent)}%`),
    );
  }

  #show(file: number): void {
    if (file === ELSEWHERE) this.app.store.dispatch({ type: 'view', view: 'module' });
    else this.app.store.dispatch({ type: 'show-source', source: { file, first: 0, last: 0 } });
  }

  #onKey(event: KeyboardEvent): void {
    const at = this.#files.indexOf(this.app.state.source?.file ?? -2);
    const go = (row: number): void => this.#show(this.#files[Math.max(0, Math.min(this.#files.length - 1, row))]);
    switch (event.key) {
      case 'ArrowDown':
        go(at + 1);
        break;
      case 'ArrowUp':
        go(at - 1);
        break;
      case 'Home':
        go(0);
        break;
      case 'End':
        go(this.#files.length - 1);
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}

export const filesPane: PaneType = {
  name: 'files',
  title: 'Files',
  slot: 'reading',
  isThere: () => true,
  make: (app) => new FilesPane(app),
};
