// Starts the page: reads the database, puts up the panes, keeps the address bar in step.

import { DatabaseError } from '../model/decode';
import { loadModel } from '../model/load';
import type { Model } from '../model/data';
import { ancestors, hotPath } from '../logic/tree';
import { isStep } from '../state/actions';
import { fromHash, toHash } from '../state/url';
import { aboutDialog } from './about';
import { App } from './app';
import { h, preference } from './dom';
import { FilesPane } from './files';
import { helpDialog } from './help';
import { installKeys } from './keys';
import { SourcePane } from './source';
import { TablePane } from './table';
import { applyTheme, columnsDialog, PathBar, TableTools, TopBar } from './toolbar';

type Layout = 'side' | 'stacked';

/** A bar between two panes that can be dragged, or moved with the arrow keys; its place is a share of its parent, in
 *  percent. */
function splitter(name: string, start: number, vertical: () => boolean, root: HTMLElement): HTMLElement {
  const set = (percent: number): void => {
    const clean = Math.max(10, Math.min(90, percent));
    root.style.setProperty(`--${name}`, `${clean.toFixed(2)}%`);
    preference.set(name, clean.toFixed(2));
    bar.setAttribute('aria-valuenow', clean.toFixed(0));
  };
  const now = (): number => Number.parseFloat(root.style.getPropertyValue(`--${name}`)) || start;
  const bar = h('div', {
    class: `splitter ${name}`,
    role: 'separator',
    tabindex: '0',
    'aria-label': 'Size of the panes',
    'aria-valuemin': '10',
    'aria-valuemax': '90',
  });
  bar.addEventListener('pointerdown', (down) => {
    bar.setPointerCapture(down.pointerId);
    const box = bar.parentElement!.getBoundingClientRect();
    const move = (e: PointerEvent): void =>
      set(vertical() ? ((e.clientX - box.left) / box.width) * 100 : ((e.clientY - box.top) / box.height) * 100);
    bar.addEventListener('pointermove', move);
    bar.addEventListener('lostpointercapture', () => bar.removeEventListener('pointermove', move), { once: true });
  });
  bar.addEventListener('keydown', (e) => {
    const step = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[e.key];
    if (step === undefined) return;
    set(now() + step);
    e.preventDefault();
    e.stopPropagation();
  });
  set(Number(preference.get(name)) || start);
  return bar;
}

function dialogs(app: App): void {
  const dialog = h('dialog', { class: 'dialog' });
  const close = (): void => app.store.dispatch({ type: 'panel', panel: 'none' });
  dialog.addEventListener('close', close);
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close(); // the backdrop
  });
  document.body.append(dialog);
  app.onDraw(() => {
    const { panel } = app.state;
    if (panel === 'none') {
      if (dialog.open) dialog.close();
      return;
    }
    if (dialog.open && dialog.dataset['panel'] === panel) return;
    dialog.dataset['panel'] = panel;
    dialog.replaceChildren(
      panel === 'about' ? aboutDialog(app, close) : panel === 'help' ? helpDialog(close) : columnsDialog(app, close),
    );
    if (!dialog.open) dialog.showModal();
  });
}

function layoutSwitch(main: HTMLElement): () => void {
  const narrow = matchMedia('(max-width: 1180px)');
  const layout = (): Layout => (preference.get('layout') as Layout | null) ?? (narrow.matches ? 'stacked' : 'side');
  let chosen: Layout | null = null;
  const apply = (): void => void (main.dataset['layout'] = chosen ?? layout());
  narrow.addEventListener('change', apply);
  apply();
  return () => {
    chosen = main.dataset['layout'] === 'side' ? 'stacked' : 'side';
    preference.set('layout', chosen);
    apply();
  };
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
  if (!fromHash(location.hash, app.start, app.model)) openHotPath(app);
  write(false);
  app.store.subscribe((_, action) => {
    if (action.type !== 'restore') write(isStep(action));
  });
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
}

/** What one sees first: the way to the costliest place, open, with its source. */
function openHotPath(app: App): void {
  if (app.model.metrics.length === 0 || app.model.places.count === 0) return;
  const path = hotPath(app.model, app.tables.children, app.heatColumn, 0);
  app.store.dispatch({ type: 'expand', places: path });
  app.select(path[path.length - 1], true);
}

function show(model: Model): void {
  const app = new App(model);
  const main = h('main', { class: 'main' });
  const switchLayout = layoutSwitch(main);
  const top = new TopBar(app, switchLayout);
  const tools = new TableTools(app);
  const table = new TablePane(app);
  const path = new PathBar(app);
  const files = new FilesPane(app);
  const source = new SourcePane(app);
  const isSide = (): boolean => main.dataset['layout'] === 'side';
  const right = h('div', { class: 'reading' });
  right.append(
    files.element,
    splitter('files', 20, () => !isSide(), right),
    source.element,
  );
  main.append(
    h('section', { class: 'pane table', 'aria-label': 'Table' }, tools.element, table.element, path.element),
    splitter('split', 58, isSide, main),
    right,
  );
  document.getElementById('app')!.replaceChildren(top.element, main);
  for (const view of [top, tools, table, path, files, source]) app.onDraw(() => view.draw());
  dialogs(app);
  installKeys(app, {
    focusFilter: () => tools.focusFilter(),
    focusTable: () => table.focus(),
    tableKey: (event) => table.onKey(event),
    switchLayout,
  });
  followAddress(app);
  app.draw();
  table.focus();
  document.documentElement.dataset['ready'] = 'yes';
  performance.mark('hpcview-shown');
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

applyTheme();
loadModel()
  .then((model) => {
    performance.mark('hpcview-read');
    show(model);
  })
  .catch(showFailure);
