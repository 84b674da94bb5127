// SPDX-License-Identifier: BSD-3-Clause
// What the user chose, and nothing else; all that is shown follows from this and the model.

import type { FileIx, PlaceIx } from '../model/data';
import type { ColumnId, Typed } from '../logic/columns';
import type { Form } from '../logic/format';
import type { Level } from '../logic/flat';

/** 'calls': the tree of calls, top-down; 'tree' and the levels are tables of the view Code. */
export type View = 'summary' | 'tree' | 'calls' | Level | Page;
/** Views without a table of scopes. */
export const PAGES = ['time', 'memory', 'data'] as const;
export type Page = (typeof PAGES)[number];
export const isPage = (view: View): view is Page => PAGES.includes(view as Page);
export type TableView = Exclude<View, 'summary' | Page>;
/** In the order of the number keys; the summary has its own. */
export const TABLES: readonly TableView[] = [
  'tree',
  'line',
  'loop',
  'procedure',
  'inline',
  'file',
  'module',
  'calls',
];
export const VIEWS: readonly View[] = ['summary', ...TABLES, ...PAGES];

/** Open nodes in the tree of calls, and the selected node. Folded, its nodes have other numbers. */
export interface CallRows {
  readonly open: ReadonlySet<number>;
  readonly selected: number | null;
}

export type Panel = 'none' | 'about' | 'help' | 'columns';

/** Where panes are: next to the table (the flame graph with calls, the picture with the others), or a page of their own. Each slot shows
 *  one of its panes, or none. */
export const SLOTS = ['picture', 'reading', 'inspect', 'flame', ...PAGES] as const;
export type Slot = (typeof SLOTS)[number];
export type Layout = { readonly [S in Slot]: string }; // a pane's name; "": closed

export interface SourceMark {
  readonly file: FileIx;
  readonly first: number; // 0: the file alone
  readonly last: number;
}

export interface State {
  readonly view: View;
  readonly sortBy: ColumnId | null; // null: by name
  readonly descending: boolean;
  readonly shown: readonly ColumnId[];
  readonly form: Form;
  readonly ofParent: boolean; // percent in a tree: of the row above, not of the total
  readonly fuse: boolean; // instances of the same source thing are one row of a flat table
  readonly flatten: number; // levels taken from the top of the scope tree
  readonly hot: number; // percent of its parent that a child needs to be on the hot path
  readonly fold: boolean; // recursion in trees of calls
  readonly least: number; // rows below this percentage are hidden; 0: none
  readonly filter: string;
  readonly selected: PlaceIx | null;
  readonly source: SourceMark | null;
  readonly beside: boolean; // the table's columns next to each line of the source
  readonly about: boolean; // of a table of the database, only rows about the selection
  readonly expanded: ReadonlySet<PlaceIx>;
  readonly calls: CallRows | null; // null: as it opens by itself
  readonly zoom: PlaceIx; // the root of tree and pictures
  readonly base: string; // the run others are compared with; "": none
  readonly typed: readonly Typed[]; // metrics typed in the page
  readonly layout: Layout;
  readonly panel: Panel;
}
