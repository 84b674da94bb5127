// Keys that work wherever one is.

import { VIEWS } from '../state/state';
import type { App } from './app';

/** Keys that mean the table wherever the focus is, but in a pane with rows of its own: after a click on a button one
 *  goes on with the arrows. */
const MOVES = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End', '*'];

export interface Places {
  tableKey(event: KeyboardEvent): void;
  focusFilter(): void;
  focusTable(): void;
  switchLayout(): void;
}

export function installKeys(app: App, places: Places): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (app.state.panel !== 'none') return; // the dialog has its own
    const typing = event.target instanceof HTMLInputElement && event.target.type === 'search';
    if (typing) {
      if (event.key === 'Escape') {
        app.store.dispatch({ type: 'filter', text: '' });
        places.focusTable();
      } else if (event.key === 'Enter' || event.key === 'ArrowDown') places.focusTable();
      else return;
      event.preventDefault();
      return;
    }
    if (MOVES.includes(event.key) && !event.defaultPrevented) {
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
        app.store.dispatch({ type: 'collapse-all' });
        break;
      case 'h':
        app.followHotPath(app.state.selected ?? 0);
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
        app.sortByNeighbour(1);
        break;
      case 'S':
        app.sortByNeighbour(-1);
        break;
      case 'r':
        app.store.dispatch({ type: 'sort', by: app.state.sortBy });
        break;
      case 'Escape':
        app.store.dispatch({ type: 'filter', text: '' });
        break;
      default: {
        const view = VIEWS[Number(event.key) - 1];
        if (!view) return;
        app.store.dispatch({ type: 'view', view });
      }
    }
    event.preventDefault();
  });
}
