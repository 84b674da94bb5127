// SPDX-License-Identifier: BSD-3-Clause
// What a database holds, after reading. doc/formats/database.md describes the files.

/** Index of a place; 0 is the program. */
export type PlaceIx = number;
/** Index of a source file; -1: none known. */
export type FileIx = number;
/** Index of a metric. */
export type MetricIx = number;
/** Index into Places.strings. */
export type StringIx = number;

export const enum Kind {
  Program,
  Module,
  File,
  Procedure,
  Inline,
  Loop,
  Line,
}

export const Role = { Plain: 0, Vector: 1, Remainder: 2, Unrolled: 3 } as const;

export const NONE = -1;

/** A column as narrow as its largest number allows. */
export type Numbers = Uint8Array | Uint16Array | Uint32Array;

/** One row of every tree and table, as columns; parents come before their children. Columns needed only for visible rows are unpacked on
 *  first use. */
export interface Places {
  readonly count: number;
  readonly kind: Uint8Array;
  readonly role: Uint8Array;
  readonly irreducible: Uint8Array;
  readonly onLine: Uint8Array; // which of several loops that begin on its line, from the left; 0: there are no others
  readonly parent: Int32Array; // NONE for the program
  readonly name: Numbers; // StringIx
  readonly fullName: Numbers; // StringIx
  readonly file: Int32Array; // FileIx or NONE
  readonly lineFirst: Uint32Array; // 0: unknown
  readonly lineLast: Numbers;
  readonly callFile: Int32Array; // Inline: where the call stands; FileIx or NONE
  readonly callLine: Numbers;
  readonly instance: Numbers; // Loop: this is instance k of n
  readonly instances: Numbers;
  readonly addressLow: Numbers;
  readonly addressHigh: Numbers;
  readonly same: Uint32Array; // the first place that is the same thing in the source
  readonly strings: readonly string[];
}

export interface Metric {
  readonly name: string;
  readonly displayName: string;
  readonly unit: string;
  readonly description: string;
  readonly formula: string; // "" when measured
  readonly event: string;
  readonly period: number; // counts per sample; 0: exact
  readonly percent: boolean;
  readonly display: boolean;
  readonly sortBy: boolean;
  readonly estimated: boolean;
  readonly hasExclusive: boolean;
  readonly summed: boolean; // values of several places may be added up; else the formula over their sums
  readonly run: number; // index into runs; NONE: over several
}

/** Measurements of one run. */
export interface Run {
  readonly name: string;
  readonly machine: string;
  readonly command: string;
  readonly asked: string; // the events, as `record -e` takes them
  readonly modules: readonly string[]; // that it had in memory, with samples or without
  readonly facts: readonly (readonly [string, string])[]; // "built MODULE" and "env:NAME" with their values
  readonly firstProcess: number; // into processes
  readonly processes: number;
  readonly root: number; // of processes: the program
}

/** By place: it has a value if one of these bits is set. */
export interface Present {
  readonly state: Uint8Array;
  readonly bits: number;
}

/** Values by place, NaN: no data there, which is not 0. Columns are read when something shows them. */
export interface Values {
  /** null: not here (yet); it has been asked for. A metric without exclusive values gives its inclusive ones. */
  of(metric: MetricIx, exclusive: boolean): Float64Array | null;
  /** One value, without making the others; null: not here (yet). */
  at?(metric: MetricIx, exclusive: boolean, place: PlaceIx): number | null;
  /** Where there are values, without making them; null: not here (yet). */
  present?(metric: MetricIx, exclusive: boolean): Present | null;
  /** Why a metric cannot be shown. */
  failure(metric: MetricIx): string | undefined;
}

/** Something read when it is first shown. */
export interface Lazy<T> {
  /** null: not here (yet); it has been asked for. */
  of(index: number): T | null;
  failure(index: number): string | undefined;
}

/** A tree over the places in addition to that of the scopes: calling contexts, for example. */
export interface TreeInfo {
  readonly name: string;
  readonly title: string;
  readonly nodes: number;
}
export interface TreeNodes {
  readonly count: number;
  readonly parent: Int32Array; // NONE for the root; parents stand before their children
  readonly place: Uint32Array; // PlaceIx
}

/** Tables about places: relations, objects, facts, findings, intervals. */
export interface TableColumn {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly description: string;
  readonly type: 'count' | 'number' | 'text' | 'time' | 'ref';
  readonly to: string; // of a ref: place, process, metric, run, or a table's name
}
export interface TableInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rows: number;
  readonly strings: number;
  readonly block: string;
  readonly columns: readonly TableColumn[];
}
export interface TableRows {
  readonly cells: readonly (Float64Array | Int32Array)[]; // by column; NaN, NONE: missing; of texts: into strings
  readonly strings: readonly string[];
}

export type SourceState = 'text' | 'missing' | 'left-out' | 'too-large' | 'unreadable';

export interface SourceFile {
  readonly name: string;
  readonly state: SourceState;
  readonly chunk: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface Process {
  readonly source: string;
  readonly host: string;
  readonly command: string;
  readonly machine: string;
  readonly kernel: string;
  readonly sampler: string;
  readonly startMs: number; // 0: unknown
  readonly seconds: number | null;
  readonly threads: number;
  readonly rank: number; // -1: none
  readonly exitStatus: number; // as by wait(2); -1: unknown
  readonly complete: boolean;
}

export interface Model {
  readonly title: string;
  readonly generator: string;
  readonly version: number;
  readonly places: Places;
  readonly runs: readonly Run[];
  readonly metrics: readonly Metric[];
  readonly values: Values;
  readonly trees: readonly TreeInfo[]; // without the scope tree
  readonly treeNodes: Lazy<TreeNodes>;
  readonly treeValues: readonly Values[]; // by tree; by node
  readonly tables: readonly TableInfo[];
  readonly tableRows: Lazy<TableRows>;
  readonly files: readonly SourceFile[];
  readonly processes: readonly Process[];
  readonly warnings: readonly string[];
  readonly scopes?: { readonly places: Places; readonly of: ArrayLike<PlaceIx> }; // of a tree's nodes: their kinds
  readonly isMade?: boolean; // by the page, out of another: its values are sums, and formulas over sums
}

/** The default metric: the one sorted by, else the first shown one; -1: there is none. */
export function firstMetric(metrics: readonly Metric[]): number {
  const wanted = metrics.findIndex((m) => m.sortBy);
  const shown = metrics.findIndex((m) => m.display);
  return wanted >= 0 ? wanted : shown >= 0 ? shown : Math.min(0, metrics.length - 1);
}
