// SPDX-License-Identifier: BSD-3-Clause
// What a newcomer needs to know, on one screen.

import { button, h } from './dom';

const TERMS: readonly (readonly [string, string])[] = [
  [
    'Inclusive',
    'The cost of a scope with everything inside it: a loop with its inner loops and inlined calls. On call paths, also everything it calls.',
  ],
  [
    'Exclusive',
    'Of a procedure or an inlined call: its own code (“self”), with its loops and inlined calls, without the functions it calls. Of a loop: without inner loops and inlined calls.',
  ],
  [
    'Percent',
    'Of the whole program’s total of that metric; of a difference, of the base run’s total: + is more, and orange; − is less, and blue; grey is within the noise of sampling.',
  ],
  [
    'Numbers beside the source',
    'The exclusive cost of a line; in grey, inclusive of scopes that begin or are called there. The colour is the exclusive cost.',
  ],
  [
    'Blank and 0',
    'Blank: not measured there. 0: measured, and there was none. A computed metric is blank if an operand is, or if it would divide by zero.',
  ],
  [
    'Samples',
    'Each sample stands for one period of its event (About lists them). n samples are known to ± 2√n; digits beyond that are not shown. Hover over a number for its samples and error.',
  ],
  [
    'Loop instances',
    'Compilers copy loops: a vector version and its remainder, unrolled copies, one for each inlined call. The tree keeps copies apart; other tables add them up unless you untick “One row per source construct”.',
  ],
  [
    'Inlined calls',
    '“⤷ dot  inlined at heat.f90:54”: the code of dot, inlined where line 54 calls it. Click the grey text to see the call.',
  ],
  [
    'Call paths',
    'Call paths, from the first function down: a row for each call, with its line, in the loops around it. “Callers” has the call paths to the selection, with shares of its cost; its card lists who calls it and what it calls. “Fold recursion” shows each procedure once on a path.',
  ],
];

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓  PgUp PgDn  Home End', 'move'],
  ['→ ←', 'open a row or go into it; close it or go to the one around it'],
  ['Enter', 'flat table: show the row in the scope tree; source: next place of the line'],
  ['h', 'hot path from the selected row; in the source: the hottest line'],
  ['m', 'in the source: the columns of the table for each line'],
  ['*  c', 'open everything below the selected row; close all'],
  ['s  t  f  8', 'summary, code, its lines, calls'],
  ['w  n  d', 'time, memory, data'],
  ['g  x', 'the picture or the flame graph on or off; it fills the window'],
  ['z', 'zoom in: the selected scope becomes the root of tree and picture; again or Esc: the whole program'],
  ['-  +', 'flatten the tree by one level; undo it'],
  ['>  <  r', 'sort by the next column, by the one before; turn the order round'],
  ['/', 'filter (in the source: find text): a name, file:line, spm*, /^cg|dot$/, file:heat* module:libm'],
  ['Enter  Shift+Enter', 'finding in the source (/ or Ctrl+F there): the next, the one before'],
  ['→ ←', 'in the source: open what was inlined on the marked line, close it'],
  ['[  ]', 'the place before, the next place, of the marked source line'],
  ['1 … 8', 'scope tree, lines, loops, procedures, inlined, files, modules, call paths'],
  ['Tab', 'from pane to pane'],
  ['a  l  ?', 'about, layout, this help'],
  ['Esc', 'close what is open; clear the filter'],
];

export function helpDialog(close: () => void): HTMLElement {
  const list = (rows: readonly (readonly [string, string])[], code: boolean): HTMLElement =>
    h(
      'dl',
      { class: code ? 'keys' : 'terms' },
      ...rows.flatMap(([term, text]) => [h('dt', null, term), h('dd', null, text)]),
    );
  return h(
    'div',
    { class: 'dialog-body wide' },
    h('header', { class: 'dialog-head' }, h('h2', null, 'How to read this page'), button('Close', 'Esc', close)),
    h(
      'p',
      null,
      'Five views, each a question: Summary (what is wrong?), Code (where?), Calls (who calls it?), Time (when, and who waits?), Memory (which data?); Data has every other table. Everything in the summary is a link. Code opens on the hottest loop or line with its source. Select a row, a box, a line or an instruction, and all panes follow; its details are in the card. Click a column’s head to sort by it: the same metric then colours the source and the file list. The address of the page holds the current view, so a link shows others the same.',
    ),
    h(
      'div',
      { class: 'help-columns' },
      h('div', null, h('h3', null, 'Terms'), list(TERMS, false)),
      h('div', null, h('h3', null, 'Keys'), list(KEYS, true)),
    ),
  );
}
