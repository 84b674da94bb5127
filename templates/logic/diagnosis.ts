// SPDX-License-Identifier: BSD-3-Clause
// What a diagnosis says: the search as a tree of steps, and the findings by place and by line.

import { type Model, NONE, type PlaceIx, type TableInfo, type TableRows } from '../model/data';
import { type Finding, findings } from './tables';

export type StepState = 'true' | 'false' | 'unknown' | 'pruned' | 'not measurable' | 'not reached';

export interface Step {
  readonly hypothesis: string;
  readonly place: PlaceIx; // NONE: of no place
  readonly state: StepState;
  readonly value: number; // percent; NaN: none
  readonly threshold: number;
  readonly experiment: number;
  readonly note: string;
  readonly parent: number; // NONE: it is where a search begins
  readonly children: number[];
  /** It holds, or something below it does. */
  leads: boolean;
}

const NEEDED = ['hypothesis', 'place', 'state', 'value', 'threshold', 'experiment', 'parent', 'note'] as const;

export const isSearch = (info: TableInfo): boolean =>
  info.name === 'search' && info.rows > 0 && NEEDED.every((name) => info.columns.some((c) => c.name === name));

/** All steps, in the order they were taken. A parent that makes a circle counts as none. */
export function searchSteps(info: TableInfo, rows: TableRows): Step[] {
  const [hypothesis, place, state, value, threshold, experiment, parent, note] = NEEDED.map(
    (name) => rows.cells[info.columns.findIndex((c) => c.name === name)],
  );
  const text = (cell: number): string => rows.strings[cell] ?? '';
  const parents = soundParents(parent, info.rows);
  const steps = Array.from({ length: info.rows }, (_, row): Step => {
    return {
      hypothesis: text(hypothesis[row]),
      place: place[row],
      state: text(state[row]) as StepState,
      value: value[row],
      threshold: threshold[row],
      experiment: experiment[row],
      note: text(note[row]),
      parent: parents[row],
      children: [],
      leads: text(state[row]) === 'true',
    };
  });
  steps.forEach((step, row) => steps[step.parent]?.children.push(row));
  for (const step of steps) {
    if (!step.leads) continue;
    for (let up = steps[step.parent]; up && !up.leads; up = steps[up.parent]) up.leads = true;
  }
  return steps;
}

/** Each row's parent; NONE if it has none, and once in each cycle. */
function soundParents(parent: TableRows['cells'][number], count: number): Int32Array {
  const sound = Int32Array.from({ length: count }, (_, row) => (parent[row] < count ? parent[row] : NONE));
  const walk = new Int32Array(count); // the row whose way up first came here, from 1
  for (let row = 0; row < count; row++)
    for (let at = row; walk[at] === 0; at = sound[at]) {
      walk[at] = row + 1; // no node came up here before
      if (sound[at] !== NONE && walk[sound[at]] === row + 1) sound[at] = NONE;
    }
  return sound;
}

/** The rows of the tree that are open, from the top, each with how deep it is. Closed: below what `isOpen` denies. */
export function openSteps(
  steps: readonly Step[],
  isOpen: (row: number) => boolean,
): { readonly row: number; readonly depth: number }[] {
  const found: { row: number; depth: number }[] = [];
  const stack = steps.flatMap((s, row) => (s.parent === NONE ? [{ row, depth: 0 }] : [])).reverse();
  for (let at = stack.pop(); at; at = stack.pop()) {
    found.push(at);
    if (!isOpen(at.row)) continue;
    const { children } = steps[at.row];
    for (let i = children.length; i-- > 0; ) stack.push({ row: children[i], depth: at.depth + 1 });
  }
  return found;
}

interface Marks {
  readonly byPlace: ReadonlyMap<PlaceIx, readonly Finding[]>;
  readonly byLine: ReadonlyMap<string, readonly Finding[]>; // FILE:LINE
}

const NO_MARKS: Marks = { byPlace: new Map(), byLine: new Map() };
const marks = new WeakMap<TableRows, Marks>();

/** The findings of a model by place; none for the whole program. */
function marksOf(model: Model): Marks {
  const at = model.tables.findIndex((t) => t.name === 'findings');
  const rows = at < 0 ? null : model.tableRows.of(at);
  if (!rows) return NO_MARKS;
  let found = marks.get(rows);
  if (!found) marks.set(rows, (found = collect(model, findings(model) ?? [])));
  return found;
}

function collect(model: Model, all: readonly Finding[]): Marks {
  const byPlace = new Map<PlaceIx, Finding[]>();
  const byLine = new Map<string, Finding[]>();
  const { file, lineFirst, count } = model.places;
  const add = <K>(map: Map<K, Finding[]>, key: K, f: Finding): void => void map.set(key, [...(map.get(key) ?? []), f]);
  for (const f of all) {
    if (f.place <= 0 || f.place >= count) continue;
    add(byPlace, f.place, f);
    if (file[f.place] !== NONE && lineFirst[f.place] > 0) add(byLine, `${file[f.place]}:${lineFirst[f.place]}`, f);
  }
  return { byPlace, byLine };
}

export const findingsAt = (model: Model, place: PlaceIx): readonly Finding[] => marksOf(model).byPlace.get(place) ?? [];
export const findingsOnLine = (model: Model, file: number, line: number): readonly Finding[] =>
  marksOf(model).byLine.get(`${file}:${line}`) ?? [];
