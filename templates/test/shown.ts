// SPDX-License-Identifier: BSD-3-Clause
// Columns and what is drawn and told of them against plain words, on programs drawn at random: two runs of which each measured some modules,
// formulas of their metrics, rows of several places; pictures, axes, labels, instructions, phases and findings.

import { axisOf, logAxis } from '../logic/axis';
import { loopBrackets } from '../logic/brackets';
import { cellCount, type Cells } from '../logic/cells';
import { type Column, Columns } from '../logic/columns';
import { comparedColumns, counterpart, differences, firstDifference, runOf, runsOf } from '../logic/compare';
import { findingsAt, findingsOnLine, searchSteps } from '../logic/diagnosis';
import { readFormula } from '../logic/formula';
import { icicle } from '../logic/icicle';
import { inlinedOn } from '../logic/inlined';
import { Code, show } from '../logic/instructions';
import { baseName, describe, folded, kindName, labelIn, labelOf, surroundings } from '../logic/labels';
import { lineIndex } from '../logic/lines';
import { Rows, loopsBefore, phasesOf, stacks, whoWaits } from '../logic/phases';
import { Tables } from '../logic/rows';
import { axisChoices, dotsOf, roofOf } from '../logic/scatter';
import { hottestOf } from '../logic/summary';
import { cellText, findings } from '../logic/tables';
import { childrenOf, SortedChildren } from '../logic/tree';
import { firstMetric, Kind, type Model, NONE, type Run, type TableInfo, type TableRows, type Values } from '../model/data';
import { drawProgram, tableOf } from './made';
import { draw } from './naive';
import { metric } from './outline';
import { equal as report, textOf } from './tap';

let wrong = ''; // the first thing that was not as it should
function equal(got: unknown, wanted: unknown, what: string): void {
  if (textOf(got) !== textOf(wanted)) wrong ||= `${what}: got ${textOf(got)}, wanted ${textOf(wanted)}`;
}
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const plus = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : a + b);
const sum = (values: readonly number[]): number => values.reduce(plus, NaN);
const zero = (x: number): number => x || 0;
const finite = (x: number): number => (Number.isFinite(x) ? x : NaN);
const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

// ---- columns ----

type Operands = (metric: number, at?: 'total' | 'parent') => number;
/** A formula, as JavaScript. */
interface Said {
  readonly name: string;
  readonly formula: string;
  readonly value: (of: Operands) => number;
}
const STORED: readonly Said[] = [
  { name: 'R', formula: '"a.T" / "a.M"', value: (of) => finite(of(0) / of(2)) },
  { name: 'b.T - a.T', formula: '"b.T" - "a.T"', value: (of) => of(1) - of(0) },
  { name: 'S', formula: '"a.T" + "b.T"', value: (of) => of(0) + of(1) },
  { name: 'P', formula: '"a.T" - parent("a.T")', value: (of) => of(0) - of(0, 'parent') },
];
const TYPED: readonly Said[] = [
  { name: 'X', formula: '2 * run(a).T', value: (of) => 2 * of(0) },
  { name: 'Y', formula: 'X / total("b.T")', value: (of) => finite((2 * of(0)) / of(1, 'total')) },
  { name: 'Z', formula: 'max(1, share("a.M"))', value: (of) => (Number.isNaN(of(2)) ? NaN : Math.max(1, finite(of(2) / of(2, 'total')))) },
];

const METRICS = [
  metric('a.T', { event: 'e', unit: 's', run: 0, period: 3, displayName: 'time' }),
  metric('b.T', { event: 'e', unit: 's', run: 1, period: 5 }),
  metric('a.M', { event: 'f', unit: '', run: 0, hasExclusive: false, period: 0, percent: false }),
  ...STORED.map(({ name, formula }) => metric(name, { formula, summed: name === 'S', event: '', period: 0, percent: false, unit: name === 'R' ? '' : 's' })),
];

const runOfName = (name: string, modules: readonly string[]): Run => ({ name, modules }) as unknown as Run;

interface Compared {
  readonly m: Model;
  readonly inside: (place: number, above: number) => boolean;
}

/** Two runs; formulas are stored unless they are differences of several places. */
function drawCompared(): Compared {
  const m = drawProgram(METRICS);
  const { parent, count, strings, name, kind } = m.places;
  const inside = (place: number, above: number): boolean => place === above || (place !== NONE && parent[place] !== NONE && inside(parent[place], above));
  const modules = upTo(count).filter((p) => kind[p] === Kind.Module);
  const gone = draw(3) ? NONE : modules[draw(modules.length)]; // the second run has no sample there
  const stored = [0, 1, 2].map((i) => [false, true].map((own) => m.values.of(i, own)!.slice()));
  if (gone !== NONE)
    for (const values of stored[1]) {
      for (const p of upTo(count)) if (inside(p, gone)) values[p] = NaN;
      values[0] = sum(modules.map((p) => values[p]));
    }
  const of = (i: number, own: boolean, p: number): number => (p === NONE ? NaN : stored[i][own && i !== 2 ? 1 : 0][p]);
  STORED.forEach((said) => {
    const values = [false, true].map((own) => Float64Array.from(upTo(count), (p) => said.value((i, at) => (at === 'parent' ? of(i, false, parent[p]) : of(i, own, p)))));
    stored.push(values);
  });
  const column = (i: number, own: boolean): Float64Array => stored[i][own && METRICS[i].hasExclusive ? 1 : 0];
  const asCompact = draw(2) === 0;
  const values: Values = {
    of: column,
    failure: () => undefined,
    ...(asCompact
      ? {
          at: (i: number, own: boolean, place: number) => column(i, own)[place],
          present: (i: number, own: boolean) => ({ state: Uint8Array.from(column(i, own), (v) => (Number.isNaN(v) ? 1 : 6)), bits: 2 }),
        }
      : {}),
  };
  const base = (p: number): string => baseName(strings[name[p]]);
  const runs = [runOfName('a', modules.map(base)), runOfName('b', modules.filter((p) => p !== gone || draw(2)).map(base))];
  return { m: { ...m, version: 3, runs, values }, inside };
}

