// SPDX-License-Identifier: BSD-3-Clause
// What is remembered: tables are the same objects as long as nothing changes that they depend on, and say what fresh ones would say.

import type { Groups } from '../logic/cells';
import { type Column, Columns } from '../logic/columns';
import { type Subject, type Table, Tables } from '../logic/rows';
import { sortedByValue, turnedRound } from '../logic/sort';
import type { Model } from '../model/data';
import { KeyNumbers } from '../model/keys';
import type { State } from '../state/state';
import { draw } from './naive';
import { metric, model } from './outline';
import { equal } from './tap';

const METRICS = [metric('A'), metric('B'), metric('R', { formula: 'A / B', summed: false, percent: false })];

/** Procedures by the name of another's file, one that only calls, one with next to nothing. */
const PROGRAM = `program p
 module a
  file f.c
   proc main 1-30 @f.c
    line 1 @f.c = 40 2
    loop 2-9 @f.c
     line 3 @f.c = 20 .
     inline g.c 3-5 @g.c <f.c:4
      line 4 @g.c = 30 8
   proc calls 40-50 @f.c
    line 41 @f.c
  file g.c
   proc g.c 1-9 @g.c
    line 4 @g.c = 9 1
    loop 5-7 @g.c
     line 6 @g.c = . 5
 module b
  file
   proc f
    line = 1 0.001`;
const NOTHING_BLANK = PROGRAM.replace('    line 41 @f.c\n', '    line 41 @f.c = 2 2\n').replace('20 .', '20 1').replace('. 5', '3 5');

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

const told = (m: Model, t: Table, of: readonly Column[]): unknown => [
  [t.isTree, t.count, t.hidden, of.map((c) => t.largest(c))],
  upTo(t.count).map((row) => [t.place(row), t.depth(row), t.isExpanded(row), t.hasChildren(row), t.instances(row), t.label(row),
    of.map((c) => [t.value(row, c), t.error(row, c)])]),
  upTo(m.places.count).map((place) => t.rowOf(place)),
];

/** A walk through states of which each has a few changes; objects that depend on none of them stay the same. */
function testWalk(start: State, drawing: string, what: string): void {
  const m = model(drawing, METRICS);
  const columns = new Columns(m);
  const [a, b, r] = [columns.of(0), columns.of(1), columns.of(2)];
  const places = upTo(m.places.count);
  const shows = [undefined, [], [a], [b], [a, b]];
  const open = [new Set([0]), new Set(places), new Set([0, 1, 2, 3])];
  const one = <T>(of: readonly T[]): T => of[draw(of.length)];
  const change: ((s: State) => Partial<State>)[] = [
    () => ({ view: one(['tree', 'summary', 'calls', 'line', 'procedure', 'inline', 'loop'] as const) }),
    () => ({ view: one(['tree', 'line'] as const) }),
    (s) => ({ descending: !s.descending }),
    (s) => ({ fuse: !s.fuse }),
    () => ({ filter: one(['', ' ', 'f', ' f ', 'file:g.c', 'none']) }),
    () => ({ expanded: one(open) }),
    () => ({ least: one([0, 1, 9, 60]) }),
    () => ({ zoom: one([0, 3]), flatten: one([0, 1, 2]) }),
    (s) => ({ ...s }),
  ];
  const tables = new Tables(m);
  const isBlank = (shown: Subject['shown'], groups: Groups | null): boolean =>
    !!shown?.length && (groups ? upTo(groups.count) : places).some((cell) => shown.every((c) => Number.isNaN(columns.values(c, groups)[cell])));
  let state: State = { ...start, expanded: open[1] };
  let [sort, shown]: [Subject['sort'], Subject['shown']] = [a, undefined];
  const last: Record<string, { readonly key: readonly unknown[]; readonly table: Table }> = {};
  let wrong = '';
  for (let step = 0; step < 700 && !wrong; step++) {
    state = { ...state, ...one(change)(state) };
    if (draw(6) === 0) sort = one([a, b, r, null]);
    if (draw(6) === 0) shown = one(shows);
    const subject: Subject = { columns, sort, ...(shown && { shown }), weight: sort === b ? b : draw(20) ? a : null };
    const table = tables.of(state, subject);
    const fresh = new Tables(m).of(state, subject);
    const { view, descending, fuse, filter, expanded, least, zoom, flatten } = state;
    const isTree = view === 'tree' || view === 'summary' || view === 'calls' || view === 'time' || view === 'memory' || view === 'data';
    const blank = isBlank(shown, isTree ? null : tables.level(view, fuse)) ? shown : 0;
    const key = isTree
      ? [sort, descending, filter.trim(), expanded, subject.weight && least ? least : 0, subject.weight && least ? subject.weight : 0, zoom, flatten, blank]
      : [sort, descending, filter.trim(), view, fuse, subject.weight, least, blank];
    const before = last[String(isTree)];
    const stays = before?.key.every((x, i) => x === key[i]) ?? false;
    const got = JSON.stringify(told(m, table, [a, b, r]));
    if (table.isTree !== isTree || got !== JSON.stringify(told(m, fresh, [a, b, r]))) wrong = `step ${step}: ${view} is not what a fresh one is`;
    else if (stays !== (before?.table === table)) wrong = `step ${step}: ${view} is ${stays ? 'another' : 'the same'}`;
    last[String(isTree)] = { key, table };
  }
  equal(wrong, '', `what is remembered: ${what}`);
}

