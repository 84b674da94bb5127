// SPDX-License-Identifier: BSD-3-Clause
// The rows of a source text in which the calls that were inlined on a line can be opened below it.

import { NONE } from '../model/data';
import { formatAs, formatPercent } from '../logic/format';
import { type Inlined, inlinedOn, type InlinedLine } from '../logic/inlined';
import { baseName } from '../logic/labels';
import { scopesOnLine } from '../logic/lines';
import { Colouring, languageOf } from '../logic/syntax';
import type { App } from './app';
import { coloured, LONGEST_SHOWN, shortCall } from './code';
import { button, h, muted, visible } from './dom';
import type { Costs } from './line_costs';

/** Lines shown of one inlined procedure. */
const MOST_INLINED = 60;

/** A row that is not of this file: the head of an inlined procedure, or a line of it. */
interface Extra {
  readonly inlined: Inlined;
  readonly line: InlinedLine | null;
}

export class OpenedCalls {
  #opened: ReadonlySet<number> = new Set(); // lines whose inlined calls are shown below them
  #rowLines: Int32Array | null = null; // by row: a line, or -1 - an extra; null: line N is row N - 1
  #extras: readonly Extra[] = [];
  #costs: Costs | null = null;
  #lines = 0;
  readonly #colourings = new Map<number, Colouring>(); // of other files

  /** `changed`: the rows are others. */
  constructor(
    private readonly app: App,
    private readonly changed: () => void,
  ) {}

  /** Of another file nothing is open. */
  closeAll(): void {
    this.#opened = new Set();
  }

  layOut(lines: number, costs: Costs | null): void {
    this.#lines = lines;
    this.#costs = costs;
    this.#layOut();
  }

  get rows(): number {
    return this.#rowLines?.length ?? this.#lines;
  }

  rowOf(line: number): number {
    return this.#rowLines ? this.#rowLines.indexOf(line) : line - 1;
  }

  /** The line that stands in a row; 0: that is a row of another file. */
  lineOf(row: number): number {
    return this.#rowLines ? Math.max(0, this.#rowLines[row]) : row + 1;
  }

  /** The line in a row, or the next one above it that is of this file. */
  lineAbove(row: number): number {
    for (let r = row; r >= 0; r--) if (this.lineOf(r) > 0) return this.lineOf(r);
    return 1;
  }

