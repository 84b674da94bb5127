// SPDX-License-Identifier: BSD-3-Clause
// The box that finds text in the source pane. It is the pane that shows what was found.

import { type Found, findText, foundFrom, foundNext, MOST_FOUND } from '../logic/find';
import { plural } from '../logic/format';
import { button, h } from './dom';

export interface Finder {
  /** The matches changed, or the current one; `goes`: the user requested that one. */
  show(goes: boolean): void;
  /** The box was closed. */
  leave(): void;
}

export class FindBar {
  readonly element: HTMLElement;
  #box: HTMLInputElement;
  #count = h('span', { class: 'muted', role: 'status' });
  #lines: readonly string[] = [];
  #found: readonly Found[] = [];
  #byRow = new Map<number, Found[]>();
  #at = -1;
  #from = 0; // the row where the search began

  constructor(private readonly finder: Finder) {
    this.#box = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Find in this source',
      'aria-label': 'Find in this source',
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => this.#find(),
    });
    this.element = h(
      'div',
      { class: 'source-find', role: 'search', hidden: true },
      this.#box,
      button('‹', 'Previous match (Shift+Enter)', () => this.#step(-1), 'button small'),
      button('›', 'Next match (Enter)', () => this.#step(1), 'button small'),
      this.#count,
      button('✕', 'Close (Esc)', () => this.#close(), 'button small'),
    );
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** `row`: the current row. */
  open(lines: readonly string[], row: number): void {
    this.element.hidden = false;
    this.#from = row;
    this.#box.focus();
    this.#box.select();
    this.#lines = lines;
    this.#find();
  }

  /** Another text is shown. */
  search(lines: readonly string[]): void {
    if (this.element.hidden || lines === this.#lines) return;
    this.#lines = lines;
    this.#from = 0;
    this.#collect();
  }

  /** Matches in a row, in order. */
  inRow(row: number): readonly Found[] {
    return this.#byRow.get(row) ?? [];
  }

  /** The one that is looked at. */
  get current(): Found | null {
    return this.#found[this.#at] ?? null;
  }

  #collect(): void {
    this.#found = this.element.hidden ? [] : findText(this.#lines, this.#box.value);
    this.#byRow.clear();
    for (const f of this.#found) {
      const row = this.#byRow.get(f.row);
      if (row) row.push(f);
      else this.#byRow.set(f.row, [f]);
    }
    this.#at = foundFrom(this.#found, this.#from);
    this.#say();
  }

  #find(): void {
    this.#collect();
    this.finder.show(false);
  }

  #step(step: 1 | -1): void {
    this.#at = foundNext(this.#found, this.#at, step);
    if (this.current) this.#from = this.current.row;
    this.#say();
    this.finder.show(true);
  }

  #say(): void {
    const { length } = this.#found;
    const all = length === MOST_FOUND ? `the first ${plural(length, 'place')}` : String(length);
    this.#count.textContent = length ? `${this.#at + 1} of ${all}` : this.#box.value ? 'not found' : '';
    this.#count.classList.toggle('warn', length === 0);
  }

  #close(): void {
    this.element.hidden = true;
    this.#collect();
    this.finder.show(false);
    this.finder.leave();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    event.stopPropagation(); // the page's keys are letters here
    if (event.key === 'Escape') this.#close();
    else if (event.key === 'Enter' && event.target === this.#box) this.#step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  }
}
