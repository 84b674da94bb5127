// SPDX-License-Identifier: BSD-3-Clause
// The tree's and the search's answers against what their words say, written down plainly, on trees and texts drawn at random.

import type { Places } from '../model/data';
import { linearAxis } from '../logic/axis';
import { histogram, type Share, sortedShares, summed } from '../logic/distribution';
import { findText, foundFrom, foundNext } from '../logic/find';
import { surroundings } from '../logic/labels';
import { childCount, childrenOf, flattened, markMatches, ROW_OPEN, ROW_PARENT, SortedChildren, visibleRows } from '../logic/tree';
import { model } from './outline';
import { equal } from './tap';

let drawn = 7;
export function draw(below: number): number {
  drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0;
  return Math.floor((drawn / 2 ** 32) * below);
}

/** Parents before children; now and then one above the other, now and then side by side. */
function drawTree(count: number): Places {
  const parent = new Int32Array(count).fill(-1);
  for (let i = 1; i < count; i++) parent[i] = draw(3) ? draw(i) : i - 1;
  return { count, parent } as unknown as Places;
}

const isBelow = (places: Places, place: number, above: number): boolean => {
  for (let up = place; up >= 0; up = places.parent[up]) if (up === above) return true;
  return false;
};

interface Row {
  readonly place: number;
  readonly depth: number;
  readonly parent: boolean;
  readonly open: boolean;
}

function testTree(count: number): void {
  const places = drawTree(count);
  const all = Array.from({ length: count }, (_, i) => i);
  const kids = (p: number): number[] => all.filter((i) => i > 0 && places.parent[i] === p);
  const children = childrenOf(places);
  equal(all.map((p) => childCount(children, p)), all.map((p) => kids(p).length), `${count} places: how many children`);

  const values = Float64Array.from(all, () => (draw(5) ? draw(7) - 3 : NaN));
  const matching = new Set(all.filter(() => draw(4) === 0));
  const expanded = new Set(all.filter(() => draw(2) === 0));
  const above = (p: number): boolean => all.some((i) => i !== p && matching.has(i) && isBelow(places, i, p));
  const shown = (p: number): boolean => above(p) || all.some((i) => matching.has(i) && isBelow(places, p, i));
  for (const how of ['as it is', 'up', 'down'] as const)
    for (const searched of [false, true]) {
      const order = (p: number): number[] => {
        const list = kids(p);
        if (how === 'as it is') return list;
        const known = list.filter((i) => !Number.isNaN(values[i]));
        known.sort((a, b) => (how === 'down' ? values[b] - values[a] : values[a] - values[b]));
        return [...known, ...list.filter((i) => Number.isNaN(values[i]))];
      };
      const wanted: Row[] = [];
      const walk = (place: number, depth: number): void => {
        if (searched && !shown(place)) return;
        const parent = kids(place).length > 0;
        const open = parent && (expanded.has(place) || (searched && above(place)));
        wanted.push({ place, depth, parent, open });
        if (open) for (const child of order(place)) walk(child, depth + 1);
      };
      walk(0, 0);
      const sorted = new SortedChildren(children, how === 'as it is' ? null : values, how === 'down');
      const marks = searched ? markMatches(places, (p) => matching.has(p)) : null;
      const rows = visibleRows(sorted, children, expanded, marks);
      const got = Array.from({ length: rows.count }, (_, i): Row => {
        const flags = rows.flags[i];
        return { place: rows.place[i], depth: rows.depth[i], parent: !!(flags & ROW_PARENT), open: !!(flags & ROW_OPEN) };
      });
      equal(got, wanted, `${count} places, ${how}${searched ? ', searched' : ''}: the rows`);
    }

  let level = kids(0);
  for (let levels = 1; levels < 5; levels++) {
    equal([...flattened(children, 0, levels)], level, `${count} places, flattened ${levels} times`);
    level = level.flatMap((p) => (kids(p).length ? kids(p) : [p]));
  }
}

function testFind(): void {
  const lines = Array.from({ length: 40 }, () => Array.from({ length: draw(12) }, () => 'aAb.'[draw(4)]).join(''));
  for (const wanted of ['a', 'aa', '.', 'ab', 'B.', '', 'no']) {
    const plain: { row: number; at: number; length: number }[] = [];
    lines.forEach((line, row) => {
      for (let at = 0; wanted && at + wanted.length <= line.length; at++)
        if (line.substr(at, wanted.length).toLowerCase() === wanted.toLowerCase()) {
          plain.push({ row, at, length: wanted.length });
          at += wanted.length - 1;
        }
    });
    const found = findText(lines, wanted);
    equal(found, plain, `where "${wanted}" is`);
    const rows = Array.from({ length: 41 }, (_, row) => row);
    const first = (row: number): number => {
      for (let i = 0; i < plain.length; i++) if (plain[i].row >= row) return i;
      return plain.length ? 0 : -1;
    };
    equal(rows.map((row) => foundFrom(found, row)), rows.map(first), `the first "${wanted}" from a row on`);
    let at = -1;
    for (let i = 0; i < plain.length; i++) at = foundNext(found, at, 1);
    equal(at, plain.length - 1, `through all of "${wanted}"`);
    equal(foundNext(found, at, 1), plain.length ? 0 : -1, `and round the end`);
    equal(foundNext(found, 0, -1), plain.length - 1, `and round the beginning`);
  }
}