function testColumnsOf(): void {
  const { m, inside } = drawCompared();
  const { parent, kind, strings, name } = m.places;
  const columns = new Columns(m, TYPED);
  const tables = new Tables(m);
  const moduleOf = (p: number): number => (kind[p] <= Kind.Module ? p : moduleOf(parent[p]));
  const isMeasured = (i: number, p: number): boolean => {
    const module = moduleOf(p);
    const known = m.values.of(i, false)!;
    const isThere = kind[module] === Kind.Module && m.runs[METRICS[i].run].modules.includes(baseName(strings[name[module]]));
    return isThere || !Number.isNaN(known[kind[p] === Kind.Module ? 0 : module]);
  };
  const members = (cells: Cells, c: number): number[] => (cells ? [...cells.members.subarray(cells.start[c], cells.start[c + 1])] : [c]);
  const measured = (i: number, own: boolean, cells: Cells, c: number): number => {
    const all = members(cells, c);
    const counted = own && METRICS[i].hasExclusive ? all : all.filter((p) => !all.some((q) => q !== p && inside(p, q)));
    return sum(counted.map((p) => m.values.of(i, own)![p]));
  };
  const said = (words: Said, own: boolean, cells: Cells, c: number): number =>
    words.value((i, at) => {
      if (at === 'total') return m.values.of(i, false)![0];
      if (at === 'parent') return cells ? NaN : (m.values.of(i, false)![parent[c]] ?? NaN);
      return measured(i, own, cells, c);
    });
  const less = (a: number, b: number, own: boolean, cells: Cells, c: number): number => {
    const [x, y] = [a, b].map((i) => measured(i, own, cells, c));
    if (Number.isNaN(x) && Number.isNaN(y)) return NaN;
    const filled = ([i, v]: readonly [number, number]): number => (Number.isNaN(v) && members(cells, c).some((p) => isMeasured(i, p)) ? 0 : v);
    return filled([a, x]) - filled([b, y]);
  };
  type Plain = (own: boolean, cells: Cells, c: number) => number;
  const wanted: [id: string, value: Plain][] = [
    ...[0, 1, 2].map((i): [string, Plain] => [`${i}`, (own, cells, c) => measured(i, own, cells, c)]),
    ['3', (own, cells, c) => said(STORED[0], own, cells, c)],
    ['4', (own, cells, c) => less(1, 0, own, cells, c)],
    ['5', (own, cells, c) => (cells ? sum(members(cells, c).filter((p, _, all) => own || !all.some((q) => q !== p && inside(p, q))).map((p) => m.values.of(5, own)![p])) : m.values.of(5, own)![c])],
    ['6', (own, cells, c) => said(STORED[3], own, cells, c)],
    ['t0', (own, cells, c) => said(TYPED[0], own, cells, c)],
    ['t1', (own, cells, c) => said(TYPED[1], own, cells, c)],
    ['t2', (own, cells, c) => said(TYPED[2], own, cells, c)],
    ['1-0', (own, cells, c) => less(1, 0, own, cells, c)],
    ['0/1', (own, cells, c) => finite(measured(0, own, cells, c) / measured(1, own, cells, c))],
  ];
  const rounded = (v: number): string => (Number.isNaN(v) ? '' : v.toPrecision(9));
  for (const cells of [null, tables.level('procedure', true), tables.level('loop', true), tables.level('line', true), tables.level('inline', false)])
    for (const own of [false, true])
      for (const [number, value] of wanted) {
        const id = `${number}${own ? 'e' : 'i'}`;
        const column = columns.get(id);
        if (number === '2' && own) {
          equal(column, null, 'no exclusive values');
          continue;
        }
        if (!column) return equal(column, 'a column', id);
        const all = upTo(cellCount(m, cells));
        const plain = all.map((c) => value(own, cells, c));
        const got = columns.values(column, cells);
        equal([...got].map(rounded), plain.map(rounded), `${id} of ${cells ? 'rows' : 'places'}`);
        const among = draw(2) ? Uint32Array.from(all.filter(() => draw(2))) : null;
        const blank = columns.blankAmong(column, cells, among);
        equal([...blank!], [...(among ?? all)].filter((c) => Number.isNaN(plain[c])), `${id}: where ${cells ? 'rows' : 'places'} have nothing`);
        if (!cells && all.length) {
          const place = draw(all.length);
          equal(rounded(columns.at(column, place)), rounded(plain[place]), `${id} at ${place}`);
        }
        testError(columns, column, number, cells, plain);
      }
  const total = (i: number): number => m.values.of(i, false)![0];
  for (const form of ['i', 'e']) {
    equal(['0', '1', '3', '6', 't0'].map((id) => rounded(columns.total(columns.get(`${id}${form}`)!))), [total(0), total(1), total(3), total(6), 2 * total(0)].map(rounded), 'totals');
    equal(['0', '1', '3', '1-0', '0-1', '0/1', 't1'].map((id) => rounded(columns.whole(columns.get(`${id}${form}`)!))), [total(0), total(1), NaN, total(0), total(1), NaN, NaN].map(rounded), 'what is all of it');
  }
  equal(['0i', '3i', '4i', '5i', '1-0i', '0/1i', 't0i'].map((id) => columns.isRatio(columns.get(id)!)), [false, true, false, false, false, true, true], 'ratios');
  equal(['0i', '3i', '4i', '1-0i', 't1i', 't2i'].map((id) => columns.metricsOf(columns.get(id)!)), [[0], [3], [1, 0], [1, 0], [0, 1], [2, 2]], 'what is to be read');
  equal(['1-0i', '0/1i', '0-1e'].map((id) => [columns.get(id)!.metric.unit, columns.get(id)!.metric.name]), [['s', 'b.T − time'], ['', 'time ÷ b.T'], ['s', 'time − b.T']], 'what pairs are called');
  equal(['7i', 't3i', '0-7i', '7/0i', 't0-0i', '2e', '2-0e', 'x', '0'].map((id) => columns.get(id)), upTo(9).map(() => null), 'what there is not');
  equal([columns.of(2, true).id, columns.of(0, true).id, columns.of(0).id], ['2i', '0e', '0i'], 'columns of metrics');
  const firstOf = (list: readonly [boolean, boolean][]): number => firstMetric(list.map(([sortBy, display]) => metric('', { sortBy, display })));
  equal([firstOf([]), firstOf([[false, false]]), firstOf([[false, false], [false, true]]), firstOf([[false, true], [true, false]])], [-1, 0, 1, 1], 'the metric one looks at first');
}

/** Twice the standard deviation of sampled values; of a difference those of both. */
function testError(columns: Columns, column: Column, number: string, cells: Cells, plain: readonly number[]): void {
  const c = draw(plain.length);
  if (!plain.length) return;
  const sampled = (i: number, v: number): number => 2 * Math.sqrt(v * METRICS[i].period);
  const parts = [1, 0].map((i) => sampled(i, zero(columns.values(columns.of(i, column.exclusive), cells)[c])));
  const wanted = number === '4' || number === '1-0' ? Math.hypot(...parts) : /^[012]$/.test(number) ? sampled(Number(number), plain[c]) : NaN;
  equal(columns.error(column, plain[c], cells, c).toFixed(6), (Number.isNaN(plain[c]) ? NaN : wanted).toFixed(6), `${column.id}: how sure it is`);
}

