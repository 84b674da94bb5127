// SPDX-License-Identifier: BSD-3-Clause
import type { ColumnId } from '../logic/columns';
import type { Action } from './actions';
import type { State } from './state';

function withPlaces(set: ReadonlySet<number>, places: readonly number[]): ReadonlySet<number> {
  if (places.every((p) => set.has(p))) return set;
  const larger = new Set(set);
  for (const p of places) larger.add(p);
  return larger;
}

function withoutPlaces(set: ReadonlySet<number>, places: readonly number[]): ReadonlySet<number> {
  const smaller = new Set(set);
  for (const p of places) smaller.delete(p);
  return smaller;
}

/** Without the typed metric `index`; those after it move up. */
function renumbered(columns: readonly ColumnId[], index: number): ColumnId[] {
  return columns.flatMap((id) => {
    const match = /^t(\d+)([ie])$/.exec(id);
    if (!match || Number(match[1]) < index) return [id];
    return Number(match[1]) === index ? [] : [`t${Number(match[1]) - 1}${match[2]}`];
  });
}

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'view':
      return { ...state, view: action.view };
    case 'sort':
      if (action.by === state.sortBy) return { ...state, descending: !state.descending };
      return { ...state, sortBy: action.by, descending: action.by !== null };
    case 'show-columns':
      return { ...state, shown: action.shown };
    case 'form':
      return { ...state, form: action.form };
    case 'of-parent':
      return { ...state, ofParent: action.on };
    case 'fuse':
      return { ...state, fuse: action.on };
    case 'flatten':
      return { ...state, flatten: action.levels };
    case 'hot':
      return { ...state, hot: action.percent };
    case 'fold':
      return { ...state, fold: action.on, calls: null };
    case 'beside':
    case 'about':
      return { ...state, [action.type]: action.on };
    case 'least':
      return { ...state, least: action.percent };
    case 'filter':
      return { ...state, filter: action.text };
    case 'expand':
      return { ...state, expanded: withPlaces(state.expanded, action.places) };
    case 'collapse':
      return { ...state, expanded: withoutPlaces(state.expanded, action.places) };
    case 'collapse-all':
      return { ...state, expanded: new Set([0, state.zoom]) };
    case 'calls':
      return { ...state, calls: action.rows };
    case 'select':
      return {
        ...state,
        view: action.view ?? state.view,
        selected: action.place,
        source: action.source === undefined ? state.source : action.source,
        expanded: withPlaces(state.expanded, action.reveal),
      };
    case 'show-source':
      return { ...state, source: action.source, layout: { ...state.layout, reading: 'source' } };
    case 'zoom':
      return { ...state, zoom: action.place, expanded: withPlaces(state.expanded, [action.place]) };
    case 'compare':
      return { ...state, base: action.base, shown: action.shown, sortBy: action.sortBy, descending: true };
    case 'type-metric':
      return {
        ...state,
        typed: [...state.typed, action.metric],
        shown: [...state.shown, action.column],
        sortBy: action.column,
        descending: true,
      };
    case 'drop-metric': {
      const [sortBy] = state.sortBy === null ? [null] : renumbered([state.sortBy], action.index);
      const shown = renumbered(state.shown, action.index);
      return {
        ...state,
        typed: state.typed.filter((_, i) => i !== action.index),
        shown,
        sortBy: sortBy === undefined ? (shown[0] ?? null) : sortBy,
      };
    }
    case 'pane':
      return { ...state, layout: { ...state.layout, [action.slot]: action.name } };
    case 'panel':
      return { ...state, panel: action.panel };
    case 'restore':
      return {
        ...state,
        ...action.state,
        expanded: withPlaces(action.state.expanded ?? state.expanded, action.reveal),
      };
  }
}
