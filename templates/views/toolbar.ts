// SPDX-License-Identifier: BSD-3-Clause
// The bar at the top of the page, the tabs and tools of the table, and the path at its foot.

import { NONE } from '../model/data';
import { runsOf } from '../logic/compare';
import { tableCsv } from '../logic/csv';
import { formatExact, formatShort, plural } from '../logic/format';
import { folded, labelIn, labelOf, shortName } from '../logic/labels';
import { parseFilter } from '../logic/search';
import { ancestors } from '../logic/tree';
import { isPage, TABLES, type TableView, type View } from '../state/state';
import type { App } from './app';
import { button, h, muted, preference, saveFile, visible } from './dom';

const TAB_NAMES: { readonly [V in TableView]: string } = {
  tree: 'Tree',
  line: 'Lines',
  loop: 'Loops',
  procedure: 'Procedures',
  inline: 'Inlined',
  file: 'By file',
  module: 'Modules',
  calls: 'Calls',
};
const TAB_TITLES: { readonly [V in TableView]: string } = {
  tree: 'Program, load modules, files, procedures, inlined calls, loops and lines (1)',
  line: 'All source lines (2)',
  loop: 'All loops (3)',
  procedure: 'All procedures, each including the code inlined into it (4)',
  inline: 'All procedures that were inlined, over all their calls (5)',
  file: 'All files, by the procedures defined in them, including code inlined from other files (6). The Files pane counts each file’s own lines instead.',
  module: 'The program and its shared libraries (7)',
  calls: 'Call paths, from the first function down, with loops and inlined calls in between (8)',
};

const FILTER_TITLE = `Text that is in a name, or file:line
spm* ?axpy: a whole name, with * for any text and ? for any character
/^cg|dot$/: a regular expression
file:WHAT module:WHAT: what stands there, WHAT being any of these`;

const THEMES = ['auto', 'light', 'dark'] as const;

export function applyTheme(): void {
  const theme = preference.get('theme') ?? 'auto';
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function themeButton(app: App): HTMLElement {
  const current = (): (typeof THEMES)[number] => THEMES.find((t) => t === preference.get('theme')) ?? 'auto';
  const label = (): string => ({ auto: '◐ Auto', light: '○ Light', dark: '● Dark' })[current()];
  const element = button(label(), 'Light or dark', () => {
    preference.set('theme', THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length]);
    applyTheme();
    element.textContent = label();
    app.drawSoon(); // pictures
  });
  return element;
}

function compareChoice(app: App): { element: HTMLElement; draw: () => void } | null {
  const runs = runsOf(app.model);
  if (runs.length < 2) return null;
  const select = h(
    'select',
    { id: 'compare', onchange: () => app.compareWith(select.value) },
    h('option', { value: '' }, 'no base'),
    ...runs.map((r) => h('option', { value: r }, visible(r))),
  );
  return {
    element: h(
      'label',
      { class: 'check', title: 'Show the other runs with their difference from this one' },
      'Compare with',
      select,
    ),
    draw: () => void (select.value = app.state.base),
  };
}

const NAV: readonly (readonly [View, string, string])[] = [
  ['summary', 'Summary', 'What is wrong? (s)'],
  ['tree', 'Code', 'Where is the time spent? Scopes, source, instructions (t)'],
  ['calls', 'Calls', 'Who calls it? Call paths and their flame graph (8)'],
  ['time', 'Time', 'When, and who waits? Phases, barriers, ranks, threads (w)'],
  ['memory', 'Memory', 'Which data miss in which cache? (n)'],
  ['data', 'Data', 'Every other table (d)'],
];

export class TopBar {
  readonly element: HTMLElement;
  readonly #totals: HTMLElement;
  readonly #tabs: readonly (readonly [View, HTMLElement])[];
  readonly #compare: ReturnType<typeof compareChoice>;
  #code: View = 'tree'; // the table one last saw there
  #drawn: readonly unknown[] = [];

