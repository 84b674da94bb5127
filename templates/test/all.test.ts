import { decodeMetric, decodePlaces, fromBase64 } from '../model/decode';
import { readHead, VERSION } from '../model/head';
import { columnOf, Kind, type Model } from '../model/data';
import { groupLabel, groupsOf, groupValues, type Level, sortedGroups, Sums } from '../logic/flat';
import { formatExact, formatPercent, formatScaled, scaleAmong, scaleFor } from '../logic/format';
import { parseFormula } from '../logic/formula';
import { describe, enclosing, labelOf } from '../logic/labels';
import { fileCosts, lineCosts, lineIndex, placesOnLine } from '../logic/lines';
import { Tables } from '../logic/rows';
import { matcherFor } from '../logic/search';
import { languageOf, type LineState, tokenize } from '../logic/syntax';
import {
  ancestors,
  childrenOf,
  hotPath,
  markMatches,
  SortedChildren,
  sourceOf,
  subtree,
  visibleRows,
} from '../logic/tree';
import { isStep } from '../state/actions';
import { reduce } from '../state/reduce';
import type { State } from '../state/state';
import { fromHash, toHash } from '../state/url';
import { metric, model } from './outline';
import { done, equal, throws } from './tap';

const A = columnOf(0, false);
const B = columnOf(1, false);

const heat = (): Model =>
  model(`
program prog
  module a.out
    file x.c
      proc main 1-30 @x.c
        line 3 @x.c = 5 .
        loop 5-9 @x.c #1/2
          line 6 @x.c = 60 2
          inline dot 40-50 @y.h <x.c:7
            loop 42-44 @y.h
              line 43 @y.h = 20 8
        loop 5-9 @x.c #2/2
          line 6 @x.c = 10 0
          inline dot 40-50 @y.h <x.c:7
            line 43 @y.h = 3 1
    file z.c
      proc small 1-9 @z.c
        line 2 @z.c = 2 .
  module libc
    file
      proc memset
        line = 1 .
`);

/** The tree as the table shows it. */
function outline(
  m: Model,
  expanded: Iterable<number>,
  column: number | null,
  filter = '',
  descending = column !== null,
): string {
  const children = childrenOf(m.places);
  const matches = matcherFor(m, filter, false);
  const rows = visibleRows(
    new SortedChildren(m, children, column, descending),
    children,
    new Set(expanded),
    matches && markMatches(m.places, matches),
  );
  return rows.place
    .map(
      (p, i) =>
        `${'  '.repeat(rows.depth[i])}${rows.hasChildren[i] ? (rows.expanded[i] ? '- ' : '+ ') : '  '}${labelOf(m, p).text}`,
    )
    .join('\n');
}

function flat(m: Model, level: Level, fuse: boolean, column: number | null): string {
  const groups = groupsOf(m, level, fuse);
  const sums = new Sums(m);
  const columns = m.metrics.map((_, i) => groupValues(groups, sums, columnOf(i, false)));
  const order = sortedGroups(m, groups, column === null ? null : groupValues(groups, sums, column), column !== null);
  return Array.from(
    order,
    (g) =>
      `${labelOf(m, groups.members[groups.start[g]]).text} x${groups.start[g + 1] - groups.start[g]}: ${columns.map((c) => formatExact(c[g]) || 'blank').join(', ')}`,
  ).join('\n');
}

