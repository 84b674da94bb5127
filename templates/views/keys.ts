// SPDX-License-Identifier: BSD-3-Clause
// Keys that work wherever one is.

import { isPage, TABLES } from '../state/state';
import { fillWindow } from './icicle';
import type { App } from './app';

/** Keys that mean the table wherever the focus is, but in a pane with rows of its own: after a click on a button one
 *  goes on with the arrows. */
const MOVES = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End', '*'];

export interface Places {
  tableKey(event: KeyboardEvent): void;
  focusFilter(): void;
  focusTable(): void;
  switchLayout(): void;
  togglePicture(): void;
}

function zoom(app: App): void {
  const { zoom: root, selected } = app.state;
  app.zoomTo(root === selected ? 0 : (selected ?? 0));
}

export function installKeys(app: App, places: Places): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (app.state.panel !== 'none') return; // the dialog has its own
    const { target } = event;
    if (target instanceof HTMLSelectElement) return;
    const typing = target instanceof HTMLInputElement && target.type === 'search';
    if (typing) {
      if (event.key === 'Escape') {
        app.store.dispatch({ type: 'filter', text: '' });
        places.focusTable();
      } else if (event.key === 'Enter' || event.key === 'ArrowDown') places.focusTable();
      else return;
      event.preventDefault();
      return;
    }
    if (event.defaultPrevented) return;
    if (MOVES.includes(event.key)) {
      if (app.state.view === 'summary' || isPage(app.state.view)) return; // it scrolls
      places.focusTable();
      places.tableKey(event);
      return;
    }
    switch (event.key) {
      case '/':
        places.focusFilter();
        break;
      case '?':
        app.store.dispatch({ type: 'panel', panel: 'help' });
        break;
      case 'a':
        app.store.dispatch({ type: 'panel', panel: 'about' });
        break;
      case 'c':
        app.front.store.dispatch({ type: 'collapse-all' });
        break;
      case 'h':
        app.front.followHotPath(app.front.state.selected ?? 0);
        break;
      case 'l':
        places.switchLayout();
        break;
      case '[':
        app.cycle(-1);
        break;
      case ']':
        app.cycle(1);
        break;
      case 's':
        app.store.dispatch({ type: 'view', view: 'summary' });
        break;
      case 't':
        app.store.dispatch({ type: 'view', view: 'tree' });
        break;
      case 'w':
        app.store.dispatch({ type: 'view', view: 'time' });
        break;
      case 'n':
        app.store.dispatch({ type: 'view', view: 'memory' });
        break;
      case 'd':
        app.store.dispatch({ type: 'view', view: 'data' });
        break;
      case 'f':
        app.store.dispatch({ type: 'view', view: 'line' });
        break;
      case 'g':
        places.togglePicture();
        break;
      case '-':
      case '+':
        if (app.state.view === 'tree') app.flattenBy(event.key === '-' ? 1 : -1);
        break;
      case 'x':
        fillWindow();
        break;
      case 'z':
        zoom(app.front);
        break;
      case '>':
        app.sortByNeighbour(1);
        break;
      case '<':
        app.sortByNeighbour(-1);
        break;
      case 'r':
        app.store.dispatch({ type: 'sort', by: app.state.sortBy });
        break;
      case 'Escape':
        if (app.state.filter) app.store.dispatch({ type: 'filter', text: '' });
        else if (app.front.state.zoom) app.front.zoomTo(0);
        break;
      default: {
        const view = TABLES[Number(event.key) - 1];
        if (!view) return;
        app.store.dispatch({ type: 'view', view });
      }
    }
    event.preventDefault();
  });
}
