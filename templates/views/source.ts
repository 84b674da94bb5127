// SPDX-License-Identifier: BSD-3-Clause
// The source pane: text with what each line costs beside it.

import { NONE } from '../model/data';
import type { SourceLines } from '../model/load';
import { type Bracket, type Brackets, loopBrackets, outermost } from '../logic/brackets';
import type { Column } from '../logic/columns';
import { formatPercent, plural } from '../logic/format';
import { findingsOnLine } from '../logic/diagnosis';
import { missesOnLine } from '../logic/memory';
import { type Costs, costsOf, gutterCells, gutterHead } from './line_costs';
import { headsAround, type Span, spansOf } from '../logic/sticky_headers';
import { loopKinds, shortName } from '../logic/labels';
import { hottestLine } from '../logic/lines';
import { same } from '../logic/memo';
import { Colouring, languageOf } from '../logic/syntax';
import type { App } from './app';
import { coloured, LONGEST_SHOWN } from './code';
import { button, h, muted, visible } from './dom';
import { FindBar } from './find';
import { hasInstructions, InstructionsPane, procedureOf } from './instructions';
import { findingMark, missesMark } from './marks';
import { WHY_NO_TEXT, whyNoSource } from './nosource';
import { OpenedCalls } from './expanded_inlines';
import type { Pane, PaneType } from './panes';
import { VirtualRows } from './rows';

const ROW = 19;
const MOST_MARKS = 300;

class SourcePane implements Pane {
  readonly element: HTMLElement;
  private readonly title: HTMLElement;
  readonly #tools: HTMLElement;
  readonly #columnHead: HTMLElement;
  readonly #scroller: HTMLElement;
  readonly #body: HTMLElement;
  readonly #marks: HTMLElement;
  readonly #heads = h('div', { class: 'source-heads', 'aria-hidden': 'true' });
  readonly #empty: HTMLElement;
  private readonly frame: HTMLElement;
  readonly #rows: VirtualRows;
  readonly #find: FindBar;
  #instructions: InstructionsPane | null = null; // replacement of code without source
  private costs: Costs | null = null;
  private lines: SourceLines = [];
  #brackets: Brackets = { list: [], tracks: 0 };
  #colouring: Colouring | null = null;
  #drawn: readonly unknown[] = [];
  readonly #layout: OpenedCalls;
  #spans: readonly Span[] = [];
  #file = NONE;
  #revealed: unknown = null;
  #headed: readonly unknown[] = [];