/** Ticks are multiples of 1, 2 or 5 times a power of ten, around all values, and neither few nor many. */
function testAxis(): void {
  let wrong = '';
  for (let i = 0; i < 400; i++) {
    const scale = 10 ** (draw(12) - 4);
    const high = draw(5) ? (1 + draw(999)) * scale : 0;
    const low = draw(3) && high ? 0 : -(1 + draw(999)) * scale;
    const axis = linearAxis([low, high, NaN, Infinity]);
    const { ticks } = axis;
    const step = ticks[1] - ticks[0];
    const digit = Math.round(step / 10 ** Math.floor(Math.log10(step * 1.0001)));
    const slack = step * 1e-6;
    const end = ticks[ticks.length - 1];
    const fits = ticks[0] <= low + slack && ticks[0] > low - step - slack && end >= high - slack && end < high + step + slack;
    const even = ticks.every((t, k) => Math.abs(t - ticks[0] - k * step) < slack && Math.abs(axis.at(t) - k / (ticks.length - 1)) < 1e-6);
    if (![1, 2, 5].includes(digit) || !fits || !even || ticks.length < 3 || ticks.length > 8)
      wrong = wrong || `${low} to ${high}: ${ticks.join(' ')}`;
  }
  equal(wrong, '', 'ticks of an axis');
}

/** The expected parent of each row of a flat table, by place. */
function testSurroundings(): void {
  const m = model(`
program prog
  module a.out
    file x.c
      proc main 1-30 @x.c
        line 3 @x.c = 5 .
        loop 5-9 @x.c
          line 6 @x.c = 60 2
          inline dot 40-50 @y.h <x.c:7
            loop 42-44 @y.h
              line 43 @y.h = 20 8
`);
  const wanted = ['', '', 'in a.out', 'in x.c', 'in main', 'in main', 'in main', 'in main', 'in dot', 'in dot'];
  const got = wanted.map((_, place) => surroundings(m, place));
  equal(got, wanted, 'what is around each place');
}

/** Costliest first, equals by process and thread; every thread is in one bin, the one that its value is in. */
function testShares(): void {
  for (const count of [1, 2, 7, 60]) {
    const shares = Array.from({ length: count }, (_, i) => ({ process: draw(3), thread: count - i, value: draw(9) })) as unknown as Share[];
    const plain = [...shares];
    const before = (a: Share, b: Share): boolean =>
      a.value !== b.value ? a.value > b.value : a.process !== b.process ? a.process < b.process : a.thread < b.thread;
    for (let i = 1; i < count; i++)
      for (let k = i; k > 0 && before(plain[k], plain[k - 1]); k--) [plain[k], plain[k - 1]] = [plain[k - 1], plain[k]];
    equal(sortedShares(shares), plain, `${count} threads, the costliest first`);
    const bins = histogram(shares);
    equal(
      bins.map((bin) => bin.count),
      bins.map((bin) => shares.filter((s) => s.value >= bin.from && s.value < bin.to).length),
      `${count} threads in bins`,
    );
    equal(bins.reduce((n, bin) => n + bin.count, 0), count, 'each of them in one');
    for (const of of [shares, shares.map((s) => ({ ...s, value: 0 }))]) {
      const values = of.map((s) => s.value);
      const mean = values.reduce((all, v) => all + v, 0) / count;
      const { least, most, imbalance, ...more } = summed(of);
      equal([more.mean, least.value, most.value], [mean, Math.min(...values), Math.max(...values)], `${count} threads together`);
      equal([least, most], [of.find((s) => s.value === least.value), of.find((s) => s.value === most.value)], 'the first of equals');
      equal(imbalance.toFixed(9), (mean > 0 ? Math.max(...values) / mean - 1 : 0).toFixed(9), 'how uneven');
    }
  }
}

/** About as many bins as the root of the number of threads and one, and at least about four. */
function testBins(): void {
  const bins = (of: readonly number[]): string => {
    const list = histogram(of.map((value, thread) => ({ process: 0, thread, value })) as unknown as Share[]);
    return `${list.length} ${list[0].from}-${list[list.length - 1].to}`;
  };
  equal([[0], [0, 0], [7], [3, 4], [-2, 5]].map(bins), ['1 0-0.5', '1 0-0.5', '1 6-8', '3 3-4.5', '4 -2-6'], 'bins of a few values');
  equal([2, 4, 9, 16, 25, 26, 50, 100, 400, 2000].map((n) => bins(Array.from({ length: n }, (_, i) => i * 1.1))),
    ['3 0-1.5', '4 0-4', '2 0-10', '4 0-20', '6 0-30', '6 0-30', '6 0-60', '11 0-110', '9 0-450', '22 0-2200'], 'bins of many values');
}

export function testNaive(): void {
  testBins();
  testShares();
  testSurroundings();
  for (const count of [1, 2, 3, 10, 40, 41, 42, 43]) testTree(count);
  testFind();
  testAxis();
}