/** A metric that is not loaded, or unreadable: values derived from it are unknown, all others are known. */
function testNotHere(): void {
  const { m } = drawCompared();
  const gone = draw(3);
  const { values } = m;
  const late: Model = {
    ...m,
    values: {
      of: (i, own) => (i === gone ? null : values.of(i, own)),
      failure: (i) => (i === gone ? 'damaged' : undefined),
      ...(values.at && values.present
        ? { at: (i: number, own: boolean, p: number) => (i === gone ? null : values.at!(i, own, p)), present: (i: number, own: boolean) => (i === gone ? null : values.present!(i, own)) }
        : {}),
    },
  };
  const columns = new Columns(late, TYPED);
  const known = new Columns(m, TYPED);
  const tables = new Tables(m);
  const needs: [id: string, of: readonly number[]][] = [['0i', [0]], ['1e', [1]], ['2i', [2]], ['4i', [0, 1]], ['1-0i', [0, 1]], ['0/1e', [0, 1]], ['t0i', [0]], ['t1i', [0, 1]], ['t2i', [2]]];
  for (const cells of [null, tables.level('loop', true)])
    for (const [id, of] of needs) {
      const [column, there] = [columns.get(id)!, known.get(id)!];
      const isHere = !of.includes(gone);
      equal(columns.isReady(column), isHere, `is ${id} here`);
      equal(columns.failure(column), isHere ? undefined : 'damaged', `why ${id} is not`);
      const all = known.values(there, cells);
      equal([...columns.values(column, cells)], isHere ? [...all] : [...all].map(() => NaN), `${id}, as far as it is here`);
      const blank = columns.blankAmong(column, cells, null);
      equal(blank && [...blank], isHere ? [...known.blankAmong(there, cells, null)!] : null, `what is blank in ${id} is known`);
      if (!cells) equal(columns.at(column, 0), isHere ? all[0] : NaN, `all of ${id}`);
    }
}

function testComparedOf(): void {
  const { m } = drawCompared();
  const columns = new Columns(m);
  equal(runsOf(m), ['a', 'b'], 'runs');
  equal([0, 1, 2, 3].map((i) => runOf(m, i)), ['a', 'b', 'a', ''], 'of which run');
  equal(comparedColumns(m, 'a', ['x']), ['0i', '1i', '1-0i', '2i'], 'columns of a comparison');
  equal(comparedColumns(m, 'b', ['x']), ['1i', '0i', '0-1i'], 'the other way round');
  equal(comparedColumns(m, 'c', ['x']), ['x'], 'with nothing');
  equal(firstDifference(columns)?.id, '4i', 'the stored one');
  const without: Model = { ...m, metrics: METRICS.slice(0, 3) };
  equal(firstDifference(new Columns(without))?.id, '1-0i', 'or one made here');
  equal(firstDifference(new Columns({ ...m, metrics: [METRICS[0], METRICS[2]] })), null, 'or none');
  equal(firstDifference(new Columns({ ...m, metrics: [METRICS[4], METRICS[0], METRICS[1]] }))?.id, '0i', 'wherever it stands');
  const ran = (...of: string[]): string[] => runsOf({ ...m, version: 1, runs: [], metrics: of.map((name) => metric(name, { event: name.slice(-1) })) });
  equal([ran('a.T', 'c.V', 'b.T'), ran('a.T', 'a.U', 'T'), ran('a.T', 'b.U'), ran('c.T', 'b.U', 'a.U', 'b.T'), ran()],
    [['a', 'b'], [], [], ['c', 'b', 'a'], []], 'runs that have measured the same');
  const old = ['a.T', 'b.T', '.T', 'T', 'a.U'].map((name) => metric(name, { event: 'e' }));
  for (const version of [1, 2]) {
    const first: Model = { ...m, version, runs: [], metrics: old };
    equal([0, 1, 2, 3, 4].map((i) => runOf(first, i)), version < 2 ? ['a', 'b', '', '', 'a'] : ['', '', '', '', ''], 'of version 1 by their names');
    equal(counterpart(first, 0, 'b'), version < 2 ? 1 : NONE, 'and what is the same');
    equal(counterpart(first, 2, 'a'), NONE, 'a name that begins with a dot is of no run');
  }
  const many = upTo(25).map((i) => `-m${i}`);
  const [x, y] = ['', '-mtune=x -march=x -O2 '].map((more) => [['built m', `${more}-g ${more ? many.join(' ') : ''}`.trim()], ['env:E', more]]);
  const runs = [x, y].map((facts) => ({ ...runOfName('r', ['m']), facts, command: 'c', machine: 'n', asked: 'e', processes: 1, root: 0 }) as unknown as Run);
  const found = differences({ ...m, runs, processes: [] });
  const words = (n: number): readonly string[] => [`-mtune=x ${many.slice(0, n - 1).join(' ')}`];
  const built = (text: readonly string[]): Run => ({ ...runs[0], facts: [['built m', text[0]]] });
  const told = [20, 21].map((n) => differences({ ...m, runs: [built(['']), built(words(n))], processes: [] })[0].values[1]);
  equal(told, [words(20)[0], '-mtune=x'], 'twenty words are not many');
  equal(found.map((d) => [d.what, d.values]), [['compilation of m', ['', '-mtune=x -march=x -O2']], ['E', ['', '-mtune=x -march=x -O2 ']]], 'of a hundred words those that say something');
}

// ---- pictures ----

function testPictures(): void {
  const m = drawProgram();
  const { parent, count, kind, file, lineFirst, lineLast } = m.places;
  const children = childrenOf(m.places);
  const values = m.values.of(0, false)!;
  const sorted = new SortedChildren(children, values, true);
  for (const root of upTo(count)) {
    const width = [0.5, 30, 300][draw(3)];
    const boxes = icicle(parent, sorted, values, root, width);
    const above: number[] = [];
    for (let p = parent[root]; p !== NONE; p = parent[p]) above.unshift(p);
    const plain: string[] = above.map((p, d) => `${p} ${d} 0.0 ${width.toFixed(1)}`);
    let depths = above.length;
    const place = (p: number, depth: number, x: number): void => {
      const wide = (values[p] / values[root]) * width;
      if (p !== root && wide < 0.6 - 1e-9) return;
      plain.push(`${p} ${depth} ${x.toFixed(1)} ${wide.toFixed(1)}`);
      depths = Math.max(depths, depth + 1);
      const below = upTo(count).filter((q) => parent[q] === p && values[q] > 0).sort((a, b) => values[b] - values[a] || a - b);
      below.reduce((at, q) => (place(q, depth + 1, at), at + (values[q] / values[root]) * width), x);
    };
    if (values[root] > 0) place(root, above.length, 0);
    const got = Array.from(boxes.node, (p, i) => `${p} ${boxes.depth[i]} ${boxes.x[i].toFixed(1)} ${boxes.width[i].toFixed(1)}`);
    equal([got.sort(), boxes.depths, boxes.count], [plain.sort(), depths, plain.length], `boxes of ${root} in ${width} pixels`);
  }

  const index = lineIndex(m);
  m.files.forEach((_, f) => {
    const mine = index.places.subarray(index.start[f], index.start[f + 1]);
    const { list, tracks } = loopBrackets(m, mine, f);
    const loops = [...mine].filter((p) => kind[p] === Kind.Loop && file[p] === f && lineFirst[p] > 0);
    const ranges = unique(loops.map((p) => `${lineFirst[p]}-${lineLast[p]}`));
    equal(list.map((b) => `${b.first}-${b.last}`).sort(), [...ranges].sort(), 'a bracket for each loop of the source');
    const inOrder = list.map((b, i) => list.slice(0, i).filter((o) => o.last >= b.first));
    const stack = (i: number): number => {
      const open: number[] = [];
      for (const b of list.slice(0, i + 1)) {
        while (open.length && open.at(-1)! < b.first) open.pop();
        open.push(b.last);
      }
      return open.length - 1;
    };
    equal(list.map((b) => b.track), inOrder.map((_o, i) => Math.min(stack(i), 4)), 'inside those that are open');
    equal(tracks, Math.max(0, ...list.map((b) => b.track + 1)), 'so many beside one another');
  });
}