  constructor(private readonly app: App) {
    this.#layout = new OpenedCalls(app, () => {
      this.#rows.reset(this.#layout.rows);
      this.#drawHeads();
    });
    this.title = h('h2', { class: 'pane-title', id: 'source-title' });
    this.#tools = h('div', { class: 'source-tools' });
    this.#columnHead = h('div', { class: 'source-head' });
    this.#body = h('div', { class: 'source-body' });
    this.#scroller = h(
      'div',
      { class: 'source-scroll', id: 'source', tabindex: '0', role: 'grid', 'aria-labelledby': 'source-title' },
      this.#body,
    );
    this.#marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
    this.#empty = h('div', { class: 'empty' });
    this.frame = h('div', { class: 'source-frame' }, this.#scroller, this.#heads, this.#marks, this.#empty);
    this.#find = new FindBar({
      show: (goes) => this.#showFound(goes),
      leave: () => this.#scroller.focus(),
    });
    this.element = h(
      'section',
      { class: 'pane source', 'aria-labelledby': 'source-title' },
      h('header', { class: 'pane-head' }, this.title, this.#tools),
      this.#find.element,
      this.#columnHead,
      this.frame,
    );
    this.element.addEventListener('keydown', (event) => this.#onFindKey(event));
    const onScroll = (): void => {
      const left = this.#scroller.scrollLeft; // before the rows change
      requestAnimationFrame(() => this.#onScroll(left));
    };
    this.#scroller.addEventListener('scroll', onScroll, { passive: true });
    this.#rows = new VirtualRows(
      this.#scroller,
      this.#body,
      ROW,
      () => 0,
      (row) => this.#makeRow(row),
    );
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    this.#scroller.addEventListener('keydown', (event) => this.#onKey(event));
  }

  draw(): void {
    const { app } = this;
    const { source, selected, form, beside, shown } = app.state;
    const column = app.heatColumn;
    const content = [source?.file, column, form, beside && shown, app.arrivals];
    const inputs = [...content, source, selected];
    if (same(inputs, this.#drawn)) return this.#reveal(); // it may not have been visible
    const isSame = same(content, this.#drawn) && this.#colouring !== null && source !== null;
    this.#drawn = inputs;
    this.#drawInstructions(!source || app.model.files[source.file].state !== 'text');
    if (!source) {
      this.#drawNothing('', whyNoSource(app, !this.#showsInstructions()));
      return;
    }
    const file = app.model.files[source.file];
    const lines = app.texts.get(file);
    if (!lines) {
      this.#drawNothing(
        file.name,
        file.state === 'text' ? (app.texts.failure(file) ?? 'Reading the text …') : WHY_NO_TEXT[file.state],
      );
      return;
    }
    if (isSame) this.#rows.restyle((_, element) => this.#mark(Number(element.dataset['line'] ?? 0) - 1, element));
    else this.#drawLines(file.name, lines, column);
    this.#drawTitle(file.name);
    this.#reveal();
    this.#drawHeads();
  }

  /** For code without source, its instructions below the explanation. */
  #drawInstructions(isWanted: boolean): void {
    const { app, frame } = this;
    const isThere = isWanted && this.#showsInstructions();
    frame.classList.toggle('with-instructions', isThere);
    if (!isThere) return this.#instructions?.element.remove();
    this.#instructions ??= new InstructionsPane(app);
    frame.append(this.#instructions.element);
    this.#instructions.draw();
  }

  #showsInstructions(): boolean {
    return hasInstructions(this.app) && procedureOf(this.app, this.app.state.selected) !== null;
  }

  #drawLines(name: string, lines: SourceLines, column: Column | null): void {
    const { app } = this;
    this.#empty.hidden = true;
    this.#scroller.hidden = false;
    if (lines !== this.lines || !this.#colouring) {
      this.lines = lines;
      this.#colouring = new Colouring(languageOf(name), lines);
      this.#rows.scrollTo(0);
      this.#revealed = null;
    }
    if (this.#file !== this.app.state.source?.file) this.#layout.closeAll();
    this.#file = this.app.state.source?.file ?? NONE;
    this.costs = column && costsOf(app, column);
    this.#find.search(lines);
    this.#brackets = this.#bracketsOf();
    this.#spans = spansOf(app.model, app.lines, this.#file, this.#brackets);
    this.#layout.layOut(lines.length, this.costs);
    this.#scroller.style.setProperty('--tracks', String(this.#brackets.tracks));
    this.#columnHead.replaceChildren(...(this.costs ? gutterHead(app, this.costs) : []));
    this.#columnHead.classList.toggle('columns', (this.costs?.more.length ?? 0) > 0);
    this.#scroller.style.setProperty('--digits', String(Math.max(3, String(lines.length).length)));
    this.#scroller.setAttribute('aria-rowcount', String(lines.length));
    this.#rows.reset(this.#layout.rows);
    this.#drawMarks();
  }

  // ---- finding text ----

  #openFind(): void {
    const { source } = this.app.state;
    this.#find.open(this.lines, Math.max(0, (source?.first ?? 0) - 1));
  }

  #onFindKey(event: KeyboardEvent): void {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (this.lines.length === 0) return; // the browser's own is as good
    event.preventDefault(); // it sees only the rows that are made
    this.#openFind();
  }

  /** `goes`: its line becomes the selected one. */
  #showFound(goes: boolean): void {
    const { current } = this.#find;
    this.#rows.reset(this.#layout.rows);
    if (!current) return;
    this.#rows.reveal(this.#layout.rowOf(current.row + 1), 'near');
    queueMicrotask(() => this.#revealAcross()); // when the rows are made
    if (goes && this.app.state.source) this.app.markLine(this.app.state.source.file, current.row + 1, true);
  }

  /** Scrolls sideways to a match in a long line. */
  #revealAcross(): void {
    const mark = this.#body.querySelector('mark.at')?.getBoundingClientRect();
    if (!mark) return;
    const { left, right } = this.#scroller.getBoundingClientRect();
    const gutter = Math.min(240, (right - left) / 2);
    if (mark.right > right) this.#scroller.scrollLeft += mark.right - right + 40;
    else if (mark.left < left + gutter) this.#scroller.scrollLeft -= left + gutter - mark.left;
  }

  // ---- heads that stay in sight ----

  #onScroll(left: number): void {
    this.#columnHead.style.setProperty('--scrolled', `${left}px`);
    this.#drawHeads();
  }

  #drawHeads(): void {
    const top = Math.floor(this.#rows.top / ROW);
    const heads =
      this.#scroller.hidden || this.lines.length === 0
        ? []
        : headsAround(this.#spans, top, (row) => this.#layout.lineAbove(row), (line) => this.#layout.rowOf(line));
    const inputs = [this.costs, this.lines, ...heads];
    if (inputs.length === this.#headed.length && same(inputs, this.#headed)) return;
    this.#headed = inputs;
    this.#heads.hidden = heads.length === 0;
    this.#heads.style.setProperty('--digits', this.#scroller.style.getPropertyValue('--digits'));
    this.#heads.style.setProperty('--tracks', String(this.#brackets.tracks));
    this.#heads.replaceChildren(
      ...heads.map((line) => {
        const row = this.#makeLine(line, this.#code(line - 1));
        row.addEventListener(
          'click',
          () => this.app.state.source && this.app.markLine(this.app.state.source.file, line),
        );
        return row;
      }),
    );
  }

  #bracketsOf(): Brackets {
    const { model, state, lines } = this.app;
    const file = state.source!.file;
    return loopBrackets(model, lines.places.subarray(lines.start[file], lines.start[file + 1]), file);
  }

  #drawNothing(title: string, why: string | (HTMLElement | string)[]): void {
    this.title.textContent = visible(title) || 'Source';
    this.title.title = visible(title);
    this.#tools.replaceChildren();
    this.#columnHead.replaceChildren();
    this.#marks.replaceChildren();
    this.#empty.hidden = false;
    this.#scroller.hidden = true;
    this.#empty.replaceChildren(
      h('p', null, title ? h('strong', null, visible(title)) : null),
      ...(typeof why === 'string' ? [h('p', null, visible(why))] : why),
    );
    this.lines = [];
    this.#find.search(this.lines);
    this.costs = null;
    this.#colouring = null;
    this.#rows.reset(0);
    if (title) this.#tools.append(...this.#instanceTools());
  }

  #drawTitle(name: string): void {
    const slash = name.lastIndexOf('/') + 1;
    this.title.replaceChildren(
      muted(visible(name.slice(0, slash))),
      visible(name.slice(slash)),
    );
    this.title.title = visible(name);
    const { source } = this.app.state;
    const beyond = source && source.first > this.lines.length;
    this.#tools.replaceChildren(
      beyond
        ? h(
            'span',
            { class: 'warn' },
            `line ${source.first} is beyond the end of this text: the file changed after it was compiled`,
          )
        : '',
      ...this.#instanceTools(),
      this.#besideTool(),
      button('Find', 'Find text in this source (/ or Ctrl+F)', () => this.#openFind()),
      button('Hottest line', 'Go to the costliest line of this file (h)', () => this.goToHottest()),
    );
  }

  /** All columns of the table next to the lines, or only the sorted one. */
  #besideTool(): HTMLElement {
    const { app } = this;
    const { beside } = app.state;
    const tool = button('Columns', 'Show the columns of the table for each line (m)', () =>
      app.store.dispatch({ type: 'beside', on: !beside }),
    );
    tool.setAttribute('aria-pressed', String(beside));
    return tool;
  }

  /** "2 of 3 places" with ways to the others. */
  #instanceTools(): HTMLElement[] {
    const { app } = this;
    const { source, selected } = app.state;
    const all = app.instances();
    if (!source || source.first === 0 || source.first !== source.last) return [];
    if (all.length === 0) return [muted(`line ${source.first}: no samples`)];
    const at = selected === null ? -1 : all.indexOf(selected);
    const text =
      all.length === 1
        ? `line ${source.first}: 1 place`
        : at < 0
          ? `line ${source.first}: ${plural(all.length, 'place')}`
          : `line ${source.first}: place ${at + 1} of ${all.length}`;
    const step = (label: string, title: string, by: 1 | -1): HTMLElement =>
      button(label, title, () => app.cycle(by), 'button small');
    return [
      h(
        'span',
        {
          class: 'instances',
          title: 'Number of places in the program for this line: one for each loop copy and each inlined call',
        },
        text,
      ),
      ...(all.length > 1
        ? [
            step('‹', 'Previous place ([)', -1),
            step('›', 'The next place (])', 1),
            button(
              'All',
              'Open the scope tree at all places of this line',
              () => app.showAllInstances(),
              'button small',
            ),
          ]
        : []),
    ];
  }

  goToHottest(): void {
    const line = this.costs ? hottestLine(this.costs.lines, this.costs.own) : 0;
    if (line > 0 && this.app.state.source) this.app.markLine(this.app.state.source.file, line);
  }

  #makeRow(row: number): HTMLElement {
    const line = this.#layout.lineOf(row);
    if (line === 0) return this.#layout.makeRow(row, this.#brackets.tracks > 0);
    const element = this.#makeLine(line, this.#codeCell(line - 1));
    const chip = this.#layout.chip(line);
    if (chip) element.lastElementChild!.append(chip);
    return element;
  }

  #makeLine(line: number, code: HTMLElement): HTMLElement {
    const { app, costs } = this;
    const group = costs?.lines.at.get(line);
    const element = h(
      'div',
      {
        class: `line${group === undefined ? '' : ' costs'}`,
        role: 'row',
        'aria-rowindex': String(line),
        'data-line': String(line),
      },
      ...(costs ? gutterCells(app, costs, line) : []),
      h('span', { class: 'line-number', role: 'rowheader' }, String(line)),
      ...this.#loops(line),
      code,
    );
    if (group !== undefined && costs && costs.hottest > 0) {
      const own = costs.own[group];
      const heat = Math.sqrt(Math.abs(Number.isNaN(own) ? 0 : own) / costs.hottest);
      if (heat > 0) element.style.setProperty('--heat-alpha', (0.06 + 0.5 * heat).toFixed(3));
      if (costs.column.difference) element.classList.add(own < 0 ? 'better' : 'worse');
    }
    this.#mark(line - 1, element);
    return element;
  }

  /** The loops around a line: the first line, text and share of each. */
  #loops(line: number): HTMLElement[] {
    const { list, tracks } = this.#brackets;
    if (tracks === 0) return [];
    const cell = h('span', { class: 'line-loops', role: 'gridcell' });
    for (const bracket of list) {
      if (bracket.first > line) break;
      if (bracket.last < line) continue;
      const part = h('span', { class: 'bracket', 'data-loop': String(bracket.loops[0]), title: this.#words(bracket) });
      part.style.setProperty('--track', String(bracket.track));
      part.classList.toggle('begins', bracket.first === line);
      part.classList.toggle('ends', bracket.last === line);
      cell.append(part);
    }
    return [cell];
  }

  #words(bracket: Bracket): string {
    const { app, costs } = this;
    const kinds = [...new Set(bracket.loops.flatMap((loop) => loopKinds(app.model, loop)))];
    const lines = bracket.first === bracket.last ? `${bracket.first}` : `${bracket.first}–${bracket.last}`;
    const what = `loop ${lines}${kinds.length ? `: ${kinds.join(', ')}` : ''}`;
    if (!costs) return visible(what);
    const values = app.columns.values(costs.column, null);
    const cost = outermost(app.model, bracket).reduce((sum, loop) => sum + (values[loop] || 0), 0);
    const percent = formatPercent(cost, app.columns.whole(costs.column));
    return visible(`${what}${percent ? `, ${percent}% of ${shortName(costs.column.metric)}` : ''}`);
  }

  #mark(row: number, element: HTMLElement): void {
    const { source } = this.app.state;
    const line = row + 1;
    const marked = source !== null && source.first > 0 && source.first <= line && line <= source.last;
    const single = marked && source.first === source.last;
    element.classList.toggle('marked', single);
    element.classList.toggle('within', marked && !single);
    element.classList.toggle('first', marked && line === source.first);
    element.setAttribute('aria-selected', String(marked));
  }

  /** Its text, with matches, and marks of misses of its references. */
  #codeCell(row: number): HTMLElement {
    const { app } = this;
    const code = this.#code(row);
    const { file } = app.state.source!;
    const marks = [findingMark(app, findingsOnLine(app.model, file, row + 1)), missesMark(app, missesOnLine(app.model, file, row + 1))];
    if (marks.some(Boolean)) code.append(h('span', { class: 'line-marks' }, ...marks));
    return code;
  }

  #code(row: number): HTMLElement {
    const text = this.lines[row];
    const code = h('code', { class: 'line-text', role: 'gridcell' });
    if (text.length > LONGEST_SHOWN) {
      code.append(
        visible(text.slice(0, LONGEST_SHOWN)),
        muted(` … ${plural(text.length - LONGEST_SHOWN, 'more character')}`),
      );
      return code;
    }
    if (this.#colouring) code.append(...coloured(this.#colouring, row, this.#find.inRow(row), this.#find.current));
    return code;
  }

  /** Location of the cost in the file, next to the scroll bar. */
  #drawMarks(): void {
    const { costs } = this;
    if (!costs) return this.#marks.replaceChildren();
    const hot = Array.from(costs.lines.numbers, (line, g) => ({ line, own: Math.abs(costs.own[g]) }))
      .filter(({ line, own }) => line > 0 && line <= this.lines.length && own > 0)
      .sort((a, b) => b.own - a.own)
      .slice(0, MOST_MARKS);
    this.#marks.replaceChildren(
      ...hot.map(({ line, own }) => {
        const mark = h('span', { class: 'mark' });
        mark.style.top = `${((line - 0.5) / this.lines.length) * 100}%`;
        mark.style.opacity = String(0.15 + 0.85 * Math.sqrt(own / costs.hottest));
        return mark;
      }),
    );
  }

  #reveal(): void {
    const { source } = this.app.state;
    if (!source || this.#revealed === source || !this.#rows.isSeen) return;
    this.#revealed = source;
    const line = source.first > 0 ? source.first : this.costs ? hottestLine(this.costs.lines, this.costs.own) : 0;
    if (line > 0) this.#rows.reveal(this.#layout.rowOf(Math.min(line, this.lines.length)), 'middle');
  }

  #onClick(event: MouseEvent): void {
    const { source } = this.app.state;
    const { target } = event;
    if ((target as Element).closest('.call-chip')) return; // it has its own
    const extra = (target as Element).closest<HTMLElement>('[data-file]');
    if (extra?.dataset['at']) {
      const [file, line] = [Number(extra.dataset['file']), Number(extra.dataset['at'])];
      if (file !== NONE) this.app.markLine(file, line);
      return;
    }
    const row = (target as Element).closest<HTMLElement>('[data-line]');
    if (!row || !source || String(getSelection()) !== '') return;
    const line = Number(row.dataset['line']);
    const loop = (event.target as Element).closest<HTMLElement>('[data-loop]');
    if (loop) this.app.selectInTree(Number(loop.dataset['loop']));
    else if (source.first === line && source.last === line && this.app.instances().length > 1) this.app.cycle(1);
    else this.app.markLine(source.file, line);
  }

  #onKey(event: KeyboardEvent): void {
    const { source } = this.app.state;
    if (!source || event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (line: number): void =>
      this.app.markLine(source.file, Math.max(1, Math.min(this.lines.length, line)), true);
    switch (event.key) {
      case 'ArrowDown':
        go(source.last + 1);
        break;
      case 'ArrowUp':
        go(source.first - 1);
        break;
      case 'PageDown':
        go(source.last + this.#rows.pageSize());
        break;
      case 'PageUp':
        go(source.first - this.#rows.pageSize());
        break;
      case 'Home':
        go(1);
        break;
      case 'End':
        go(this.lines.length);
        break;
      case 'ArrowRight':
      case 'ArrowLeft':
        this.#layout.open(source.first, event.key === 'ArrowRight');
        break;
      case 'Enter':
        this.app.cycle(1);
        break;
      case 'h':
        this.goToHottest();
        break;
      case 'm':
        this.app.store.dispatch({ type: 'beside', on: !this.app.state.beside });
        break;
      case '/':
        this.#openFind();
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

export const sourcePane: PaneType = {
  name: 'source',
  title: 'Source',
  slot: 'reading',
  isThere: () => true,
  make: (app) => new SourcePane(app),
};
