// SPDX-License-Identifier: BSD-3-Clause
// The marks of what was found at a row of a table, or at a line, and of simulated references: buttons that lead there.

import { folded } from '../logic/labels';
import type { LineMisses } from '../logic/memory';
import type { Finding } from '../logic/tables';
import type { App } from './app';
import { h, visible } from './dom';

const percent = (f: Finding): string => (Number.isNaN(f.severity) ? '' : `${(f.severity * 100).toFixed(1)}%: `);

/** Nothing if nothing was found. */
export function findingMark(app: App, found: readonly Finding[]): HTMLElement | null {
  if (found.length === 0) return null;
  const words = found.map((f) => visible(percent(f) + folded(f.title))).join('\n');
  return h(
    'button',
    {
      type: 'button',
      class: 'finding-mark',
      title: words,
      'aria-label': `Found here: ${words}`,
      tabindex: '-1', // rows are visited with the arrow keys; the card of the selection has the findings as well
      onclick: (event) => {
        event.stopPropagation();
        app.select(found[0].place);
      },
    },
    '!',
  );
}

/** `#`, and the share of misses of the line's references at the level with the highest share. */
export function missesMark(app: App, misses: LineMisses | null): HTMLElement | null {
  if (!misses) return null;
  const words = misses.shares.map((s) => `${visible(s.level)} ${s.share.toFixed(1)}%`).join(', ');
  const most = Math.max(...misses.shares.map((s) => s.share));
  return h(
    'button',
    {
      type: 'button',
      class: 'misses-mark',
      title: `Of all misses in the simulated memory: ${words}`,
      'aria-label': `Simulated misses here: ${words}`,
      tabindex: '-1',
      onclick: (event) => {
        event.stopPropagation();
        app.showPage('memory', 'memory', misses.place);
      },
    },
    most >= 0.05 ? `# ${most.toFixed(1)}%` : '#',
  );
}