function testTree(): void {
  const m = heat();
  equal(outline(m, [], A), '+ prog', 'a closed tree is its root');
  equal(
    outline(m, [0, 1, 2, 3], A),
    `- prog
  - a.out
    - x.c
      - main
        + loop at x.c:5–9
        + loop at x.c:5–9
          x.c:3
    + z.c
  + libc`,
    'children by cost',
  );
  equal(outline(m, [0, 1], null), '- prog\n  - a.out\n    + x.c\n    + z.c\n  + libc', 'children in source order');
  equal(outline(m, [0, 1], A, '', false), '- prog\n  + libc\n  - a.out\n    + z.c\n    + x.c', 'the cheapest first');
  equal(outline(m, [0, 1, 2, 3], B).split('\n').pop(), '  + libc', 'blanks come last');
  equal(
    outline(m, [], A, 'DOT'),
    `- prog
  - a.out
    - x.c
      - main
        - loop at x.c:5–9
          + dot
        - loop at x.c:5–9
          + dot`,
    'a filter opens the way to what matches',
  );
  equal(outline(m, [], A, 'y.h:43').split('\n').length, 11, 'file:line finds lines and the loops around them');
  equal(outline(m, [], A, 'nothing like it'), '', 'nothing matches');
  const children = childrenOf(m.places);
  equal(
    hotPath(m, children, A, 0).map((p) => labelOf(m, p).text),
    ['prog', 'a.out', 'x.c', 'main', 'loop at x.c:5–9', 'x.c:6'],
    'the hot path follows the dominating child',
  );
  equal(hotPath(m, children, columnOf(0, true), 0).length, 6, 'and is by inclusive values whatever the column');
  equal(
    hotPath(m, children, B, 3).map((p) => labelOf(m, p).text),
    ['main', 'loop at x.c:5–9', 'dot', 'loop at y.h:42–44', 'y.h:43'],
    'from any place, by any metric',
  );
  equal(ancestors(m.places, 6), [5, 3, 2, 1, 0], 'ancestors, the nearest first');
  equal(
    [sourceOf(m, 5), sourceOf(m, 2), sourceOf(m, 1), sourceOf(m, 18)],
    [{ file: 0, first: 5, last: 9 }, { file: 0, first: 0, last: 0 }, undefined, null],
    'the source of a loop, a file, a module, a file without name',
  );
  const lost = model(
    'program p\n  module a\n    file x.c\n      proc f 1-9 @x.c\n        inline g <x.c:4\n          line 4 @x.c = 1 1',
  );
  equal(sourceOf(lost, 4), { file: 0, first: 4, last: 4 }, 'an inlined call without lines of its own shows the call');
  equal(subtree(children, 3, 100).length, 6, 'everything that can be opened below');
  equal(subtree(children, 3, 2).length, 2, 'within the limit');
}

function testNothing(): void {
  const bare = model('program p', []);
  equal(outline(bare, [0], null), '  p', 'a program in which nothing was measured');
  equal(hotPath(bare, childrenOf(bare.places), A, 0), [0], 'its hot path');
  equal(flat(bare, 'line', true, null), '', 'its lines');
  equal(outline(model('', []), [0], null), '', 'no places at all');
}

