// The file pane: which source files cost what.

import { metricOf } from '../model/data';
import { formatExact, formatPercent, formatScaled, share } from '../logic/format';
import { shortName } from '../logic/labels';
import { fileCosts } from '../logic/lines';
import { Memo } from '../logic/rows';
import { compareValues } from '../logic/tree';
import type { App } from './app';
import { h, visible } from './dom';
import { VirtualRows } from './rows';

const ROW = 21;

export class FilesPane {
  readonly element: HTMLElement;
  private readonly list: HTMLElement;
  private readonly body: HTMLElement;
  private readonly caption: HTMLElement;
  private readonly rows: VirtualRows;
  private readonly costs = new Memo<Float64Array>();
  private readonly order = new Memo<number[]>();
  private files: readonly number[] = [];
  private values: Float64Array = new Float64Array();
  private drawn: readonly unknown[] = [];

  constructor(private readonly app: App) {
    this.body = h('div', { class: 'files-body' });
    this.list = h(
      'div',
      { class: 'files-scroll', id: 'files', role: 'listbox', tabindex: '0', 'aria-label': 'Source files' },
      this.body,
    );
    this.caption = h('span', { class: 'muted' });
    this.element = h(
      'section',
      { class: 'pane files' },
      h(
        'header',
        { class: 'pane-head' },
        h(
          'h2',
          { class: 'pane-title', title: 'Each file with the cost of its own lines, wherever the compiler put them' },
          'Files',
        ),
        this.caption,
      ),
      this.list,
    );
    this.rows = new VirtualRows(
      this.list,
      this.body,
      ROW,
      () => 0,
      (row) => this.makeRow(row),
    );
    this.body.addEventListener('click', (event) => {
      const row = (event.target as Element).closest<HTMLElement>('[data-file]');
      if (row) this.show(Number(row.dataset['file']));
    });
    this.list.addEventListener('keydown', (event) => this.onKey(event));
  }

  draw(): void {
    const { app } = this;
    const column = app.heatColumn;
    const shown = app.state.source?.file ?? -1;
    if (app.model.files.length === 0 || app.model.metrics.length === 0) {
      this.body.replaceChildren(
        h(
          'p',
          { class: 'empty small' },
          'No source file is known: the program has no debug information (compile with -g).',
        ),
      );
      return;
    }
    const inputs = [column, shown, app.state.exact];
    if (inputs.every((x, i) => Object.is(x, this.drawn[i]))) return;
    this.drawn = inputs;
    this.values = this.costs.get([column], () => fileCosts(app.model, app.lines, app.tables.sums, column));
    this.files = this.order.get([this.values], () => {
      const all = app.model.files.map((_, f) => f);
      return all.sort((a, b) => compareValues(this.values[a], this.values[b], true) || a - b);
    });
    this.caption.textContent = `${visible(shortName(app.model.metrics[metricOf(column)]))} ${visible(app.scale(column).unit)}`;
    this.rows.reset(this.files.length);
    const row = this.files.indexOf(shown);
    this.rows.reveal(row, 'near');
    if (row >= 0) this.list.setAttribute('aria-activedescendant', `file-${shown}`);
  }

  private makeRow(row: number): HTMLElement {
    const { app } = this;
    const file = this.files[row];
    const { name, state } = app.model.files[file];
    const column = app.heatColumn;
    const value = this.values[file];
    const selected = app.state.source?.file === file;
    const slash = name.lastIndexOf('/') + 1;
    const bar = h('span', { class: 'bar' });
    bar.style.width = `${(share(value, app.total(column)) * 100).toFixed(1)}%`;
    return h(
      'div',
      {
        class: `file${selected ? ' selected' : ''}${state === 'text' ? '' : ' absent'}`,
        role: 'option',
        id: `file-${file}`,
        'aria-selected': String(selected),
        'data-file': String(file),
        title: `${visible(name)}${state === 'text' ? '' : '\n(no source text in the database)'}`,
      },
      h(
        'span',
        { class: 'file-name' },
        h('span', { class: 'base' }, visible(name.slice(slash))),
        slash ? h('span', { class: 'muted' }, ` ${visible(name.slice(0, slash - 1))}`) : null,
      ),
      h(
        'span',
        { class: 'file-value', title: formatExact(value) },
        bar,
        h('span', { class: 'value' }, formatScaled(value, app.scale(column))),
      ),
      h(
        'span',
        { class: 'file-percent' },
        Number.isNaN(value) || !app.model.metrics[metricOf(column)].percent
          ? ''
          : `${formatPercent(value, app.total(column))}%`,
      ),
    );
  }

  private show(file: number): void {
    this.app.store.dispatch({ type: 'show-source', source: { file, first: 0, last: 0 } });
  }

  private onKey(event: KeyboardEvent): void {
    const at = this.files.indexOf(this.app.state.source?.file ?? -1);
    const go = (row: number): void => this.show(this.files[Math.max(0, Math.min(this.files.length - 1, row))]);
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
        go(this.files.length - 1);
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}
