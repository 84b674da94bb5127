// SPDX-License-Identifier: BSD-3-Clause
// The machine code of one procedure: which rows of the tables it is, the lines between its instructions, its loops as
// brackets, its jumps as arrows.

import { Kind, type MetricIx, type Model, NONE, type PlaceIx, type TableInfo, type TableRows } from '../model/data';

/** Both tables, by the names of their columns. */
export class Code {
  private readonly at: ReadonlyMap<string, number>;
  readonly #counted = new Map<MetricIx, Float64Array>();

  constructor(
    info: TableInfo,
    private readonly rows: TableRows,
    private readonly counts: { readonly info: TableInfo; readonly rows: TableRows } | null,
  ) {
    this.at = new Map(info.columns.map((c, i) => [c.name, i]));
    this.count = info.rows;
  }

  readonly count: number;

  /** NaN, or NONE of references: missing. */
  cell(column: string, row: number): number {
    const at = this.at.get(column);
    return at === undefined ? NaN : this.rows.cells[at][row];
  }

  text(column: string, row: number): string {
    const at = this.at.get(column);
    return at === undefined ? '' : (this.rows.strings[this.rows.cells[at][row]] ?? '');
  }

  /** Counts by row; NaN: none. */
  values(metric: MetricIx): Float64Array {
    let values = this.#counted.get(metric);
    if (values) return values;
    values = new Float64Array(this.count).fill(NaN);
    this.#counted.set(metric, values);
    if (!this.counts) return values;
    const [insn, of, value] = ['instruction', 'metric', 'value'].map(
      (name) => this.counts!.rows.cells[this.counts!.info.columns.findIndex((c) => c.name === name)],
    );
    if (!insn || !of || !value) return values;
    of.forEach((m, i) => {
      if (m === metric) values[insn[i]] = value[i]; // nothing is written for a missing row
    });
    return values;
  }

  /** The rows of a procedure: one run of them for each build of its module. */
  pieces(procedure: PlaceIx): Piece[] {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cell('procedure', middle) < procedure) low = middle + 1;
      else high = middle;
    }
    const pieces: Piece[] = [];
    for (let end = low; this.cell('procedure', low) === procedure; low = end) {
      const build = this.cell('build', low);
      while (this.cell('procedure', end) === procedure && Object.is(this.cell('build', end), build)) end++;
      pieces.push({ first: low, end });
    }
    return pieces;
  }
}

export interface Piece {
  readonly first: number;
  readonly end: number;
}

export interface ShownLine {
  readonly row: number; // of the table; of a line of the source that of the instruction behind it
  readonly isSource: boolean;
}

export interface CodeLoop {
  readonly header: number; // address
  readonly first: number; // index of a shown line
  readonly last: number;
  readonly track: number; // 0: the outermost
}

export interface Jump {
  readonly from: number; // index of a shown line
  readonly to: number;
  readonly lane: number; // 0: next to the instructions
}

export interface Shown {
  readonly lines: readonly ShownLine[];
  readonly at: ReadonlyMap<number, number>; // row of the table to shown line
  readonly loops: readonly CodeLoop[];
  readonly tracks: number;
  readonly jumps: readonly Jump[];
  readonly lanes: number;
}

/** Loops deeper than this share a bracket; jumps that find no free lane have no arrow. */
const MOST_TRACKS = 6;
const MOST_LANES = 8;

export function show(code: Code, piece: Piece): Shown {
  const lines: ShownLine[] = [];
  const at = new Map<number, number>();
  let before = '';
  for (let row = piece.first; row < piece.end; row++) {
    const line = code.cell('line', row);
    const source = `${code.cell('file', row)}:${line}`;
    if (line > 0 && source !== before) lines.push({ row, isSource: true });
    before = source;
    at.set(row, lines.length);
    lines.push({ row, isSource: false });
  }
  const loops = findLoops(code, piece, at);
  const jumps = findJumps(code, piece, at);
  return {
    lines,
    at,
    loops,
    tracks: loops.reduce((most, l) => Math.max(most, l.track + 1), 0),
    jumps,
    lanes: jumps.reduce((most, j) => Math.max(most, j.lane + 1), 0),
  };
}

function findLoops(code: Code, piece: Piece, at: ReadonlyMap<number, number>): CodeLoop[] {
  const around = new Map<number, number>();
  const extent = new Map<number, { first: number; last: number }>();
  for (let row = piece.first; row < piece.end; row++) {
    const loop = code.cell('loop', row);
    if (!Number.isNaN(loop) && !around.has(loop)) around.set(loop, code.cell('around', row));
  }
  /** The loop and those around it, the innermost first; a cycle is not a nest. */
  const nest = (loop: number): number[] => {
    const all: number[] = [];
    for (let l = loop; !Number.isNaN(l) && around.has(l) && !all.includes(l); l = around.get(l)!) all.push(l);
    return all;
  };
  for (let row = piece.first; row < piece.end; row++)
    for (const loop of nest(code.cell('loop', row))) {
      const line = at.get(row)!;
      const known = extent.get(loop);
      if (known) known.last = line;
      else extent.set(loop, { first: line, last: line });
    }
  return [...extent]
    .map(([header, lines]) => ({ header, ...lines, track: Math.min(nest(header).length - 1, MOST_TRACKS - 1) }))
    .sort((a, b) => a.first - b.first || b.last - a.last);
}

/** Short jumps stand inside of long ones. */
function findJumps(code: Code, piece: Piece, at: ReadonlyMap<number, number>): Jump[] {
  const byAddress = new Map<number, number>();
  for (let row = piece.first; row < piece.end; row++) byAddress.set(code.cell('address', row), at.get(row)!);
  const all: { from: number; to: number }[] = [];
  for (let row = piece.first; row < piece.end; row++) {
    const to = byAddress.get(code.cell('target', row));
    if (to !== undefined) all.push({ from: at.get(row)!, to });
  }
  const length = (j: { from: number; to: number }): number => Math.abs(j.to - j.from);
  const lanes: { low: number; high: number; to: number }[][] = [];
  const jumps: Jump[] = [];
  for (const jump of all.sort((a, b) => length(a) - length(b) || a.from - b.from)) {
    const low = Math.min(jump.from, jump.to);
    const high = Math.max(jump.from, jump.to);
    let lane = 0; // arrows to one place may share a lane
    while (lanes[lane]?.some((other) => other.to !== jump.to && other.low <= high && low <= other.high)) lane++;
    if (lane >= MOST_LANES) continue;
    (lanes[lane] ??= []).push({ low, high, to: jump.to });
    jumps.push({ ...jump, lane });
  }
  return jumps;
}

/** The place of the procedure's loop with this header; NONE: it was not sampled. */
export function loopPlace(model: Model, procedure: PlaceIx, header: number): PlaceIx {
  const { kind, parent, addressLow, addressHigh } = model.places;
  for (let i = procedure + 1; parent[i] >= procedure; i++)
    if (kind[i] === Kind.Loop && addressHigh[i] * 2 ** 32 + addressLow[i] === header) return i;
  return NONE;
}