function testFlat(): void {
  const m = heat();
  equal(
    flat(m, 'line', true, A),
    `x.c:6 x2: 70, 2
y.h:43 x2: 23, 9
x.c:3 x1: 5, blank
z.c:2 x1: 2, blank
no line known x1: 1, blank`,
    'lines, instances added up',
  );
  equal(flat(m, 'line', false, A).split('\n').length, 7, 'lines, each instance alone');
  equal(flat(m, 'loop', true, A), 'loop at x.c:5–9 x2: 93, 11\nloop at y.h:42–44 x1: 20, 8', 'loops');
  equal(flat(m, 'inline', true, A), 'dot x2: 23, 9', 'inlined procedures over all calls');
  equal(
    flat(m, 'procedure', true, null),
    'main x1: 98, 11\nmemset x1: 1, blank\nsmall x1: 2, blank',
    'procedures by name',
  );
  equal(flat(m, 'module', true, B), 'a.out x1: 100, 11\nlibc x1: 1, blank', 'modules');
  m.places.role[5] = 1;
  m.places.role[10] = 2;
  const loops = groupsOf(m, 'loop', true);
  equal(
    groupLabel(m, loops, 0, 5),
    { text: 'loop at x.c:5–9', detail: '', badges: ['vector', 'remainder'] },
    'a row of several loops tells what kinds they are',
  );
  const nested = model(`
program p
  module a
    file x.c
      proc f 1-9 @x.c
        inline r 2-4 @x.c <x.c:3
          line 3 @x.c = 1 1
          inline r 2-4 @x.c <x.c:3
            line 3 @x.c = 10 1
`);
  const groups = groupsOf(nested, 'inline', true);
  const sums = new Sums(nested);
  equal(
    [groupValues(groups, sums, A)[0], groupValues(groups, sums, columnOf(0, true))[0]],
    [11, 11],
    'a call inlined into itself is not counted twice',
  );
  const ratio = model(
    `
program p
  module a
    file x.c
      proc f 1-9 @x.c
        loop 2-3 @x.c
          line 3 @x.c = 10 5 0.5
        loop 4-5 @x.c
          line 3 @x.c = 30 3 0.1
          line 4 @x.c = 0 3 .
`,
    [metric('A'), metric('B'), metric('R', { formula: 'B / A' })],
  );
  equal(
    flat(ratio, 'line', true, A),
    'x.c:3 x2: 40, 8, 0.2\nx.c:4 x1: 0, 3, blank',
    'a ratio over instances is the ratio of the sums',
  );
  const summed = model(
    'program p\n  module a\n    file x.c\n      proc f 1-2 @x.c\n        line 1 @x.c = 1 1\n        loop 1-2 @x.c\n          line 1 @x.c = 1 2',
    [metric('A'), metric('R', { formula: 'max(A, 7)', summed: true })],
  );
  equal(flat(summed, 'line', true, A), 'x.c:1 x2: 2, 3', 'a metric that was computed at the lines is summed');
  const strange = model(
    'program p\n  module a\n    file x.c\n      proc f 1-2 @x.c\n        line 1 @x.c = 1 1\n        loop 1-2 @x.c\n          line 1 @x.c = 1 2',
    [metric('A'), metric('R', { formula: 'frobnicate(A)' })],
  );
  equal(
    flat(strange, 'line', true, A),
    'x.c:1 x2: 2, blank',
    'a formula the page cannot compute is blank over instances',
  );
}

function testLines(): void {
  const m = heat();
  const index = lineIndex(m);
  const sums = new Sums(m);
  const named = (f: string): number => m.files.findIndex((x) => x.name === f);
  equal(
    Array.from(fileCosts(m, index, sums, A), (v, f) => `${m.files[f].name} ${v}`),
    ['x.c 75', 'y.h 23', 'z.c 2'],
    'a file costs what its own lines cost',
  );
  equal(
    [...lineCosts(m, index, sums, A, named('x.c'))].map(([l, c]) => `${l}: ${c.value} in ${c.instances}`),
    ['3: 5 in 1', '6: 70 in 2'],
    'lines of a file',
  );
  equal(placesOnLine(m, index, A, named('x.c'), 6), [6, 11], 'the places of a line, the costliest first');
  equal(
    placesOnLine(m, index, A, named('x.c'), 7).map((p) => labelOf(m, p).text),
    ['dot', 'dot'],
    'no cost on the line: the calls inlined there',
  );
  equal(placesOnLine(m, index, A, named('x.c'), 5).length, 2, 'or the loops that begin there');
  equal(placesOnLine(m, index, A, named('x.c'), 29), [], 'or nothing');
  const costly = model(
    'program p\n  module a\n    file x.c\n      proc f 1-2 @x.c\n        line 2 @x.c = 1 1\n        line 1 @x.c = 5 2',
  );
  equal([...lineCosts(costly, lineIndex(costly), new Sums(costly), A, 0).keys()], [1, 2], 'in the order of the source');
}

