// SPDX-License-Identifier: BSD-3-Clause
import formulaCases from '../../tests/formulas/cases.txt';
import formulaMessages from '../../tests/formulas/messages.txt';
import unfinished from '../../tests/formulas/unfinished.cases';
import { decodeBase64, decodeMetric, decodePlaces, decodeTable, decodeTree, fromBase64 } from '../model/decode';
import { readHead, VERSION } from '../model/head';
import { Kind, type Model, NONE, type Places, type Present, type Run, type TableInfo, type TableRows } from '../model/data';
import { KeyNumbers } from '../model/keys';
import { axisOf, linearAxis } from '../logic/axis';
import { loopBrackets, outermost } from '../logic/brackets';
import { Columns } from '../logic/columns';
import { comparedColumns, differences, firstDifference, runsOf } from '../logic/compare';
import { callersOf, callRows, callsOf, foldRecursion, treeModel } from '../logic/calls';
import { tableCsv } from '../logic/csv';
import { distributionAt, evenParts, histogram, metricsByThread, summed } from '../logic/distribution';
import { groupLabel, groupsOf, type Level, sortedGroups } from '../logic/flat';
import {
  FORMS,
  formatAs,
  formatExact,
  formatPercent,
  formatScaled,
  formatShort,
  scaleAmong,
  scaleFor,
  unitIn,
  timeText,
} from '../logic/format';
import { explained } from '../views/glossary';
import { parseFormula, readFormula } from '../logic/formula';
import { boxAt, icicle } from '../logic/icicle';
import { inlinedOn } from '../logic/inlined';
import { Code, show } from '../logic/instructions';
import { describe, enclosing, folded, labelIn, labelOf, shortName } from '../logic/labels';
import { SelfValues } from '../logic/self';
import { fileLines, hottestLine, lineIndex, linesByFile, placesOnLine, scopesOnLine, withCalls } from '../logic/lines';
import { type HotPlace, hotPlaces } from '../logic/hot_places';
import { type Subject, Tables } from '../logic/rows';
import { cutAt, findText, foundFrom, foundNext, MOST_FOUND } from '../logic/find';
import { Memory, missesOnLine, reasons } from '../logic/memory';
import { barrierName, inRange, loopsBefore, phasesOf, placesInRange, Rows, stacks, threadName, timeline, whoWaits } from '../logic/phases';
import { axisChoices, dotsOf, roofOf } from '../logic/scatter';
import { globMatches, matcherFor, parseFilter } from '../logic/search';
import { compareValues, countUp, largestCells, sortedByValue, turnedRound } from '../logic/sort';
import { firstPlace, frontOf, lookAhead, rememberAhead } from '../logic/hotspots';
import { changes, hottestLoops, hottestOf, lacks, whereParts } from '../logic/summary';
import { Colouring, languageOf, type LineState, tokenize } from '../logic/syntax';
import { isSearch, openSteps, searchSteps } from '../logic/diagnosis';
import { cellText, findings, rowsAbout } from '../logic/tables';
import {
  ancestors,
  childrenOf,
  flattened,
  hotPath,
  markMatches,
  ROW_OPEN,
  ROW_PARENT,
  SortedChildren,
  sourceOf,
  subtree,
  visibleRows,
} from '../logic/tree';
import { isStep } from '../state/actions';
import { reduce } from '../state/reduce';
import type { State } from '../state/state';
import { fromHash, toHash } from '../state/url';
import { testDrawn } from './drawn';
import { metric, model } from './outline';
import { testBlocks } from './blocks';
import { testDamage } from './damage';
import { testJobs } from './jobs';
import { testKept } from './retained';
import { testMade } from './made';
import { testNaive } from './naive';
import { testShown } from './shown';
import { testCorners } from './corners';
import { testStates } from './states';
import { done, equal, throws } from './tap';

const A = '0i';
const B = '1i';

const START: State = {
  view: 'tree',
  sortBy: A,
  descending: true,
  shown: ['0i', '0e', '1i'],
  form: 'scaled',
  ofParent: false,
  fuse: true,
  flatten: 0,
  hot: 50,
  fold: false,
  least: 0,
  filter: '',
  selected: null,
  source: null,
  beside: false,
  about: false,
  expanded: new Set([0]),
  calls: null,
  zoom: 0,
  base: '',
  typed: [],
  layout: { picture: 'icicle', reading: 'source', inspect: 'why', flame: 'tree-calls', time: '', memory: 'memory', data: '' },
  panel: 'none',
};

const valuesOf = (m: Model, id: string): Float64Array => {
  const columns = new Columns(m);
  return columns.values(columns.get(id)!, null);
};

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
  column: string | null,
  filter = '',
  descending = column !== null,
): string {
  const children = childrenOf(m.places);
  const matches = matcherFor(m, filter, true);
  const rows = visibleRows(
    new SortedChildren(children, column === null ? null : valuesOf(m, column), descending),
    children,
    new Set(expanded),
    matches && markMatches(m.places, matches),
  );
  return Array.from(rows.place.subarray(0, rows.count), (p, i) => {
    const twisty = rows.flags[i] & ROW_PARENT ? (rows.flags[i] & ROW_OPEN ? '- ' : '+ ') : '  ';
    return `${'  '.repeat(rows.depth[i])}${twisty}${labelOf(m, p).text}`;
  }).join('\n');
}

function flat(m: Model, level: Level, fuse: boolean, column: string | null): string {
  const groups = groupsOf(m, level, fuse);
  const all = new Columns(m);
  const columns = m.metrics.map((_, i) => all.values(all.of(i), groups));
  const by = column === null ? null : all.values(all.get(column)!, groups);
  const order = sortedGroups(m, groups, by, column !== null);
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
    hotPath(m, children, valuesOf(m, A), 0).map((p) => labelOf(m, p).text),
    ['prog', 'a.out', 'x.c', 'main', 'loop at x.c:5–9', 'x.c:6'],
    'the hot path follows the dominating child',
  );
  const bare = model(
    'program p\n  module a\n    file\n      proc f\n        line = 3 .\n      proc g\n        line = 2 .\n      proc h\n        line = 2 .',
  );
  equal(
    hotPath(bare, childrenOf(bare.places), valuesOf(bare, A), 0),
    [0, 1, 2, 3, 4],
    'and through code without source',
  );
  equal(
    hotPath(m, children, valuesOf(m, B), 3).map((p) => labelOf(m, p).text),
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
  equal(
    subtree(children, 3, 100),
    { places: [3, 5, 10, 7, 12, 8], isCut: false },
    'everything that can be opened below',
  );
  equal(
    subtree(children, 3, 2),
    { places: [3, 5], isCut: true },
    'within the limit, the upper ones first; and it says so',
  );
}

/** Matches of a filter, as their places' labels; in the tree, or in flat tables. */
function found(m: Model, filter: string, isTree: boolean): string {
  const matches = matcherFor(m, filter, isTree);
  if (!matches) return 'everything';
  const names: string[] = [];
  for (let i = 0; i < m.places.count; i++) if (matches(i)) names.push(labelOf(m, i).text);
  return [...new Set(names)].join(' ');
}

function testFilter(): void {
  const m = heat();
  const cases: readonly (readonly [string, string])[] = [
    ['', 'everything'],
    ['  ', 'everything'],
    ['DOT', 'dot'],
    ['d*t', 'dot'],
    ['?ot', 'dot'],
    ['d*', 'dot'],
    ['*o', ''],
    ['m*', 'main memset'],
    ['/^m.*[nt]$/', 'main memset'],
    ['/^(dot|main)$/', 'main dot'],
    ['/DOT/', 'dot'],
    ['x.c:6', 'loop at x.c:5–9 x.c:6'],
    ['?.h:43', 'loop at y.h:42–44 y.h:43'],
    ['/^[yz]/:43', 'loop at y.h:42–44 y.h:43'],
    ['file:z.c', 'z.c small z.c:2'],
    ['file:?.h', 'dot loop at y.h:42–44 y.h:43'],
    ['file:/^[yz]/ l*', ''],
    ['file:/^[yz]/ s*', 'small'],
    ['s* file:"z.c"', 'small'],
    ['module:libc', 'libc no source file known memset no line known'],
    ['module:a.* dot', 'dot'],
    ['module:libc file:x.c', ''],
    ['Module:LIBC m*', 'memset'],
    ['/(/', ''],
  ];
  for (const [filter, want] of cases) equal(found(m, filter, false), want, `the filter ${filter}`);
  equal(found(m, 'file:x.c', true), 'x.c', 'in the tree a file stands for what is in it');
  equal(found(m, 'module:libc', true), 'libc', 'and a module');
  equal(found(m, 'file:x.c loop', true), '', 'loops have no names');
  equal(
    outline(m, [0], A, 'module:libc'),
    '- prog\n  + libc',
    'what is found by its module stays closed, and the others go',
  );
  const problem = (text: string): string => parseFilter(text).problem ?? 'none';
  equal(problem('/(/').split(': ')[0], '“/(/” is not a regular expression', 'a wrong expression says so');
  equal(
    ['/(a+)+$/', '/(a|a)*b/', '/a*a*a*a*b/', `/${'a?'.repeat(11)}/`, '/(a)\\1/', 'file:/(x)+/'].map((t) =>
      problem(t).replace(/^“.*” /, ''),
    ),
    [
      'repeats a group, which the filter does not do',
      'repeats a group, which the filter does not do',
      'has more than 3 of * + {',
      'has more than 10 of | and ?',
      'refers back to a group, which the filter does not do',
      'repeats a group, which the filter does not do',
    ],
    'an expression that could take for ever is refused',
  );
  equal(
    ['/\\(\\*\\)+x/', '/[*+?|]+/', '/(?:a|b)c?/', '/a.*b.*c.*/'].map(problem),
    ['none', 'none', 'none', 'none'],
    'what only looks like it is not',
  );
  equal(
    [
      globMatches('*a*b', `${'a'.repeat(5000)}c`),
      globMatches('*a*b', 'xaab'),
      globMatches('a?c*', 'abc'),
      globMatches('a?', 'a'),
      globMatches('**', ''),
      globMatches('', 'a'),
    ],
    [false, true, true, false, true, false],
    'whole names by * and ?',
  );
}

function testFind(): void {
  const lines = ['s = s + a(k)', '', 'A(k) = S*s'];
  const all = findText(lines, 'S');
  const text = (found: typeof all): string => found.map((f) => `${f.row}:${f.at}+${f.length}`).join(' ');
  equal(text(all), '0:0+1 0:4+1 2:7+1 2:9+1', 'found, whatever the case');
  equal(text(findText(lines, 'a(k)')), '0:8+4 2:0+4', 'brackets are text');
  equal(text(findText(lines, '.*')), '', 'and so is what an expression means');
  equal(findText(lines, '').length, 0, 'nothing is found nowhere');
  equal(findText(['x'.repeat(MOST_FOUND + 5)], 'x').length, MOST_FOUND, 'a bounded number');
  equal(
    [foundFrom(all, 0), foundFrom(all, 1), foundFrom(all, 3), foundFrom([], 0)],
    [0, 2, 0, -1],
    'the nearest below',
  );
  equal(
    [foundNext(all, 3, 1), foundNext(all, 0, -1), foundNext(all, 1, 1), foundNext(all, -1, -1), foundNext([], -1, 1)],
    [0, 3, 2, 3, -1],
    'round the end',
  );
  const cut = cutAt(
    [{ text: 'ab' }, { text: 'cde' }, { text: 'f' }],
    [
      { row: 0, at: 1, length: 2 },
      { row: 0, at: 5, length: 1 },
    ],
  );
  equal(
    cut.map((c) => (c.found ? `[${c.text}]` : c.text)),
    ['a', '[b]', '[c]', 'de', '[f]'],
    'what was found is cut out of coloured pieces',
  );
  equal(
    cutAt([{ text: 'ab' }], []).map((c) => c.text),
    ['ab'],
    'nothing found, nothing cut',
  );
}

