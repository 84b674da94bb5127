// SPDX-License-Identifier: BSD-3-Clause
// Tables of facts, in dialogs and panes: a head, rows, numbers to the right.

import { explained } from './glossary';
import { button, h, muted } from './dom';

export interface Head {
  readonly text: string;
  readonly unit?: string;
  readonly title?: string;
  readonly isNumber?: boolean;
  readonly sorted?: string; // as aria-sort
  readonly sort?: () => void;
}

/** Texts above this many characters get a wide column: the table scrolls sideways before a text is broken everywhere. */
const LONG = 40;

/** A cell: of a number column to the right. */
export const cell = (content: HTMLElement | string, isNumber = false): HTMLElement =>
  h('td', { class: isNumber ? 'n' : typeof content === 'string' && content.length > LONG && 'long' }, content);

/** Heads are text already made visible; rows are made of `tr`. It scrolls sideways by itself if it is too wide. */
export function factsTable(heads: readonly (Head | string)[], rows: readonly HTMLElement[]): HTMLElement {
  return h(
    'div',
    { class: 'scroll-x' },
    h(
      'table',
      { class: 'facts' },
      h(
        'thead',
        null,
        h('tr', null, ...heads.map((head) => headCell(typeof head === 'string' ? { text: head } : head))),
      ),
      h('tbody', null, ...rows),
    ),
  );
}

const headCell = ({ text, unit, title, isNumber, sorted, sort }: Head): HTMLElement =>
  h(
    'th',
    { scope: 'col', class: isNumber === true && 'n', title: title || explained(text), 'aria-sort': sorted },
    sort ? button(text, 'Sort by this column; again: the other way round', sort, 'head-sort') : text,
    unit ? muted(` ${unit}`) : null,
  );
