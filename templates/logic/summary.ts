// SPDX-License-Identifier: BSD-3-Clause
// What the front page says: where the samples went, the hottest loops, lines and procedures, and what the result lacks.

import { Kind, type Model, NONE, type PlaceIx } from '../model/data';
import { type Groups, leader, makeGroups } from './cells';
import type { Column, Columns } from './columns';
import { type Level, LEVEL_KIND } from './flat';
import { frontOf, type HotSource, type Hottest, type ModulePart } from './hotspots';
import { enclosing, labelOf } from './labels';
import type { Tables } from './rows';
import { largestCells } from './sort';

export interface Hot extends HotSource {
  readonly error: number;
}

export interface HotList {
  readonly top: readonly Hot[];
  readonly count: number; // how many there are altogether
}

function hottest(
  groups: Groups,
  values: Float64Array,
  byPlace: Float64Array,
  error: (v: number, g: number) => number,
  most: number,
): HotList {
  const { top, count } = largestCells(values, most);
  return {
    top: top.map((g) => ({
      place: leader(groups, g, byPlace),
      value: values[g],
      error: error(values[g], g),
      copies: groups.start[g + 1] - groups.start[g],
    })),
    count,
  };
}

/** The costliest of a level, over all copies. */
export function hottestOf(columns: Columns, tables: Tables, column: Column, level: Level, most: number): HotList {
  const byPlace = columns.values(column, null);
  if (level === 'line' && column.metric.summed && !column.difference) {
    return withErrors(columns, column, frontOf(columns.model.places, byPlace).lines(most));
  }
  const groups = withSource(columns.model, tables.level(level, true), level);
  const values = columns.values(column, groups);
  return hottest(groups, values, byPlace, (v) => columns.error(column, v), most);
}

/** Lines of which the number is known; of other levels all. */
function withSource(model: Model, groups: Groups, level: Level): Groups {
  if (level !== 'line') return groups;
  const { file, lineFirst } = model.places;
  const outermost = groups.outermost.slice();
  groups.members.forEach((place, i) => {
    if (file[place] === NONE || lineFirst[place] === 0) outermost[i] = 0;
  });
  return { ...groups, outermost };
}

/** Of what does not nest, with the errors of its values. */
function withErrors(columns: Columns, column: Column, { top, count }: Hottest): HotList {
  return { top: top.map((hot) => ({ ...hot, error: columns.error(column, hot.value) })), count };
}

/** The hottest loops by their cost exclusive of inner loops: else the outermost would hide the others. */
export const hottestLoops = (columns: Columns, column: Column, most: number): HotList =>
  withErrors(columns, column, frontOf(columns.model.places, columns.values(column, null)).loops(most));

/** The costliest line below a place, with its own cost. */
export function hottestLineIn(model: Model, tables: Tables, place: PlaceIx, values: Float64Array): PlaceIx {
  const { children } = tables;
  let best = NONE;
  const todo = [place];
  for (let steps = 0; todo.length && steps < 20_000; steps++) {
    const at = todo.pop()!;
    if (model.places.kind[at] === Kind.Line && values[at] > 0 && (best === NONE || values[at] > values[best]))
      best = at;
    for (let i = children.start[at]; i < children.start[at + 1]; i++) todo.push(children.list[i]);
  }
  return best;
}

export interface Part extends ModulePart {
  readonly name: string;
}

/** The program's modules, the costliest first, each with its part on known lines. */
export function whereParts(model: Model, values: Float64Array): readonly Part[] {
  return frontOf(model.places, values).parts.map((part) => ({ ...part, name: labelOf(model, part.place).text }));
}

export interface Change {
  readonly place: PlaceIx;
  readonly value: number; // the difference
  readonly error: number;
}

/** Slowdowns and speedups that exceed the noise, the largest first. */
export interface Changes {
  readonly worse: readonly Change[];
  readonly better: readonly Change[];
}

