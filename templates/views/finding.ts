// SPDX-License-Identifier: BSD-3-Clause
// A finding in a list: what may be gained, how sure that is, what was found and where, evidence and remedy.

import { NONE } from '../model/data';
import { folded, labelOf } from '../logic/labels';
import type { Finding } from '../logic/tables';
import type { App } from './app';
import { h, muted, visible } from './dom';
import { explained } from './glossary';

/** `hasPlace`: with its location, as a link. */
export function findingItem(app: App, { place, severity, confidence, title, run, more }: Finding, hasPlace = true): HTMLElement {
  const isPlace = place !== NONE && place < app.model.places.count;
  const name = hasPlace && isPlace ? folded(labelOf(app.model, place).text) : '';
  return h(
    'li',
    null,
    h(
      'button',
      { type: 'button', class: 'hot-item finding', title: explained(`${title} ${more.join(' ')}`), onclick: () => app.selectInTree(isPlace ? place : 0) },
      h(
        'span',
        { class: 'hot-share' },
        h('b', null, Number.isNaN(severity) ? '' : `${(severity * 100).toFixed(severity < 0.095 ? 1 : 0)}%`),
        Number.isNaN(confidence)
          ? null
          : h('span', { class: 'muted', title: 'How certain hpcview is' }, ` confidence ${(confidence * 100).toFixed(0)}%`),
      ),
      h(
        'span',
        { class: 'hot-what' },
        h('span', { class: 'hot-name wrapped' }, visible(folded(title))),
        name && !title.includes(name) ? muted(visible(name)) : null,
        run && h('span', { class: 'badge', title: 'The run that this was found in' }, visible(run)),
        ...more.map((text) => h('span', { class: 'hot-more' }, visible(text))),
      ),
    ),
  );
}
