// SPDX-License-Identifier: BSD-3-Clause
// Simulated memory: of what is selected, which references miss at each level, why, what evicts their lines, and what that
// makes for each array. A reference leads to its line, and so does each evictor.

import { type Evictor, type Level, Memory, type Reference, reasons } from '../logic/memory';
import { NONE, type PlaceIx } from '../model/data';
import { formatExact, plural } from '../logic/format';
import { labelOf } from '../logic/labels';
import { same } from '../logic/memo';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import { cell, factsTable, type Head } from './facts';
import type { Pane, PaneType } from './panes';

const FEW = 6; // rows of a table, until one asks for more
const MOST = 200;

const number = (text: string, unit = '', title = ''): Head => ({ text, unit, title, isNumber: true });
const percent = (x: number): string => (Number.isNaN(x) ? '' : x.toFixed(1));
const count = (x: number): string => (Number.isNaN(x) ? '' : formatExact(x));

const HEADS: readonly Head[] = [
  number('Misses'),
  number('of level', '%', 'Share of all misses of this level in the run'),
  number('Ratio', '%', 'Misses of accesses'),
];
const MORE_HEADS: readonly Head[] = [
  number('Cold', '%', 'Share of the misses that are the first use of a line'),
  number('Temporal', '%', 'Share of the hits on bytes that had been touched since the line was loaded'),
  number('Spatial', '%', 'Share of the bytes of evicted lines that had been used'),
];
const useCells = (r: Reference, isWhole: boolean): HTMLElement[] => [
  cell(count(r.misses), true),
  ...[r.share, r.ratio, ...(isWhole ? [r.cold, r.temporal, r.spatial] : [])].map((x) => cell(percent(x), true)),
];

class MemoryPane implements Pane {
  readonly element = h('section', { class: 'pane facts-pane memory', 'aria-label': 'Simulated memory' });
  private drawn: readonly unknown[] = [];
  private opened = new Set<string>(); // tables that are shown to their end
  #isWhole = false; // all columns, and the evictors of each level

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const place = app.state.selected ?? 0;
    const inputs = [app.arrivals, place, this.opened, this.#isWhole];
    if (same(inputs, this.drawn)) return;
    this.drawn = inputs;
    const memory = Memory.of(app.model, place);
    this.element.replaceChildren(...(memory ? this.parts(memory) : [h('p', { class: 'empty small' }, this.waiting())]));
  }

  private waiting(): string {
    const { tables, tableRows } = this.app.model;
    const failures = tables.flatMap((t, i) => (['levels', 'objects', 'references', 'evictors'].includes(t.name) ? [tableRows.failure(i)] : []));
    return visible(failures.find(Boolean) ?? 'Reading …');
  }

  private parts(memory: Memory): HTMLElement[] {
    const levels = memory.levels.filter((level) => (memory.total(level)?.accesses ?? 0) > 0);
    const subject = visible(labelOf(this.app.model, memory.place).text);
    if (levels.length === 0)
      return [
        h('p', { class: 'muted' }, `No reference of the simulated memory is in ${subject}. `),
        button('Show all', 'Select the whole program', () => this.app.select(0), 'link'),
      ];
    return [
      h(
        'p',
        { class: 'why-title' },
        h('b', null, 'Simulated memory '),
        muted(`${subject} `),
        button(
          this.#isWhole ? 'Fewer columns' : 'All columns',
          'Kinds of misses, use of cache lines, and what evicts them',
          () => {
            this.#isWhole = !this.#isWhole;
            this.app.drawSoon();
          },
          'link',
        ),
        memory.place !== 0 && button('Whole program', 'Select the whole program', () => this.app.select(0), 'link'),
      ),
      ...levels.flatMap((level) => this.level(memory, level)),
    ];
  }

