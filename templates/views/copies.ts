// SPDX-License-Identifier: BSD-3-Clause
// Where the compiler put copies of what is selected, with what each costs and through which inlined calls it came there.

import { Kind, NONE, type PlaceIx } from '../model/data';
import { formatPercent, formatScaled, plural } from '../logic/format';
import { LEVEL_KIND, type Level } from '../logic/flat';
import { labelOf } from '../logic/labels';
import { compareValues } from '../logic/sort';
import type { App } from './app';
import { button, h, muted, visible } from './dom';

const MOST = 20;

/** Of the same source construct, the costliest first; nothing if there is only one. */
export function copiesOf(app: App, place: PlaceIx): HTMLElement[] {
  const kind = app.model.places.kind[place];
  const level = (Object.keys(LEVEL_KIND) as Level[]).find((l) => LEVEL_KIND[l] === kind);
  const column = app.heatColumn;
  if (!level || !column || kind < Kind.Procedure) return [];
  const groups = app.tables.level(level, true);
  const group = groups.groupOf[place];
  const members = groups.members.subarray(groups.start[group], groups.start[group + 1]);
  if (members.length < 2) return [];
  const inclusive = app.inclusive(column);
  const values = app.columns.values(inclusive, null);
  const copies = Array.from(members).sort((a, b) => compareValues(values[a], values[b], true) || a - b);
  const cost = (at: PlaceIx): string => {
    const percent = formatPercent(values[at], app.columns.whole(inclusive));
    return (percent ? `${percent}%` : formatScaled(values[at], app.scale(inclusive))) || 'no data';
  };
  return [
    h('h3', null, plural(copies.length, 'copy', 'copies')),
    h(
      'ul',
      { class: 'parts' },
      ...copies
        .slice(0, MOST)
        .map((at) => h('li', { class: at === place && 'on' }, h('span', { class: 'n' }, cost(at)), ...chain(app, at))),
    ),
    ...(copies.length > MOST ? [muted(`and ${copies.length - MOST} cheaper ones`)] : []),
  ];
}

/** "in loop at x.c:5, in dot inlined at x.c:7, in main": each a way there. */
function chain(app: App, place: PlaceIx): HTMLElement[] {
  const { places } = app.model;
  const parts: HTMLElement[] = [];
  for (let up = place; up !== NONE && places.kind[up] >= Kind.Procedure; up = places.parent[up]) {
    if (parts.length) parts.push(muted(' in '));
    const label = labelOf(app.model, up);
    parts.push(button(visible(`${label.text} ${label.detail}`.trim()), 'Select it', () => app.selectInTree(up), 'crumb'));
  }
  return parts;
}