function testFormulas(): void {
  const values = new Map([
    ['A', 6],
    ['B', 2],
    ['Z', 0],
    ['MISSING', NaN],
    ['odd name', 5],
    ['perf::X', 4],
    ['min', 1000],
    ['say "hi"', 7],
  ]);
  // the same cases as metrics/expr_test.c has, for the same answers
  const rows: readonly (readonly [string, number | null])[] = [
    ['A + B * 2', 10],
    ['(A + B) * 2', 16],
    ['A - B - 1', 3],
    ['A / B / 3', 1],
    ['-A + 1', -5],
    ['--A', 6],
    ['+A', 6],
    ['A - -B', 8],
    ['A / Z', NaN],
    ['A + MISSING', NaN],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['2 ^ -1 * 4', 2],
    ['2 ^ -3 ^ 2', 1 / 512],
    ['A * -B', -12],
    ['MISSING ^ 0', NaN],
    ['1 ^ MISSING', NaN],
    ['(0 - 8) ^ 0.5', NaN],
    ['Z ^ -1', NaN],
    ['min(A, B, 7)', 2],
    ['max(A, B * 5, 7)', 10],
    ['sum(A, B, -1)', 7],
    ['min (A, B)', 2],
    ['min + 1', 1001],
    ["'min' + 1", 1001],
    ['min(A, MISSING)', NaN],
    ['max(MISSING, A)', NaN],
    ['"odd name" * 2', 10],
    ["'odd name' * 2", 10],
    ['"say \\"hi\\""', 7],
    ['perf::X + 1', 5],
    ['1.5e3 + .5', 1500.5],
    ['1e-1 * A', 0.6000000000000001],
    ['1e300 * 1e300', NaN],
    ['1 / (1e300 * 1e300)', NaN],
    ['A +', null],
    ['nope(A)', null],
    ['constructor(A)', null],
    ['(A', null],
    ['A)', null],
    ['A B', null],
    ['', null],
    ['1x', null],
    ['('.repeat(2000), null],
    ['-'.repeat(2000) + '1', null],
  ];
  for (const [text, want] of rows) {
    const f = parseFormula(text);
    equal(f ? f((n) => values.get(n) ?? NaN) : null, want, `formula ${text.slice(0, 30)}`);
  }
}

function testFormats(): void {
  const ns = metric('T', { unit: 'ns' });
  const cycles = metric('C', { unit: 'cycles' });
  const ratio = metric('R', { unit: '', formula: 'A / B' });
  const rows: readonly (readonly [typeof ns, number, number, string])[] = [
    [ns, 12.5e9, 4e6, '0.004 s'],
    [ns, 12.5e9, 12.5e9, '12.500 s'],
    [ns, 12.5e9, 1, '<0.001 s'],
    [ns, 3e6, 1.25e6, '1.250 ms'],
    [ns, 12.5e9, NaN, ' s'],
    [cycles, 2.5e12, 1.5e12, '1.500 T cycles'],
    [cycles, 2e9, 0, '0.000 G cycles'],
    [cycles, 5e9, 4.9996e9, '5.000 G cycles'],
    [cycles, 99999, 1234, '1,234 cycles'],
    [cycles, 12, 12, '12 cycles'],
    [ratio, 1.2345678, 0.5, '0.5000 '],
    [ratio, 2, 1234.5, '1,234.5 '],
    [ratio, 2, -3.25, '−3.250 '],
    [cycles, -5e9, -1e9, '−1.000 G cycles'],
  ];
  for (const [m, total, value, want] of rows) {
    const scale = scaleFor(m, total);
    equal(`${formatScaled(value, scale)} ${scale.unit}`, want, `${value} of ${total} ${m.name}`);
  }
  equal(
    [scaleAmong(cycles, 5e12, 3e6).unit, scaleAmong(cycles, 5e12, 3e11).unit, scaleAmong(cycles, 5e12, NaN).unit],
    ['M cycles', 'T cycles', 'T cycles'],
    'a table of small things has its own scale',
  );
  equal(
    [formatExact(1234567.5), formatExact(2 ** 53), formatExact(NaN), formatExact(-12), formatExact(1e21)],
    ['1,234,567.5', '9,007,199,254,740,992', '', '−12', '1e+21'],
    'every digit',
  );
  equal(
    [
      formatPercent(1, 3),
      formatPercent(1e-9, 1),
      formatPercent(0, 1),
      formatPercent(NaN, 1),
      formatPercent(1, 0),
      formatPercent(1, NaN),
      formatPercent(-1, 2),
    ],
    ['33.3', '<0.1', '0.0', '', '', '', '−50.0'],
    'percent',
  );
}