function testNothing(): void {
  const bare = model('program p', []);
  equal(outline(bare, [0], null), '  p', 'a program in which nothing was measured');
  equal(hotPath(bare, childrenOf(bare.places), new Float64Array([NaN]), 0), [0], 'its hot path');
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
  const columns = new Columns({ ...nested, values: new SelfValues(nested.values, nested.metrics, nested.places, false) });
  equal(
    [columns.values(columns.of(0), groups)[0], columns.values(columns.of(0, true), groups)[0]],
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
  const columns = new Columns(m);
  const named = (f: string): number => m.files.findIndex((x) => x.name === f);
  equal(
    Array.from(columns.values(columns.of(0), linesByFile(m)), (v, f) => `${m.files[f].name} ${v}`),
    ['x.c 75', 'y.h 23', 'z.c 2'],
    'a file costs what its own lines cost',
  );
  const lines = fileLines(m, index, named('x.c'));
  const all = columns.values(columns.of(0), lines.groups);
  const own = columns.values(columns.of(0, true), lines.groups);
  equal(
    Array.from(lines.numbers, (n, g) => `${n}: ${all[g]}, itself ${own[g]}`),
    ['1: 98, itself NaN', '3: 5, itself 5', '5: 93, itself NaN', '6: 70, itself 70', '7: 23, itself NaN'],
    'a line costs what begins and is called there: a procedure, two copies of a loop, two inlined calls',
  );
  equal(hottestLine(lines, own), 6, 'the hottest line goes by what lines cost themselves');
  const at = (line: number): number[] => placesOnLine(m, lines, valuesOf(m, A), line);
  equal(at(6), [6, 11], 'the places of a line, the costliest first');
  equal(
    at(7).map((p) => labelOf(m, p).text),
    ['dot', 'dot'],
    'no cost on the line: the calls inlined there',
  );
  equal(at(5).length, 2, 'or the loops that begin there');
  equal(at(29), [], 'or nothing');
  const nested = model(
    'program p\n  module a\n    file x.c\n      proc f 1-9 @x.c\n        loop 2-3 @x.c\n          line 2 @x.c = 4 .\n          line 3 @x.c = 1 .',
  );
  const inner = fileLines(nested, lineIndex(nested), 0);
  const c = new Columns(nested);
  equal(
    [...c.values(c.of(0), inner.groups)],
    [5, 5, 1],
    'a line that begins a loop and stands in it is not counted twice',
  );
}

function testBrackets(): void {
  const m = model(`program p
  module a
    file x.c
      proc f 1-40 @x.c
        loop 2-20 @x.c
          loop 2-20 @x.c
            line 3 @x.c = 1 .
          loop 4-6 @x.c
            line 5 @x.c = 1 .
          loop 8-9 @x.c
            line 8 @x.c = 1 .
        loop 18-30 @x.c
          line 19 @x.c = 1 .
        loop 31 @x.c
          line 31 @x.c = 1 .
        loop 2-20 @y.h
          line 2 @y.h = 1 .`);
  const index = lineIndex(m);
  const { list, tracks } = loopBrackets(m, index.places.subarray(index.start[0], index.start[1]), 0);
  equal(
    list.map((b) => `${b.first}-${b.last} on ${b.track}: ${b.loops.length}, ${outermost(m, b).length}`),
    ['2-20 on 0: 2, 1', '4-6 on 1: 1, 1', '8-9 on 1: 1, 1', '18-30 on 1: 1, 1', '31-31 on 0: 1, 1'],
    'loops over the same lines are one bracket; nested and overlapping ones stand beside each other',
  );
  equal(tracks, 2, 'as many tracks as are needed');
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
  // the same cases as metrics/formula/expr_test.c has, for the same answers
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
    equal(
      f ? f.evaluate((i) => values.get(f.references[i].name) ?? NaN, 1)[0] : null,
      want,
      `formula ${text.slice(0, 30)}`,
    );
  }
}

/** Wrong formulas, and those cut or changed by a word (metrics/formula/expr_test.c), whose message differs from C's. */
function differentMessages(): string[] {
  const rows = formulaMessages.split('\n').filter((line) => line.includes('\t')).map((line) => line.split('\t'));
  for (const line of unfinished.split('\n')) {
    const [, text, sign, want] = /^\|(.*) (->|=>) (.*)$/u.exec(line) ?? [];
    if (sign && !/ratio|twice/u.test(line)) rows.push([text, sign === '->' ? want : '']); // (functions of the user's)
  }
  const different: string[] = [];
  for (const [text, want] of rows) {
    const f = readFormula(text);
    const got = typeof f === 'string' ? f : '';
    if (got !== want) different.push(`${text}: ${got}, not ${want}`);
  }
  return rows.length > 1000 ? different : ['too few cases'];
}

/** The cases that C's engine is held to (metrics/formula/expr_test.c). */
function testSharedFormulas(): void {
  const known = new Map<string, number>();
  const number = (text: string): number => (text === 'missing' ? NaN : Number(text));
  let cases = 0;
  const wrong: string[] = [];
  for (const line of formulaCases.split('\n')) {
    const [value, text, name] = line.split('\t');
    if (value === 'name') known.set(name, number(text));
    if (text === undefined || value === 'name') continue;
    const f = readFormula(text);
    cases++;
    if (typeof f === 'string') {
      wrong.push(`${text}: ${f}`);
      continue;
    }
    const column = Float64Array.from({ length: 3 });
    const got = f.evaluate((i) => column.map(() => known.get(f.references[i].text) ?? Infinity), 3)[2];
    const want = number(value);
    const same = Number.isNaN(want) ? Number.isNaN(got) : Math.abs(got - want) <= 1e-12 * Math.abs(want);
    if (!same) wrong.push(`${text}: got ${got}, wanted ${want}`);
  }
  equal(cases >= 3000, true, 'thousands of shared cases');
  equal(wrong.slice(0, 5), [], 'formulas have the same values in the page as in C');
  equal(differentMessages().slice(0, 5), [], 'and the same messages if they are wrong');
  const times = readFormula('A > 10ms', 'ns');
  equal(typeof times === 'string' ? times : times.evaluate(() => 1.1e7, 1)[0], 1, 'times are in the metrics’ unit');
  const shapes: readonly (readonly [string, boolean])[] = [
    ['A - B', true],
    ['or(A, 0) - or(B, 0)', true],
    ['share(A)', true],
    ['2 * A + B / 4', true],
    ['A / B', false],
    ['A + 1', false],
    ['abs(A)', false],
    ['max(A over threads)', false],
  ];
  for (const [text, isSum] of shapes) {
    const f = readFormula(text);
    equal(typeof f === 'string' ? f : f.isSum, isSum, `does ${text} add up`);
  }
}

function testFormulaColumns(): void {
  const a = Float64Array.of(6, 2, NaN, 1);
  const b = Float64Array.of(2, 0, 1, 1);
  const column = (text: string): (number | string)[] => {
    const f = parseFormula(text)!;
    const values = f.evaluate((i) => (f.references[i].name === 'A' ? a : b), 4);
    return Array.from(values, (x) => (Number.isNaN(x) ? 'blank' : x));
  };
  equal(column('A / B'), [3, 'blank', 'blank', 1], 'a column by a column');
  equal(column('2 * A - 1'), [11, 3, 'blank', 1], 'a column and numbers');
  equal(column('-A'), [-6, -2, 'blank', -1], 'its negative');
  equal(column('max(A, B, 1)'), [6, 2, 'blank', 1], 'the larger of each');
  equal(column('1 + 1'), [2, 2, 2, 2], 'a number alone');
}

function testSort(): void {
  const values = new Float64Array(5000);
  let seed = 1;
  for (let i = 0; i < values.length; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    values[i] =
      seed % 11 === 0
        ? NaN
        : seed % 7 === 0
          ? -0
          : seed % 13 === 0
            ? -1e300
            : ((seed % 2001) - 1000) * 2 ** ((seed % 40) - 20);
  }
  const items = Uint32Array.from({ length: 5000 }, (_, i) => (i * 7) % 5000);
  for (const descending of [true, false]) {
    const want = Array.from(items, (item, at) => ({ item, at })).sort(
      (a, b) => compareValues(values[a.item], values[b.item], descending) || a.at - b.at,
    );
    equal(
      [...sortedByValue(items, values, descending)].join(),
      want.map((w) => w.item).join(),
      `5,000 numbers by their bits, the ${descending ? 'largest' : 'smallest'} first, blanks last`,
    );
  }
  equal([...sortedByValue(Uint32Array.of(2, 0, 1), Float64Array.of(1, NaN, 1), true)], [2, 0, 1], 'a few');
  const near = Float64Array.from({ length: 2000 }, (_, i) => 1 + ((i * 37) % 2000) * 2 ** -45);
  equal(
    [...sortedByValue(countUp(2000), near, false)].every((item, i, all) => i === 0 || near[all[i - 1]] <= near[item]),
    true,
    'numbers that differ in their last bits alone',
  );
  equal(
    largestCells(Float64Array.of(1, NaN, 5, 3, 5, -2, 0, 4), 3),
    { top: [2, 4, 7], count: 5 },
    'the largest, and how many are above 0',
  );
  const keys = new KeyNumbers(3);
  equal(
    [
      keys.of(1, 2, 3),
      keys.of(1, 2, 4),
      keys.of(1, 2, 3),
      keys.of(2, 1, 3),
      keys.of(4294967295, 0, -1),
      keys.of(1, 2, 4),
    ],
    [0, 1, 0, 2, 3, 1],
    'numbers for keys',
  );
}

function testFlattened(): void {
  const m = model(`
program p
  module a
    file x.c
      proc f 1-9 @x.c
        line 3 @x.c = 8 2
  module b
`);
  const names = (levels: number): string =>
    [...flattened(childrenOf(m.places), 0, levels)].map((p) => labelOf(m, p).text).join(' ');
  equal(
    [names(1), names(2), names(3), names(9)],
    ['a b', 'x.c b', 'f b', 'x.c:3 b'],
    'level by level: what has parts gives way to them, the rest stays',
  );
}

function testInlined(): void {
  const m = model(
    `
program p
  module a
    file x.c
      proc f 1-9 @x.c
        inline dot 20-24 @x.c <x.c:5
          loop 21-22 @x.c
            line 22 @x.c = 6
            inline mul 30-30 @x.c <x.c:22
              line 30 @x.c = 2
          line 20 @x.c = 1
        inline dot 20-24 @x.c <x.c:5
          line 22 @x.c = 3
        inline axpy 40-42 @x.c <x.c:5
          line 41 @x.c = .
`,
    [metric('A')],
  );
  const columns = new Columns(m);
  const index = lineIndex(m);
  const lines = fileLines(m, index, 0);
  equal(
    inlinedOn(columns, childrenOf(m.places), columns.of(0), scopesOnLine(m, lines, 5)).map((i) => [
      i.name,
      i.copies,
      i.value,
      i.lines.map((l) => `${l.line}${l.calls ? '+' : ''}=${l.value}`).join(' '),
    ]),
    [['dot', 2, 12, '20=1 22+=11']],
    'inlined calls of a line: copies together, what they call where they call it, nothing that cost nothing',
  );
}

