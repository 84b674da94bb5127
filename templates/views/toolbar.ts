// The bar at the top of the page, the tabs and tools of the table, the path at its foot, and the dialog that chooses
// columns.

import { columnOf, isExclusive, metricOf, NONE } from '../model/data';
import { formatExact, formatScaled, plural } from '../logic/format';
import { labelOf, shortName } from '../logic/labels';
import { ancestors } from '../logic/tree';
import type { Level } from '../logic/flat';
import { type View, VIEWS } from '../state/state';
import type { App } from './app';
import { button, h, preference, visible } from './dom';

const TAB_NAMES: { readonly [V in View]: string } = {
  tree: 'Scope tree',
  line: 'Lines',
  loop: 'Loops',
  procedure: 'Procedures',
  inline: 'Inlined',
  file: 'Files',
  module: 'Modules',
};
const TAB_TITLES: { readonly [V in View]: string } = {
  tree: 'Program, load modules, files, procedures, inlined calls, loops and lines (1)',
  line: 'All source lines (2)',
  loop: 'All loops (3)',
  procedure: 'All procedures, each with what was inlined into it (4)',
  inline: 'All procedures that were inlined, over all their calls (5)',
  file: 'All files, by the procedures that stand in them (6)',
  module: 'The program and its shared libraries (7)',
};

const THEMES = ['auto', 'light', 'dark'] as const;

export function applyTheme(): void {
  const theme = preference.get('theme') ?? 'auto';
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function themeButton(): HTMLElement {
  const current = (): (typeof THEMES)[number] => THEMES.find((t) => t === preference.get('theme')) ?? 'auto';
  const label = (): string => ({ auto: '◐ Auto', light: '○ Light', dark: '● Dark' })[current()];
  const element = button(label(), 'Light or dark', () => {
    preference.set('theme', THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length]);
    applyTheme();
    element.textContent = label();
  });
  return element;
}

export class TopBar {
  readonly element: HTMLElement;
  private readonly totals: HTMLElement;

  constructor(
    private readonly app: App,
    switchLayout: () => void,
  ) {
    const { model } = app;
    this.totals = h('div', { class: 'totals', id: 'totals' });
    const first = model.processes[0];
    const where = first
      ? [first.host, model.processes.length > 1 ? plural(model.processes.length, 'process', 'processes') : '']
          .filter(Boolean)
          .join(' · ')
      : '';
    this.element = h(
      'header',
      { class: 'top' },
      h('span', { class: 'brand', 'aria-hidden': 'true' }, 'hpcview'),
      h('h1', { class: 'title', title: visible(model.title) }, visible(model.title) || 'untitled'),
      where ? h('span', { class: 'muted where' }, visible(where)) : null,
      this.totals,
      h(
        'div',
        { class: 'top-tools' },
        button(
          model.warnings.length ? `About · ${plural(model.warnings.length, 'warning')}` : 'About',
          'Runs, events, warnings (a)',
          () => app.store.dispatch({ type: 'panel', panel: 'about' }),
          model.warnings.length ? 'button has-warnings' : 'button',
        ),
        button('⬒ Layout', 'Table beside or below the source (l)', switchLayout),
        themeButton(),
        button('? Help', 'What all this means, and the keys (?)', () =>
          app.store.dispatch({ type: 'panel', panel: 'help' }),
        ),
      ),
    );
  }

  draw(): void {
    const { app } = this;
    const metrics = [...new Set(app.state.shown.map(metricOf))]
      .filter((m) => app.model.metrics[m].formula === '')
      .slice(0, 3);
    this.totals.replaceChildren(
      ...metrics.map((m) => {
        const column = columnOf(m, false);
        const total = app.total(column);
        const metric = app.model.metrics[m];
        return h(
          'span',
          {
            class: 'total',
            title: `${visible(metric.displayName)}, whole program: ${formatExact(total) || 'no data'} ${visible(metric.unit)}`,
          },
          h('span', { class: 'muted' }, `${visible(shortName(metric))} `),
          h('b', null, formatScaled(total, app.scale(column)) || '–'),
          ` ${visible(app.scale(column).unit)}`,
        );
      }),
    );
  }
}

export class TableTools {
  readonly element: HTMLElement;
  private readonly tabs = new Map<View, HTMLElement>();
  private readonly filter: HTMLInputElement;
  private readonly treeTools: HTMLElement;
  private readonly flatTools: HTMLElement;
  private readonly fuse: HTMLInputElement;
  private readonly count: HTMLElement;

