// SPDX-License-Identifier: BSD-3-Clause
// What stands in the source pane where there is no text: why, and what is known all the same.

import { Kind, type Model, NONE, type PlaceIx, type SourceFile } from '../model/data';
import { formatPercent } from '../logic/format';
import { enclosing, kindName, labelOf } from '../logic/labels';
import { compareValues } from '../logic/sort';
import { subtree } from '../logic/tree';
import type { App } from './app';
import { button, h, visible } from './dom';

const MOST_LOOKED_AT = 2000;
const MOST_PARTS = 12;

export const WHY_NO_TEXT: { readonly [S in SourceFile['state']]: string } = {
  text: '',
  missing:
    'Its text was not found when the database was built. Name its folder (hpcview build -I FOLDER, or <sources path="FOLDER"/> in the configuration) and build again.',
  'left-out': 'The database was built without its text.',
  'too-large': 'Its text is too large to be shown (more than 16 MB).',
  unreadable: 'Its text was found, but could not be read when the database was built.',
};

/** The procedure around a place; of places above procedures, the place itself. */
function scopeAround(model: Model, place: PlaceIx): PlaceIx {
  const { kind, parent } = model.places;
  let at = place;
  while (at !== NONE && kind[at] > Kind.Procedure) at = parent[at];
  return at;
}

/** For a selected place without source; `withParts`: also where its cost goes, so that the pane is of use all the same. */
export function whyNoSource(app: App, withParts: boolean): (HTMLElement | string)[] {
  const { model, state } = app;
  if (state.selected === null || model.places.kind[state.selected] < Kind.File)
    return ['Select a row of the table, or a file, to see its source here.'];
  const code = enclosing(model, state.selected, [Kind.Procedure]) ?? 'this code';
  const module = enclosing(model, state.selected, [Kind.Module]) ?? 'its module';
  const why = `No source is known for ${code}: ${module} has no debug information there. Compile it with -g; for a library of the system, install its debug symbols.`;
  return [h('p', null, visible(why)), ...(withParts ? costliestParts(app, scopeAround(model, state.selected)) : [])];
}

/** The costliest scopes below a place, as a list to click. */
function costliestParts(app: App, place: PlaceIx): HTMLElement[] {
  const column = app.heatColumn;
  if (!column) return [];
  const inclusive = app.inclusive(column);
  const values = app.columns.values(inclusive, null);
  const parts = subtree(app.tables.children, place, MOST_LOOKED_AT)
    .places.slice(1)
    .filter((p) => values[p] > 0)
    .sort((a, b) => compareValues(values[a], values[b], true))
    .slice(0, MOST_PARTS);
  if (parts.length === 0) return [];
  const whole = app.columns.whole(inclusive);
  return [
    h('p', null, visible(`In ${labelOf(app.model, place).text} the time goes into:`)),
    h('ul', { class: 'parts' }, ...parts.map((p) => partItem(app, p, formatPercent(values[p], whole)))),
  ];
}

function partItem(app: App, place: PlaceIx, percent: string): HTMLElement {
  const label = labelOf(app.model, place);
  return h(
    'li',
    null,
    h('span', { class: 'n' }, percent && `${percent}%`),
    button(
      visible(`${label.text} ${label.detail}`.trim()),
      kindName(app.model.places.kind[place]),
      () => app.selectInTree(place),
      'crumb',
    ),
  );
}