/** Places in groups of one key. */
function groupedBy(model: Model, places: Iterable<PlaceIx>, keyOf: (place: PlaceIx) => string): Groups {
  const groups = new Map<string, number[]>();
  for (const place of places) {
    const key = keyOf(place);
    (groups.get(key) ?? groups.set(key, []).get(key)!).push(place);
  }
  const all = [...groups.values()];
  const start = new Uint32Array(all.length + 1);
  all.forEach((members, g) => (start[g + 1] = start[g] + members.length));
  return makeGroups(model, start, Uint32Array.from(all.flat()), true);
}

/** Loops or procedures of two builds by first line: one compiler makes two loops, or another nest, of one loop of the
 *  other, and gives procedures other names. Loops that only one of the builds has are compared by the function around
 *  them: another compiler may say that they begin elsewhere. */
function bySource(columns: Columns, level: 'loop' | 'procedure', { base, of }: NonNullable<Column['difference']>): Groups {
  const { model } = columns;
  const { count, kind, file, lineFirst, same } = model.places;
  const places = Array.from({ length: count }, (_, i) => i).filter((i) => kind[i] === LEVEL_KIND[level]);
  const lineOf = (i: PlaceIx): string => (file[i] !== NONE && lineFirst[i] > 0 ? `${file[i]}:${lineFirst[i]}` : String(same[i]));
  const lines = groupedBy(model, places, lineOf);
  if (level === 'procedure') return lines;
  const [before, after] = [base, of].map((column) => columns.values(column, lines));
  const keys = new Map<PlaceIx, string>();
  for (let g = 0; g < lines.count; g++)
    for (const i of lines.members.subarray(lines.start[g], lines.start[g + 1])) {
      const around = enclosing(model, i, [Kind.Procedure, Kind.Inline]);
      keys.set(i, (before[g] > 0 && after[g] > 0) || around === null ? lineOf(i) : `${file[i]} ${around.replace(/<.*/, '')}`);
    }
  return groupedBy(model, places, (i) => keys.get(i)!);
}

export function changes(columns: Columns, tables: Tables, difference: Column, level: Level): Changes {
  const cells = level === 'loop' || level === 'procedure' ? bySource(columns, level, difference.difference!) : tables.level(level, true);
  const values = columns.values(difference, cells);
  const byPlace = columns.values(difference, null);
  const all: Change[] = [];
  for (let g = 0; g < cells.count; g++) {
    const error = columns.error(difference, values[g], cells, g);
    if (Math.abs(values[g]) > (error > 0 ? error : 0))
      all.push({ place: leader(cells, g, byPlace), value: values[g], error });
  }
  all.sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.place - b.place);
  return { worse: all.filter((c) => c.value > 0), better: all.filter((c) => c.value < 0) };
}

/** Gaps in the result that no warning mentions already: sentences. */
export function lacks(columns: Columns, column: Column): string[] {
  const { model } = columns;
  const values = columns.values(column, null);
  const whole = columns.whole(column);
  const sentences: string[] = [];
  for (const part of whereParts(model, values)) {
    const without = part.value - part.withSource;
    const percent = (without / whole) * 100;
    if (percent < 1 || model.warnings.some((w) => w.includes(part.name))) continue;
    sentences.push(
      part.name === '[unknown]'
        ? `${percent.toFixed(1)}% is of functions without source lines: the imported profile names only functions.`
        : `${percent.toFixed(1)}% is in ${part.name} without source lines: compile it with -g, or install its debug symbols.`,
    );
  }
  const events = new Set(model.metrics.filter((m) => m.event !== '').map((m) => m.event));
  if (events.size > 0 && [...events].every((e) => /TASK-CLOCK|CPU-CLOCK|^REALTIME|^time$/i.test(e)))
    sentences.push(
      'Only time was measured. Where the processor has counters, "hpcview events" lists what else can be sampled: cache misses and instructions say why a line is slow.',
    );
  const samples = column.metric.period > 0 ? columns.total(column) / column.metric.period : NaN;
  if (samples < 200)
    sentences.push(
      `There are only ${Math.round(samples)} samples, so shares are known to ±${(200 / Math.sqrt(Math.max(samples, 1))).toFixed(0)}% of themselves at best: let the program run longer, or sample more often.`,
    );
  return sentences;
}
