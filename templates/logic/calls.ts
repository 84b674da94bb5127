// SPDX-License-Identifier: BSD-3-Clause
// Who called whom: a tree of calls as a model of its own, whose places are the tree's nodes, so that tables, columns and
// pictures work on it as on the scopes. Its views: recursion folded, the callers of a place, the calls of a procedure.

import { firstMetric, Kind, type Metric, type Model, NONE, type Numbers, type PlaceIx, type TreeNodes, type Values } from '../model/data';
import { type Groups, makeGroups, sumOver } from './cells';
import { Columns } from './columns';
import { isFrame, selfOfCalls, SelfValues } from './self';
import { placesWithin } from './tables';

export const CALLS = 'calls'; // the tree's name in the database

/** Longer lists of callers are cut: they are unreadable, and recursion makes them endless. */
const MOST_CALLERS = 300_000;

/** `isStored`: its values are those of the database; others have been added up here already. */
export function treeModel(model: Model, nodes: TreeNodes, values: Values, isStored = true): Model {
  const { places } = model;
  const { count, place } = nodes;
  const bytes = (of: Uint8Array): Uint8Array => Uint8Array.from(place, (p) => of[p]);
  const numbers = (of: Numbers): Uint32Array => Uint32Array.from(place, (p) => of[p]);
  const signed = (of: Int32Array): Int32Array => Int32Array.from(place, (p) => of[p]);
  const tree = { count, kind: bytes(places.kind), parent: nodes.parent };
  return {
    ...model,
    places: {
      ...tree,
      role: bytes(places.role),
      irreducible: bytes(places.irreducible),
      onLine: bytes(places.onLine),
      name: numbers(places.name),
      fullName: numbers(places.fullName),
      file: signed(places.file),
      lineFirst: numbers(places.lineFirst),
      lineLast: numbers(places.lineLast),
      callFile: signed(places.callFile),
      callLine: numbers(places.callLine),
      instance: numbers(places.instance),
      instances: numbers(places.instances),
      addressLow: numbers(places.addressLow),
      addressHigh: numbers(places.addressHigh),
      same: Uint32Array.from(place, (_, i) => i),
      strings: places.strings,
    },
    values: isStored ? new SelfValues(values, model.metrics, tree, true) : values,
    scopes: { places, of: place },
    trees: [],
    treeValues: [],
    tables: [],
  };
}

/** Values of a tree made from those of another: additive metrics by `sum`, the rest by formulas from these. */
class MadeValues implements Values {
  columns: Columns | null = null; // of the tree that is made
  readonly #known = new Map<number, Float64Array>();

  constructor(
    private readonly metrics: readonly Metric[],
    private readonly from: Values,
    private readonly sum: (metric: number, exclusive: boolean) => Float64Array | null,
  ) {}

  of(metric: number, exclusive: boolean): Float64Array | null {
    const wantsExclusive = exclusive && this.metrics[metric].hasExclusive;
    const key = metric * 2 + (wantsExclusive ? 1 : 0);
    const known = this.#known.get(key);
    if (known) return known;
    const made = this.metrics[metric].summed
      ? this.sum(metric, wantsExclusive)
      : this.columns!.byFormula(this.columns!.of(metric, wantsExclusive));
    if (made) this.#known.set(key, made);
    return made;
  }

  failure = (metric: number): string | undefined => this.from.failure(metric);
}

export interface MadeTree {
  readonly nodes: TreeNodes;
  readonly model: Model;
}

function madeTree(model: Model, nodes: TreeNodes, values: MadeValues): MadeTree {
  const made: Model = { ...treeModel(model, nodes, values, false), isMade: true };
  values.columns = new Columns(made);
  return { nodes, model: made };
}

class NodeList {
  readonly #known = new Map<number, number>();
  readonly parent: number[] = [];
  readonly place: number[] = [];

  constructor(private readonly placeCount: number) {}