function testCharts(): void {
  equal(linearAxis([3, 17]).ticks, [0, 5, 10, 15, 20], 'an axis from 0 to a round number');
  equal(linearAxis([-3, 1]).ticks, [-3, -2, -1, 0, 1], 'and below, where values are');
  equal(linearAxis([]).ticks, [0, 1], 'of nothing');
  equal(axisOf([2, 900]).ticks, [1, 10, 100, 1000], 'by powers of ten where values ask for it');
  equal([0, 10, 20].map(linearAxis([20]).at), [0, 0.5, 1], 'how far along');
  const m = model(
    `
program p
  module a
    file x.c
      proc f 1-9 @x.c
        loop 2-4 @x.c
          line 3 @x.c = 8 2
        loop 6-8 @x.c
          line 7 @x.c = 2 1
`,
    [metric('TIME'), metric('FLOP')],
  );
  const text = ['TIME', '', 'io', 'FLOP'];
  const column = (name: string, type: string): TableInfo['columns'][number] => ({
    name,
    title: name,
    unit: '',
    description: '',
    type: type as 'count',
    to: type === 'ref' ? 'place' : '',
  });
  const info: TableInfo = {
    name: 'thread_values',
    title: '',
    description: '',
    rows: 6,
    strings: 4,
    block: '',
    columns: [
      column('place', 'ref'),
      column('metric', 'text'),
      column('process', 'count'),
      column('thread', 'count'),
      column('name', 'text'),
      column('value', 'number'),
    ],
  };
  const cells = [
    Int32Array.of(0, 0, 0, 4, 4, 0),
    Float64Array.of(0, 0, 0, 0, 0, 3),
    Float64Array.of(1, 0, 0, 0, 1, 0),
    Float64Array.of(0, 0, 1, 0, 0, 0),
    Float64Array.of(1, 1, 2, 1, 1, 1),
    Float64Array.of(4, 5, 1, 5, 3, 2),
  ];
  const rows = { cells, strings: text };
  equal(metricsByThread(info, rows), ['TIME', 'FLOP'], 'what is known by thread');
  const shown = (place: number): unknown => {
    const d = distributionAt(m, info, rows, 'TIME', place);
    return (
      d && [d.place, d.shares.map((s) => `${s.process}.${s.thread}${s.name}=${s.value}`).join(' '), d.hasProcesses]
    );
  };
  equal(shown(0), [0, '0.0=5 0.1io=1 1.0=4', true], 'by rank, then by thread');
  equal(shown(5), [4, '0.0=5 0.1io=0 1.0=3', true], 'of the scope around it; who has no row spent nothing there');
  equal(distributionAt(m, info, rows, 'MISS', 0), null, 'a metric that is not known by thread');
  const all = distributionAt(m, info, rows, 'TIME', 0)!.shares;
  equal(
    [summed(all).mean.toFixed(2), summed(all).most.value, summed(all).imbalance],
    ['3.33', 5, 0.5],
    'the mean, and how far the last is from it',
  );
  const even = (...ranks: number[]): string[] => {
    const run = { ...m, processes: ranks.map((rank) => ({ ...m.processes[0], rank })) };
    return evenParts(distributionAt(run, info, rows, 'TIME', 0)!).map((s) => `${s.process}.${s.thread}=${s.value}`);
  };
  equal([even(0, 1), even(0, 7)], [['0.1=6', '1.0=4'], ['0.0=5', '0.1=1', '1.0=4']], 'ranks are to be even, or threads');
  equal(
    histogram(all).map((b) => `${b.from}-${b.to}:${b.count}`),
    ['1-2:1', '2-3:0', '3-4:0', '4-5:1', '5-6:1'],
    'how many have how much',
  );
  const columns = new Columns(m);
  const [x, y] = axisChoices(columns, []);
  equal(
    dotsOf(columns, new Tables(m), x, y, columns.of(0))?.map((d) => [d.x, d.y, d.weight]),
    [
      [2, 1, 0.2],
      [8, 2, 0.8],
    ],
    'a dot for each loop, the heaviest on top of the others',
  );
  const dots = [{ place: 0, x: 0.5, y: 10, weight: 1 }];
  equal(roofOf(x, y, dots), null, 'two metrics are no roofline');
  equal(
    roofOf({ ...x, unit: 'FLOP/B' }, { ...y, unit: 'FLOP/s' }, dots),
    { flops: 10, bytes: 20 },
    'work per byte and per second are',
  );
}

const time = (name: string, more = {}): ReturnType<typeof metric> =>
  metric(name, { unit: 'ns', event: 'CLOCK', period: 1, ...more });

/** Two runs: x.c:2 got slower, x.c:3 ran in the new run only, lib in the old one only. */
const two = (): Model =>
  model(
    `
program p
  module a
    file x.c
      proc f 1-9 @x.c
        line 2 @x.c = 400 1000 600
        line 3 @x.c = . 900 .
        line 4 @x.c = 500 504 4
        line 5 @x.c = 800 . .
  module lib
    file
      proc g
        line = 300 . .
`,
    [
      time('old.T', { run: 0 }),
      time('new.T', { run: 1 }),
      metric('GROWTH', { unit: 'ns', event: '', period: 0, formula: 'new.T - old.T', summed: true }),
    ],
  );

function testComparison(): void {
  const m = two();
  const columns = new Columns(m);
  const growth = columns.of(2);
  equal(growth.difference !== null, true, 'a formula that is the difference of two runs is one');
  equal([columns.total(growth), columns.whole(growth)], [404, 2000], 'a difference is a share of the base run');
  const values = columns.values(growth, null);
  equal(
    [4, 5, 6, 7].map((p) => `${labelOf(m, p).text} ${formatPercent(values[p], columns.whole(growth))}`),
    ['x.c:2 30.0', 'x.c:3 45.0', 'x.c:4 0.2', 'x.c:5 −40.0'],
    'slower is +; what ran in one run only counts as 0 in the other',
  );
  equal(
    [values[8], Number.isNaN(values[9])],
    [-300, true],
    'a module that was not there counts as 0; what is inside it was not measured',
  );
  const both = { name: '', machine: '', command: '', asked: '', modules: ['a', 'lib'], facts: [] as [string, string][], firstProcess: 0, processes: 1, root: 0 };
  const twoRuns = (other: Partial<Run>): Run[] => [both, { ...both, ...other }];
  const idle = new Columns({ ...m, runs: [both, both] });
  equal(
    [...idle.values(idle.of(2), null)].slice(8, 11),
    [-300, -300, -300],
    'what is inside a module that was there without a sample cost nothing',
  );
  const groups = groupsOf(m, 'line', true);
  equal([...columns.values(growth, groups)].slice(0, 4), [600, 900, 4, -800], 'lines over their copies too');
  equal(Math.round(columns.error(growth, 4, null, 6)), 63, 'the error of a difference is that of both');
  equal(runsOf(m), ['old', 'new'], 'the runs');
  equal(
    differences({ ...m, runs: twoRuns({ command: 'a.out 2', modules: ['lib', 'libm'] }) }).map((d) => [d.what, ...d.values]),
    [['command', '', 'a.out 2'], ['load modules', 'a', 'libm']],
    'what differs',
  );
  const built = (more: string, n: string): [string, string][] => [['built a', `GNU C17 12.2.0 -g ${more}`], ['env:N', n]];
  const [old, young] = twoRuns({ facts: built('-O3 -mavx2', '4') });
  equal(
    differences({ ...m, runs: [{ ...old, facts: built('-O1', '2') }, young] }).map((d) => [d.what, ...d.values, d.whole[0]]),
    [['compilation of a', '-O1', '-O3 -mavx2', 'GNU C17 12.2.0 -g -O1'], ['N', '2', '4', '2']],
    'options of the compiler, and the environment',
  );
  equal(differences({ ...m, runs: [old, young] }).map((d) => d.what), ['N'], 'where one was not compiled by what is known, nothing is said of that');
  equal(differences({ ...m, runs: twoRuns({}) }), [], 'nothing does');
  equal(comparedColumns(m, 'old', ['0i']), ['0i', '1i', '1-0i'], 'columns of a comparison with the old run');
  equal(columns.total(columns.get('1/0i')!).toFixed(3), (2404 / 2000).toFixed(3), 'a ratio of runs');
  equal(firstDifference(columns)?.id, '2i', 'the difference that the database has');
  const tables = new Tables(m);
  const { worse, better } = changes(columns, tables, growth, 'line');
  equal(
    [worse, better].map((list) => list.map((c) => `${labelOf(m, c.place).text} ${c.value}`)),
    [['x.c:3 900', 'x.c:2 600'], ['x.c:5 -800']],
    'what got worse and better, beyond the noise',
  );
  const plain = model('program p\n  module a\n    file x.c\n      proc f 1-2 @x.c\n        line 1 @x.c = 1 2');
  equal([runsOf(plain), firstDifference(new Columns(plain))], [[], null], 'one run is no comparison');
}

function testTyped(): void {
  const m = heat();
  const columns = new Columns(m, [
    { name: 'R', formula: 'B / A' },
    { name: 'S', formula: 'R * 2' },
  ]);
  const m0 = columns.values(columns.get('t1i')!, null);
  equal([m0[6], m0[0]], [(2 / 60) * 2, (11 / 101) * 2], 'a typed metric over another, at places and at the root');
  const groups = groupsOf(m, 'line', true);
  equal(columns.values(columns.get('t0i')!, groups)[1], 2 / 70, 'over copies it is the formula over the sums');
  equal(columns.refuse({ name: 'A', formula: 'B' }), "There is a metric 'A' already", 'a name that is taken');
  equal(
    columns.refuse({ name: 'X', formula: 'NOPE' }),
    "X: there is no metric 'NOPE' before this one",
    'an unknown name',
  );
  equal(columns.refuse({ name: '1', formula: 'A' })?.slice(0, 30), 'A metric is given as NAME = FO', 'no name');
  equal(columns.refuse({ name: 'X', formula: 'A +' })?.slice(0, 14), 'X: character 4', 'no formula');
  equal(columns.refuse({ name: 'X', formula: 'A + R' }), null, 'a good one');
  equal(
    [columns.get('9i'), columns.get('t7i'), columns.get('0-9i'), columns.get('nonsense')],
    [null, null, null, null],
    'no such columns',
  );
  const state = reduce(
    {
      ...START,
      typed: [
        { name: 'R', formula: 'B / A' },
        { name: 'S', formula: 'A' },
      ],
      shown: ['0i', 't0i', 't1i'],
      sortBy: 't0i',
    },
    { type: 'drop-metric', index: 0 },
  );
  equal([state.shown, state.sortBy, state.typed.length], [['0i', 't0i'], '0i', 1], 'a typed metric that is dropped');
}