/** In either direction, of numbers that differ only in some of their bits; the argument stays as it is. */
function testSorted(): void {
  const kinds: [string, () => number][] = [
    ['one number', () => 3],
    ['powers of two', () => 2 ** (draw(600) - 300)],
    ['powers of two, and none', () => (draw(3) ? 2 ** draw(9) : NaN)],
    ['few of few bits', () => 1 + draw(500)],
    ['more bits', () => draw(1e9) - 5e8],
    ['of either sign', () => (draw(2) ? 1 : -1) * 2 ** draw(4)],
    ['nothing of either sign', () => [0, -0, 1e-310, -1e-310, NaN][draw(5)]],
    ['without an end', () => [Infinity, -Infinity, NaN, 1.7e308][draw(4)]],
    ['last bits', () => 1 + draw(50) * 2 ** -51],
    ['last bits, below 0', () => -1 - draw(3) * 2 ** -40 - draw(3)],
    ['nothing at all', () => NaN],
  ];
  for (const count of [1, 2, 40, 1499, 1500, 1700])
    for (const [what, value] of kinds)
      for (const descending of [true, false]) {
        const values = Float64Array.from({ length: count + 9 }, value);
        const items = Uint32Array.from({ length: count }, (_, i) => (i * 7919) % (count + 9));
        const given = [...items];
        const known = given.filter((i) => !Number.isNaN(values[i]));
        const blank = given.filter((i) => Number.isNaN(values[i]));
        const order = (down: boolean): number[] =>
          [...known].sort((a, b) => (values[a] === values[b] ? 0 : values[a] < values[b] === down ? 1 : -1)).concat(blank);
        const sorted = sortedByValue(items, values, descending);
        const good = String(sorted) === String(order(descending)) && String(items) === String(given) && sorted !== items;
        const turned = String(turnedRound(sorted, values)) === String(order(!descending));
        if (!good || !turned) equal([good, turned], [true, true], `${count} of ${what}, ${descending ? 'largest' : 'smallest'} first`);
      }
}

/** As many keys as there are places for, each with its own number, which it keeps. */
function testNumbers(): void {
  for (let round = 0; round < 20; round++) {
    const numbers = new KeyNumbers(1 + draw(32)); // which has space for 64
    const known = new Map<string, number>();
    let wrong = '';
    for (let i = 0; i < 400; i++) {
      const [a, b, c] = [draw(4) * 2 ** draw(31), draw(3) - 1, draw(9)];
      const key = `${a} ${b} ${c}`;
      if (known.size === 64 && !known.has(key)) continue;
      if (!known.has(key)) known.set(key, known.size);
      const got = numbers.of(a, b, c);
      if (got !== known.get(key) || numbers.count !== known.size) wrong ||= `${key}: ${got}`;
    }
    equal([wrong, numbers.count], ['', 64], 'numbers for as many keys as there is room for');
  }
}

export function testKept(start: State): void {
  testWalk(start, PROGRAM, 'tables of which some rows are blank');
  testWalk(start, NOTHING_BLANK, 'tables without blank rows');
  testSorted();
  testNumbers();
}