  private level(memory: Memory, level: Level): HTMLElement[] {
    const total = memory.total(level)!;
    const references = memory.references(level);
    const isWhole = this.#isWhole;
    const heads = isWhole ? [...HEADS, ...MORE_HEADS] : HEADS;
    return [
      h(
        'h3',
        { class: 'memory-level' },
        visible(level.name),
        h(
          'span',
          { class: 'muted' },
          ` ${count(total.misses)} misses of ${plural(total.accesses, 'access', 'accesses')}, ${percent(total.ratio)}%`,
          memory.place === 0 ? '' : `; ${percent(total.share)}% of the level's`,
        ),
      ),
      ...(total.misses > 0 ? [this.why(memory, level, references[0])] : []),
      ...this.section(
        `References ${level.row}`,
        ['Reference', 'Array', ...heads, ...(isWhole ? ['Mostly evicted by'] : [])],
        references,
        (r) => this.reference(memory, level, r),
      ),
      ...this.section(
        `Evictors ${level.row}`,
        ['Evicted by', 'accessing array', number('Lines'), number('of evictions', '%'), number('Invalidated by other threads')],
        isWhole ? memory.evictors(level) : [],
        (e) => this.evictor(memory, e),
      ),
      ...this.section(
        `Arrays ${level.row}`,
        ['Array', 'Allocated at', ...heads],
        memory.arrays(level),
        (r) => h('tr', null, cell(this.array(memory, r.object)), cell(this.link(r.place)), ...useCells(r, isWhole)),
      ),
    ];
  }

  /** References that miss, why, and what evicts their lines. */
  private why(memory: Memory, level: Level, worst: Reference): HTMLElement {
    const [first] = memory.evictors(level, worst);
    const isItself = first && first.place === worst.place && first.object === worst.object;
    return h(
      'p',
      { class: 'memory-why' },
      'Most misses here: ',
      this.array(memory, worst.object),
      ' at ',
      this.link(worst.place, 'link'),
      `, ${percent(worst.share)}% of the level's misses, ${percent(worst.ratio)}% of its accesses`,
      ...reasons(worst).map((reason) => `; ${reason}`),
      ...(first
        ? isItself
          ? [`; it evicts ${percent(first.share)}% of its own lines`]
          : [`; ${percent(first.share)}% of its lines are evicted by `, this.array(memory, first.object), ' at ', this.link(first.place, 'link')]
        : []),
      '.',
    );
  }

  private reference(memory: Memory, level: Level, r: Reference): HTMLElement {
    const [first] = this.#isWhole ? memory.evictors(level, r) : [];
    return h(
      'tr',
      null,
      cell(this.link(r.place)),
      cell(this.array(memory, r.object)),
      ...useCells(r, this.#isWhole),
      this.#isWhole && h('td', null, ...(first ? [this.link(first.place), ` ${this.array(memory, first.object)} ${percent(first.share)}%`] : [])),
    );
  }

  private evictor(memory: Memory, e: Evictor): HTMLElement {
    return h(
      'tr',
      null,
      cell(this.link(e.place)),
      cell(this.array(memory, e.object)),
      cell(count(e.blocks), true),
      cell(percent(e.share), true),
      cell(e.taken > 0 ? count(e.taken) : '', true),
    );
  }

  private array(memory: Memory, object: number): string {
    return visible(memory.arrayName(object));
  }

  private link(place: PlaceIx, className = 'crumb'): HTMLElement | string {
    if (place === NONE) return '';
    return button(visible(labelOf(this.app.model, place).text), 'Go there', () => this.app.selectInTree(place), className);
  }

  /** A table, its first rows until one asks for more. */
  private section<T>(key: string, heads: readonly (Head | string)[], rows: readonly T[], row: (of: T) => HTMLElement): HTMLElement[] {
    if (rows.length === 0) return [];
    const isOpen = this.opened.has(key);
    const shown = rows.slice(0, isOpen ? MOST : FEW);
    const open = (): void => {
      this.opened = new Set([...this.opened, key]);
      this.app.drawSoon();
    };
    return [
      factsTable(heads, shown.map(row)),
      ...(rows.length > shown.length
        ? [isOpen ? h('p', { class: 'muted' }, `and ${rows.length - MOST} more`) : button(`${rows.length - FEW} more`, 'Show more rows', open, 'link')]
        : []),
    ];
  }
}

export const memoryPane: PaneType = {
  name: 'memory',
  title: 'Overview',
  slot: 'memory',
  isThere: (app) => Memory.isThere(app.model),
  make: (app) => new MemoryPane(app),
};
