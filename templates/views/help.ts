// What a newcomer needs to know, on one screen.

import { button, h } from './dom';

const TERMS: readonly (readonly [string, string])[] = [
  [
    'Inclusive',
    'The cost of a scope with everything inside it: a loop with its inner loops and the calls inlined into it. Calls that were not inlined are procedures of their own and count there.',
  ],
  [
    'Exclusive',
    'The cost of the lines directly in a scope, without its inner loops and inlined calls. Exclusive values add up to the program’s total without counting anything twice.',
  ],
  ['Percent', 'Always of the whole program’s total of that metric.'],
  [
    'Blank and 0',
    'Blank: no data there at all, and nothing is known. 0: it was measured and there was none. A computed metric is blank where an operand is, or where it would divide by zero.',
  ],
  [
    'Samples',
    'Numbers are estimates: each sample stands for one period of its event (About lists them). A value of a few samples says little; compare what has a hundred or more.',
  ],
  [
    'Loop instances',
    'Compilers copy loops: a vector version and its remainder, unrolled copies, one for each inlined call. “2 of 3” is the second copy of one loop in the source. The scope tree keeps copies apart; the flat tables add them up unless you untick “One row per source construct”.',
  ],
  [
    'Inlined calls',
    '“⤷ dot  inlined at heat.f90:54”: the code of dot, put in by the compiler where line 54 calls it. Click the grey text to see the call.',
  ],
  ['Irreducible', 'A loop that is entered at more than one place; its extent is the best guess there is.'],
  [
    'No source file known',
    'The code has no debug information. It is shown by procedure, or by module where it has no symbols either.',
  ],
];

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓  PgUp PgDn  Home End', 'move'],
  ['→ ←', 'open a row or go into it; close it or go to the one around it'],
  ['Enter', 'flat table: show the row in the scope tree; source: next place of the line'],
  ['h', 'hot path from the selected row; in the source: the hottest line'],
  ['*  c', 'open everything below the selected row; close all'],
  ['s  S  r', 'sort by the next column, by the one before; turn the order round'],
  ['/', 'filter by name, or by file:line'],
  ['[  ]', 'the place before, the next place, of the marked source line'],
  ['1 … 7', 'scope tree, lines, loops, procedures, inlined, files, modules'],
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
      'The table says where the program spent what was measured. Start with the hot path, which is open when you come: it leads from the program to the loop or line that costs most. Select a row and its source appears; click a source line and its rows are marked. Click a column’s head to sort by it: the same metric then colours the source and the file list. The address of the page holds what you see, so a link shows others the same.',
    ),
    h(
      'div',
      { class: 'help-columns' },
      h('div', null, h('h3', null, 'Words'), list(TERMS, false)),
      h('div', null, h('h3', null, 'Keys'), list(KEYS, true)),
    ),
  );
}