  at(parent: number, place: PlaceIx): number {
    const key = (parent + 1) * this.placeCount + place;
    let node = this.#known.get(key);
    if (node === undefined) {
      this.#known.set(key, (node = this.parent.length));
      this.parent.push(parent);
      this.place.push(place);
    }
    return node;
  }

  nodes(): TreeNodes {
    return { count: this.parent.length, parent: Int32Array.from(this.parent), place: Uint32Array.from(this.place) };
  }
}

const add = (sum: number, value: number): number =>
  Number.isNaN(value) ? sum : Number.isNaN(sum) ? value : sum + value;

// ---- one row a call ----

/** Frames below a program's start: not interesting for time. */
const START_UP = /^(_start|__libc_start_(main|call_main).*|(__)?clone3?|start_thread|_dl_start.*)$/;

export interface CallRowsTree extends MadeTree {
  readonly origin: Uint32Array; // the node of the tree it was made of
  readonly site: Int32Array; // of a call: the line it is on, a place; NONE
}

/** The tree without lines that only call: a call is one row, which has the line it is on. A line's exclusive cost stays a row of its own.
 *  Without the frames of the start-up, whose callees are at the top. */
export function callRows(model: Model, { nodes, model: calls }: MadeTree): CallRowsTree {
  const { places } = model;
  const { kind } = places;
  const hasOwn = ownNodes(nodes, calls);
  const became = new Int32Array(nodes.count); // the row that contains everything below a node
  const site = new Int32Array(nodes.count).fill(NONE); // of a line: itself
  const parent: number[] = [];
  const origin: number[] = [];
  const sites: number[] = [];
  for (let i = 0; i < nodes.count; i++) {
    const place = nodes.place[i];
    const up = i === 0 ? NONE : became[nodes.parent[i]];
    const isLine = kind[place] === Kind.Line;
    const isStart = kind[place] === Kind.Procedure && up === 0 && START_UP.test(places.strings[places.name[place]]);
    const isRow = isLine ? hasOwn[i] === 1 : !isStart;
    if (isLine) site[i] = place;
    became[i] = isRow && !isLine ? parent.length : up;
    if (!isRow) continue;
    parent.push(up);
    origin.push(i);
    sites.push(up > 0 && kind[place] === Kind.Procedure ? site[nodes.parent[i]] : NONE);
  }
  const rows = { count: parent.length, parent: Int32Array.from(parent), place: Uint32Array.from(origin, (i) => nodes.place[i]) };
  const tree = treeModel(model, rows, new RowValues(calls, origin), false);
  sites.forEach((line, row) => {
    if (line === NONE || places.file[line] === NONE) return;
    (tree.places.callFile as Int32Array)[row] = places.file[line];
    (tree.places.callLine as Uint32Array)[row] = places.lineFirst[line];
  });
  return { nodes: rows, model: tree, origin: Uint32Array.from(origin), site: Int32Array.from(sites) };
}

/** By node: nothing hangs below it, or it has a cost of its own in the metric that one looks at first. */
function ownNodes(nodes: TreeNodes, model: Model): Uint8Array {
  const has = new Uint8Array(nodes.count).fill(1);
  for (let i = 1; i < nodes.count; i++) has[nodes.parent[i]] = 0;
  const metric = firstMetric(model.metrics);
  const own = metric < 0 ? null : model.values.of(metric, true);
  if (own) for (let i = 0; i < nodes.count; i++) if (own[i] > 0) has[i] = 1;
  return has;
}

/** Values of the tree that the rows are of; of a line, which has no calls below it any more, its own. */
class RowValues implements Values {
  readonly #known = new WeakMap<Float64Array, Float64Array>();

  constructor(
    private readonly tree: Model,
    private readonly origin: readonly number[],
  ) {}

  #isLine = (node: number): boolean => this.tree.places.kind[node] === Kind.Line;