function testIcicle(): void {
  const m = heat();
  const children = childrenOf(m.places);
  const values = valuesOf(m, A);
  const boxes = (root: number, width: number): string =>
    (() => {
      const b = icicle(m.places.parent, new SortedChildren(children, values, true), values, root, width);
      return Array.from(
        b.node,
        (p, i) => `${'  '.repeat(b.depth[i])}${labelOf(m, p).text} ${b.x[i].toFixed(0)}+${b.width[i].toFixed(0)}`,
      ).join('\n');
    })();
  equal(
    boxes(0, 101).split('\n').slice(0, 6).join('\n'),
    'prog 0+101\n  a.out 0+100\n  libc 100+1\n    x.c 0+98\n    z.c 98+2\n    no source file known 100+1',
    'boxes as wide as what they cost, beside one another by cost',
  );
  equal(
    boxes(10, 13).split('\n').slice(0, 5).join('\n'),
    'prog 0+13\n  a.out 0+13\n    x.c 0+13\n      main 0+13\n        loop at x.c:5–9 0+13',
    'into a scope: what is around it stands above',
  );
  equal(boxes(0, 20).includes('libc'), false, 'what is narrower than a pixel is left out');
  const b = icicle(m.places.parent, new SortedChildren(children, values, true), values, 0, 101);
  equal([b.node[boxAt(b, 99, 2)], boxAt(b, 99, 40)], [14, NONE], 'the box at a point');
  const at = Array.from({ length: b.count }, (_, i) => [boxAt(b, b.x[i], b.depth[i]), boxAt(b, b.x[i] + b.width[i] / 2, b.depth[i])]);
  equal(at, Array.from({ length: b.count }, (_, i) => [i, i]), 'a box has the point where it begins, and not the one where it ends');
}

function testSummary(): void {
  const m = heat();
  const columns = new Columns(m);
  const tables = new Tables(m);
  const show = (list: ReturnType<typeof hottestOf>): string =>
    `${list.top.map((h) => `${labelOf(m, h.place).text} ${h.value}`).join(', ')} of ${list.count}`;
  equal(
    show(hottestLoops(columns, columns.of(0), 5)),
    'loop at x.c:5–9 73, loop at y.h:42–44 20 of 2',
    'loops by what runs in them and in no inner loop',
  );
  equal(
    show(hottestOf(columns, tables, columns.of(0), 'line', 2)),
    'x.c:6 70, y.h:43 23 of 4',
    'lines that are known, over their copies',
  );
  equal(
    whereParts(m, valuesOf(m, A)).map((p) => `${p.name} ${p.value} ${p.withSource}`),
    ['a.out 100 100', 'libc 1 0'],
    'modules, and what of them has source',
  );
  const ahead = lookAhead(m.places, valuesOf(m, A));
  const again = valuesOf(m, A).slice();
  rememberAhead(m.places, again, ahead);
  const front = frontOf(m.places, again);
  equal(
    [front.loops(5), front.lines(2), front.parts, ahead.children],
    [ahead.loops, { ...ahead.lines, top: ahead.lines.top.slice(0, 2) }, ahead.parts, tables.children],
    'what was looked up ahead is what one finds',
  );
  equal(
    ahead.lines.top.map((h) => `${labelOf(m, h.place).text} ${h.value} ×${h.copies}`),
    ['x.c:6 70 ×2', 'y.h:43 23 ×2', 'x.c:3 5 ×1', 'z.c:2 2 ×1'],
    'all lines, by it',
  );
  equal(lacks(columns, columns.of(0)).length, 1, 'with a hundred samples, few is what they are');
  const bare = model('program p\n  module a.out\n    file\n      proc f\n        line = 9000 .', [
    time('T', { event: 'perf::TASK-CLOCK' }),
  ]);
  equal(
    lacks(new Columns(bare), new Columns(bare).of(0)).map((s) => s.slice(0, 41)),
    ['100.0% is in a.out without source lines: ', 'Only time was measured. Where the process'],
    'what a program without debug information lacks',
  );
}

function testFormats(): void {
  equal([0, 812, 2433349000, 75e9].map(timeText), ['0 ns', '812 ns', '2.43 s', '75 s'], 'durations in sentences');
  equal(
    [explained('Large Stride'), explained('boundary.c reports')],
    ['Stride: the distance between the elements that successive iterations access.', undefined],
    'words have definitions',
  );
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
  const second = scaleFor(ns, 12.5e9);
  equal(
    [
      formatShort(280e6, second, 67e6),
      formatShort(12.345e9, second, 0.4e9),
      formatShort(123e9, second, 20e9),
      formatShort(1e6, second, 2e7),
      formatShort(5e9, second, 0),
    ],
    ['0.28', '12.3', '123', '<0.01', '5.000'],
    'digits end where the error begins',
  );
  equal(formatScaled(280e6, second, 67e6), '0.28\u2007', 'and the points of a column stay in line');
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
  equal(
    [5, 6, 7].map((place) => labelIn(m, place).text).concat(labelIn(m, m.places.kind.indexOf(Kind.File)).text),
    ['loop 5–9', 'line 6', 'dot', 'x.c'],
    'below a scope of the same file, the file is not said again',
  );
  equal(
    [...m.places.kind.keys()]
      .filter((i) => m.places.kind[i] >= Kind.Loop && m.places.lineFirst[i] > 0)
      .filter((i) => m.places.file[i] !== m.places.file[m.places.parent[i]])
      .every((i) => labelIn(m, i).text === labelOf(m, i).text),
    true,
    'elsewhere it is',
  );
  equal(labelOf(m, 7), { text: 'dot', detail: 'inlined at x.c:7', badges: [] }, 'an inlined call');
  equal(labelOf(m, 18).text, 'no source file known', 'no file');
  equal(
    [enclosing(m, 20, [Kind.Procedure]), enclosing(m, 20, [Kind.Module]), enclosing(m, 0, [Kind.Module])],
    ['memset', 'libc', null],
    'what is around a place',
  );
  equal(
    ['perf::TASK-CLOCK', 'O1.perf::TASK-CLOCK', 'new.TIME − old.TIME', 'L2 misses', 'PAPI_TOT_CYC'].map((name) =>
      shortName(metric(name)),
    ),
    ['TASK-CLOCK', 'O1 TASK-CLOCK', 'new − old TIME', 'L2 misses', 'PAPI_TOT_CYC'],
    'short names',
  );
  equal(describe(m, 6), 'line: x.c:6\nx.c:6', 'a tooltip');
  for (const [name, want] of [
    ['std::map<std::string, std::vector<int>, std::less<std::string> >::at', 'std::map<…>::at'],
    ['Vec<double, 3>::dot', 'Vec<double, 3>::dot'],
    ['f<std::tuple<int, char, double, float> >::g<1>', 'f<…>::g<1>'],
    ['std::operator< <char, std::char_traits<char>, std::allocator<char> >', 'std::operator< <…>'],
    ['operator<<<std::char_traits<char>, std::x<int> >', 'operator<<<std::char_traits<char>, std::x<int> >'],
    ['a::operator-><std::char_traits<char>, long>', 'a::operator-><std::char_traits<char>, long>'],
    ['x<std::string, std::string, std::string', 'x<std::string, std::string, std::string'],
    ['a > b', 'a > b'],
    ['std::operator<', 'std::operator<'],
    ['operator->', 'operator->'],
    ['x<operator==, operator<=, operator!=, 1>', 'x<…>'],
    ['cooperator<int, int, int, int, int, int>', 'cooperator<int, int, int, int, int, int>'],
    ['', ''],
  ] as const)
    equal(folded(name), want, `folded: ${name}`);
}

function testForms(): void {
  const time = metric('T', { unit: 'ns' });
  const cycles = metric('C', { unit: 'cycles' });
  const ratio = metric('R', { formula: 'C / T' });
  const cases: readonly (readonly [typeof time, number, number, number, string])[] = [
    [time, 10e9, 280e6, NaN, '0.280 s | 280.000 ms | 2.800e8 ns | 280,000,000 ns'],
    [time, 10e9, 280e6, 67e6, '0.28 s | 280 ms | 2.8e8 ns | 280,000,000 ns'],
    [time, 10e9, 0, NaN, '0.000 s | 0 | 0 ns | 0 ns'],
    [cycles, 5e9, 1.25e6, NaN, '0.001 G cycles | 1.250 M cycles | 1.250e6 cycles | 1,250,000 cycles'],
    [cycles, 5e9, -12, NaN, '>−0.001 G cycles | −12 cycles | −1.200e1 cycles | −12 cycles'],
    [ratio, 0.5, 0.0117, NaN, '0.0117 | 0.0117 | 1.170e-2 | 0.0117'],
    [cycles, 5e9, NaN, NaN, 'G cycles |  cycles |  cycles |  cycles'],
  ];
  for (const [m, total, value, error, want] of cases) {
    const scale = scaleFor(m, total);
    const write = (form: (typeof FORMS)[number]): string =>
      `${formatAs(form, value, m, scale, error).replace(/[\u2007\u2008]+$/, '')} ${unitIn(form, m, scale)}`.trim();
    equal(FORMS.map(write).join(' | '), want.replace(/\|  /g, '| '), `the forms of ${value} ${m.unit}`);
  }
}

