// SPDX-License-Identifier: BSD-3-Clause
// The machine code of the selected procedure: what was measured at each instruction, lines of the source between them,
// loops as brackets, jumps as arrows, and what each instruction costs on the core.

import { Kind, type PlaceIx } from '../model/data';
import type { Column } from '../logic/columns';
import { formatAs, formatPercent, type Scale, unitIn } from '../logic/format';
import { Code, type CodeLoop, type Jump, loopPlace, type Piece, show, type Shown } from '../logic/instructions';
import { labelOf, shortName } from '../logic/labels';
import { Memo, same } from '../logic/memo';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import type { Pane, PaneType } from './panes';
import { VirtualRows } from './rows';
import { valueTitle } from './table';

const ROW = 19;
const WIDEST_TEXT = 46;

const indexOf = (app: App, name: string): number => app.model.tables.findIndex((t) => t.name === name);

/** The procedure around a place, itself included; null: it is in none. */
export function procedureOf(app: App, place: PlaceIx | null): PlaceIx | null {
  const { kind, parent } = app.model.places;
  let at = place ?? -1;
  while (at > 0 && kind[at] > Kind.Procedure) at = parent[at];
  return at > 0 && kind[at] === Kind.Procedure ? at : null;
}

export const hasInstructions = (app: App): boolean => (app.model.tables[indexOf(app, 'instructions')]?.rows ?? 0) > 0;

/** null: not loaded yet, or there is none. */
function readCode(app: App): Code | null {
  const { model } = app;
  const table = indexOf(app, 'instructions');
  const counts = indexOf(app, 'instruction_counts');
  const rows = table < 0 ? null : model.tableRows.of(table);
  const counted = counts < 0 ? null : model.tableRows.of(counts);
  if (!rows || (counts >= 0 && !counted)) return null;
  return new Code(model.tables[table], rows, counted && { info: model.tables[counts], rows: counted });
}

/** Where a metric was computed, the first measured one that is shown. */
function countedColumn(app: App): Column | null {
  const isCounted = (c: Column | null): c is Column => c !== null && c.index >= 0 && c.metric.formula === '';
  const heat = app.heatColumn && app.inclusive(app.heatColumn);
  if (isCounted(heat)) return heat;
  if (isCounted(app.mainColumn)) return app.mainColumn;
  const first = app.model.metrics.findIndex((m) => m.formula === '' && m.display);
  return first < 0 ? null : app.columns.of(first);
}

/** The displayed code: one procedure's, by one column. */
interface Drawn {
  readonly code: Code;
  readonly procedure: PlaceIx;
  readonly pieces: readonly Piece[];
  readonly piece: Piece;
  readonly shown: Shown;
  readonly column: Column | null;
  readonly values: Float64Array | null;
  readonly hottest: number;
  readonly scale: Scale | null;
}

export class InstructionsPane implements Pane {
  readonly element: HTMLElement;
  private readonly title = h('h2', { class: 'pane-title' });
  readonly #tools = h('div', { class: 'source-tools' });
  readonly #head = h('div', { class: 'insn-head' });
  readonly #body = h('div', { class: 'source-body' });
  readonly #scroller: HTMLElement;
  readonly #empty = h('div', { class: 'empty' });
  readonly #rows: VirtualRows;
  private readonly code = new Memo<Code | null>();
  #seen: readonly unknown[] = [];
  #drawn: Drawn | null = null;
  private procedure: PlaceIx | null = null;
  #build = 0;
  #revealed: unknown = null;