  of(metric: number, exclusive: boolean): Float64Array | null {
    const all = this.tree.values.of(metric, exclusive);
    const own = this.tree.values.of(metric, true);
    if (!all || !own) return null;
    let rows = this.#known.get(all);
    if (!rows) this.#known.set(all, (rows = Float64Array.from(this.origin, (i) => (this.#isLine(i) ? own : all)[i])));
    return rows;
  }

  at(metric: number, exclusive: boolean, row: number): number | null {
    const { values } = this.tree;
    const form = exclusive || this.#isLine(this.origin[row]);
    return values.at ? values.at(metric, form, this.origin[row]) : (values.of(metric, form)?.[this.origin[row]] ?? null);
  }

  failure = (metric: number): string | undefined => this.tree.values.failure(metric);
}

// ---- recursion ----

/** No path has a procedure twice: recursive calls are merged with the outer one. */
export function foldRecursion(model: Model, nodes: TreeNodes, values: Values): MadeTree {
  const { kind, same } = model.places;
  const list = new NodeList(model.places.count);
  const became = new Int32Array(nodes.count);
  const frame: number[] = []; // by new node: the innermost frame around it
  for (let i = 0; i < nodes.count; i++) {
    const place = nodes.place[i];
    const parent = i === 0 ? NONE : became[nodes.parent[i]];
    const isProcedure = kind[place] === Kind.Procedure;
    let known = isProcedure && i > 0 ? frame[parent] : NONE;
    while (known !== NONE && same[list.place[known]] !== same[place]) known = frame[list.parent[known]];
    became[i] = known !== NONE ? known : list.at(parent, place);
    frame[became[i]] = isProcedure ? became[i] : parent === NONE ? NONE : frame[parent];
  }
  const folded = list.nodes();
  const sum = (metric: number, exclusive: boolean): Float64Array | null => {
    const own = ownValues(model, nodes, values, metric);
    const sums = own && sumUp(model, folded, own, became, exclusive);
    const tree = { ...folded, kind: Uint8Array.from(folded.place, (p) => kind[p]) };
    return sums && exclusive ? selfOfCalls(tree, sums) : sums;
  };
  return madeTree(model, folded, new MadeValues(model.metrics, values, sum));
}

/** Each node's exclusive cost: usually only lines have some. */
function ownValues(model: Model, nodes: TreeNodes, values: Values, metric: number): Float64Array | null {
  const whole = values.of(metric, false);
  const lines = model.metrics[metric].hasExclusive ? values.of(metric, true) : whole;
  if (!whole || !lines) return null;
  const isLine = (node: number): boolean => model.places.kind[nodes.place[node]] === Kind.Line;
  const own = whole.slice();
  for (let i = 1; i < nodes.count; i++) if (!Number.isNaN(whole[i])) own[nodes.parent[i]] -= whole[i];
  for (let i = 0; i < nodes.count; i++)
    if (lines !== whole && isLine(i)) own[i] = lines[i];
    else if (Math.abs(own[i]) <= 1e-9 * Math.abs(whole[i])) own[i] = NaN; // rounding errors
  return own;
}

function sumUp(
  model: Model,
  nodes: TreeNodes,
  own: Float64Array,
  became: Int32Array,
  exclusive: boolean,
): Float64Array {
  const isLine = (node: number): boolean => model.places.kind[nodes.place[node]] === Kind.Line;
  const out = new Float64Array(nodes.count).fill(NaN);
  for (let i = 0; i < became.length; i++) out[became[i]] = add(out[became[i]], own[i]);
  for (let i = nodes.count - 1; i > 0; i--) {
    const up = nodes.parent[i];
    if (!exclusive || (isLine(i) && !isLine(up))) out[up] = add(out[up], out[i]);
  }
  return out;
}

// ---- callers ----

/** The nodes of places with the same source as `place`, without those inside another of them; for a module or a file
 *  the nodes of its procedures that were called from other modules or files. */
