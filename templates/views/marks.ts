// The mark of what was found at a row of a table, or at a line: a button that leads to it.

import type { Finding } from '../logic/tables';
import type { App } from './app';
import { h, visible } from './dom';

const percent = (f: Finding): string => (Number.isNaN(f.severity) ? '' : `${(f.severity * 100).toFixed(1)}%: `);

/** Shows the findings of a place in the inspector. */
export function showFindings(app: App, place: number): void {
  app.store.dispatch({ type: 'pane', slot: 'inspect', name: 'table-findings' });
  app.select(place);
}

/** Nothing where nothing was found. */
export function findingMark(app: App, found: readonly Finding[]): HTMLElement | null {
  if (found.length === 0) return null;
  const words = found.map((f) => visible(percent(f) + f.title)).join('\n');
  return h(
    'button',
    {
      type: 'button',
      class: 'finding-mark',
      title: words,
      'aria-label': `Found here: ${words}`,
      tabindex: '-1', // rows are gone through by the arrow keys; the findings stand in the inspector as well
      onclick: (event) => {
        event.stopPropagation();
        showFindings(app, found[0].place);
      },
    },
    '!',
  );
}
