// SPDX-License-Identifier: BSD-3-Clause
// The dialog that chooses columns: searched, grouped, and with new metrics typed by whoever reads.

import { type Column, type ColumnId, columnId } from '../logic/columns';
import { type Form, FORMS } from '../logic/format';
import type { App } from './app';
import { button, h, saveFile, visible } from './dom';

function columnBox(app: App, id: ColumnId, text: string): HTMLElement {
  const { store } = app;
  const box = h('input', {
    type: 'checkbox',
    'data-column': id,
    onchange: () => {
      const shown = store.state.shown.filter((c) => c !== id);
      store.dispatch({ type: 'show-columns', shown: box.checked ? [...shown, id] : shown });
    },
  });
  box.checked = store.state.shown.includes(id);
  return h('label', { class: 'check' }, box, text);
}

function row(app: App, column: Column, id: string, extra: HTMLElement | null): HTMLElement {
  const m = column.metric;
  const about = [m.description, m.formula && `= ${m.formula}`, m.unit && `in ${m.unit}`].filter(Boolean).join('; ');
  const exclusive = app.columns.get(`${id}e`) && m.hasExclusive ? columnBox(app, `${id}e`, 'exclusive') : null;
  return h(
    'tr',
    { 'data-words': `${m.name} ${m.displayName} ${about}`.toLowerCase() },
    h('th', { scope: 'row' }, visible(m.displayName)),
    h('td', null, columnBox(app, `${id}i`, 'inclusive'), exclusive),
    h('td', { class: 'muted' }, visible(about), extra),
  );
}

/** The typed metrics as elements of the configuration. */
function configuration(app: App): string {
  const escape = (t: string): string => t.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const metrics = app.state.typed.map((t) => `  <computed name="${escape(t.name)}" formula="${escape(t.formula)}"/>`);
  return `${metrics.join('\n')}\n`;
}

function choice(
  before: string,
  options: readonly (readonly [string, string])[],
  value: string,
  choose: (value: string) => void,
): HTMLElement {
  const select = h(
    'select',
    { onchange: () => choose(select.value) },
    ...options.map(([name, text]) => h('option', { value: name, selected: name === value }, text)),
  );
  return h('label', { class: 'check' }, before, select);
}

const FORM_NAMES: { readonly [F in Form]: string } = {
  scaled: 'one scale a column',
  si: 'each its own scale (280 ms, 1.2 G)',
  scientific: 'scientific (1.2e9)',
  exact: 'exact: every digit',
};

const formChoice = (app: App): HTMLElement =>
  choice(
    'Numbers',
    FORMS.map((f) => [f, FORM_NAMES[f]]),
    app.state.form,
    (form) => app.store.dispatch({ type: 'form', form: form as Form }),
  );

const percentChoice = (app: App): HTMLElement =>
  choice(
    'Percent of',
    [
      ['total', 'the total'],
      ['parent', 'the row above, in trees'],
    ],
    app.state.ofParent ? 'parent' : 'total',
    (of) => app.store.dispatch({ type: 'of-parent', on: of === 'parent' }),
  );

/** How much of its parent a child needs for the hot path to go on. */
function hotChoice(app: App): HTMLElement {
  const { store } = app;
  const select = h(
    'select',
    { onchange: () => store.dispatch({ type: 'hot', percent: Number(select.value) }) },
    ...[...new Set([10, 25, 50, 75, 90, store.state.hot])]
      .sort((a, b) => a - b)
      .map((p) => h('option', { value: String(p), selected: p === store.state.hot }, `${p}%`)),
  );
  return h('label', { class: 'check' }, 'Follow the hot path while a child has at least', select, 'of its parent');
}

export function columnsDialog(app: App, close: () => void): HTMLElement {
  const { model, store } = app;
  const body = h('tbody', null);
  const none = h('p', { class: 'muted', hidden: true }, 'No metric has this text in its name or description.');
  const search = h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Find a metric',
    'aria-label': 'Find a metric',
    oninput: () => find(),
  });
  const find = (): void => {
    const wanted = search.value.trim().toLowerCase();
    let found = 0;
    for (const tr of body.children) {
      const matches = (tr as HTMLElement).dataset['words']!.includes(wanted);
      (tr as HTMLElement).hidden = !matches;
      if (matches) found++;
    }
    none.hidden = found > 0;
  };
  const fill = (): void => {
    const drop = (i: number): HTMLElement =>
      button(
        'Remove',
        'Forget this metric',
        () => {
          store.dispatch({ type: 'drop-metric', index: i });
          fill();
        },
        'link',
      );
    body.replaceChildren(
      ...model.metrics.map((_, i) => row(app, app.columns.of(i), columnId(i, false).slice(0, -1), null)),
      ...app.state.typed.flatMap((_, i) => {
        const column = app.columns.get(`t${i}i`);
        return column ? [row(app, column, `t${i}`, drop(i))] : [];
      }),
    );
    find();
  };
  fill();
  return h(
    'div',
    { class: 'dialog-body' },
    h('header', { class: 'dialog-head' }, h('h2', null, 'Columns'), button('Close', 'Esc', close)),
    h(
      'p',
      { class: 'dialog-tools' },
      search,
      button('Show none', 'Remove all columns', () => (store.dispatch({ type: 'show-columns', shown: [] }), fill())),
      button(
        'As at first',
        'Restore the default columns of the database',
        () => (store.dispatch({ type: 'show-columns', shown: app.start.shown }), fill()),
      ),
      formChoice(app),
      percentChoice(app),
      hotChoice(app),
    ),
    h(
      'div',
      { class: 'scroll-y' },
      h(
        'table',
        { class: 'choose' },
        h('thead', null, h('tr', null, ...['Metric', 'Shown', 'What it is'].map((t) => h('th', { scope: 'col' }, t)))),
        body,
      ),
      none,
    ),
    newMetric(app, fill),
  );
}

function newMetric(app: App, done: () => void): HTMLElement {
  const input = h('input', {
    type: 'text',
    class: 'filter formula',
    placeholder: 'CPI = CYCLES / INSTRUCTIONS',
    'aria-label': 'A new metric: NAME = FORMULA',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const said = h('p', { class: 'warn', role: 'alert' });
  const add = (): void => {
    const eq = input.value.indexOf('=');
    const metric = { name: input.value.slice(0, Math.max(0, eq)).trim(), formula: input.value.slice(eq + 1).trim() };
    const refused = app.columns.refuse(metric);
    said.textContent = refused ? visible(refused) : '';
    if (refused) return;
    app.store.dispatch({ type: 'type-metric', metric, column: `t${app.state.typed.length}i` });
    input.value = '';
    done();
  };
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add();
  });
  return h(
    'div',
    null,
    h('h3', null, 'A new metric'),
    h(
      'p',
      { class: 'dialog-tools' },
      input,
      button('Add', 'Show it as a column', add),
      button('For the configuration', 'Save the typed metrics as a block of the configuration', () =>
        saveFile('metrics.xml', 'application/xml', configuration(app)),
      ),
    ),
    said,
    h(
      'p',
      { class: 'muted' },
      '+ - * / ^, min, max, sum, numbers and the names above, as in the configuration. It is kept in the link.',
    ),
  );
}