function testLabels(): void {
  const m = heat();
  equal(labelOf(m, 5), { text: 'loop at x.c:5–9', detail: '', badges: ['1 of 2'] }, 'a loop instance');
  equal(labelOf(m, 7), { text: 'dot', detail: 'inlined at x.c:7', badges: [] }, 'an inlined call');
  equal(labelOf(m, 18).text, 'no source file known', 'no file');
  equal(
    [enclosing(m, 20, [Kind.Procedure]), enclosing(m, 20, [Kind.Module]), enclosing(m, 0, [Kind.Module])],
    ['memset', 'libc', null],
    'what is around a place',
  );
  equal(describe(m, 6), 'line: x.c:6\nx.c:6', 'a tooltip');
}

function testAddress(): void {
  const m = heat();
  const start: State = {
    view: 'tree',
    sortBy: A,
    descending: true,
    shown: [0, 1, 2],
    exact: false,
    fuse: true,
    filter: '',
    selected: null,
    source: null,
    expanded: new Set([0]),
    panel: 'none',
  };
  equal(toHash(start, start), '#v1/tree', 'the start says nothing');
  const state: State = {
    ...start,
    view: 'loop',
    sortBy: columnOf(1, true),
    descending: false,
    shown: [0, 3],
    exact: true,
    fuse: false,
    filter: 'a&b=ü #',
    selected: 6,
    source: { file: 1, first: 5, last: 9 },
  };
  const hash = toHash(state, start);
  equal(
    hash,
    '#v1/loop?sort=1e+&columns=0i,1e&exact=1&fuse=0&find=a%26b%3D%C3%BC%20%23&place=6&source=1:5-9'.replace(
      '1e+',
      '1e%2B',
    ),
    'an address',
  );
  equal({ ...start, ...fromHash(hash, start, m), expanded: 0 }, { ...state, expanded: 0 }, 'and back');
  equal(fromHash('#v9/tree', start, m), null, 'another version says nothing');
  equal(fromHash('', start, m), null, 'no address');
  const odd = fromHash('#v1/nonsense?sort=77i-&place=99999&source=8:1&columns=zz,0i&find=%E0%A4%A', start, m);
  equal(
    [odd?.view, odd?.sortBy, odd?.selected, odd?.source, odd?.shown, odd?.filter],
    ['tree', A, null, null, [0], ''],
    'what is wrong in a link is passed over',
  );
  equal(reduce(start, { type: 'sort', by: A }).descending, false, 'the same column again turns the order round');
  equal(reduce(start, { type: 'sort', by: B }).descending, true, 'another column begins with the largest');
  equal(
    [isStep({ type: 'view', view: 'line' }), isStep({ type: 'filter', text: 'x' })],
    [true, false],
    'what the back button goes back over',
  );
}

function testTables(): void {
  const m = heat();
  const tables = new Tables(m);
  const state: State = {
    view: 'line',
    sortBy: A,
    descending: true,
    shown: [0],
    exact: false,
    fuse: true,
    filter: '',
    selected: null,
    source: null,
    expanded: new Set([0]),
    panel: 'none',
  };
  const table = tables.of(state);
  equal(
    [table.count, table.place(0), table.rowOf(11), table.instances(0)],
    [5, 6, 0, 2],
    'a fused row stands for its costliest place, and is found from any',
  );
  equal(tables.of(state) === table, true, 'nothing is computed twice');
  equal(tables.of({ ...state, filter: 'y.h' }).count, 1, 'a flat filter goes by file');
  equal(tables.of({ ...state, view: 'tree' }).rowOf(6), 1, 'a place that is not open is found in what is');
  equal(tables.has('loop'), true, 'there are loops');
}

function colours(file: string, lines: readonly string[]): string {
  let state: LineState = 'code';
  return lines
    .map((text) => {
      const r = tokenize(languageOf(file), text, state);
      state = r.state;
      if (r.tokens.map((t) => t.text).join('') !== text) return `lost text: ${text}`;
      return r.tokens.map((t) => (t.kind === 'plain' ? t.text : `${t.kind[0]}[${t.text}]`)).join('');
    })
    .join('\n');
}