  constructor(private readonly app: App) {
    this.#scroller = h(
      'div',
      { class: 'source-scroll insn-scroll', tabindex: '0', role: 'grid', 'aria-label': 'Instructions' },
      this.#head,
      this.#body,
    );
    this.element = h(
      'section',
      { class: 'pane source instructions', 'aria-label': 'Instructions' },
      h('header', { class: 'pane-head' }, this.title, this.#tools),
      h('div', { class: 'source-frame' }, this.#scroller, this.#empty),
    );
    this.#rows = new VirtualRows(
      this.#scroller,
      this.#body,
      ROW,
      () => ROW,
      (line) => this.#makeRow(line),
    );
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    this.#scroller.addEventListener('keydown', (event) => {
      if (event.key === 'h' && !event.ctrlKey && !event.metaKey && !event.altKey) this.goToHottest();
    });
  }

  draw(): void {
    const { app } = this;
    const { selected, form } = app.state;
    this.procedure = procedureOf(app, selected) ?? this.procedure;
    const column = countedColumn(app);
    const content = [this.procedure, column, form, app.arrivals, this.#build];
    const inputs = [...content, selected];
    if (same(inputs, this.#seen)) return;
    const isSame = this.#drawn !== null && same(content, this.#seen);
    if (this.procedure !== this.#seen[0]) this.#build = 0;
    this.#seen = inputs;
    if (isSame) this.#rows.restyle((line, element) => this.#mark(line, element));
    else this.#drawCode(column);
    this.#reveal();
  }

  #drawCode(column: Column | null): void {
    const { app, procedure } = this;
    const before = this.#drawn;
    const code = this.code.get([app.arrivals], () => readCode(app));
    this.#drawn = null;
    if (procedure === null) return this.#drawNothing('Select a procedure, or anything in one, to see its instructions.');
    if (!code) {
      const failure = app.model.tableRows.failure(indexOf(app, 'instructions'));
      return this.#drawNothing(failure ?? 'Reading …');
    }
    const pieces = code.pieces(procedure);
    const piece = pieces[Math.min(this.#build, pieces.length - 1)];
    if (!piece)
      return this.#drawNothing(
        `The database has no instructions of ${labelOf(app.model, procedure).text}: its binary was not available, too little of the cost is in it, or the limit on the size of code was reached.`,
      );
    const same = before && before.piece.first === piece.first && before.code === code;
    const shown = same ? before.shown : show(code, piece);
    const values = column && code.values(column.index);
    let hottest = 0;
    for (let row = piece.first; values && row < piece.end; row++) if (values[row] > hottest) hottest = values[row];
    const scale = column && app.scaleAmong(column, hottest);
    this.#drawn = { code, procedure, pieces, piece, shown, column, values, hottest, scale };
    if (!same) {
      this.#rows.scrollTo(0);
      this.#revealed = null;
    }
    this.#drawFrame(this.#drawn);
    this.#rows.reset(shown.lines.length);
  }

  #drawFrame({ code, procedure, pieces, piece, shown, column, scale }: Drawn): void {
    const { app } = this;
    const last = Math.max(0, piece.end - 1);
    let widest = 20;
    for (let row = piece.first; row < piece.end; row++) widest = Math.max(widest, code.text('text', row).length);
    this.#empty.hidden = true;
    this.#scroller.hidden = false;
    this.element.style.setProperty('--tracks', String(shown.tracks));
    this.element.style.setProperty('--lanes', String(shown.lanes));
    this.element.style.setProperty('--digits', String(code.cell('address', last).toString(16).length));
    this.element.style.setProperty('--widest', String(Math.min(widest, WIDEST_TEXT) + 2));
    this.#scroller.setAttribute('aria-rowcount', String(shown.lines.length));
    const name = visible(labelOf(app.model, procedure).text);
    this.title.replaceChildren(name);
    this.title.title = name;
    const core = visible(code.text('core', piece.first));
    this.#tools.replaceChildren(
      core ? h('span', { class: 'muted', title: `Uops, ports and latency are of ${core}` }, core.split(',')[0]) : '',
      pieces.length > 1
        ? button(
            `Build ${this.#build + 1} of ${pieces.length}`,
            'Several builds of this module are compared: show the next one',
            () => {
              this.#build = (this.#build + 1) % pieces.length;
              this.app.drawSoon();
            },
            'button small',
          )
        : '',
      button('Hottest', 'Go to the costliest instruction (h)', () => this.goToHottest()),
    );
    const unit = column && scale && unitIn(app.state.form, column.metric, scale);
    const metric = column ? shortName(column.metric) : '';
    this.#head.replaceChildren(
      h('span', { class: 'insn-metric', title: visible(`${metric}${unit ? `, ${unit}` : ''}`) }, visible(`${metric}${unit ? ` ${unit}` : ''}`)),
      h('span', { class: 'insn-address' }, 'address'),
      h('span', { class: 'insn-jumps' }),
      h('span', { class: 'insn-loops' }),
      h('span', { class: 'insn-chain' }),
      h('span', { class: 'insn-text' }, 'instruction'),
      h('span', { class: 'insn-uops', title: 'Uops as the front end counts them; 0: fused with the branch after it' }, 'uops'),
      h('span', { class: 'insn-ports', title: 'Execution ports for each uop' }, 'ports'),
      h('span', { class: 'insn-latency', title: 'Cycles from the last operand to the result' }, 'latency'),
    );
  }

  #drawNothing(why: string): void {
    this.title.textContent = 'Instructions';
    this.#tools.replaceChildren();
    this.#empty.hidden = false;
    this.#scroller.hidden = true;
    this.#empty.replaceChildren(h('p', null, visible(why)));
  }

  #makeRow(line: number): HTMLElement {
    const { row, isSource } = this.#drawn!.shown.lines[line];
    const element = h('div', {
      class: `line insn${isSource ? ' insn-source' : ''}`,
      role: 'row',
      'aria-rowindex': String(line + 1),
      'data-row': String(line),
    });
    element.append(
      ...this.#gutter(element, row, isSource),
      isSource
        ? h('span', { class: 'insn-address' })
        : h('span', { class: 'insn-address', role: 'rowheader' }, this.#drawn!.code.cell('address', row).toString(16)),
      this.#jumps(line),
      this.#loops(line),
      ...(isSource ? this.#source(row) : this.#instruction(row)),
    );
    this.#mark(line, element);
    return element;
  }

  #gutter(element: HTMLElement, row: number, isSource: boolean): HTMLElement[] {
    const { app } = this;
    const { column, values, hottest, scale } = this.#drawn!;
    const cells = [
      h('span', { class: 'line-value', role: 'gridcell' }),
      h('span', { class: 'line-percent', role: 'gridcell' }),
    ];
    const value = !isSource && values ? values[row] : NaN;
    if (Number.isNaN(value) || !column || !scale) return cells;
    const percent = formatPercent(value, app.columns.whole(column));
    const error = app.columns.error(column, value);
    cells[0].textContent = formatAs(app.state.form, value, column.metric, scale, error);
    cells[0].title = valueTitle(app, column, value, error);
    cells[1].textContent = percent && `${percent}%`;
    element.classList.add('costs');
    if (hottest > 0) element.style.setProperty('--heat-alpha', (0.06 + 0.5 * Math.sqrt(value / hottest)).toFixed(3));
    return cells;
  }

  #jumps(line: number): HTMLElement {
    const cell = h('span', { class: 'insn-jumps', role: 'gridcell' });
    for (const jump of this.#drawn!.shown.jumps) {
      const low = Math.min(jump.from, jump.to);
      const high = Math.max(jump.from, jump.to);
      if (line < low || line > high) continue;
      const part = h('span', { class: 'jump' });
      part.style.setProperty('--lane', String(jump.lane));
      part.classList.toggle('jump-top', line === low);
      part.classList.toggle('jump-bottom', line === high);
      part.classList.toggle('jump-head', line === jump.to);
      part.classList.toggle('jump-tail', line === jump.from);
      part.classList.toggle('jump-up', jump.to <= jump.from);
      cell.append(part);
    }
    return cell;
  }

  #loops(line: number): HTMLElement {
    const cell = h('span', { class: 'insn-loops', role: 'gridcell' });
    for (const loop of this.#drawn!.shown.loops) {
      if (line < loop.first || line > loop.last) continue;
      const part = h('span', { class: 'bracket', 'data-loop': String(loop.header), title: this.#words(loop) });
      part.style.setProperty('--track', String(loop.track));
      part.classList.toggle('begins', loop.first === line);
      part.classList.toggle('ends', loop.last === line);
      cell.append(part);
    }
    return cell;
  }

  #words(loop: CodeLoop): string {
    const place = loopPlace(this.app.model, this.#drawn!.procedure, loop.header);
    return place < 0 ? 'A loop without samples of its own' : visible(labelOf(this.app.model, place).text);
  }

  #instruction(row: number): HTMLElement[] {
    const { code, shown } = this.#drawn!;
    const text = code.text('text', row);
    const blank = text.indexOf(' ');
    const name = blank < 0 ? text : text.slice(0, blank);
    const rest = blank < 0 ? '' : text.slice(blank);
    const isChain = code.cell('chain', row) === 1;
    const target = shown.jumps.find((j: Jump) => j.from === shown.at.get(row));
    const number = (value: number): string => (Number.isNaN(value) ? '' : String(value));
    return [
      h(
        'span',
        {
          class: 'insn-chain',
          role: 'gridcell',
          title: isChain ? 'On the longest loop-carried dependency chain' : undefined,
        },
        isChain ? '●' : '',
      ),
      h(
        'code',
        { class: 'insn-text', role: 'gridcell', title: visible(text) },
        h('span', { class: 't-keyword' }, visible(name)),
        target ? h('span', { class: 'link', 'data-target': String(target.to) }, visible(rest)) : visible(rest),
      ),
      h('span', { class: 'insn-uops', role: 'gridcell' }, number(code.cell('uops', row))),
      h('span', { class: 'insn-ports', role: 'gridcell', title: visible(code.text('ports', row)) }, visible(code.text('ports', row))),
      h('span', { class: 'insn-latency', role: 'gridcell' }, number(code.cell('latency', row))),
    ];
  }

  #source(row: number): HTMLElement[] {
    const { app } = this;
    const { code } = this.#drawn!;
    const line = code.cell('line', row);
    const file = app.model.files[code.cell('file', row)];
    const name = file ? file.name.slice(file.name.lastIndexOf('/') + 1) : 'another file';
    const text = file ? (app.texts.get(file)?.[line - 1] ?? '') : '';
    return [
      h('span', { class: 'insn-chain' }),
      h(
        'code',
        { class: 'insn-line', role: 'gridcell' },
        muted(visible(`${name}:${line}`)),
        visible(`  ${text.trim().slice(0, 200)}`),
      ),
    ];
  }

  /** Instructions of the selection inside of the procedure. */
  #isWithin(row: number): boolean {
    const { selected } = this.app.state;
    const { procedure, code } = this.#drawn!;
    if (selected === null || selected === procedure) return false;
    const { parent, kind, lineFirst } = this.app.model.places;
    let at = code.cell('place', row);
    // an instruction without a line belongs to the scope around it
    if (kind[selected] === Kind.Line && lineFirst[selected] === 0 && at === parent[selected]) return true;
    while (at > selected) at = parent[at];
    return at === selected;
  }

  #mark(line: number, element: HTMLElement): void {
    const { row, isSource } = this.#drawn!.shown.lines[line];
    const isWithin = !isSource && this.#isWithin(row);
    element.classList.toggle('within', isWithin);
    element.setAttribute('aria-selected', String(isWithin));
  }

  goToHottest(): void {
    const drawn = this.#drawn;
    if (!drawn?.values) return;
    for (let row = drawn.piece.first; row < drawn.piece.end; row++)
      if (drawn.values[row] === drawn.hottest) return this.#rows.reveal(drawn.shown.at.get(row) ?? 0, 'middle');
  }

  /** The costliest instruction of the selection. */
  #reveal(): void {
    const { selected } = this.app.state;
    const drawn = this.#drawn;
    if (!drawn || selected === null || this.#revealed === selected) return;
    this.#revealed = selected;
    let best = -1;
    for (let row = drawn.piece.first; row < drawn.piece.end; row++) {
      if (selected !== drawn.procedure && !this.#isWithin(row)) continue;
      if (best < 0 || (drawn.values && (drawn.values[row] || 0) > (drawn.values[best] || 0))) best = row;
    }
    if (best >= 0) this.#rows.reveal(drawn.shown.at.get(best) ?? 0, 'middle');
  }

  #onClick(event: MouseEvent): void {
    const on = (what: string): HTMLElement | null => (event.target as Element).closest<HTMLElement>(`[data-${what}]`);
    const drawn = this.#drawn;
    const at = on('row');
    if (!drawn || !at || String(getSelection()) !== '') return;
    const { row } = drawn.shown.lines[Number(at.dataset['row'])];
    const target = on('target');
    const loop = on('loop');
    if (target) return this.#rows.reveal(Number(target.dataset['target']), 'middle');
    if (loop) {
      const place = loopPlace(this.app.model, drawn.procedure, Number(loop.dataset['loop']));
      if (place >= 0) this.#choose(place);
      return;
    }
    const place = drawn.code.cell('place', row);
    if (place > 0) this.#choose(place);
  }

  /** Clicks here do not scroll. */
  #choose(place: PlaceIx): void {
    this.#revealed = place;
    this.app.select(place);
  }
}

export const instructionsPane: PaneType = {
  name: 'instructions',
  title: 'Instructions',
  slot: 'reading',
  isThere: hasInstructions,
  make: (app) => new InstructionsPane(app),
};