function testAddress(): void {
  const m = heat();
  const start = START;
  equal(toHash(start, start), '#v2/tree', 'the start says nothing');
  const state: State = {
    ...start,
    view: 'loop',
    sortBy: '1e',
    descending: false,
    shown: ['0i', '1e', 't0i', '1-0i'],
    form: 'si',
    ofParent: true,
    fuse: false,
    flatten: 2,
    hot: 25,
    fold: true,
    least: 1,
    filter: 'a&b=ü #',
    selected: 6,
    source: { file: 1, first: 5, last: 9 },
    beside: true,
    expanded: new Set([0, 1, 5, 2]),
    calls: null,
    zoom: 3,
    base: 'old',
    typed: [{ name: 'R', formula: 'B / A + 1' }],
    layout: { ...start.layout, picture: '', reading: 'files', inspect: 'callers' },
  };
  const hash = toHash(state, start);
  equal(
    hash,
    '#v2/loop?typed=R%3DB%20/%20A%20%2B%201&sort=1e%2B&columns=0i,1e,t0i,1-0i&base=old&numbers=si&percent=parent&fuse=0&flatten=2&hot=25&fold=1&least=1&beside=1&find=a%26b%3D%C3%BC%20%23&zoom=3&panes=,files,callers&open=0.1.1.3&place=6&source=1:5-9',
    'an address',
  );
  const back = { ...start, ...fromHash(hash, start, m) };
  equal({ ...back, expanded: [...back.expanded] }, { ...state, expanded: [0, 1, 2, 5] }, 'and back');
  const old = fromHash('#v1/loop?sort=1e%2B&columns=0i,1e&exact=1&fuse=0&find=x&place=6&source=1:5-9', start, m)!;
  equal(
    [
      old.view,
      old.sortBy,
      old.descending,
      old.shown,
      old.form,
      old.fuse,
      old.filter,
      old.selected,
      old.source,
      old.zoom,
    ],
    ['loop', '1e', false, ['0i', '1e'], 'exact', false, 'x', 6, { file: 1, first: 5, last: 9 }, 0],
    'an address of version 1',
  );
  const paths: Model = { ...m, trees: [{ name: 'calls', title: 'Calls', nodes: 50 }] };
  const rows = { open: new Set([0, 40, 3]), selected: 41 };
  equal(
    toHash({ ...start, view: 'calls', calls: rows }, start),
    '#v2/calls?calls=0.3.11&call=41',
    'the address has what is open in the tree of calls',
  );
  equal(toHash({ ...start, calls: rows }, start), '#v2/tree', 'where that is shown');
  const seen = fromHash('#v2/calls?calls=0.3.11.z.1&call=41', start, paths)!.calls!;
  equal([[...seen.open], seen.selected], [[0, 3, 40], 41], 'nodes that are not there are passed over');
  equal(fromHash('#v2/calls?calls=0.3&call=50', start, paths)!.calls!.selected, null, 'selected or not');
  equal(reduce({ ...start, calls: rows }, { type: 'fold', on: true }).calls, null, 'folded, nodes have other numbers');
  equal(fromHash('#v9/tree', start, m), null, 'another version says nothing');
  equal(fromHash('', start, m), null, 'no address');
  const odd = fromHash(
    '#v2/nonsense?sort=77i-&place=99999&source=8:1&columns=zz,0i&find=%E0%A4%A&zoom=777&panes=!,x&least=-1&open=zzzz.1&typed=R%3DNOPE;A%3DB;=;x',
    start,
    m,
  );
  equal(
    [
      odd?.view,
      odd?.sortBy,
      odd?.selected,
      odd?.source,
      odd?.shown,
      odd?.filter,
      odd?.zoom,
      odd?.least,
      odd?.typed,
      odd?.expanded?.size,
      odd?.layout,
    ],
    ['tree', A, null, null, ['0i'], '', 0, 0, [], 0, { ...start.layout, picture: 'icicle', reading: 'x', inspect: 'why' }],
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
  const columns = new Columns(m);
  const subject: Subject = { columns, sort: columns.of(0), weight: columns.of(0) };
  const state: State = { ...START, view: 'line', shown: ['0i'] };
  const table = tables.of(state, subject);
  equal(
    [table.count, table.place(0), table.rowOf(11), table.instances(0)],
    [5, 6, 0, 2],
    'a fused row stands for its costliest place, and is found from any',
  );
  equal(tables.of(state, subject) === table, true, 'nothing is computed twice');
  equal(tables.of({ ...state, filter: 'y.h' }, subject).count, 1, 'a flat filter goes by file');
  const heavy = tables.of({ ...state, least: 10 }, subject);
  equal([heavy.count, heavy.hidden], [2, 3], 'rows below a share are hidden, and counted');
  equal(tables.of({ ...state, view: 'tree' }, subject).rowOf(6), 1, 'a place that is not open is found in what is');
  equal(
    tables.of({ ...state, view: 'tree', zoom: 3, expanded: new Set([3]) }, subject).count,
    4,
    'a scope as the root',
  );
  equal(
    tables.of({ ...state, view: 'tree', expanded: new Set([0, 1, 2, 3]), least: 10 }, subject).count,
    6,
    'a tree without its light rows',
  );
  equal(tables.has('loop'), true, 'there are loops');
  equal(
    tableCsv(m, tables.of({ ...state, view: 'line', filter: 'x.c' }, subject), [columns.of(0), columns.of(1, true)]),
    'depth,kind,name,where,procedure,instances,A,B (E)\n0,line,x.c:6,x.c:6,main,2,70,2\n0,line,x.c:3,x.c:3,main,1,5,\n',
    'the table as CSV',
  );
  const odd = model('program =p,"q"', []);
  const none: Subject = { columns: new Columns(odd), sort: null, weight: null };
  equal(
    tableCsv(odd, new Tables(odd).of(START, none), []).split('\n')[1],
    '0,program,"\'=p,""q""",,,1',
    'a name is no formula of a spreadsheet',
  );
  const light = model(
    'program p\n  module a\n    file x.c\n      proc f 1-9 @x.c\n        line 1 @x.c = 1000 1000 1\n        line 2 @x.c = 1 9 9\n        line 3 @x.c = 500 1000 2',
    [metric('A'), metric('B'), metric('R', { formula: 'B / A' })],
  );
  const c = new Columns(light);
  const byRatio = new Tables(light).of(state, { columns: c, sort: c.of(2), weight: c.of(0) });
  equal(
    [0, 1, 2].map((row) => labelOf(light, byRatio.place(row)).text),
    ['x.c:3', 'x.c:1', 'x.c:2'],
    'by a ratio, what hardly ran comes last',
  );
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

/** main calls f in its loop; f calls itself, and g of a library from two lines, one of them in a loop. */
function testCalls(): void {
  const m = model(
    `
    program p
      module a
        file x.c
          proc main 1-9 @x.c
            loop 2-4 @x.c
              line 3 @x.c
          proc f 10-19 @x.c
            line 11 @x.c
            loop 12-14 @x.c
              line 13 @x.c
      module b
        file x.c
          proc g 20-29 @x.c
            line 21 @x.c`,
    [metric('A'), metric('B'), metric('R', { formula: 'B / A' })],
  );
  const [main, mainLoop, at3, f, at11, loop, at13, g, at21] = [3, 4, 5, 6, 7, 8, 9, 12, 13];
  const [a, b] = [1, 10];
  //                    0  main l  3  f 11  g 21   f 11  g 21   f  l 13  g 21
  const place = Uint32Array.of(0, main, mainLoop, at3, f, at11, g, at21, f, at11, g, at21, f, loop, at13, g, at21);
  const parent = Int32Array.of(NONE, 0, 1, 2, 3, 4, 5, 6, 5, 8, 9, 10, 9, 12, 13, 14, 15);
  const nodes = { count: place.length, parent, place };
  const own = (at: readonly (readonly [number, number])[]): Float64Array => {
    const v = new Float64Array(place.length).fill(NaN);
    for (const [node, value] of at) v[node] = value;
    return v;
  };
  const ownValues = [own([[3, 1], [7, 10], [11, 20], [14, 4], [16, 65]]), own([[7, 5], [16, 13]])]; // prettier-ignore
  const summed = ownValues.map((v) => {
    const inclusive = v.slice();
    const exclusive = v.slice();
    for (let i = place.length - 1; i > 0; i--) {
      const up = parent[i];
      const isOwn = m.places.kind[place[i]] === Kind.Line && m.places.kind[place[up]] !== Kind.Line;
      if (!Number.isNaN(inclusive[i])) inclusive[up] = (inclusive[up] || 0) + inclusive[i];
      if (isOwn && !Number.isNaN(v[i])) exclusive[up] = (exclusive[up] || 0) + v[i];
    }
    return { inclusive, exclusive };
  });
  const ratio = summed[0].inclusive.map((a, i) => summed[1].inclusive[i] / a);
  const values = {
    of: (i: number, exclusive: boolean) => (i === 2 ? ratio : exclusive ? summed[i].exclusive : summed[i].inclusive),
    failure: () => undefined,
  };
  const drawn = (t: Model): string => {
    const depth: number[] = [];
    const n = (v: number): string => (Number.isNaN(v) ? '.' : String(v));
    const columns = [0, 1, 2].map((i) => t.values.of(i, false)!);
    return Array.from(t.places.parent, (up, i) => {
      depth[i] = i === 0 ? 0 : depth[up] + 1;
      return `${' '.repeat(depth[i])}${labelOf(t, i).text} ${columns.map((c) => n(c[i])).join(' ')}`;
    }).join('\n');
  };
  const tree = { nodes, model: treeModel(m, nodes, values) };
  equal(
    drawn(foldRecursion(m, nodes, values).model),
    `p 100 18 0.18
 main 100 18 0.18
  loop at x.c:2–4 100 18 0.18
   x.c:3 100 18 0.18
    f 99 18 0.18181818181818182
     x.c:11 30 5 0.16666666666666666
      g 30 5 0.16666666666666666
       x.c:21 30 5 0.16666666666666666
     loop at x.c:12–14 69 13 0.18840579710144928
      x.c:13 69 13 0.18840579710144928
       g 65 13 0.2
        x.c:21 65 13 0.2`,
    'recursion folded: each path has f once; what is computed is computed from the sums',
  );
  equal(
    drawn(callersOf(m, nodes, values, g)!.model)
      .split('\n')
      .slice(0, 6)
      .join('\n'),
    `g 95 18 0.18947368421052632
 x.c:11 30 5 0.16666666666666666
  f 30 5 0.16666666666666666
   x.c:3 10 5 0.5
    loop at x.c:2–4 10 5 0.5
     main 10 5 0.5`,
    'the callers of g, by all ways',
  );
  equal(
    drawn(callersOf(m, nodes, values, f)!.model),
    `f 99 18 0.18181818181818182
 x.c:3 99 18 0.18181818181818182
  loop at x.c:2–4 99 18 0.18181818181818182
   main 99 18 0.18181818181818182`,
    'of f, once on each path',
  );
  const callers = (of: number): string => drawn(callersOf(m, nodes, values, of)!.model).replace(/^\w+/, '');
  equal(callers(b), callers(g), 'the callers of a module: of its procedures');
  equal(callers(a), ' 100 18 0.18', 'a module that nobody calls');
  const columns = new Columns(tree.model);
  const listed = (of: number, way: 'callers' | 'callees'): string => {
    const { rows, cells } = callsOf(m, tree, of)![way];
    const sums = columns.values(columns.of(0), cells);
    const name = (p: number): string => (p === NONE ? '-' : labelOf(m, p).text);
    return rows.map((r, i) => [r.caller, r.callee, r.line, r.loop].map(name).join(' ') + ` ${sums[i]}`).join('\n');
  };
  equal(
    listed(f, 'callers'),
    'main f x.c:3 loop at x.c:2–4 99\nf f x.c:11 - 89',
    'who calls f: a call that is inside itself counts once',
  );
  equal(listed(f, 'callees'), 'f g x.c:11 - 30\nf f x.c:11 - 89\nf g x.c:13 loop at x.c:12–14 65', 'what f calls');
  equal(listed(loop, 'callees'), 'f g x.c:13 loop at x.c:12–14 65', 'what a loop of it calls');
  equal(listed(b, 'callers'), listed(g, 'callers'), 'who calls a module');
  equal([listed(a, 'callers'), listed(a, 'callees')], ['', listed(g, 'callers')], 'calls out of a module');
  const rows = callRows(m, tree);
  equal(
    drawn(rows.model).replace(/(\d) \S+ \S+$/gm, '$1'),
    `p 100
 main 100
  loop at x.c:2–4 100
   x.c:3 1
   f 99
    g 10
     x.c:21 10
    f 89
     g 20
      x.c:21 20
     f 69
      loop at x.c:12–14 69
       x.c:13 4
       g 65
        x.c:21 65`,
    'one row a call; what a line costs itself is one of its own',
  );
  equal(Array.from(rows.site, (s) => (s === NONE ? '' : labelOf(m, s).text)).join(), ',,,,x.c:3,x.c:11,,x.c:11,x.c:11,,x.c:11,,,x.c:13,', 'a call has the line it is on');
  equal(labelOf(rows.model, 4).detail, 'called at x.c:3', 'and says so');
  const lines = fileLines(m, lineIndex(m), 0);
  const cost = withCalls(nodes, lines, tree.model.values.of(0, false)!);
  equal(
    [3, 11, 13, 21].map((n) => cost[lines.at.get(n)!]),
    [100, 99, 69, 95],
    'lines cost what they call, in recursion once',
  );
  const named = (all: readonly HotPlace[]): string[] =>
    all.map(({ place: at, callee, value }) => `${labelOf(m, at).text} ${callee === NONE ? '-' : labelOf(m, callee).text} ${value}`);
  const hot = (files: Model['files']): string[] => named(hotPlaces({ ...m, files }, tree, tree.model.values.of(0, false)!));
  equal(hot(m.files), ['g - 95', 'loop at x.c:12–14 - 4', 'loop at x.c:2–4 - 1'], 'hot places: of own code its loops, else its procedures');
}

/** A library without text costs at its call; procedures that are not called are one place for all of a name. */
function testHotPlaces(): void {
  const m = model(`
program p
  module a
    file x.c
      proc main 1-9 @x.c
        line 3 @x.c
        line 4 @x.c
  module lib.so
    file l.c
      proc wait 1-9 @l.c
        line 2 @l.c
      proc spin 11-19 @l.c
        line 12 @l.c`);
  const files = m.files.map((f) => (f.name === 'l.c' ? { ...f, state: 'missing' as const } : f));
  const own = { ...m, files };
  const [main, at3, at4, wait, at2, spin, at12] = [3, 4, 5, 8, 9, 10, 11];
  const place = Uint32Array.of(0, main, at3, wait, at2, spin, at12, at4, spin, at12);
  const parent = Int32Array.of(NONE, 0, 1, 2, 3, 4, 5, 1, 0, 8);
  const nodes = { count: place.length, parent, place };
  const values = Float64Array.of(100, 70, 60, 60, 60, 50, 50, 10, 30, 30);
  const tree = { nodes, model: { ...own, places: { ...own.places } } };
  equal(
    hotPlaces(own, tree, values).map(({ place: at, callee, value }) => [at, callee, value]),
    [[at3, wait, 60], [spin, NONE, 30], [main, NONE, 10]],
    'a library is counted at the line that calls it; what nobody calls by its procedure; lines by what is around them',
  );
  const cost = Float64Array.from({ length: m.places.count }, (_, i) => [100, 10, 10, 10, NaN, 10, 90, 90, 40, 40, 50, 50][i]);
  const children = childrenOf(m.places);
  equal(firstPlace(own, children, cost, 0), at4, 'the hot path ends where no text is: the hottest line with text is first');
  equal(firstPlace(m, children, cost, 0), at12, 'else its end');
}

/** Sorted the other way is the same as sorted anew: equals keep their order, blanks stay last. */
function testTurned(): void {
  const cases: readonly (readonly number[])[] = [[], [NaN], [1], [3, 1, 2], [2, NaN, 2, 1, 2, NaN, -0, 0, 1], [0, 0, 0]];
  for (const numbers of cases) {
    const values = Float64Array.from(numbers);
    const items = countUp(values.length);
    for (const descending of [true, false])
      equal(
        [...turnedRound(sortedByValue(items, values, descending), values)],
        [...sortedByValue(items, values, !descending)],
        `turned round: ${numbers.join(' ')}, ${descending}`,
      );
  }
}

/** Rows that are blank in the shown columns: procedures that only call, for example. */
function testBlankRows(): void {
  const m = model(`
    program p
      module a
        file x.c
          proc busy 1-9 @x.c
            line 2 @x.c = 5 1
          proc calls 10-19 @x.c
            line 11 @x.c
          proc other 20-29 @x.c
            line 21 @x.c = . 3`);
  blankRowsOf(m, 'made');
  const present = (metric: number, exclusive: boolean): Present => ({
    state: Uint8Array.from(m.values.of(metric, exclusive)!, (v) => (Number.isNaN(v) ? 1 : 3)),
    bits: 2,
  });
  const at = (metric: number, exclusive: boolean, place: number): number => m.values.of(metric, exclusive)![place];
  let made = 0;
  const of = (metric: number, exclusive: boolean): Float64Array | null => (made++, m.values.of(metric, exclusive));
  blankRowsOf({ ...m, values: { of, at, present, failure: () => undefined } }, 'stored');
  equal(made, 0, 'values that are stored are not made for that');
}

function blankRowsOf(m: Model, how: string): void {
  const columns = new Columns(m);
  const state: State = { ...START, descending: false, expanded: new Set([0, 1, 2]) };
  const rows = (view: State['view'], ids: readonly string[]): string => {
    const shown = ids.map((id) => columns.get(id)!);
    const table = new Tables(m).of({ ...state, view }, { columns, shown, sort: null, weight: null });
    return Array.from({ length: table.count }, (_, i) => table.label(i).text).join(' ') + ` +${table.hidden}`;
  };
  equal(rows('tree', ['0i', '1i']), 'p a x.c busy other +0', `a procedure without data in any shown column is no row: ${how}`);
  equal(rows('tree', ['0i']), 'p a x.c busy +0', `nor is one with data elsewhere: ${how}`);
  equal(rows('procedure', ['0i', '1i']), 'busy other +0', `the same in flat tables: ${how}`);
  equal(rows('tree', []), 'p a x.c busy calls other +0', `without columns all are shown: ${how}`);
}

function testSyntax(): void {
  const long = (letters: number): string => tokenize(languageOf('a.c'), `int ${'x'.repeat(letters - 4)}`, 'code').tokens[0].kind;
  equal([long(2000), long(2001)], ['keyword', 'plain'], 'long lines are left without colour');
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
  // a line far down is coloured as if all before it had been read token by token
  const pieces = ['/*', '*/', '/*/', '"', "'", '//', '"""', '#', 'a', ' ', 'x */ y', '"/*"', '// /*'];
  let seed = 7;
  const any = (): string => pieces[(seed = (seed * 48271) % 2147483647) % pieces.length];
  const text = Array.from({ length: 600 }, () => Array.from({ length: 1 + ((seed >> 3) % 6) }, any).join(''));
  for (const file of ['a.c', 'a.py', 'a.f90']) {
    const colouring = new Colouring(languageOf(file), text);
    colouring.line(text.length - 1);
    let state: LineState = 'code';
    const odd = text.findIndex((line, i) => {
      const want = tokenize(languageOf(file), line, state);
      state = want.state;
      return JSON.stringify(colouring.line(i)) !== JSON.stringify(want.tokens);
    });
    equal(odd, -1, `${file}: no line of 600`);
  }
}

function testDecoding(): void {
  equal([...fromBase64('AQIDBA==')], [1, 2, 3, 4], 'base64');
  equal(fromBase64('').length, 0, 'empty base64');
  throws(() => fromBase64('A*=='), 'not base64', 'base64 with something else in it');
  const value = new Uint8Array(new Float64Array([1.5]).buffer);
  equal([...decodeBase64('AQIDBA==')], [1, 2, 3, 4], 'where the browser cannot do it');
  throws(() => decodeBase64('A*=='), 'not base64', 'nor can the page do what is none');
  const column = decodeMetric(Uint8Array.of(5, 0, ...value), 2, 0);
  equal(
    [[...column.inclusive()], [...column.exclusive()]],
    [
      [1.5, NaN],
      [1.5, NaN],
    ],
    'a metric: equal values are stored once, missing ones not at all',
  );
  equal(
    [...decodeMetric(Uint8Array.of(1, 0, 1, 1, 2, 2, 1, 0, 0, 0, 0), 3, 1000003).inclusive()],
    [(1 + 2 * 256) * 1000003, NaN, (2 + 256) * 1000003],
    'a sampled metric: multiples of its period',
  );
  const both = decodeMetric(Uint8Array.of(1, 3, 2, 5, 10, 20, 30, 5, 7, ...new Uint8Array(15)), 4, 2);
  equal(
    [[...both.inclusive()], [...both.exclusive()]],
    [
      [20, 40, NaN, 60],
      [NaN, 10, 14, 60],
    ],
    'inclusive values first, then the exclusive ones that differ',
  );
  const states = Uint8Array.from({ length: 700 }, (_, i) => [0, 1, 3, 5, 2, 1, 6][i % 7]);
  const numbers = states.reduce((n, s) => n + (s & 1) + ((s & 2) >> 1), 0);
  const planes = Uint8Array.from({ length: 4 * numbers }, (_, i) => (i < 2 * numbers ? (i * 37) % 251 : i < 3 * numbers ? 1 : 0));
  for (const scale of [3, 0]) {
    const bytes = scale ? planes : Uint8Array.from({ length: 8 * numbers }, (_, i) => (i * 31) % 64);
    const stored = decodeMetric(Uint8Array.of(...states, ...bytes), states.length, scale);
    const one = (exclusive: boolean): number[] => [...states.keys()].map((i) => stored.at(i, exclusive));
    equal(one(false), [...stored.inclusive()], `one inclusive value is that of the column, scale ${scale}`);
    equal(one(true), [...stored.exclusive()], `one exclusive value is that of the column, scale ${scale}`);
    const { state, bits } = stored.present(false);
    equal([...state].map((s) => (s & bits) !== 0), one(false).map((v) => !Number.isNaN(v)), 'and where there are some');
    equal(stored.at(states.length, false), NaN, 'behind the last place there is none');
  }
  throws(() => decodeMetric(Uint8Array.of(1, 0, 3), 2, 0), 'too early', 'a metric cut short');
  throws(() => decodeMetric(Uint8Array.of(1, 1, ...value), 2, 0), 'wrong number', 'a metric with too few values');
  const columns = new Uint8Array(2 + 13 * 4);
  throws(() => decodePlaces(columns.subarray(0, 20), { count: 1, strings: 1, files: 0, planes: ALL_PLANES }), 'too early', 'places cut short');
  throws(
    () => decodePlaces(Uint8Array.of(...new Uint8Array(2 + 8), 9, 0, 0, 0, ...new Uint8Array(44), 0), { count: 1, strings: 1, files: 0, planes: ALL_PLANES }),
    'not there',
    'a name that is not there',
  );
}

const ALL_PLANES = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4];

/** Places of every width that a column can have, from a number of bytes that is not a multiple of four. */
function testWidths(): void {
  const count = 11;
  const plane = (value: (i: number) => number): number[] =>
    [0, 8, 16, 24].flatMap((shift) => Array.from({ length: count }, (_, i) => (value(i) >>> shift) & 255));
  const zero = plane(() => 0);
  const low = (i: number): number => 0x89abcdef - i * 0x01010101;
  const bytes = Uint8Array.of(
    ...Array.from({ length: count }, (_, i) => (i === 0 ? 0 : 6)),
    ...Array.from({ length: count }, (_, i) => (i === 3 ? 0x95 : 0)),
    ...plane((i) => i), // all below the program
    ...zero, // names
    ...zero,
    ...plane((i) => (i % 2 ? 0xffffffff : 0)), // files
    ...plane((i) => 70_000 + i),
    ...plane((i) => 300 + i),
    ...plane(() => 0xffffffff),
    ...plane((i) => 60_000 + i),
    ...plane((i) => i),
    ...plane(() => 0x123456),
    ...plane(low),
    ...plane((i) => (i ? 1 : 0)),
    ...zero,
    ...new TextEncoder().encode('name\0'),
  );
  const all = decodePlaces(bytes, { count, strings: 1, files: 1, planes: ALL_PLANES });
  const parts: Uint8Array[] = [bytes.subarray(0, 2 * count)];
  let at = 2 * count;
  const stored = ALL_PLANES.map((planes) => {
    let some = planes;
    while (some && !bytes.subarray(at + (some - 1) * count, at + some * count).some((b) => b)) some--;
    parts.push(bytes.subarray(at, at + some * count));
    at += planes * count;
    return some;
  });
  equal(stored, [1, 0, 0, 4, 3, 2, 4, 2, 1, 3, 5, 0], 'planes that are not all zero');
  const short = Uint8Array.from([...parts, bytes.subarray(at)].flatMap((part) => [...part]));
  testPlaces(all, count, low, 'all planes');
  testPlaces(decodePlaces(short, { count, strings: 1, files: 1, planes: stored }), count, low, 'without those of zeros');
}

function testPlaces(p: Places, count: number, low: (i: number) => number, how: string): void {
  const want = (value: (i: number) => number): number[] => Array.from({ length: count }, (_, i) => value(i));
  equal([...p.parent], want((i) => (i === 0 ? NONE : 0)), `parents, ${how}`);
  equal([...p.file], want((i) => (i % 2 ? NONE : 0)), `files, ${how}`);
  equal([...p.lineLast], want((i) => 70_300 + 2 * i), `last lines, of three bytes, ${how}`);
  equal([...p.callLine], want((i) => 60_000 + i), `two bytes, ${how}`);
  equal([p.instance instanceof Uint8Array, ...p.instance], [true, ...want((i) => i)], `one byte, ${how}`);
  equal([...p.instances], want(() => 0x123456), `three, ${how}`);
  equal([...p.addressLow], want((i) => low(i) >>> 0), `four, ${how}`);
  equal([...p.addressHigh], want((i) => (i ? 1 : 0)), `and of the upper half, ${how}`);
  equal([p.role[3], p.irreducible[3], p.onLine[3], p.role[4], p.onLine[4]], [1, 1, 5, 0, 0], `roles, ${how}`);
  equal([...p.same], want((i) => i), `what is the same, ${how}`);
  equal([...p.callFile], want(() => NONE), `no call, ${how}`);
}

function testTablesAndTrees(): void {
  const word = (...planes: number[]): number[] => planes;
  const info: TableInfo = {
    name: 'evictors',
    title: 'Evictors',
    description: '',
    rows: 2,
    strings: 2,
    block: 'table-0',
    columns: [
      { name: 'by', title: 'by', unit: '', description: '', type: 'ref', to: 'place' },
      { name: 'n', title: 'n', unit: '', description: '', type: 'count', to: '' },
      { name: 'why', title: 'why', unit: '', description: '', type: 'text', to: '' },
      { name: 'share', title: 'share', unit: '', description: '', type: 'number', to: '' },
    ],
  };
  const half = [...new Uint8Array(new Float64Array([0.5]).buffer)];
  const nan = [...new Uint8Array(new Float64Array([NaN]).buffer)];
  const bytes = Uint8Array.from([
    ...word(6, 255, 0, 255, 0, 255, 0, 255), // places 6 and none
    ...[...Array(8).keys()].flatMap((plane) => [plane === 1 ? 2 : 0, 255]), // 512, and missing
    ...word(1, 0, 0, 0, 0, 0, 0, 0),
    ...[...Array(8).keys()].flatMap((plane) => [half[plane], nan[plane]]),
    ...new TextEncoder().encode('first\0second\0'),
  ]);
  const rowsOf = (to: string): number | undefined => (to === 'place' ? 7 : undefined);
  const rows = decodeTable(bytes, info, rowsOf);
  const m: Model = { ...heat(), tables: [info], tableRows: { of: () => rows, failure: () => undefined } };
  const text = (row: number): string =>
    info.columns.map((c, i) => cellText(m, c, rows, rows.cells[i][row]) || 'blank').join(' | ');
  equal(
    [text(0), text(1)],
    ['x.c:6 | 512 | second | 0.5', 'blank | blank | first | blank'],
    'a table, with what is missing',
  );
  equal(
    [rowsAbout(m, info, rows, 5), rowsAbout(m, info, rows, 15), rowsAbout(m, info, rows, 0)],
    [[0], [], [0, 1]],
    'rows about a place or what is inside it',
  );
  equal(findings(m), null, 'no findings');
  throws(() => decodeTable(bytes.subarray(0, 20), info, rowsOf), 'the table evictors ends too early', 'a table cut short');
  const wrong = bytes.slice();
  wrong[24] = 9;
  throws(() => decodeTable(wrong, info, rowsOf), 'names a text that is not there', 'a text that is not there');
  throws(() => decodeTable(bytes, info, () => 6), 'names a place that is not there', 'a place that is not there');
  const tree = decodeTree(Uint8Array.of(0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0), 3, 20);
  equal(
    [[...tree.parent], [...tree.place]],
    [
      [NONE, 0, 1],
      [0, 5, 6],
    ],
    'a tree over the places',
  );
  throws(
    () => decodeTree(Uint8Array.of(0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0), 2, 20),
    'not there',
    'a node whose parent is not there',
  );
  throws(
    () => decodeTree(Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0, 0, 0, 0), 2, 20),
    'not there',
    'a place that is not there',
  );
}