function outermostNodes(model: Model, nodes: TreeNodes, place: PlaceIx): number[] {
  const { same, kind } = model.places;
  const within = kind[place] < Kind.Procedure ? placesWithin(model, place) : null;
  const inside = new Uint8Array(nodes.count);
  const found: number[] = [];
  for (let i = 0; i < nodes.count; i++) {
    const isInside = i > 0 && inside[nodes.parent[i]] === 1;
    const at = nodes.place[i];
    const matches = within ? within[at] === 1 && kind[at] === Kind.Procedure : same[at] === same[place];
    if (matches && !isInside) found.push(i);
    inside[i] = isInside || matches ? 1 : 0;
  }
  return found;
}

export interface Callers extends MadeTree {
  readonly isCut: boolean;
}

/** Bottom-up: `place` is the root, and below each node is its surroundings: loops, the procedure, the line that called it. Values are the
 *  place's inclusive cost, by call path. null: it is on no path. */
export function callersOf(model: Model, nodes: TreeNodes, values: Values, place: PlaceIx): Callers | null {
  const list = new NodeList(model.places.count);
  const members: number[][] = [];
  const leaves = outermostNodes(model, nodes, place);
  let isCut = false;
  let room = MOST_CALLERS * 10;
  for (const leaf of leaves) {
    let at = list.at(NONE, model.places.same[place]);
    (members[at] ??= []).push(leaf);
    for (let up = nodes.parent[leaf]; up > 0; up = nodes.parent[up]) {
      if (list.parent.length >= MOST_CALLERS || room-- <= 0) {
        isCut = true;
        break;
      }
      at = list.at(at, nodes.place[up]);
      (members[at] ??= []).push(leaf);
    }
  }
  if (leaves.length === 0) return null;
  const made = list.nodes();
  const groups = groupsOfNodes(treeModel(model, nodes, values, false), members, false);
  const sum = (metric: number, exclusive: boolean): Float64Array | null => {
    const stored = values.of(metric, exclusive);
    return stored && sumOver(groups, stored, exclusive);
  };
  return { ...madeTree(model, made, new MadeValues(model.metrics, values, sum)), isCut };
}

function groupsOfNodes(tree: Model, members: readonly (readonly number[])[], canNest: boolean): Groups {
  const start = new Uint32Array(members.length + 1);
  members.forEach((m, g) => (start[g + 1] = start[g] + m.length));
  return makeGroups(tree, start, Uint32Array.from(members.flat()), canNest);
}

// ---- calls ----

export interface Call {
  readonly caller: PlaceIx; // a procedure; or the module that says why a path was cut
  readonly callee: PlaceIx;
  readonly line: PlaceIx; // where it stands; the caller where that is not known
  readonly loop: PlaceIx; // around the line; NONE
}

export interface Calls {
  readonly rows: readonly Call[];
  readonly cells: Groups; // a row's nodes in the tree's model
}

/** The callers of the procedure of `place`, the callers into which the enclosing inlined call was inlined, or the callers of
 *  a module or file; and the callees of `place`. */
