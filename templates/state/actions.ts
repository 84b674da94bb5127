// SPDX-License-Identifier: BSD-3-Clause
import type { PlaceIx } from '../model/data';
import type { ColumnId, Typed } from '../logic/columns';
import type { Form } from '../logic/format';
import type { CallRows, Panel, Slot, SourceMark, State, View } from './state';

export type Action =
  | { readonly type: 'view'; readonly view: View }
  | { readonly type: 'sort'; readonly by: ColumnId | null } // the same again turns the order round
  | { readonly type: 'show-columns'; readonly shown: readonly ColumnId[] }
  | { readonly type: 'form'; readonly form: Form }
  | { readonly type: 'of-parent'; readonly on: boolean }
  | { readonly type: 'fuse'; readonly on: boolean }
  | { readonly type: 'flatten'; readonly levels: number }
  | { readonly type: 'hot'; readonly percent: number }
  | { readonly type: 'fold'; readonly on: boolean }
  | { readonly type: 'beside' | 'about'; readonly on: boolean }
  | { readonly type: 'least'; readonly percent: number }
  | { readonly type: 'filter'; readonly text: string }
  | { readonly type: 'expand'; readonly places: readonly PlaceIx[] }
  | { readonly type: 'collapse'; readonly places: readonly PlaceIx[] }
  | { readonly type: 'collapse-all' }
  | { readonly type: 'calls'; readonly rows: CallRows }
  // source undefined: keep the displayed one; null: there is none to show
  | {
      readonly type: 'select';
      readonly place: PlaceIx | null;
      readonly source: SourceMark | null | undefined;
      readonly reveal: readonly PlaceIx[];
      readonly passing?: boolean;
      readonly view?: View;
    }
  | { readonly type: 'show-source'; readonly source: SourceMark }
  | { readonly type: 'zoom'; readonly place: PlaceIx }
  | {
      readonly type: 'compare';
      readonly base: string;
      readonly shown: readonly ColumnId[];
      readonly sortBy: ColumnId | null;
    }
  | { readonly type: 'type-metric'; readonly metric: Typed; readonly column: ColumnId }
  | { readonly type: 'drop-metric'; readonly index: number }
  | { readonly type: 'pane'; readonly slot: Slot; readonly name: string }
  | { readonly type: 'panel'; readonly panel: Panel }
  | { readonly type: 'restore'; readonly state: Partial<State>; readonly reveal: readonly PlaceIx[] };

/** Whether the back button should lead to the state before this action; moving along with the arrow keys is passing by. */
export function isStep(action: Action): boolean {
  return (
    action.type === 'view' ||
    action.type === 'zoom' ||
    action.type === 'compare' ||
    action.type === 'show-source' ||
    (action.type === 'select' && !action.passing)
  );
}