function testSearch(): void {
  const names = ['hypothesis', 'place', 'state', 'value', 'threshold', 'experiment', 'parent', 'note'];
  const column = (name: string): TableInfo['columns'][number] => ({
    name,
    title: name,
    unit: '',
    description: '',
    type: 'text',
    to: '',
  });
  const info = {
    name: 'search',
    title: '',
    description: '',
    rows: 6,
    strings: 0,
    block: '',
    columns: names.map(column),
  };
  const strings = ['', 'A', 'B', 'C', 'D', 'E', 'F', 'true', 'false'];
  const outline = (parents: readonly number[], states: readonly number[]): string => {
    const six = (x: number): Float64Array => new Float64Array(6).fill(x);
    const cells = [
      Float64Array.of(1, 2, 3, 4, 5, 6),
      six(0),
      Float64Array.from(states),
      six(NaN),
      six(1),
      six(1),
      Int32Array.from(parents),
      six(0),
    ];
    const steps = searchSteps(info, { cells, strings });
    return openSteps(steps, (row) => steps[row].leads)
      .map(({ row, depth }) => `${' '.repeat(depth)}${steps[row].hypothesis}${steps[row].leads ? '+' : ''}`)
      .join('\n');
  };
  equal(
    outline([NONE, 0, 1, 1, NONE, 4], [8, 8, 7, 8, 8, 8]),
    'A+\n B+\n  C+\n  D\nE',
    'a search is a tree; what leads to something true is open, the rest closed',
  );
  equal(
    outline([1, 2, NONE, 2, 2, 99], [7, 8, 7, 8, 8, 8]),
    'C+\n B+\n  A+\n D\n E\nF',
    'parents may stand behind; no such row is none',
  );
  equal(
    outline([1, 2, 0, 0, 4, NONE], [7, 8, 8, 8, 8, 8]).split('\n').length,
    6,
    'circles end, and every step is there',
  );
  equal(
    [isSearch(info), isSearch({ ...info, columns: info.columns.slice(1) })],
    [true, false],
    'a search has all its columns',
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
    planes: [1, 1, 1, 4, 2, 0, 4, 0, 0, 0, 8, 0],
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
  throws(() => readHead(JSON.stringify({ ...head, planes: [1, 5] })), '"planes" of its head', 'planes that cannot be');
  const lost = (name: string, percent: string): string => `no debug information in ${name}: ${percent}% of T shown by function only`;
  equal(
    readHead(JSON.stringify({ ...head, warnings: [lost('a.so', '0.2'), 'other', lost('b.so', '1.5')] })).warnings,
    [lost('a.so, b.so', '1.7'), 'other'],
    'modules without debug information are one warning',
  );
  throws(() => readHead('{}'), 'not an hpcview database', 'something else');
  throws(() => readHead('{'), 'not JSON', 'a damaged head');
}

/** procedure, address, line, target, loop, loop around; a dot is missing. */
const CODE = `
1 10 5 .  .  .
2 20 7 .  .  .
2 21 7 .  21 .
2 22 8 24 23 21
2 23 8 .  23 21
2 24 8 22 23 21
2 25 7 21 21 .
2 26 9 30 .  .
`;

function testInstructions(): void {
  const names = ['procedure', 'address', 'line', 'target', 'loop', 'around'];
  const values = CODE.trim()
    .split('\n')
    .map((row) => row.split(/ +/).map((word) => (word === '.' ? NaN : Number(word))));
  const column = (name: string): TableInfo['columns'][number] => ({
    name,
    title: name,
    unit: '',
    description: '',
    type: 'count',
    to: '',
  });
  const table = (columns: readonly string[], rows: readonly (readonly number[])[]) => ({
    info: {
      name: '',
      title: '',
      description: '',
      rows: rows.length,
      strings: 0,
      block: '',
      columns: columns.map(column),
    },
    rows: { cells: columns.map((_, c) => Float64Array.from(rows, (row) => row[c])), strings: [] },
  });
  const insns = table(names, values);
  const counts = table(
    ['instruction', 'metric', 'value'],
    [
      [3, 0, 40],
      [3, 1, 7],
      [6, 0, 2],
      [99, 0, 1],
    ],
  );
  const code = new Code(insns.info, insns.rows, counts);
  equal(code.pieces(2), [{ first: 1, end: 8 }], 'the instructions of a procedure');
  equal(code.pieces(3), [], 'of one that has none here');
  equal([...code.values(0)].join(), 'NaN,NaN,NaN,40,NaN,NaN,2,NaN', 'what was counted, by instruction');
  const shown = show(code, code.pieces(2)[0]);
  equal(
    shown.lines
      .map((l) => (l.isSource ? `line ${code.cell('line', l.row)}` : String(code.cell('address', l.row))))
      .join(),
    'line 7,20,21,line 8,22,23,24,line 7,25,line 9,26',
    'a line of the source stands before its instructions',
  );
  const at = (line: number): string => String(code.cell('address', shown.lines[line].row));
  equal(
    shown.loops.map((l) => `${l.header}: ${at(l.first)}-${at(l.last)} track ${l.track}`),
    ['21: 21-25 track 0', '23: 22-24 track 1'],
    'loops hold their inner ones',
  );
  equal(
    shown.jumps.map((j) => `${at(j.from)} to ${at(j.to)} lane ${j.lane}`),
    ['22 to 24 lane 0', '24 to 22 lane 1', '25 to 21 lane 2'],
    'short jumps stand inside of long ones; one out of the procedure is none',
  );
}

/** Places 6 and 7 are lines of one loop; array 0 is static, 1 on the heap. */
/** Rows of a table, written as a line a row; texts are strings, `-` is missing. */
function tableOf(name: string, columns: string, lines: readonly string[]): { info: TableInfo; rows: TableRows } {
  const heads = columns.split(' ').map((word) => word.split(':'));
  const cells = lines.map((line) => line.split(' '));
  const strings = [...new Set(cells.flat())];
  const value = (type: string, text: string): number => {
    if (type === 'text') return strings.indexOf(text);
    if (text === '-') return type === 'ref' ? NONE : NaN;
    return Number(text);
  };
  return {
    info: {
      name,
      title: name,
      description: '',
      rows: lines.length,
      strings: 0,
      block: '',
      columns: heads.map(([column, type, to]) => ({
        name: column,
        title: column,
        unit: '',
        description: '',
        type: type as 'ref',
        to: to ?? '',
      })),
    },
    rows: { cells: heads.map(([, type], i) => Float64Array.from(cells, (row) => value(type, row[i]))), strings },
  };
}

// Two runs of one program: three barriers with two threads, two of them with four.
const phaseTables = [
  tableOf('threads', 'number:count name:text', ['10 a', '2 a', '1 b']),
  tableOf('barriers', 'run:ref:run name:text kind:text number:count phase:count barrier:count', [
    '0 first pthread 1 100 10',
    '0 second pthread 2 50 50',
    '0 third pthread 3 1000 -',
    '1 second pthread 2 400 500',
    '1 third pthread 3 30 3',
  ]),
  tableOf('phase_loops', 'run:ref:run begun:ref:barriers ended:ref:barriers place:ref:place event:text samples:count share:number', [
    '0 - 0 3 CLOCK 5 10',
    '0 - 0 2 CLOCK 9 18',
    '0 - 0 - CLOCK 50 72',
    '0 0 1 3 CLOCK 7 70',
    '0 0 1 4 CLOCK 1 5',
  ]),
  tableOf('episodes', 'run:ref:run barrier:ref:barriers begin:time last:time', ['0 0 100 160', '0 1 160 200', '1 3 1 2']),
  tableOf('arrivals', 'run:ref:run episode:ref:episodes thread:ref:threads arrived:time', [
    '0 1 0 190',
    '0 0 0 160',
    '0 0 1 120',
    '0 1 1 200',
    '1 2 2 2',
    '0 - 1 7',
  ]),
  tableOf('waits_for', 'run:ref:run waiter:ref:threads thread:ref:threads waited:count', [
    '0 0 1 30',
    '0 0 1 12',
    '0 1 0 7',
    '1 2 0 99',
  ]),
];
const phaseModel = (): Model => ({
  ...heat(),
  tables: phaseTables.map((t) => t.info),
  tableRows: { of: (i) => phaseTables[i].rows, failure: () => undefined },
});
const rowsOf = (m: Model, name: string): Rows => Rows.of(m, name)!;

function testStacks(): void {
  const barriers = rowsOf(phaseModel(), 'barriers');
  equal(Rows.of(phaseModel(), 'none'), null, 'phases: a table that is not here');
  equal(barrierName(barriers, 0), 'first pthread', 'phases: what a barrier is called');
  const text = (most: number): string =>
    stacks(barriers, most)
      .map((s) => `${s.run}:${s.total} ${s.phases.map((p) => `${p.row}/${p.work}/${p.wait}/${p.colour}`).join(' ')}`)
      .join('\n');
  equal(
    text(12),
    '0:1150 0/90/10/0 1/0/50/1 2/1000/0/2\n1:430 3/0/400/1 4/27/3/2',
    'phases: columns in the order in which barriers were met, a colour for one barrier in all runs, no wait longer than its phase',
  );
  equal(
    text(1),
    `0:1150 2/1000/0/0 ${NONE}/90/60/1\n1:430 4/27/3/0 ${NONE}/0/400/1`,
    'phases: the largest by itself, all others together',
  );
}

function testPhaseLoops(): void {
  const m = phaseModel();
  const loops = rowsOf(m, 'phase_loops');
  equal(
    loopsBefore(loops, 0).map((l) => `${l.place}:${l.samples}`),
    ['2:9', '3:5'],
    'phases: the loops of a phase, the hottest first, without those of no place',
  );
  equal(loopsBefore(loops, 2), [], 'phases: a phase without samples has none');
  equal(
    phasesOf(m, loops, 0).map((l) => `${l.begun}-${l.ended} ${l.samples} ${l.share}`),
    [`${NONE}-0 64 100`, '0-1 8 75'],
    'phases: the phases of a place are those of all that is in it',
  );
}

function testTimeline(): void {
  const m = phaseModel();
  equal(
    ['#0 app', '#12 worker', 'rank 2 #0 app', 'rank 2 #3 app', 'main thread'].map(threadName),
    ['thread 0', 'thread 12', 'rank 2', 'rank 2 thread 3', 'main thread'],
    'phases: names of threads',
  );
  const time = timeline(rowsOf(m, 'episodes'), rowsOf(m, 'arrivals'), 0);
  equal(time.lanes, ['thread 2', 'thread 10'], 'phases: threads in the order of their numbers');
  equal(
    time.bars.map((b) => `${b.lane} ${b.episode}: ${b.begin} ${b.arrived} ${b.last}`),
    ['0 0: 0 20 60', '1 0: 0 60 60', '0 1: 60 100 100', '1 1: 60 90 100'],
    'phases: work until it arrives, waiting until the last has, ns after the first begin',
  );
  equal(time.end, 100, 'phases: the end of the axis');
  const range = inRange(time, rowsOf(m, 'episodes'), 10, 70);
  equal(
    [range.episodes, range.work, range.wait, ...range.barriers.map((b) => `${b.row}: ${b.work} ${b.wait} ${b.last}`)],
    [2, 80, 40, '0: 60 40 thread 10', '1: 20 0 thread 2'],
    'phases: what threads did between two times, and who came last',
  );
  equal(inRange(time, rowsOf(m, 'episodes'), 200, 300).barriers, [], 'phases: between two times of which nothing is kept');
  equal(
    placesInRange(rowsOf(m, 'phase_loops'), range).map(([place, part]) => `${place} ${part.toFixed(3)}`),
    ['3 0.200', '2 0.150', '4 0.008'],
    'phases: the places of the phases between two times',
  );
  equal(timeline(rowsOf(m, 'episodes'), rowsOf(m, 'arrivals'), 7).lanes, [], 'phases: a run without episodes');
  const matrix = whoWaits(rowsOf(m, 'waits_for'), 0);
  equal([matrix.waiters, matrix.others], [['thread 2', 'thread 10'], ['thread 2', 'thread 10']], 'phases: who waited for whom, in order');
  equal(
    [matrix.waited('thread 10', 'thread 2'), matrix.waited('thread 2', 'thread 10'), matrix.waited('thread 2', 'thread 2'), matrix.most],
    [42, 7, 0, 42],
    'phases: summed over barriers, of this run alone',
  );
}

function testMemory(): void {
  const column = (word: string): TableInfo['columns'][number] => {
    const [name, to = ''] = word.split('>');
    return { name, title: name, unit: '', description: '', type: to === 'text' ? 'text' : to ? 'ref' : 'count', to };
  };
  const table = (name: string, columns: string, rows: readonly (readonly number[])[], strings: readonly string[] = []) => ({
    info: { name, title: '', description: '', rows: rows.length, strings: strings.length, block: '', columns: columns.split(' ').map(column) },
    rows: { cells: columns.split(' ').map((_, c) => Float64Array.from(rows, (row) => row[c])), strings },
  });
  const tables = [
    table('levels', 'level>text line order', [[0, 4096, 1], [1, 64, 0]], ['TLB', 'L1']),
    table('objects', 'name>text where>place', [[0, NONE], [1, 6]], ['a', 'heap 1']),
    table('references', 'reference>place object>objects level>levels accesses misses temporal used evictions cold conflict', [
      [6, 0, 1, 1000, 600, 100, 4800, 600, 50, 400],
      [7, 1, 1, 1000, 125, 0, 8000, 125, 125, 0],
      [15, 0, 1, 100, 25, 75, 0, 0, 25, 0],
      [6, 0, 0, 1000, 2, 900, 0, 0, 2, 0],
    ]),
    table('evictors', 'victim>place victim_object>objects evictor>place evictor_object>objects level>levels blocks invalidated', [
      [6, 0, 6, 0, 1, 450, 0],
      [6, 0, 7, 1, 1, 150, 3],
      [7, 1, 15, 0, 1, 125, 0],
    ]),
  ];
  const m: Model = {
    ...heat(),
    tables: tables.map((t) => t.info),
    tableRows: { of: (i) => tables[i].rows, failure: () => undefined },
  };
  const all = Memory.of(m, 0)!;
  const [l1, tlb] = all.levels;
  equal(all.levels.map((l) => `${l.name} ${l.misses}`), ['L1 750', 'TLB 2'], 'levels in their order, with all misses');
  equal(
    all.references(l1).map((r) => `${r.place} ${all.arrayName(r.object)} ${r.misses} ${r.share.toFixed(1)} ${r.ratio} ${r.temporal} ${r.spatial}`),
    ['6 a 600 80.0 60 25 12.5', '7 heap 1 125 16.7 12.5 0 100', '15 a 25 3.3 25 100 NaN'],
    'references, most misses first, with shares and ratios',
  );
  equal(all.arrays(l1).map((r) => `${all.arrayName(r.object)} ${r.place} ${r.misses}`), ['a -1 625', 'heap 1 6 125'], 'and arrays');
  equal(
    all.evictors(l1, all.references(l1)[0]).map((e) => `${e.place} ${all.arrayName(e.object)} ${e.share} ${e.taken}`),
    ['6 a 75 0', '7 heap 1 25 3'],
    'who throws out the blocks of a reference, itself included',
  );
  const one = Memory.of(m, 7)!;
  equal(one.references(l1).length, 1, 'of a line, its own references');
  equal([one.total(l1)?.misses, one.total(tlb)], [125, null], 'a level it does not use');
  equal(one.evictors(l1).map((e) => `${e.place} ${e.share}`), ['15 100'], 'and who throws them out');
  equal(
    reasons(all.references(l1)[0]),
    ['most are conflicts, which a fully associative level of this size would not have', '12.5% of the bytes of evicted lines had been used'],
    'why it misses',
  );
  equal(reasons(all.references(l1)[1]), ['most are first uses of a cache line'], 'or what is needed once');
  const lineOf = (place: number): string => {
    const found = missesOnLine(m, m.places.file[place], m.places.lineFirst[place]);
    return found ? `${found.place}: ${found.shares.map((s) => `${s.level} ${s.share.toFixed(1)}`).join(', ')}` : 'none';
  };
  equal(lineOf(6), '6: L1 80.0, TLB 100.0', 'what a line has of the misses of each level');
  equal(lineOf(7), '7: L1 16.7', 'and a line that one level knows');
  equal(missesOnLine(m, m.places.file[6], 9999), null, 'no mark where nothing is');
  equal(Memory.of({ ...m, tables: m.tables.slice(1) }, 0), null, 'nothing without the tables');
}

testTree();
testMemory();
testStacks();
testPhaseLoops();
testTimeline();
testInstructions();
testFilter();
testFind();
testNothing();
testFlat();
testLines();
testBrackets();
testFormulas();
testSharedFormulas();
testFormulaColumns();
testCharts();
testInlined();
testFlattened();
testSort();
testComparison();
testTyped();
testIcicle();
testSummary();
testFormats();
testLabels();
testForms();
testAddress();
testTables();
testCalls();
testHotPlaces();
testBlankRows();
testSyntax();
testDecoding();
testWidths();
testTurned();
testTablesAndTrees();
testSearch();
testHead();
testBlocks();
testDamage();
testNaive();
testDrawn(START);
testMade();
testShown();
testStates(START);
testCorners(START);
testKept(START);
void testJobs().then(done);