  open(line: number, isOpen: boolean): void {
    if (isOpen === this.#opened.has(line) || (isOpen && this.#inlinedOn(line).length === 0)) return;
    const opened = new Set(this.#opened);
    if (isOpen) opened.add(line);
    else opened.delete(line);
    this.#opened = opened;
    this.#layOut();
    this.changed();
  }

  #inlinedOn(line: number): Inlined[] {
    const { app } = this;
    const costs = this.#costs;
    if (!costs || costs.column.difference) return [];
    return inlinedOn(app.columns, app.tables.children, costs.column, scopesOnLine(app.model, costs.lines, line));
  }

  #layOut(): void {
    this.#rowLines = null;
    this.#extras = [];
    if (this.#opened.size === 0) return;
    const rows: number[] = [];
    const extras: Extra[] = [];
    for (let line = 1; line <= this.#lines; line++) {
      rows.push(line);
      if (!this.#opened.has(line)) continue;
      for (const inlined of this.#inlinedOn(line))
        for (const part of [null, ...inlined.lines.slice(0, MOST_INLINED)]) {
          rows.push(-1 - extras.length);
          extras.push({ inlined, line: part });
        }
    }
    this.#rowLines = Int32Array.from(rows);
    this.#extras = extras;
  }

  /** Behind the text of a line: its inlined calls, and how to reach them. */
  chip(line: number): HTMLElement | null {
    const { app } = this;
    const costs = this.#costs;
    if (!costs || !costs.lines.at.has(line)) return null;
    const all = this.#inlinedOn(line);
    if (all.length === 0) return null;
    const isOpen = this.#opened.has(line);
    const whole = app.columns.whole(costs.column);
    const percent = formatPercent(
      all.reduce((sum, i) => sum + i.value, 0),
      whole,
    );
    const name = all.length === 1 ? shortCall(all[0].name) : `${all.length} calls`;
    const chip = button(
      visible(`${isOpen ? '▾' : '▸'} ⤷ ${name}${percent ? ` ${percent}%` : ''}`),
      visible(
        `Inlined here: ${all.map((i) => i.name).join(', ')}. Click to ${isOpen ? 'close' : 'see their lines'} (→ ←)`,
      ),
      () => this.open(line, !isOpen),
      'call-chip',
    );
    chip.setAttribute('aria-expanded', String(isOpen));
    return chip;
  }

  /** A row of another file; `hasTracks`: there are brackets of loops next to the text. */
  makeRow(row: number, hasTracks: boolean): HTMLElement {
    const { app } = this;
    const costs = this.#costs;
    const { inlined, line } = this.#extras[-1 - this.#rowLines![row]];
    const value = line ? line.value : inlined.value;
    const number = line ? String(line.line) : '';
    const gutter = (className: string, text: string): HTMLElement =>
      h('span', { class: className, role: 'gridcell' }, text);
    const percent = formatPercent(value, costs ? app.columns.whole(costs.column) : NaN);
    const element = h(
      'div',
      {
        class: `line extra${line ? '' : ' extra-head'}`,
        role: 'row',
        'data-file': String(inlined.file),
        'data-at': number,
      },
      gutter(
        'line-value',
        costs
          ? formatAs(app.state.form, value, costs.column.metric, costs.scale, app.columns.error(costs.column, value))
          : '',
      ),
      gutter('line-percent', percent && `${percent}%`),
      ...(costs?.more ?? []).map(() => gutter('line-more', '')),
      gutter('line-count', line?.calls ? '⤷' : ''),
      h('span', { class: 'line-number', role: 'rowheader' }, number),
      hasTracks ? h('span', { class: 'line-loops', role: 'gridcell' }) : '',
      line ? this.#code(inlined, line) : this.#head(inlined),
    );
    if (line && costs && costs.hottest > 0 && !line.calls)
      element.style.setProperty(
        '--heat-alpha',
        (0.06 + 0.5 * Math.sqrt(Math.min(1, value / costs.hottest))).toFixed(3),
      );
    if (line && inlined.file !== NONE) element.title = visible(`${app.model.files[inlined.file].name}:${line.line}`);
    return element;
  }

  #head(inlined: Inlined): HTMLElement {
    const { app } = this;
    const where = inlined.file === NONE ? '' : baseName(app.model.files[inlined.file].name);
    return h(
      'code',
      { class: 'line-text', role: 'gridcell' },
      h('span', { class: 'extra-name', title: visible(inlined.name) }, visible(`⤷ ${shortCall(inlined.name)}`)),
      muted(visible(` ${where}${inlined.copies > 1 ? ` ×${inlined.copies}` : ''}  `)),
      button('go there', 'Select it and show its source', () => app.select(inlined.place), 'call-chip'),
    );
  }

  #code(inlined: Inlined, { line }: InlinedLine): HTMLElement {
    const { app } = this;
    const code = h('code', { class: 'line-text', role: 'gridcell' });
    const file = inlined.file === NONE ? null : app.model.files[inlined.file];
    const texts = file && app.texts.get(file);
    const text = texts?.[line - 1];
    if (!file || !texts || text === undefined || text.length > LONGEST_SHOWN) {
      const shown = text === undefined ? 'its text is not here' : visible(text.slice(0, LONGEST_SHOWN));
      code.append(muted(shown));
      return code;
    }
    let colouring = this.#colourings.get(inlined.file);
    if (!colouring) this.#colourings.set(inlined.file, (colouring = new Colouring(languageOf(file.name), texts)));
    code.append(...coloured(colouring, line - 1));
    return code;
  }
}
