// SPDX-License-Identifier: BSD-3-Clause
// Starts the page: reads the database, puts up the panes, keeps the address bar in step.

import { DatabaseError } from '../model/decode';
import { isWorker } from '../model/jobs';
import { loadModel } from '../model/load';
import { type Ahead, firstPlace, lookAhead, rememberAhead } from '../logic/hotspots';
import { ancestors } from '../logic/tree';
import { isStep } from '../state/actions';
import { fromHash, toHash } from '../state/url';
import { aboutDialog } from './about';
import { App } from './app';
import { CallsTable } from './calls';
import { columnsDialog } from './columns';
import { h } from './dom';
import { helpDialog } from './help';
import { installKeys } from './keys';
import { Report } from './report';
import { SummaryPage } from './summary';
import { TablePane } from './table';
import { applyTheme, PathBar, TableTools, TopBar } from './toolbar';
import { Pages, Workspace } from './workspace';

function dialogs(app: App): void {
  const dialog = h('dialog', { class: 'dialog' });
  const close = (): void => app.store.dispatch({ type: 'panel', panel: 'none' });
  dialog.addEventListener('close', close);
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close(); // the backdrop
  });
  document.body.append(dialog);
  let drawn: readonly unknown[] = [];
  app.onDraw(() => {
    const { panel } = app.state;
    if (panel === 'none') {
      drawn = [];
      if (dialog.open) dialog.close();
      return;
    }
    const inputs = [panel, panel === 'about' ? app.arrivals : 0];
    if (dialog.open && inputs.every((x, i) => x === drawn[i])) return;
    drawn = inputs;
    const [label, content] =
      panel === 'about'
        ? ['About this database', aboutDialog(app, close)]
        : panel === 'help'
          ? ['Help', helpDialog(close)]
          : ['Columns', columnsDialog(app, close)];
    dialog.setAttribute('aria-label', label);
    dialog.replaceChildren(content);
    if (!dialog.open) dialog.showModal();
  });
}

/** The address bar follows the state; the back button brings a state back. */
function followAddress(app: App): void {
  let written = '';
  const write = (step: boolean): void => {
    const hash = toHash(app.state, app.start);
    if (hash === written) return;
    written = hash;
    if (step) history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
  };
  const read = (): void => {
    if (location.hash === written) return;
    const state = fromHash(location.hash, app.start, app.model);
    if (!state) return;
    written = location.hash;
    const reveal =
      state.selected === null || state.selected === undefined ? [] : ancestors(app.model.places, state.selected);
    app.store.dispatch({ type: 'restore', state, reveal });
  };
  read();
  write(false);
  app.store.subscribe((_, action) => {
    if (action.type !== 'restore') write(isStep(action));
  });
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
}

/** The workspace opens on the costliest place, with its source. A link of version 1 that names nothing shows nothing, as
 *  it did then. */
function followHotPath(app: App): void {
  let isDone = location.hash.startsWith('#v1/');
  app.onDraw(() => {
    const column = app.mainColumn;
    if (isDone || app.state.view === 'summary' || !column || app.model.places.count === 0) return;
    if (app.columns.failure(column) === undefined && !app.columns.isReady(column)) return;
    isDone = true;
    const { selected, source, expanded } = app.state;
    if (selected !== null || source !== null || expanded.size > 1) return;
    const place = firstPlace(app.model, app.tables.children, app.columns.values(column, null), app.state.zoom);
    app.store.dispatch({ type: 'expand', places: [place] });
    app.select(place, true);
  });
}

function show(app: App): void {
  const scopes = new TablePane(app);
  const calls = new CallsTable(app);
  const table = (): TablePane | CallsTable => (calls.isShown ? calls : scopes);
  const tools = new TableTools(app, () => workspace.togglePicture());
  const path = new PathBar(app);
  const workspace: Workspace = new Workspace(
    app,
    h(
      'section',
      { class: 'pane table', 'aria-label': 'Table' },
      tools.element,
      scopes.element,
      calls.element,
      path.element,
    ),
  );
  const top = new TopBar(app);
  const pages = new Pages(app);
  const summary = new SummaryPage(app);
  const report = new Report(app, summary);
  document.getElementById('app')!.replaceChildren(top.element, summary.element, workspace.element, pages.element, report.element);
  followHotPath(app);
  app.onDraw(() => (scopes.element.hidden = calls.isShown));
  for (const view of [top, summary, workspace, pages, tools, scopes, calls, path]) app.onDraw(() => view.draw());
  dialogs(app);
  installKeys(app, {
    focusFilter: () => tools.focusFilter(),
    focusTable: () => table().focus(),
    tableKey: (event) => table().onKey(event),
    switchLayout: () => workspace.switchLayout(),
    togglePicture: () => workspace.togglePicture(),
  });
  followAddress(app);
  app.draw();
  if (app.state.view !== 'summary') table().focus();
  announce(app);
}

/** Says when the first view is whole: for tests and measurements. */
function announce(app: App): void {
  let isSaid = false;
  const say = (): void => {
    const column = app.mainColumn;
    const isWhole = !column || app.columns.failure(column) !== undefined || app.columns.isReady(column);
    if (isSaid || !isWhole) return;
    isSaid = true;
    document.documentElement.dataset['ready'] = 'yes';
    performance.mark('hpcview-shown');
  };
  app.onDraw(say);
  say();
}

function showFailure(error: unknown): void {
  const why =
    error instanceof DatabaseError
      ? error.message
      : `the page failed: ${error instanceof Error ? error.message : String(error)}`;
  document
    .getElementById('app')!
    .replaceChildren(
      h(
        'div',
        { class: 'notice', role: 'alert' },
        h('h1', null, 'This database cannot be shown'),
        h('p', null, why[0].toUpperCase() + why.slice(1)),
      ),
    );
}

function start(): void {
  applyTheme();
  let app: App | null = null;
  loadModel(() => app?.arrived())
    .then(({ model, ahead }) => {
      performance.mark('hpcview-read');
      const found = ahead?.found as Ahead | undefined;
      if (ahead && found) rememberAhead(model.places, ahead.values, found);
      app = new App(model, null, found?.children);
      show(app);
    })
    .catch(showFailure);
}

if (!isWorker(lookAhead)) start();
