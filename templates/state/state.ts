// What the user chose, and nothing else; all that is shown follows from this and the model.

import type { Column, FileIx, PlaceIx } from '../model/data';
import type { Level } from '../logic/flat';

export type View = 'tree' | Level;
export const VIEWS: readonly View[] = ['tree', 'line', 'loop', 'procedure', 'inline', 'file', 'module'];

export type Panel = 'none' | 'about' | 'help' | 'columns';

export interface SourceMark {
  readonly file: FileIx;
  readonly first: number; // 0: the file alone
  readonly last: number;
}

export interface State {
  readonly view: View;
  readonly sortBy: Column | null; // null: by name
  readonly descending: boolean;
  readonly shown: readonly Column[];
  readonly exact: boolean; // every digit instead of one scale a column
  readonly fuse: boolean; // instances of the same source thing are one row of a flat table
  readonly filter: string;
  readonly selected: PlaceIx | null;
  readonly source: SourceMark | null;
  readonly expanded: ReadonlySet<PlaceIx>;
  readonly panel: Panel;
}