function testAxesOf(): void {
  const power = draw(12) - 6;
  const values = upTo(1 + draw(9)).map(() => (1 + draw(999)) * 10 ** (power + draw(1 + draw(9))));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const axis = logAxis(values);
  const [first, last] = [axis.ticks[0], axis.ticks.at(-1)!];
  const steps = axis.ticks.slice(1).map((t, i) => Math.round(Math.log10(t / axis.ticks[i])));
  equal([axis.isLog, unique(steps).length <= 1, axis.ticks.length <= 8], [true, true, true], `powers of ten from ${low} to ${high}: ${axis.ticks}`);
  equal(axis.ticks.every((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9), true, 'powers of ten');
  equal([first <= low * 1.0001, first > low / 10.001], [true, true], `the first of them is just below ${low}`);
  const end = 10 ** Math.max(Math.round(Math.log10(first)) + 1, Math.ceil(Math.log10(high) - 1e-9));
  equal([Math.abs(axis.at(end) - 1) < 1e-9, Math.abs(axis.at(first)) < 1e-9, last <= end * 1.0001, last * 10 ** (steps[0] ?? 1) > end * 1.0001], [true, true, true, true], `and the last above ${high}: ${axis.ticks}, ${end}`);
  const mean = Math.sqrt(first * end);
  equal(Math.abs(axis.at(mean) - 0.5) < 1e-9, true, 'and halfway');
  const isWide = (list: readonly number[]): boolean => Math.min(...list) > 0 && Math.max(...list) > 100 * Math.min(...list);
  for (const list of [values, [...values, 0], [...values, -1], [1, 100], [1, 101], [...values, NaN, Infinity]])
    equal(axisOf(list).isLog, isWide(list.filter(Number.isFinite)), `logarithmic for ${list}`);
}

/** The dots of loops, all of them: copies together, both facts known. */
function testDots(): void {
  const { m } = drawCompared();
  const { kind, same, count } = m.places;
  const columns = new Columns(m);
  const loops = upTo(count).filter((p) => kind[p] === Kind.Loop);
  const facts = upTo(12).map(() => [draw(count + 1) - 1, draw(4) ? draw(9) : NaN]);
  const { info, rows } = tableOf('loop_quality', 'loop>place cycles>number confidence>number', facts.map(([p, v]) => [p, v, 1]));
  const known: Model = { ...m, tables: [info], tableRows: { of: () => rows, failure: () => undefined } };
  const [time, misses, ratio, , , , fact] = axisChoices(new Columns(known), []);
  equal([time, misses, ratio, fact].map((a) => a.id), ['0i', '1i', '2i', '6i'], 'metrics first');
  const cycles = axisChoices(new Columns(known), []).find((a) => a.table !== NONE)!;
  equal([cycles.id, cycles.title, axisChoices(new Columns(known), []).length], ['loop_quality.cycles', 'cycles', 8], 'and facts');
  const tables = new Tables(known);
  const cells = tables.level('loop', true);
  const weight = columns.of(0);
  const value = (group: number, i: number): number => columns.values(columns.of(i), cells)[group];
  const most = (group: number): number => {
    const mine = facts.filter(([p, v]) => p !== NONE && kind[p] === Kind.Loop && cells.groupOf[p] === group && !Number.isNaN(v)).map(([, v]) => v);
    return mine.length ? Math.max(...mine) : NaN;
  };
  for (const [x, y] of [[cycles, time], [time, misses], [misses, cycles]]) {
    const fact = (axis: typeof x, g: number): number => (axis === cycles ? most(g) : value(g, axis === time ? 0 : 1));
    const wanted = upTo(cells.count)
      .filter((g) => Number.isFinite(fact(x, g)) && Number.isFinite(fact(y, g)))
      .map((g) => `${fact(x, g)} ${fact(y, g)} ${Math.max(0, zero(value(g, 0) / columns.total(weight))).toFixed(6)} ${same[cells.members[cells.start[g]]]}`);
    const dots = dotsOf(new Columns(known), tables, x, y, weight)!;
    equal(dots.map((d) => `${d.x} ${d.y} ${d.weight.toFixed(6)} ${same[d.place]}`).sort(), wanted.sort(), `dots of ${x.id} and ${y.id}`);
    equal(dots.every((d, i) => i === 0 || d.weight >= dots[i - 1].weight), true, 'the heaviest last');
  }
  equal(loops.length >= cells.count, true, 'copies are one');
  const flops = { ...time, unit: 'GFLOP/s' };
  const bytes = { ...time, unit: 'FLOP/B' };
  const dots = upTo(draw(6)).map(() => ({ place: 0, x: draw(4) - 1, y: draw(4) - 1, weight: 0 }));
  const good = dots.filter((d) => d.x > 0 && d.y > 0);
  equal(roofOf(bytes, flops, dots), good.length ? { flops: Math.max(...good.map((d) => d.y)), bytes: Math.max(...good.map((d) => d.y / d.x)) } : null, 'what the dots show to be possible');
  equal([roofOf(flops, bytes, dots), roofOf(bytes, time, dots), roofOf(time, flops, dots)], [null, null, null], 'of work per byte and second alone');
}

// ---- what is called how ----

function testLabelsOf(): void {
  const m = drawProgram();
  const { count, kind, parent, file, lineFirst, lineLast, name, strings, addressLow, addressHigh, callFile, callLine } = m.places;
  for (const p of upTo(count)) if (kind[p] === Kind.Loop && draw(2)) [addressLow[p], addressHigh[p]] = [draw(1000), draw(3)];
  const fileOf = (f: number): string => (f === NONE ? '' : m.files[f].name);
  const lines = (p: number): string => `${lineFirst[p]}${lineLast[p] > lineFirst[p] ? `–${lineLast[p]}` : ''}`;
  for (const p of upTo(count)) {
    const around: number[] = [];
    for (let up = parent[p]; up !== NONE; up = parent[up]) around.push(up);
    const wanted =
      kind[p] >= Kind.Loop
        ? around.find((up) => kind[up] === Kind.Procedure || kind[up] === Kind.Inline)
        : around.find((up) => kind[up] !== Kind.Program && kind[up] < kind[p]);
    equal(surroundings(m, p), wanted === undefined ? '' : `in ${labelOf(m, wanted).text}`, `where ${p} belongs`);

    const base = fileOf(file[p]).replace(/.*\//, '');
    const isShort = kind[p] >= Kind.Loop && lineFirst[p] > 0 && base !== '' && file[parent[p]] === file[p];
    equal(labelIn(m, p).text, isShort ? `${kind[p] === Kind.Loop ? 'loop' : 'line'} ${lines(p)}` : labelOf(m, p).text, `${p} below what is around it`);
    if (kind[p] === Kind.Line)
      equal(labelOf(m, p).text, lineFirst[p] === 0 ? 'no line known' : base ? `${base}:${lines(p)}` : `line ${lineFirst[p]}`, `line ${p}`);
    if (kind[p] === Kind.Loop && lineFirst[p] > 0) equal(labelOf(m, p).text, `loop at ${base ? `${base}:` : 'line '}${lines(p)}`, `loop ${p}`);
    const call = fileOf(callFile[p]).replace(/.*\//, '');
    if (kind[p] === Kind.Inline)
      equal(labelOf(m, p).detail, call && callLine[p] ? `inlined at ${call}:${callLine[p]}` : callLine[p] ? `inlined at line ${callLine[p]}` : 'inlined', `call ${p}`);
    const told = describe(m, p).split('\n');
    const [hex, high] = [addressLow[p].toString(16), addressHigh[p].toString(16)];
    const label = labelOf(m, p);
    equal(
      told,
      [
        `${kindName(kind[p])}: ${strings[name[p]] || label.text}`,
        label.detail,
        label.badges.join(', '),
        base && kind[p] !== Kind.File && lineFirst[p] ? `${fileOf(file[p])}:${lines(p)}` : '',
        addressHigh[p] ? `address 0x${high}${'0'.repeat(8 - hex.length)}${hex}` : addressLow[p] ? `address 0x${hex}` : '',
      ].filter(Boolean),
      `all of ${p}`,
    );
  }
  const long = 'x'.repeat(25);
  equal(['a->b<L>', 'f>g<L>', 'a>>b<L>::c<L>', 'a<b>c<L>'].map((text) => folded(text.replace(/L/g, long))), ['a->b<…>', 'f>g<…>', 'a>>b<…>::c<…>', 'a<b>c<…>'], 'what closes nothing');
}

/** Inlined calls on a line: copies together, their lines, and their callees where they are called. */
function testInlinedOn(): void {
  const m = drawProgram();
  const { count, kind, parent, file, lineFirst, callFile, callLine, fullName } = m.places;
  const columns = new Columns(m);
  const values = m.values.of(0, false)!;
  const scopes = upTo(count).filter((p) => kind[p] >= Kind.Inline && draw(4));
  const below = (p: number): number[] => upTo(count).filter((q) => parent[q] === p);
  const whole = (p: number): number => (file[p] !== NONE ? file[p] : (below(p).map((q) => (kind[q] === Kind.Line ? file[q] : NONE)).find((f) => f !== NONE) ?? NONE));
  const calls = scopes.filter((p) => kind[p] === Kind.Inline && values[p] > 0);
  const wanted = unique(calls.map((p) => `${fullName[p]} ${file[p]}`)).map((key) => {
    const copies = calls.filter((p) => `${fullName[p]} ${file[p]}` === key).sort((a, b) => values[b] - values[a] || a - b);
    const f = whole(copies[0]);
    const sums = new Map<number, { value: number; calls: boolean }>();
    const walk = (p: number): void => {
      for (const q of below(p)) {
        if (kind[q] === Kind.Loop) walk(q);
        const isCall = kind[q] === Kind.Inline;
        const isHere = isCall ? callFile[q] === NONE || callFile[q] === f : kind[q] === Kind.Line && file[q] === f;
        const line = isCall ? callLine[q] : lineFirst[q];
        if (!isHere || line === 0 || !(values[q] > 0)) continue;
        const before = sums.get(line);
        sums.set(line, { value: zero(before?.value ?? 0) + values[q], calls: isCall || before?.calls === true });
      }
    };
    copies.forEach(walk);
    const lines = [...sums].map(([line, of]) => ({ line, ...of })).sort((a, b) => a.line - b.line);
    return { place: copies[0], copies: copies.length, file: f, value: sum(copies.map((p) => values[p])), lines };
  });
  wanted.sort((a, b) => b.value - a.value || a.place - b.place);
  const got = inlinedOn(columns, childrenOf(m.places), columns.of(0), scopes);
  equal(got.map(({ place, copies, file: f, value, lines }) => ({ place, copies, file: f, value, lines })), wanted, 'inlined calls');
}

// ---- machine code ----

/** Lines of the source come before their instructions; arrows without a free lane are omitted. */
function testInstructionsOf(): void {
  const n = 1 + draw(60);
  const rows = upTo(n).map((i) => [1, i * 4, draw(3) - 1, draw(3), draw(3) ? 4 * draw(n) : NaN, NaN, NaN]);
  const { info, rows: table } = tableOf('instructions', 'procedure address file line target loop around', rows);
  const metrics = upTo(20).map(() => [draw(n + 3) - 1, draw(2), 1 + draw(9)]);
  const counts = tableOf('counts', 'instruction metric value', metrics);
  const code = new Code(info, table, counts);
  const last = (i: number): number => metrics.reduce((found, [row, of, value]) => (row === i && of === 1 ? value : found), NaN);
  equal([...code.values(1)], upTo(n).map(last), 'what was counted');
  for (const names of ['instruction metric x', 'instruction x value', 'x metric value'])
    equal([...new Code(info, table, tableOf('counts', names, metrics)).values(1)].every(Number.isNaN), true, `counts without ${names}`);
  const shown = show(code, { first: 0, end: n });
  const wanted = rows.flatMap(([, , file, line], i) => {
    const isNew = line > 0 && (i === 0 || rows[i - 1][2] !== file || rows[i - 1][3] !== line);
    return isNew ? [`line ${i}`, `${i}`] : [`${i}`];
  });
  equal(shown.lines.map((l) => `${l.isSource ? 'line ' : ''}${l.row}`), wanted, 'lines of the source');
  const nested = tableOf('instructions', 'procedure address file line target loop around', [[1, 0, 0, 0, NaN, 1, 2], [1, 4, 0, 0, NaN, 2, NaN]]);
  const { loops } = show(new Code(nested.info, nested.rows, null), { first: 0, end: 2 });
  equal(loops.map((l) => `${l.header}: ${l.first}-${l.last}, ${l.track}`), ['2: 0-1, 0', '1: 0-0, 1'], 'of loops that begin together the outer one first');
  const all = rows.flatMap((row, i) => (Number.isNaN(row[4]) ? [] : [{ from: shown.at.get(i)!, to: shown.at.get(row[4] / 4)! }]));
  all.sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from) || a.from - b.from);
  const taken: { from: number; to: number; lane: number }[] = [];
  const crosses = (a: { from: number; to: number }, b: { from: number; to: number }): boolean =>
    a.to !== b.to && Math.min(a.from, a.to) <= Math.max(b.from, b.to) && Math.min(b.from, b.to) <= Math.max(a.from, a.to);
  for (const jump of all) {
    const lane = upTo(8).find((l) => !taken.some((t) => t.lane === l && crosses(t, jump)));
    if (lane !== undefined) taken.push({ ...jump, lane });
  }
  equal(shown.jumps, taken, 'jumps in the first lane that is free');
}

// ---- phases, findings ----

function tablesOf(m: Model, tables: readonly { info: TableInfo; rows: TableRows }[]): Model {
  return { ...m, tables: tables.map((t) => t.info), tableRows: { of: (i: number) => tables[i].rows, failure: () => undefined } };
}

function testPhasesOf(): void {
  const program = drawProgram();
  const { count, parent } = program.places;
  const inside = (p: number, above: number): boolean => p !== NONE && (p === above || inside(parent[p], above));
  const names = ['x', 'y', 'z', 'w'];
  const times = (): number => (draw(9) ? draw(50) : NaN);
  const barriers = upTo(draw(12)).map(() => [draw(4), draw(3) ? draw(2) : NONE, times(), times(), draw(9)]);
  const loops = upTo(20).map(() => [draw(count + 1) - 1, draw(4) - 1, draw(3), draw(2), draw(100), draw(4), draw(2)]);
  const waits = upTo(draw(15)).map(() => [draw(4), draw(4), times(), draw(3) ? draw(2) : NONE]);
  const m = tablesOf(program, [
    tableOf('barriers', 'name>text run>run phase barrier number', barriers, names),
    tableOf('phase_loops', 'place>place begun>barriers ended>barriers event>text share samples run>run', loops, ['e', 'f']),
    tableOf('waits_for', 'waiter>text thread>text waited run>run', waits, ['t10', 't2', 't1', 'u']),
  ]);
  const rowsOf = (name: string): Rows => Rows.of(m, name)!;
  const run = (r: number): number => (r === NONE ? 0 : r);
  const most = 1 + draw(4);
  const best = (name: number): number => Math.max(...barriers.filter((b) => b[0] === name).map((b) => zero(b[2])));
  const met = (name: number): number => Math.min(...barriers.filter((b) => b[0] === name).map((b) => b[4]));
  const seen = unique(barriers.map((b) => b[0]));
  const chosen = [...seen].sort((a, b) => best(b) - best(a)).slice(0, most);
  chosen.sort((a, b) => met(a) - met(b));
  const wanted = unique(barriers.map((b) => run(b[1]))).sort().map((r) => {
    const mine = upTo(barriers.length).filter((i) => run(barriers[i][1]) === r);
    const phase = (i: number): { row: number; work: number; wait: number; colour: number } => {
      const all = zero(barriers[i][2]);
      const wait = Math.min(zero(barriers[i][3]), all);
      return { row: i, work: all - wait, wait, colour: chosen.indexOf(barriers[i][0]) };
    };
    const phases = mine.map(phase).filter((p) => p.colour >= 0).sort((a, b) => a.colour - b.colour);
    const rest = mine.map(phase).filter((p) => p.colour < 0);
    if (rest.length) phases.push({ row: NONE, work: zero(sum(rest.map((p) => p.work))), wait: zero(sum(rest.map((p) => p.wait))), colour: most });
    return { run: r, phases, total: zero(sum(mine.map((i) => zero(barriers[i][2])))) };
  });
  equal(stacks(rowsOf('barriers'), most), wanted, `stacks of ${most} barriers`);

  const event = (e: number): string => 'ef'[e];
  const round = (x: number): number => Math.round(zero(x) * 1e6) / 1e6;
  const hottest = (a: { samples: number; place: number }, b: { samples: number; place: number }): number => b.samples - a.samples || a.place - b.place;
  for (const barrier of [0, 1, 2]) {
    const ended = loops.filter((l) => l[2] === barrier);
    const count = (of: (l: (typeof ended)[number]) => boolean): number => sum(ended.filter(of).map((l) => l[5]));
    const mine = unique(ended.map((l) => `${l[0]} ${l[3]}`)).map((key) => {
      const same = ended.filter((l) => `${l[0]} ${l[3]}` === key);
      const [place, begun, , e] = same[same.length - 1];
      const shares = same.map((l) => l[4] * count((o) => o[1] === l[1] && o[3] === e));
      return { place, begun, ended: barrier, event: event(e), share: round(sum(shares) / (count((o) => o[3] === e) || 1)), samples: sum(same.map((l) => l[5])) };
    });
    const found = loopsBefore(rowsOf('phase_loops'), barrier).map((l) => ({ ...l, share: round(l.share) }));
    equal(found, mine.filter((l) => l.place !== NONE).sort(hottest), `loops before ${barrier}`);
  }
  for (const place of [0, draw(count)]) {
    const mine = loops.filter((l) => place === 0 || inside(l[0], place));
    const keys = unique(mine.map((l) => `${l[6]} ${l[1]} ${l[3]}`));
    const sums = keys.map((key) => {
      const same = mine.filter((l) => `${l[6]} ${l[1]} ${l[3]}` === key);
      return `${event(same[0][3])} ${same[0][1]} ${sum(same.map((l) => l[4]))} ${sum(same.map((l) => l[5]))}`;
    });
    const got = phasesOf(m, rowsOf('phase_loops'), place);
    equal(got.map((l) => `${l.event} ${l.begun} ${l.share} ${l.samples}`).sort(), sums.sort(), `phases of ${place}`);
    equal(got.every((l, i) => l.place === place && (i === 0 || l.samples <= got[i - 1].samples)), true, 'the hottest first');
  }

  const texts = ['t10', 't2', 't1', 'u'];
  for (const r of [0, 1, 2]) {
    const mine = waits.filter((w) => run(w[3]) === r);
    const matrix = whoWaits(rowsOf('waits_for'), r);
    const order = ['t1', 't2', 't10', 'u'];
    equal(matrix.waiters, order.filter((t) => mine.some((w) => texts[w[0]] === t)), `who waits in run ${r}`);
    equal(matrix.others, order.filter((t) => mine.some((w) => texts[w[1]] === t)), 'and for whom');
    const waited = (a: string, b: string): number => zero(sum(mine.filter((w) => texts[w[0]] === a && texts[w[1]] === b).map((w) => zero(w[2]))));
    const pairs = order.flatMap((a) => order.map((b) => [a, b] as const));
    equal(pairs.map(([a, b]) => matrix.waited(a, b)), pairs.map(([a, b]) => waited(a, b)), 'how long');
    equal(matrix.most, Math.max(1, ...pairs.map(([a, b]) => waited(a, b))), 'and at most');
  }
}

/** Findings: the worst first, their places and texts. */
function testFindingsOf(): void {
  const program = drawProgram();
  const { count, file, lineFirst } = program.places;
  const strings = ['slow', 'why', 'do this', 'a long story', ''];
  const data = upTo(draw(12)).map(() => [draw(4) ? draw(count + 2) - 1 : 0, draw(5), draw(5), draw(5), draw(5) ? draw(100) : NaN, draw(5) ? draw(9) / 8 : NaN]);
  const isPercent = draw(2) === 0;
  const place = draw(2); // it may be the first column, or not
  const names = ['title>text', 'remedy>text', 'explanation>text', 'severity', 'confidence'];
  const order = place ? [1, 0, 2, 3, 4, 5] : [0, 1, 2, 3, 4, 5];
  const heads = ['where>place', ...names];
  const made = tableOf('findings', order.map((i) => heads[i]).join(' '), data.map((row) => order.map((i) => row[i])), strings);
  const info = { ...made.info, columns: made.info.columns.map((c) => (c.name === 'severity' && isPercent ? { ...c, unit: '%' } : c)) };
  const before = tableOf('other', 'n', []);
  const isFirst = draw(2) === 0;
  const m = tablesOf(program, isFirst ? [{ info, rows: made.rows }] : [before, { info, rows: made.rows }]);
  const scale = isPercent ? 0.01 : 1;
  const plain = data.map(([p, title, remedy, , severity, confidence]) => ({
    place: p,
    severity: severity * scale,
    confidence,
    weight: severity,
    title: strings[title],
    run: '',
    more: [strings[remedy]].filter(Boolean),
  }));
  const wanted = plain.map((f, i) => ({ f, i })).sort((a, b) => zero(b.f.weight) - zero(a.f.weight) || a.i - b.i).map(({ f }) => f);
  equal(findings(m), wanted, 'findings, the worst first');
  equal(findings(tablesOf(program, [before])), null, 'or none');
  for (const p of upTo(count)) equal(findingsAt(m, p), p === 0 ? [] : wanted.filter((f) => f.place === p), `findings at ${p}`);
  for (const f of [0, 1])
    for (const line of upTo(14)) {
      const isThere = (p: number): boolean => p > 0 && p < count && file[p] === f && lineFirst[p] === line && line > 0;
      equal(findingsOnLine(m, f, line), wanted.filter((w) => isThere(w.place)), `findings on line ${line}`);
    }
  const few = tableOf('findings', 'title>text', [[0], [1]], strings);
  equal(findings(tablesOf(program, [few]))!.map((f) => [f.place, f.severity, f.confidence, f.weight, f.title, f.more]), [[NONE, NaN, NaN, 0, 'slow', []], [NONE, NaN, NaN, 0, 'why', []]], 'of which little is said');
  const sure = tableOf('findings', 'severity', [[3], [4]]);
  equal(findings(tablesOf(program, [sure]))!.map((f) => [f.weight, f.title]), [[4, ''], [3, '']], 'or only how bad it is');
  const numbers = [0, 12, -1234567, 1e15, 0.5, -0.25, 123.456, 1e6 + 0.5, 999999.5, 1e-3, 0.0009, -2.5e-7, NaN];
  const cell = (type: 'number' | 'count' | 'time', x: number): string => cellText(program, { name: '', title: '', unit: '', description: '', type, to: '' }, { cells: [], strings: [] }, x);
  equal(numbers.map((x) => cell('number', x)), ['0', '12', '−1,234,567', '1.000e+15', '0.5', '−0.25', '123.5', '1.000e+6', '999999.5', '0.001', '9.000e-4', '−2.500e-7', ''].map((t) => (t === '999999.5' ? '1000000' : t)), 'numbers in cells');
  equal([0, 1.5e9, 1234567].map((x) => cell('time', x)), ['0.000000 s', '1.500000 s', '0.001235 s'], 'and times');
  const chain = upTo(6).map((i) => tableOf(`t${i}`, `next>t${i + 1}`, [[0]]));
  equal(cellText(tablesOf(program, chain), chain[0].info.columns[0], chain[0].rows, 0), 't4 0', 'rows of tables of tables, to an end');
}

/** Steps whose parents are not a tree become one: each is below its parent, or a root if that is a cycle. */
function testSteps(): void {
  const n = draw(12);
  const parents = upTo(n).map(() => draw(n + 3) - 2);
  const columns = 'hypothesis>text place>place state>text value threshold experiment>text parent note>text';
  const { info, rows } = tableOf('search', columns, parents.map((p) => [0, NONE, draw(3), 1, 1, 0, p < -1 ? NaN : p, 0]), ['h', 'true', 'false']);
  const steps = searchSteps(info, rows);
  const isKnown = (p: number): boolean => p >= 0 && p < n;
  equal(steps.every((s, i) => s.parent === parents[i] || s.parent === NONE), true, 'below their parents');
  const ends = (i: number, left: number): boolean => left >= 0 && (steps[i].parent === NONE || ends(steps[i].parent, left - 1));
  equal(steps.every((_, i) => ends(i, n)), true, 'nothing leads round');
  const circle = (i: number): number[] => {
    const way: number[] = [];
    for (let at = i; isKnown(at) && !way.includes(at); at = parents[at]) way.push(at);
    const back = parents[way.at(-1)!];
    return isKnown(back) ? way.slice(way.indexOf(back)).sort((a, b) => a - b) : [];
  };
  const circles = unique(upTo(n).map((i) => circle(i).join()).filter(Boolean));
  const cut = upTo(n).filter((i) => isKnown(parents[i]) && steps[i].parent === NONE);
  equal(circles.map((c) => cut.filter((i) => c.split(',').map(Number).includes(i)).length), circles.map(() => 1), 'each circle is cut once');
  equal(cut.length, circles.length, 'and nothing else');
  equal(steps.map((s) => s.children), upTo(n).map((i) => upTo(n).filter((k) => steps[k].parent === i)), 'what is below each');
  const leads = (i: number): boolean => rows.cells[2][i] === 1 || steps[i].children.some(leads);
  equal(steps.map((s) => s.leads), upTo(n).map(leads), 'which lead to something');
}

// ---- formulas ----

/** Additive metrics: two halves give the value of the whole, and twice the input twice the value. */
function testSums(): void {
  const names = ['A', 'B', 'total(C)', 'mean(A over threads)', 'sum(B over ranks)', 'parent(A)'];
  const drawn = (depth: number): string => {
    const part = (): string => drawn(depth - 1);
    const what = depth ? draw(9) : draw(2);
    if (what === 0) return names[draw(draw(3) ? 3 : 6)];
    if (what === 1) return ['2', '0', '0.5'][draw(3)];
    if (what < 6) return `(${part()} ${'+-*/'[draw(4)]} ${part()})`;
    if (what === 6) return `-${part()}`;
    return `${['min', 'max', 'sum', 'mean', 'or'][draw(5)]}(${part()}, ${part()})`;
  };
  const text = drawn(3);
  const formula = readFormula(text);
  if (typeof formula === 'string') return equal(formula, 'a formula', text);
  const constant = (i: number): number | null => (formula.references[i].at === 'total' ? 3 : null);
  const at = (values: readonly number[]): number => formula.evaluate((i) => constant(i) ?? values[i], 1)[0];
  const some = (): number[] => upTo(formula.references.length).map(() => draw(90) / 8 - 5);
  const near = (a: number, b: number): boolean => (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= 1e-9 * (1 + Math.abs(a) + Math.abs(b));
  const adds = upTo(8).every(() => {
    const [a, b] = [some(), some()];
    return near(at(a) + at(b), at(a.map((x, i) => x + b[i]))) && near(2 * at(a), at(a.map((x) => 2 * x)));
  });
  if (formula.isSum) equal(adds, true, `${text} adds up`);
  const multiple = (): string => [`A`, `2 * B`, `B * 3`, `A / 4`, `-(B)`, `A * total(C)`, `sum(A, B)`, `mean(A, B + A)`, `sum(B over ranks)`, `share(A)`][draw(10)];
  const linear = `${multiple()} ${'+-'[draw(2)]} (${multiple()})`;
  const known = readFormula(linear);
  equal(typeof known !== 'string' && known.isSum, true, `${linear} is a sum`);
  const more = [`A * B`, `A / B`, `A + 1`, `max(A, B)`, `min(A)  * A`, `A ^ 2`, `sqrt(A)`, `if(A, B, A)`, `A < B`, `not A`, `max(A over threads)`, `parent(A)`][draw(12)];
  const other = readFormula(`${linear} + ${more}`);
  equal(typeof other !== 'string' && other.isSum, false, `${linear} + ${more} is none`);
  const pairs: [string, boolean][] = [['A - B', true], [' A-B ', true], ['run(x).A - "b c"', true], ['A - A', false], ['A + B', false], ['A - B - A', false], ['A - total(B)', false], ['A - 2', false], ['(A - B)', false], ['-A - B', false]];
  for (const [pair, is] of pairs) {
    const f = readFormula(pair);
    equal(typeof f !== 'string' && f.isDifference, is, `is ${pair} a difference`);
  }
  const words: [string, string][] = [
    ['A + and', "character 5 of the formula: unexpected 'and'; quote it if it is the name of a metric"],
    ['A + or', "character 5 of the formula: unexpected 'or'; quote it if it is the name of a metric"],
  ];
  for (const [odd, says] of words) equal(readFormula(odd), says, odd);
  const reference = 'expected the name of a metric, as in total(M), run(NAME).M or mean(M over threads)';
  const wanted: [string, number][] = [['total()', 7], ['total(1)', 7], ['run(2).A', 1], ['run(x).', 1], ['stddev(, A over threads)', 8], ['parent(-A)', 8], ['run(x).(A)', 1], ['total(sqrt(A))', 7], ['total(', 7]];
  for (const [odd, character] of wanted) equal(readFormula(odd), `character ${character} of the formula: ${reference}`, odd);
  for (const number of ['5k%', '5s%', '5Mi%', '1.2.3', '5x', '5kk'])
    equal(String(readFormula(number)).startsWith(`character 1 of the formula: '${number}' is not a number`), true, number);
}

/** Lines of unknown number are not rows of the summary, in any order. */
function testLinesOfSummary(): void {
  const { m, inside } = drawCompared();
  const { count, kind, same, file, lineFirst } = m.places;
  const columns = new Columns(m);
  const tables = new Tables(m);
  for (const id of ['0i', '3i', '5i']) {
    const column = columns.get(id)!;
    const values = columns.values(column, null);
    const wanted = unique(upTo(count).filter((p) => kind[p] === Kind.Line).map((p) => same[p])).flatMap((first) => {
      const copies = upTo(count).filter((p) => kind[p] === Kind.Line && same[p] === first);
      const known = copies.filter((p) => file[p] !== NONE && lineFirst[p] > 0);
      equal(copies.every((p) => copies.every((q) => p === q || !inside(p, q))), true, 'lines are in no line');
      const over = (i: number): number => sum(known.map((p) => m.values.of(i, false)![p]));
      const all = id === '3i' ? finite(over(0) / over(2)) : sum(known.map((p) => values[p]));
      return all > 0 ? [all] : [];
    });
    const hot = hottestOf(columns, tables, column, 'line', 50);
    equal([hot.count, hot.top.map((h) => h.value.toFixed(6))], [wanted.length, wanted.sort((a, b) => b - a).map((v) => v.toFixed(6))], `the hottest lines by ${id}`);
  }
}

export function testShown(): void {
  const tests = {
    'columns of two runs': testColumnsOf,
    'columns that are not here': testNotHere,
    comparisons: testComparedOf,
    pictures: testPictures,
    'axes by powers of ten': testAxesOf,
    'dots of loops': testDots,
    labels: testLabelsOf,
    'inlined calls': testInlinedOn,
    instructions: testInstructionsOf,
    'phases of programs': testPhasesOf,
    findings: testFindingsOf,
    'steps of a search': testSteps,
    'formulas that add up': testSums,
    'lines of a summary': testLinesOfSummary,
  };
  for (const [what, test] of Object.entries(tests)) {
    wrong = '';
    for (let i = 0; i < 12; i++) test();
    report(wrong, '', `${what}, drawn at random`);
  }
}