  constructor(private readonly app: App) {
    const { store } = app;
    for (const view of VIEWS) {
      if (view !== 'tree' && !app.tables.has(view as Level)) continue;
      const tab = button(TAB_NAMES[view], TAB_TITLES[view], () => store.dispatch({ type: 'view', view }), 'tab');
      tab.setAttribute('role', 'tab');
      this.tabs.set(view, tab);
    }
    this.filter = h('input', {
      type: 'search',
      class: 'filter',
      id: 'filter',
      placeholder: 'Filter: name or file:line  ( / )',
      'aria-label': 'Filter rows by name or file:line',
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => store.dispatch({ type: 'filter', text: this.filter.value }),
    });
    this.treeTools = h(
      'span',
      { class: 'tools' },
      button(
        'Hot path',
        'From the selected row down the costliest children, as long as each has at least half of its parent (h)',
        () => app.followHotPath(app.state.selected ?? 0),
      ),
      button('Expand', 'Open everything below the selected row (*)', () => app.expandBelow(app.state.selected ?? 0)),
      button('Collapse', 'Close all rows (c)', () => store.dispatch({ type: 'collapse-all' })),
    );
    this.fuse = h('input', {
      type: 'checkbox',
      onchange: () => store.dispatch({ type: 'fuse', on: this.fuse.checked }),
    });
    this.flatTools = h(
      'span',
      { class: 'tools' },
      h(
        'label',
        {
          class: 'check',
          title:
            'One row for each thing in the source, over all its copies in the program: loop versions, inlined calls, template instances. Off: each copy has its own row.',
        },
        this.fuse,
        'One row per source construct',
      ),
    );
    this.count = h('span', { class: 'muted count', 'aria-live': 'polite' });
    this.element = h(
      'div',
      { class: 'table-tools' },
      h('div', { class: 'tabs', role: 'tablist' }, ...this.tabs.values()),
      h(
        'div',
        { class: 'tool-line' },
        this.treeTools,
        this.flatTools,
        button('Columns…', 'Choose columns and the form of numbers', () =>
          store.dispatch({ type: 'panel', panel: 'columns' }),
        ),
        this.count,
        this.filter,
      ),
    );
  }

  focusFilter(): void {
    this.filter.focus();
    this.filter.select();
  }

  draw(): void {
    const { state } = this.app;
    for (const [view, tab] of this.tabs) {
      tab.classList.toggle('on', view === state.view);
      tab.setAttribute('aria-selected', String(view === state.view));
    }
    this.treeTools.hidden = state.view !== 'tree';
    this.flatTools.hidden = state.view === 'tree' || state.view === 'module';
    this.fuse.checked = state.fuse;
    if (this.filter.value !== state.filter) this.filter.value = state.filter;
    this.count.textContent = plural(this.app.table().count, 'row');
  }
}

/** From the program down to what is selected. */
export class PathBar {
  readonly element = h('nav', { class: 'path', 'aria-label': 'Where the selected row stands' });

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const { selected } = app.state;
    if (selected === null || selected === NONE) {
      this.element.replaceChildren(
        h('span', { class: 'muted' }, 'Nothing selected. Arrow keys move, / filters, ? helps.'),
      );
      return;
    }
    const path = [selected, ...ancestors(app.model.places, selected)].reverse();
    const parts: (Node | string)[] = [];
    path.forEach((place, i) => {
      if (i > 0) parts.push(h('span', { class: 'sep', 'aria-hidden': 'true' }, '›'));
      parts.push(
        button(
          visible(labelOf(app.model, place).text),
          'Go there in the scope tree',
          () => app.selectInTree(place),
          place === selected ? 'crumb on' : 'crumb',
        ),
      );
    });
    this.element.replaceChildren(...parts);
    this.element.scrollLeft = this.element.scrollWidth;
  }
}

export function columnsDialog(app: App, close: () => void): HTMLElement {
  const { model, store } = app;
  const choice = (column: number): HTMLElement => {
    const box = h('input', {
      type: 'checkbox',
      'data-column': String(column),
      onchange: () => {
        const wanted = new Set(store.state.shown);
        if (box.checked) wanted.add(column);
        else wanted.delete(column);
        store.dispatch({ type: 'show-columns', shown: [...wanted].sort((a, b) => a - b) });
      },
    });
    box.checked = store.state.shown.includes(column);
    return h('label', { class: 'check' }, box, isExclusive(column) ? 'exclusive' : 'inclusive');
  };
  const exact = h('input', { type: 'checkbox', onchange: () => store.dispatch({ type: 'exact', on: exact.checked }) });
  exact.checked = store.state.exact;
  return h(
    'div',
    { class: 'dialog-body' },
    h('header', { class: 'dialog-head' }, h('h2', null, 'Columns'), button('Close', 'Esc', close)),
    h(
      'table',
      { class: 'choose' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, 'Metric'),
          h('th', { scope: 'col' }, 'Shown'),
          h('th', { scope: 'col' }, 'What it is'),
        ),
      ),
      h(
        'tbody',
        null,
        ...model.metrics.map((m, i) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, visible(m.displayName)),
            h('td', null, choice(columnOf(i, false)), m.hasExclusive ? choice(columnOf(i, true)) : null),
            h(
              'td',
              { class: 'muted' },
              visible(
                [m.description, m.formula && `= ${m.formula}`, m.unit && `in ${m.unit}`].filter(Boolean).join('; '),
              ),
            ),
          ),
        ),
      ),
    ),
    h('p', null, h('label', { class: 'check' }, exact, 'Exact numbers: every digit, without a scale')),
  );
}
