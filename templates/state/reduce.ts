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

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'view':
      return { ...state, view: action.view };
    case 'sort':
      if (action.by === state.sortBy) return { ...state, descending: !state.descending };
      return { ...state, sortBy: action.by, descending: action.by !== null };
    case 'show-columns':
      return { ...state, shown: action.shown };
    case 'exact':
      return { ...state, exact: action.on };
    case 'fuse':
      return { ...state, fuse: action.on };
    case 'filter':
      return { ...state, filter: action.text };
    case 'expand':
      return { ...state, expanded: withPlaces(state.expanded, action.places) };
    case 'collapse':
      return { ...state, expanded: withoutPlaces(state.expanded, action.places) };
    case 'collapse-all':
      return { ...state, expanded: new Set([0]) };
    case 'select':
      return {
        ...state,
        selected: action.place,
        source: action.source === undefined ? state.source : action.source,
        expanded: withPlaces(state.expanded, action.reveal),
      };
    case 'show-source':
      return { ...state, source: action.source };
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
