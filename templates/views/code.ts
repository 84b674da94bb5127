// SPDX-License-Identifier: BSD-3-Clause
// The text of a line of source as elements: its colours, and what was found in it.

import { cutAt, type Found } from '../logic/find';
import type { Colouring } from '../logic/syntax';
import { h, visible } from './dom';

/** Of one line; the rest is counted. */
export const LONGEST_SHOWN = 1000;

/** A line with syntax colours; `found`: its matches, one of them as `current`. */
export function coloured(
  colouring: Colouring,
  row: number,
  found: readonly Found[] = [],
  current: Found | null = null,
): (HTMLElement | string)[] {
  const span = (kind: string, text: string): HTMLElement | string =>
    kind === 'plain' ? visible(text) : h('span', { class: `t-${kind}` }, visible(text));
  const tokens = colouring.line(row);
  if (found.length === 0) return tokens.map((token) => span(token.kind, token.text));
  return cutAt(tokens, found).map(({ piece, text, found: here }) =>
    here ? h('mark', { class: here === current && 'at' }, visible(text)) : span(piece.kind, text),
  );
}

/** A name without its template arguments and parameters, as short as a chip is. */
export function shortCall(name: string): string {
  const bare = name.replace(/\(.*$/, '').replace(/<.*>/g, '');
  const short = bare.split('::').slice(-2).join('::') || name;
  return short.length > 40 ? `${short.slice(0, 39)}…` : short;
}