  constructor(private readonly app: App) {
    const { model, store } = app;
    this.#totals = h('div', { class: 'totals', id: 'totals' });
    this.#tabs = NAV.map(([view, name, title]) => {
      const go = (): void => store.dispatch({ type: 'view', view: view === 'tree' ? this.#code : view });
      return [view, button(name, title, go, 'tab')] as const;
    });
    this.#compare = compareChoice(app);
    this.element = h(
      'header',
      { class: 'top' },
      h('span', { class: 'brand', 'aria-hidden': 'true' }, 'hpcview'),
      h('h1', { class: 'title', title: visible(model.title) }, visible(model.title) || 'untitled'),
      h('nav', { class: 'views', 'aria-label': 'Views' }, ...this.#tabs.map(([, tab]) => tab)),
      this.#totals,
      h(
        'div',
        { class: 'top-tools' },
        this.#compare?.element,
        button(
          model.warnings.length ? `About · ${plural(model.warnings.length, 'warning')}` : 'About',
          'Runs, events, warnings (a)',
          () => store.dispatch({ type: 'panel', panel: 'about' }),
          model.warnings.length ? 'button has-warnings' : 'button',
        ),
        themeButton(app),
        button('? Help', 'Explanation of this page, and its keys (?)', () =>
          store.dispatch({ type: 'panel', panel: 'help' }),
        ),
      ),
    );
  }

  draw(): void {
    const { app } = this;
    const { view } = app.state;
    const isElsewhere = view === 'summary' || isPage(view);
    if (!isElsewhere && view !== 'calls') this.#code = view;
    for (const [of, tab] of this.#tabs) {
      const on = of === (isElsewhere || view === 'calls' ? view : 'tree');
      tab.classList.toggle('on', on);
      if (on) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    this.#compare?.draw();
    const columns = [...new Set(app.shownColumns().map((c) => app.inclusive(c)))]
      .filter((c) => c.metric.formula === '')
      .slice(0, 3);
    this.#totals.hidden = isElsewhere;
    const inputs = [columns.map((c) => c.id).join(), app.columns, app.arrivals];
    if (isElsewhere || inputs.every((x, i) => x === this.#drawn[i])) return;
    this.#drawn = inputs;
    this.#totals.replaceChildren(
      ...columns.map((column) => {
        const total = app.columns.total(column);
        const { metric } = column;
        return h(
          'span',
          {
            class: 'total',
            title: `${visible(metric.displayName)}, whole program: ${formatExact(total) || 'no data'} ${visible(metric.unit)}`,
          },
          muted(`${visible(shortName(metric))} `),
          h('b', null, formatShort(total, app.scale(column), app.columns.error(column, total)) || '–'),
          ` ${visible(app.scale(column).unit)}`,
        );
      }),
    );
  }
}

export class TableTools {
  readonly element: HTMLElement;
  readonly #tabs = new Map<TableView, HTMLElement>();
  readonly #filter: HTMLInputElement;
  readonly #treeTools: HTMLElement;
  readonly #flatten: HTMLElement;
  readonly #unflatten: HTMLElement;
  readonly #callTools: HTMLElement;
  readonly #fold: HTMLInputElement;
  readonly #flatTools: HTMLElement;
  readonly #fuse: HTMLInputElement;
  readonly #count: HTMLElement;
  readonly #least: HTMLSelectElement;
  readonly #out: HTMLElement;
  readonly #views: HTMLElement;

  constructor(
    private readonly app: App,
    togglePicture: () => void,
  ) {
    const { store } = app;
    for (const view of TABLES) {
      if (view === 'calls' || (view !== 'tree' && !app.tables.has(view))) continue;
      const tab = button(TAB_NAMES[view], TAB_TITLES[view], () => store.dispatch({ type: 'view', view }), 'tab');
      tab.setAttribute('role', 'tab');
      this.#tabs.set(view, tab);
    }
    this.#filter = h('input', {
      type: 'search',
      class: 'filter',
      id: 'filter',
      placeholder: 'Filter: /',
      'aria-label': 'Filter rows by name or file:line',
      title: FILTER_TITLE,
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => store.dispatch({ type: 'filter', text: this.#filter.value }),
    });
    this.#out = button('Whole program', 'Back to the whole program (Esc)', () => app.front.zoomTo(0));
    this.#flatten = button(
      'Flatten',
      'Replace each row by its children, to compare files, procedures or loops across the whole program (-)',
      () => app.flattenBy(1),
    );
    this.#unflatten = button('Unflatten', 'Undo one level of flattening (+)', () => app.flattenBy(-1));
    this.#treeTools = h(
      'span',
      { class: 'tools' },
      button('Hot path', 'From the selected row down its costliest children, while each has half of its parent (h)', () =>
        app.front.followHotPath(app.front.state.selected ?? 0),
      ),
      button('Picture', 'Show or hide the icicle, or the flame graph of calls (g)', togglePicture),
      button('Expand', 'Open everything below the selected row (*)', () =>
        app.front.expandBelow(app.front.state.selected ?? 0),
      ),
      button('Collapse', 'Close all rows (c)', () => app.front.store.dispatch({ type: 'collapse-all' })),
      button('Zoom in', 'Make the selected scope the root of tree and picture (z)', () =>
        app.front.zoomTo(app.front.state.selected ?? 0),
      ),
      this.#flatten,
      this.#unflatten,
    );
    this.#fold = h('input', {
      type: 'checkbox',
      onchange: () => store.dispatch({ type: 'fold', on: this.#fold.checked }),
    });
    this.#callTools = h(
      'label',
      {
        class: 'check',
        title:
          'A procedure that calls itself, directly or through others, stands once on each path: what it called through itself becomes what it called.',
      },
      this.#fold,
      'Fold recursion',
    );
    this.#fuse = h('input', {
      type: 'checkbox',
      onchange: () => store.dispatch({ type: 'fuse', on: this.#fuse.checked }),
    });
    this.#flatTools = h(
      'span',
      { class: 'tools' },
      h(
        'label',
        {
          class: 'check',
          title:
            'One row for each source construct, adding up all its copies in the program: loop versions, inlined calls, template instances. Off: each copy has its own row.',
        },
        this.#fuse,
        'One row per source construct',
      ),
    );
    this.#count = h('span', { class: 'muted count', 'aria-live': 'polite' });
    this.#least = h(
      'select',
      {
        'aria-label': 'Hide rows below a share',
        title: 'Hide rows that cost less than this share of the program',
        onchange: () => store.dispatch({ type: 'least', percent: Number(this.#least.value) }),
      },
      ...['0', '0.1', '1', '5'].map((p) => h('option', { value: p }, p === '0' ? 'all rows' : `≥ ${p}%`)),
    );
    this.#views = h('div', { class: 'tabs', role: 'tablist' }, ...this.#tabs.values());
    const close = (event: Event): void => {
      if (!menu.contains(event.target as Node)) menu.open = false;
    };
    const menu = h(
      'details',
      { class: 'menu' },
      h('summary', { class: 'button', title: 'More tools of this table' }, 'More'),
      h(
        'div',
        { class: 'menu-tools' },
        this.#treeTools,
        this.#callTools,
        this.#flatTools,
        button('CSV', 'Save the displayed rows and columns as CSV', () =>
          saveFile('hpcview.csv', 'text/csv', tableCsv(app.front.model, app.front.table(), app.front.shownColumns())),
        ),
      ),
    );
    document.addEventListener('pointerdown', close);
    menu.addEventListener('click', (event) => {
      if ((event.target as Element).closest('.menu-tools button')) menu.open = false;
    });
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      menu.open = false;
      event.stopPropagation();
    });
    this.element = h(
      'div',
      { class: 'table-tools' },
      this.#views,
      this.#out,
      button('Columns…', 'Choose columns and the form of numbers', () => store.dispatch({ type: 'panel', panel: 'columns' })),
      menu,
      this.#least,
      this.#count,
      this.#filter,
    );
  }

  focusFilter(): void {
    this.#filter.focus();
    this.#filter.select();
  }

  draw(): void {
    const { state } = this.app;
    for (const [view, tab] of this.#tabs) {
      tab.classList.toggle('on', view === state.view);
      tab.setAttribute('aria-selected', String(view === state.view));
    }
    const { front } = this.app;
    this.#views.hidden = state.view === 'calls';
    this.#treeTools.hidden = state.view !== 'tree' && state.view !== 'calls';
    this.#callTools.hidden = state.view !== 'calls';
    this.#flatTools.hidden = state.view === 'tree' || state.view === 'calls' || state.view === 'module';
    this.#fold.checked = state.fold;
    this.#fuse.checked = state.fuse;
    if (this.#filter.value !== state.filter) this.#filter.value = state.filter;
    this.#filter.setAttribute('aria-invalid', String(parseFilter(state.filter).problem !== null));
    if (state.view === 'summary' || isPage(state.view)) return;
    this.#out.hidden = front.state.zoom === 0;
    this.#flatten.hidden = state.view !== 'tree';
    this.#unflatten.hidden = state.view !== 'tree' || state.flatten === 0;
    this.#least.value = String(state.least);
    const table = front.table();
    const hidden = table.hidden > 0 ? `, ${formatExact(table.hidden)} below ${state.least}%` : '';
    this.#count.textContent = front.notice || `${plural(table.count, 'row')}${hidden}`;
    this.#count.classList.toggle('warn', front.notice !== '');
  }
}

/** From the program down to the selection. */
export class PathBar {
  readonly element = h('nav', { class: 'path', 'aria-label': 'Path to the selected row' });
  #drawn: number | null | undefined;

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const { selected } = app.state;
    if (selected === this.#drawn) return;
    this.#drawn = selected;
    if (selected === null || selected === NONE) {
      this.element.replaceChildren(
        muted('Nothing selected. Arrow keys move, / filters, ? helps.'),
      );
      return;
    }
    const path = [selected, ...ancestors(app.model.places, selected)].reverse();
    const parts: (Node | string)[] = [];
    path.forEach((place, i) => {
      if (i > 0) parts.push(h('span', { class: 'sep', 'aria-hidden': 'true' }, '›'));
      parts.push(
        button(
          visible(folded((place === selected ? labelOf : labelIn)(app.model, place).text)),
          'Go there in the scope tree',
          () => app.selectInTree(place),
          place === selected ? 'crumb on' : 'crumb',
        ),
      );
    });
    this.element.replaceChildren(...parts);
    queueMicrotask(() => (this.element.scrollLeft = this.element.scrollWidth)); // when all panes are drawn
  }
}