export function callsOf(model: Model, tree: MadeTree, place: PlaceIx): { callers: Calls; callees: Calls } | null {
  const { places } = model;
  const { nodes } = tree;
  const procedure = procedureOf(model, place);
  if (procedure === NONE) return place > 0 ? callsAcross(model, tree, placesWithin(model, place)) : null;
  const inlined = inlinedAround(model, place);
  const callers = new CallList(model);
  const callees = new CallList(model);
  const frame = framesOf(model, nodes);
  const isPart = (node: number): boolean => {
    for (let up = node; up !== NONE; up = nodes.parent[up]) {
      if (places.same[nodes.place[up]] === places.same[place]) return true;
      if (up === frame[node]) return false;
    }
    return false;
  };
  // a runtime library calls the parallel regions: their callers are the user's, as far as they are known
  const known = (line: number): number => {
    let up = line;
    while (up > 0 && places.file[procedure] !== NONE && places.file[nodes.place[frame[up]]] === NONE) up = nodes.parent[frame[up]];
    return up > 0 ? up : line;
  };
  for (let i = 1; i < nodes.count; i++) {
    const line = nodes.parent[i];
    if (inlined !== NONE && places.same[nodes.place[i]] === places.same[inlined]) {
      let up = line;
      while (up > 0 && !isFrame(places.kind[nodes.place[up]])) up = nodes.parent[up];
      callers.add(nodes.place[up], nodes.place[i], nodes.place[i], i);
    }
    if (places.kind[nodes.place[i]] !== Kind.Procedure || line <= 0) continue;
    const caller = nodes.place[frame[line]];
    if (inlined === NONE && places.same[nodes.place[i]] === places.same[procedure])
      callers.add(nodes.place[frame[known(line)]], nodes.place[i], nodes.place[known(line)], i);
    if (places.same[caller] === places.same[procedure] && isPart(line))
      callees.add(caller, nodes.place[i], nodes.place[line], i);
  }
  return { callers: callers.finish(tree.model), callees: callees.finish(tree.model) };
}

/** Calls into a part of the program and out of it. */
function callsAcross(model: Model, { nodes, model: made }: MadeTree, within: Uint8Array): { callers: Calls; callees: Calls } {
  const callers = new CallList(model);
  const callees = new CallList(model);
  const frame = framesOf(model, nodes);
  for (let i = 1; i < nodes.count; i++) {
    const line = nodes.parent[i];
    if (line <= 0 || model.places.kind[nodes.place[i]] !== Kind.Procedure) continue;
    const [caller, callee] = [nodes.place[frame[line]], nodes.place[i]];
    if (within[callee] === within[caller]) continue;
    (within[callee] ? callers : callees).add(caller, callee, nodes.place[line], i);
  }
  return { callers: callers.finish(made), callees: callees.finish(made) };
}

/** The innermost inlined call around a place, or the place itself; NONE. */
function inlinedAround(model: Model, place: PlaceIx): PlaceIx {
  const { kind, parent } = model.places;
  let up = place;
  while (up !== NONE && !isFrame(kind[up])) up = parent[up];
  return up !== NONE && kind[up] === Kind.Inline ? up : NONE;
}

/** NONE: it is outside procedures. */
export function procedureOf(model: Model, place: PlaceIx): PlaceIx {
  const { kind, parent } = model.places;
  let up = place;
  while (up !== NONE && kind[up] !== Kind.Procedure) up = parent[up];
  return up;
}

/** By node: that of the procedure it is in, or of the reason why a path was cut. */
function framesOf(model: Model, nodes: TreeNodes): Int32Array {
  const frame = new Int32Array(nodes.count);
  for (let i = 0; i < nodes.count; i++)
    frame[i] = i === 0 || model.places.kind[nodes.place[i]] <= Kind.Procedure ? i : frame[nodes.parent[i]];
  return frame;
}

class CallList {
  private readonly rows: Call[] = [];
  readonly #members: number[][] = [];
  readonly #known = new Map<string, number>();

  constructor(private readonly model: Model) {}

  add(caller: PlaceIx, callee: PlaceIx, line: PlaceIx, node: number): void {
    const { kind, parent, same } = this.model.places;
    const key = `${same[caller]} ${same[callee]} ${same[line]}`;
    let row = this.#known.get(key);
    if (row === undefined) {
      let loop = line;
      while (loop !== NONE && kind[loop] > Kind.Procedure && kind[loop] !== Kind.Loop) loop = parent[loop];
      this.#known.set(key, (row = this.rows.length));
      this.rows.push({ caller, callee, line, loop: loop !== NONE && kind[loop] === Kind.Loop ? loop : NONE });
      this.#members.push([]);
    }
    this.#members[row].push(node);
  }

  finish(tree: Model): Calls {
    return { rows: this.rows, cells: groupsOfNodes(tree, this.#members, true) };
  }
}
