// SPDX-License-Identifier: BSD-3-Clause
// What the front page asks of every place: one look at all of them for each column, remembered. Where places are many it is
// taken beside the page's own thread, together with what else the first view needs (`lookAhead`).

import { Kind, type Model, NONE, type PlaceIx, type Places } from '../model/data';
import { largestCells } from './sort';
import { type Children, childrenOf, hotPath } from './tree';

/** Places with the same source, added up. */
export interface HotSource {
  readonly place: PlaceIx; // the costliest of its copies
  readonly value: number;
  readonly copies: number;
}
export interface Hottest {
  readonly top: readonly HotSource[];
  readonly count: number; // how many there are altogether
}
export interface ModulePart {
  readonly place: PlaceIx;
  readonly value: number;
  readonly withSource: number; // of it, on lines that are known
}

type Columns = Pick<Places, 'count' | 'kind' | 'parent' | 'file' | 'lineFirst' | 'same'>;

/** So many of a list are found when it is first asked for. */
const MOST = 12;

const isKnownLine = ({ kind, file, lineFirst }: Columns, i: PlaceIx): boolean =>
  kind[i] === Kind.Line && file[i] !== NONE && lineFirst[i] > 0;

/** Of what does not nest: all that is the same thing in the source added up, without a table of it. */
function hottestSource(
  { count, same }: Columns,
  cost: Float64Array,
  isWanted: (place: PlaceIx) => boolean,
  most: number,
): Hottest {
  const sums = new Float64Array(count); // by the first of those with the same source
  for (let i = 0; i < count; i++) {
    const value = cost[i];
    if (value === value && isWanted(i)) sums[same[i]] += value; // not NaN
  }
  const { top, count: all } = largestCells(sums, most);
  const rank = new Uint8Array(count); // from 1; 0: not among them
  top.forEach((first, at) => (rank[first] = at + 1));
  const found = top.map((first) => ({ place: first, value: sums[first], copies: 0 }));
  for (let i = 0; i < count; i++) {
    if (rank[same[i]] === 0 || !isWanted(i)) continue;
    const of = found[rank[same[i]] - 1];
    of.copies++;
    if (cost[i] > cost[of.place] || Number.isNaN(cost[of.place])) of.place = i;
  }
  return { top: found, count: all };
}

/** By loop: the cost exclusive of inner loops, including the calls that were inlined there. */
function loopsThemselves({ count, kind, parent }: Columns, own: Float64Array): Float64Array {
  const loopOf = new Int32Array(count); // 0, which is the program: none
  const cost = new Float64Array(count).fill(NaN);
  for (let i = 1; i < count; i++) {
    const loop = kind[i] === Kind.Loop ? i : loopOf[parent[i]];
    loopOf[i] = loop;
    if (kind[i] !== Kind.Line || loop === 0 || Number.isNaN(own[i])) continue;
    cost[loop] = Number.isNaN(cost[loop]) ? own[i] : cost[loop] + own[i];
  }
  return cost;
}

function moduleParts(places: Columns, values: Float64Array): ModulePart[] {
  const { count, parent } = places;
  const moduleOf = new Int32Array(count).fill(NONE);
  const known = new Float64Array(count);
  const parts: PlaceIx[] = [];
  for (let i = 1; i < count; i++) {
    const up = parent[i];
    moduleOf[i] = up === 0 ? i : moduleOf[up];
    if (up === 0) parts.push(i);
    if (isKnownLine(places, i) && !Number.isNaN(values[i])) known[moduleOf[i]] += values[i];
  }
  return parts
    .filter((p) => values[p] > 0)
    .sort((a, b) => values[b] - values[a])
    .map((p) => ({ place: p, value: values[p], withSource: known[p] }));
}

/** Found when asked for, and remembered. */
class Front {
  #loops: Hottest | null = null;
  #lines: Hottest | null = null;
  #parts: readonly ModulePart[] | null = null;

  constructor(
    private readonly places: Columns,
    private readonly values: Float64Array,
    known: Ahead | null = null,
  ) {
    if (known) ({ loops: this.#loops, lines: this.#lines, parts: this.#parts } = known);
  }

  loops(most = MOST): Hottest {
    const { places, values } = this;
    const isLoop = (i: PlaceIx): boolean => places.kind[i] === Kind.Loop;
    const find = (n: number): Hottest => hottestSource(places, loopsThemselves(places, values), isLoop, n);
    return first(most, (this.#loops ??= find(MOST)), find);
  }

  lines(most = MOST): Hottest {
    const { places, values } = this;
    const find = (n: number): Hottest => hottestSource(places, values, (i) => isKnownLine(places, i), n);
    return first(most, (this.#lines ??= find(MOST)), find);
  }

  get parts(): readonly ModulePart[] {
    return (this.#parts ??= moduleParts(this.places, this.values));
  }
}

const first = (most: number, known: Hottest, find: (most: number) => Hottest): Hottest =>
  most <= MOST ? { top: known.top.slice(0, most), count: known.count } : find(most);

const fronts = new WeakMap<Float64Array, Front>();

export function frontOf(places: Columns, values: Float64Array): Front {
  let front = fronts.get(values);
  if (!front) fronts.set(values, (front = new Front(places, values)));
  return front;
}

/** Data of the first view, in addition to the places and its metric. */
export interface Ahead {
  readonly children: Children;
  readonly loops: Hottest;
  readonly lines: Hottest;
  readonly parts: readonly ModulePart[];
}

export function lookAhead(places: Columns, values: Float64Array): Ahead {
  const front = new Front(places, values);
  return { children: childrenOf(places), loops: front.loops(), lines: front.lines(), parts: front.parts };
}

export const rememberAhead = (places: Columns, values: Float64Array, ahead: Ahead): void =>
  void fronts.set(values, new Front(places, values, ahead));

/** So many loops and lines are looked through for one whose text is known. */
const LOOKED_AT = 200;

/** The initial selection: the end of the hot path; if its text is not known, the hottest loop or line whose text is. */
export function firstPlace(model: Model, children: Children, values: Float64Array, zoom: PlaceIx): PlaceIx {
  const { places, files } = model;
  const end = hotPath(model, children, values, zoom).pop()!;
  const hasText = (i: PlaceIx): boolean =>
    places.file[i] !== NONE && places.lineFirst[i] > 0 && files[places.file[i]].state === 'text';
  if (zoom || hasText(end)) return end;
  const front = frontOf(places, values);
  const hot = [...front.loops(LOOKED_AT).top, ...front.lines(LOOKED_AT).top].filter((h) => hasText(h.place));
  return hot.reduce<HotSource | null>((a, b) => (a && a.value >= b.value ? a : b), null)?.place ?? end;
}