function testSyntax(): void {
  equal(
    colours('a.cpp', ['#include <x>', 'int f(1.5e-3); // c', '"a\\"b" /* x', 'still */ return x/y;', "'\\'' + a"]),
    'd[#include] <x>\nk[int] f(n[1.5e-3]); c[// c]\ns["a\\"b"] c[/* x]\nc[still */] k[return] x/y;\ns[\'\\\'\'] + a',
    'C',
  );
  equal(
    colours('a.F90', ['  DO i = 1, n ! x', "  print *, 'it''s'", '!$omp parallel', 'x = 1.0d0']),
    "  k[DO] i = n[1], n c[! x]\n  k[print] *, s['it''s']\nd[!$omp parallel]\nx = n[1.0d0]",
    'Fortran',
  );
  equal(
    colours('a.rs', ["fn f<'a>(x: &'a u8) -> char { 'x' }"]),
    "k[fn] f<'a>(x: &'a k[u8]) -> k[char] { s['x'] }",
    'Rust: lifetimes are no strings',
  );
  equal(colours('a.py', ['"""doc', 'x = 1', 'end""" + y # c']), 's["""doc]\ns[x = 1]\ns[end"""] + y c[# c]', 'Python');
  equal(colours('a.txt', ['for <script>']), 'for <script>', 'unknown language');
  equal(tokenize(languageOf('a.c'), `${'x'.repeat(3000)} // c`, 'code').tokens.length, 1, 'very long lines are plain');
}

function testDecoding(): void {
  equal([...fromBase64('AQIDBA==')], [1, 2, 3, 4], 'base64');
  equal(fromBase64('').length, 0, 'empty base64');
  throws(() => fromBase64('A*=='), 'not base64', 'base64 with something else in it');
  const value = new Uint8Array(new Float64Array([1.5]).buffer);
  const column = decodeMetric(Uint8Array.of(5, 0, ...value), 2, true, 0);
  equal(
    [[...column.inclusive], [...column.exclusive!]],
    [
      [1.5, NaN],
      [1.5, NaN],
    ],
    'a metric: equal values are stored once, missing ones not at all',
  );
  equal(
    [...decodeMetric(Uint8Array.of(1, 0, 1, 1, 2, 2, 1, 0, 0, 0, 0), 3, false, 1000003).inclusive],
    [(1 + 2 * 256) * 1000003, NaN, (2 + 256) * 1000003],
    'a sampled metric: multiples of its period',
  );
  throws(() => decodeMetric(Uint8Array.of(1, 0, 3), 2, true, 0), 'too early', 'a metric cut short');
  throws(() => decodeMetric(Uint8Array.of(1, 1, ...value), 2, true, 0), 'wrong number', 'a metric with too few values');
  const columns = new Uint8Array(2 + 13 * 4);
  throws(() => decodePlaces(columns.subarray(0, 20), 1, 1, 0, 2), 'too early', 'places cut short');
  throws(
    () => decodePlaces(Uint8Array.of(...new Uint8Array(2 + 8), 9, 0, 0, 0, ...new Uint8Array(44), 0), 1, 1, 0, 2),
    'not there',
    'a name that is not there',
  );
}

function testHead(): void {
  const head = {
    format: 'hpcview-database',
    version: VERSION,
    generator: 'hpcview 9',
    title: 't',
    places: 1,
    strings: 1,
    metrics: [],
    files: [
      ['a.c', 'text', 0, 5, 7],
      ['b.c', 'missing'],
    ],
    processes: [],
    warnings: ['w'],
  };
  const read = readHead(JSON.stringify(head));
  equal([read.title, read.files[0].offset, read.files[1].state, read.warnings[0]], ['t', 5, 'missing', 'w'], 'a head');
  throws(
    () => readHead(JSON.stringify({ ...head, version: VERSION + 1 })),
    `reads formats up to ${VERSION}`,
    'a newer format is told as such',
  );
  throws(() => readHead('{}'), 'not an hpcview database', 'something else');
  throws(() => readHead('{'), 'not JSON', 'a damaged head');
}

testTree();
testNothing();
testFlat();
testLines();
testFormulas();
testFormats();
testLabels();
testAddress();
testTables();
testSyntax();
testDecoding();
testHead();
done();
