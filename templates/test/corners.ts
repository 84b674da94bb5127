// SPDX-License-Identifier: BSD-3-Clause
// What drawn programs never come to: every action on the state, heads with all and with next to nothing in them, sentences about formulas,
// metrics by statistics, names that are missing, limits, ways back out where something is not here.

import { callersOf } from '../logic/calls';
import { Columns } from '../logic/columns';
import { allDifferences, counterpart, differences, firstDifference, runOf, runsOf } from '../logic/compare';
import { findingsAt } from '../logic/diagnosis';
import { distributionAt, metricsByThread } from '../logic/distribution';
import { formatAs, formatExact, formatPercent, formatScaled, formatShort, formatSigned, plural, scaleAmong, scaleFor, share, unitIn } from '../logic/format';
import { parseFormula, quoteName, readFormula } from '../logic/formula';
import { headsAround } from '../logic/sticky_headers';
import { Code } from '../logic/instructions';
import { badgeTitle, describe, labelOf, lineRange, shortName } from '../logic/labels';
import { Memory, missesOnLine } from '../logic/memory';
import { Rows, timeline } from '../logic/phases';
import { type Table, Tables } from '../logic/rows';
import { axisChoices, dotsOf, roofOf } from '../logic/scatter';
import { parseFilter } from '../logic/search';
import { changes, lacks } from '../logic/summary';
import { cellText, findings, rowsAbout } from '../logic/tables';
import { Colouring, languageOf, tokenize } from '../logic/syntax';
import { childrenOf, subtree, visibleRows, SortedChildren } from '../logic/tree';
import { firstMetric, type Metric, type Model, NONE, Role, type Run, type TableColumn, type TableInfo, type TableRows, type TreeNodes, type Values } from '../model/data';
import { readHead, rowsOf } from '../model/head';
import { sentence } from '../model/jobs';
import type { Action } from '../state/actions';
import { reduce } from '../state/reduce';
import type { State } from '../state/state';
import { tableOf } from './made';
import { metric, model } from './outline';
import { equal, throws } from './tap';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const noValues: Values = { of: () => null, failure: () => undefined };
const withTables = (m: Model, tables: readonly { readonly info: TableInfo; readonly rows: TableRows | null }[]): Model => ({
  ...m,
  tables: tables.map((t) => t.info),
  tableRows: { of: (i) => tables[i].rows, failure: () => undefined },
});

// ---- the state ----

const plain = (state: State): unknown => ({ ...state, expanded: [...state.expanded].sort((a, b) => a - b) });

/** Each action changes what it is about, and nothing else. */
function testActions(start: State): void {
  const state: State = { ...start, expanded: new Set([0, 3, 5]), zoom: 3, shown: ['0i', 't0i', 't1e', 't2i'], sortBy: '0i', typed: [1, 2,
    3].map((n) => ({ name: `n${n}`, formula: `${n}` })), calls: { open: new Set([1]), selected: 1 } };
  const source = { file: 1, first: 2, last: 3 };
  const open = (...places: number[]): { expanded: Set<number> } => ({ expanded: new Set(places) });
  const select = { type: 'select', place: 7, source: undefined, reveal: [] } as const;
  const cases: [Action, Partial<State>][] = [
    [{ type: 'view', view: 'loop' }, { view: 'loop' }],
    [{ type: 'sort', by: '1i' }, { sortBy: '1i', descending: true }],
    [{ type: 'sort', by: '0i' }, { descending: false }],
    [{ type: 'sort', by: null }, { sortBy: null, descending: false }],
    [{ type: 'show-columns', shown: ['1e'] }, { shown: ['1e'] }],
    [{ type: 'form', form: 'exact' }, { form: 'exact' }],
    [{ type: 'of-parent', on: true }, { ofParent: true }],
    [{ type: 'fuse', on: false }, { fuse: false }],
    [{ type: 'flatten', levels: 3 }, { flatten: 3 }],
    [{ type: 'hot', percent: 70 }, { hot: 70 }],
    [{ type: 'fold', on: true }, { fold: true, calls: null }],
    [{ type: 'beside', on: true }, { beside: true }],
    [{ type: 'about', on: true }, { about: true }],
    [{ type: 'least', percent: 5 }, { least: 5 }],
    [{ type: 'filter', text: 'x' }, { filter: 'x' }],
    [{ type: 'expand', places: [5, 6] }, open(0, 3, 5, 6)],
    [{ type: 'collapse', places: [3, 9] }, open(0, 5)],
    [{ type: 'collapse-all' }, open(0, 3)],
    [{ type: 'calls', rows: { open: new Set([2]), selected: null } }, { calls: { open: new Set([2]), selected: null } }],
    [select, { selected: 7 }],
    [{ ...select, place: null }, { selected: null }],
    [{ ...select, source, reveal: [1], view: 'line' }, { selected: 7, source, view: 'line', ...open(0, 1, 3, 5) }],
    [{ type: 'show-source', source }, { source, layout: { ...start.layout, reading: 'source' } }],
    [{ type: 'zoom', place: 8 }, { zoom: 8, ...open(0, 3, 5, 8) }],
    [{ type: 'compare', base: 'b', shown: ['1i'], sortBy: null }, { base: 'b', shown: ['1i'], sortBy: null, descending: true }],
    [{ type: 'type-metric', metric: { name: 'n', formula: '1' }, column: 't3i' }, { typed: [...state.typed, { name: 'n', formula: '1' }], shown: [...state.shown, 't3i'], sortBy: 't3i', descending: true }],
    [{ type: 'drop-metric', index: 1 }, { typed: [state.typed[0], state.typed[2]], shown: ['0i', 't0i', 't1i'] }],
    [{ type: 'pane', slot: 'picture', name: 'chart' }, { layout: { ...start.layout, picture: 'chart' } }],
    [{ type: 'panel', panel: 'help' }, { panel: 'help' }],
    [{ type: 'restore', state: { hot: 5, expanded: new Set([9]) }, reveal: [1] }, { hot: 5, ...open(1, 9) }],
    [{ type: 'restore', state: { filter: 'y' }, reveal: [1] }, { filter: 'y', ...open(0, 1, 3, 5) }],
  ];
  for (const [action, changed] of cases) equal(plain(reduce(state, action)), plain({ ...state, ...changed }), `actions: ${JSON.stringify(action)}`);
  equal(reduce({ ...state, source }, { ...select, source: null }).source, null, 'actions: a place without a source');
  equal(reduce({ ...state, source }, select).source, source, 'actions: a place that leaves the source as it is');
  equal(reduce({ ...state, descending: false }, { type: 'compare', base: '', shown: [], sortBy: 'x' }).descending, true, 'actions: what is compared comes with the largest first');
  equal(reduce({ ...state, layout: { ...state.layout, reading: '' } }, { type: 'show-source', source }).layout.reading, 'source', 'actions: the source opens');
  const drop = (sortBy: string | null, index: number, shown = state.shown): unknown => reduce({ ...state, sortBy, shown }, { type: 'drop-metric', index }).sortBy;
  equal([drop('t1i', 1), drop('t2e', 1), drop('t0i', 1), drop(null, 1), drop('t1e', 1, ['t1e']), drop('12i', 1)], ['0i', 't1e', 't0i', null, null, '12i'],
    'actions: what is sorted by when a typed metric goes');
  const same = reduce(state, { type: 'expand', places: [3, 0] }).expanded;
  equal(same === state.expanded, true, 'actions: what is open stays the same set');
  equal([...state.expanded], [0, 3, 5], 'actions: the state before is as it was');
}

// ---- heads ----

function testHeads(): void {
  const least = { format: 'hpcview-database', version: 2, generator: 'g', title: 't', places: 4, strings: 3, metrics: [], files: [], processes: [] };
  const read = (more: object): ReturnType<typeof readHead> => readHead(JSON.stringify({ ...least, ...more }));
  const bare = read({});
  equal([bare.title, bare.generator, bare.version, bare.placeCount, bare.stringCount, bare.runs, bare.trees, bare.tables, bare.warnings], ['t', 'g', 2, 4, 3, [], [],
    [], []], 'heads: with next to nothing');
  const table = { name: 'n', title: 'T', description: 'D', rows: 5, strings: 1, block: 'b', columns: [{ name: 'c', title: 'C', unit: 'u', description: 'd',
    type: 'ref', to: 'place' }] };
  const run = { name: 'r', machine: 'm', command: 'c', asked: 'a', modules: ['x', 7], facts: [['k', 1], ['l', 'v']], first_process: 2, processes: 3, root: 4 };
  const process = { source: 's', host: 'h', command: 'c', machine: 'm', kernel: 'k', sampler: 'p', start_ms: 5, seconds: 6, threads: 7, rank: 8, exit_status: 9, complete: true };
  const full = read({
    runs: [run, { ...run, root: undefined, facts: undefined, modules: undefined }],
    trees: [{ values: [] }, { name: 'calls', title: 'Calls', nodes: 2, values: [[1, 2, 3, 4], [5, 6, 7, 8]] }],
    tables: [table, { name: 'bare', rows: 0, strings: 0, block: 'x', columns: [{ name: 'c', type: 'count' }] }],
    files: [['f', 'text', 1, 2, 3], ['g', 'missing']],
    processes: [process, { ...process, seconds: null, complete: 1 }],
    warnings: ['w', 5],
  });
  equal(full.tables, [table, { name: 'bare', title: 'bare', description: '', rows: 0, strings: 0, block: 'x', columns: [{ name: 'c', title: 'c', unit: '',
    description: '', type: 'count', to: '' }] }], 'heads: tables, whole and bare');
  const { first_process, ...told } = run;
  const wanted = { ...told, modules: ['x', '7'], facts: [['k', '1'], ['l', 'v']], firstProcess: first_process };
  const keys = ['name', 'machine', 'command', 'asked', 'modules', 'facts', 'firstProcess', 'processes', 'root'] as const;
  const runText = (r: Readonly<Record<string, unknown>>): unknown => keys.map((k) => r[k]);
  equal(full.runs.map((r) => runText(r as never)), [runText(wanted), runText({ ...wanted, modules: [], facts: [], root: 2 })], 'heads: runs');
  equal(full.trees, [{ name: 'calls', title: 'Calls', nodes: 2, values: [{ chunk: 1, offset: 2, bytes: 3, scale: 4 }, { chunk: 5, offset: 6, bytes: 7,
    scale: 8 }] }], 'heads: trees, without that of the places');
  equal(full.files, [{ name: 'f', state: 'text', chunk: 1, offset: 2, bytes: 3 }, { name: 'g', state: 'missing', chunk: -1, offset: 0, bytes: 0 }], 'heads: files');
  equal(full.processes.map((p) => [p.source, p.host, p.command, p.machine, p.kernel, p.sampler, p.startMs, p.seconds, p.threads, p.rank, p.exitStatus, p.complete]),
    [['s', 'h', 'c', 'm', 'k', 'p', 5, 6, 7, 8, 9, true], ['s', 'h', 'c', 'm', 'k', 'p', 5, null, 7, 8, 9, false]], 'heads: processes');
  equal(full.warnings, ['w', '5'], 'heads: warnings');
  equal(['place', 'process', 'metric', 'file', 'run', 'n', 'bare', 'no'].map((to) => rowsOf(full, to)), [4, 2, 0, 2, 2, 5, 0, undefined],
    'heads: how many rows there are of what is referred to');

  const of = (key: string, promised: string): string => `the database is damaged: "${key}" of its head is not ${promised}`;
  const bad: [object, string][] = [
    [{ trees: [{}, { nodes: 1, values: [{}] }] }, of('values', 'a list of lists')],
    [{ trees: [{}, { nodes: 1, values: [[0, -1, 0, 0]] }] }, of('values', 'a place in a block')],
    [{ trees: [{}, { nodes: 1, values: [[0, 0, 0]] }] }, of('values', 'a place in a block')],
    [{ trees: [{}, { nodes: -1, values: [] }] }, of('nodes', 'a number of things')],
    [{ trees: [{}, { nodes: 2 ** 32, values: [] }] }, of('nodes', 'a number of things')],
    [{ trees: {} }, of('trees', 'a list of them')],
    [{ runs: [5] }, of('runs', 'a list of them')],
    [{ runs: [null] }, of('runs', 'a list of them')],
    [{ runs: [{ modules: 'x' }] }, of('modules', 'a list of texts')],
    [{ runs: [{ facts: [5] }] }, of('facts', 'a list of them')],
    [{ tables: [{ rows: 1.5, strings: 0, columns: [] }] }, of('rows', 'a number of things')],
    [{ tables: [{ rows: 1, strings: '0', columns: [] }] }, of('strings', 'a number of things')],
    [{ tables: [{ rows: 1, strings: 0 }] }, of('columns', 'a list of them')],
    [{ files: undefined }, of('files', 'a list of them')],
    [{ metrics: undefined }, of('metrics', 'a list of them')],
    [{ metrics: [{}] }, of('values', 'a place in a block')],
    [{ processes: {} }, of('processes', 'a list of them')],
    [{ warnings: {} }, of('warnings', 'a list of texts')],
    [{ places: undefined }, of('places', 'a number of things')],
    [{ strings: -1 }, of('strings', 'a number of things')],
    [{ format: 'other' }, 'this is not an hpcview database'],
    [{ version: 0.5 }, 'the database is damaged: it has no format version'],
    [{ version: 'x' }, 'the database is damaged: it has no format version'],
    [{ version: 4 }, 'this database has format 4 (g); this page reads formats up to 3. Build the database again, or take index.html and data/ from the same database.'],
  ];
  for (const [more, said] of bad) throws(() => read(more), said, `heads: ${JSON.stringify(more)}`);
  for (const text of ['', '{', 'null', '5', '"x"', '[]']) throws(() => readHead(text),
    text === '' || text === '{' ? 'the database is damaged: its head is not JSON' : 'this is not an hpcview database', `heads: ${text}`);
  equal([read({ places: 2 ** 32 - 1 }).placeCount, read({ places: 0 }).placeCount], [2 ** 32 - 1, 0], 'heads: sizes at their bounds');
}

// ---- formulas ----

function testSentences(): void {
  const wrong = (text: string): string => {
    const f = readFormula(text);
    return typeof f === 'string' ? f : `no error; of ${f.references.map((r) => r.text).join(', ')}`;
  };
  const deep = (n: number, open: string, close: string): string => open.repeat(n) + 'A' + close.repeat(n);
  const tooDeep = 'the formula is nested more than 200 deep';
  equal([wrong(deep(99, '(', ')')), wrong(deep(100, '(', ')'))], ['no error; of A', tooDeep], 'formulas: brackets, as deep as they may be');
  equal([wrong(deep(198, '-', '')), wrong(deep(199, '-', ''))], ['no error; of A', tooDeep], 'formulas: signs, as many as there may be');
  equal([wrong(deep(198, 'not ', '')), wrong(deep(199, 'not ', ''))], ['no error; of A', tooDeep], 'formulas: and negations');
  equal(wrong(Array.from({ length: 500 }, () => '(A)').join(' + ')), 'no error; of A', 'formulas: long ones are not deep');

  const shape = (text: string): string => {
    const f = parseFormula(text);
    return f ? `${f.isSum ? 'sum ' : ''}${f.isDifference ? 'difference ' : ''}${f.references.map((r) => r.text).join(' ')}` : 'none';
  };
  const shapes: [string, string][] = [
    ['A - B', 'sum difference A B'], ['A - A', 'sum A'], ['(A - B)', 'sum A B'], ['run(x).A - run(y).A', 'sum difference run(x).A run(y).A'],
    ['A + 1', 'A'], ['A + 0', 'A'], ['0 * A', 'sum A'], ['A * 2', 'sum A'], ['A * B', 'A B'], ['2 / A', 'A'], ['A / 2', 'sum A'], ['A ^ 2', 'A'], ['-A', 'sum A'], ['+A', 'sum A'],
    ['sum(A, B)', 'sum A B'], ['mean(A, B)', 'sum A B'], ['max(A, B)', 'A B'], ['or(A, 0)', 'sum A'], ['or(A, 1)', 'A'], ['or(A, B)', 'A B'], ['abs(A)', 'A'],
      ['total(A)', 'total(A)'], ['A / total(B)', 'sum A total(B)'],
    ['share(A)', 'sum A total(A)'], ['parent(A)', 'parent(A)'], ['if(1, A, A)', 'A'], ['A < B', 'A B'], ['not A', 'A'], ['sum(A over threads)',
      'sum sum(A over threads)'], ['max(A over ranks)', 'max(A over ranks)'],
    ['exclusive(A) + inclusive(B)', 'sum exclusive(A) inclusive(B)'], ['total(exclusive(mean(run("x y").A over threads)))', 'total(exclusive(mean(run("x y").A over threads)))'],
    ['share(exclusive(A))', 'sum exclusive(A) total(exclusive(A))'], ['exclusive(share(A))', 'none'], ['1', ''], ['1 - 2', ''], ['min(1, 2)', ''], ['or(1, A)', 'A'],
  ]; // prettier-ignore
  for (const [text, wantedShape] of shapes) equal(shape(text), wantedShape, `formulas: what ${text} is`);
  const value = (text: string, of: readonly number[] = [NaN, 0, -3.5, 2], unit = 's'): number[] => Array.from(parseFormula(text,
    unit)!.evaluate((i) => (i ? 7 : Float64Array.from(of)), of.length));
  equal(value('if(A, 1, 2)'), [NaN, 2, 1, 1], 'formulas: a choice of what is missing is missing');
  equal([value('not A'), value('round(A)'), value('A ^ 0'), value('1 / A'), value('or(A, 5)'), value('mean(A, 1, 2)')], [[NaN, 1, 0, 0], [NaN, 0, -4, 2], [NaN, 1, 1,
    1], [NaN, NaN, -1 / 3.5, 0.5], [5, 0, -3.5, 2], [NaN, 1, -0.5 / 3, 5 / 3]], 'formulas: at what is missing, at 0, below and above');
  equal([value('10ms', [1]), value('10ms', [1], 'ns'), value('10ms', [1], 'other'), value('5%', [1]), value('2Ki', [1]), value('3kHz', [1]), value('4uB', [1])],
    [[0.01], [1e7], [0.01], [0.05], [2048], [3000], [4e-6]], 'formulas: numbers with units');
  equal(['A', 'a.b:c_1', '1a', 'and', 'not', 'a b', 'a"b\\', ''].map(quoteName), ['A', 'a.b:c_1', '"1a"', '"and"', '"not"', '"a b"', '"a\\"b\\\\"', '""'],
    'formulas: names in quotes where they need them');
}

// ---- columns ----

const HEAT = 'program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 6 2 3 5\n    loop 2-3 @x.c\n     line 2 @x.c = 4 1 . 7\n    line 3 @x.c = . . . .';

function testStatistics(): void {
  const names = ['T', 'b.T', 'mean(T over threads)', 'max(b.T over threads)', 'b.min(T over ranks)'];
  const m = model(HEAT.replace(/ = (\S+) (\S+) (\S+) (\S+)/g, ' = $1 $2 $3 $4 $1'), names.map((name) => metric(name)));
  const typed = ['mean(T over threads)', 'max(run(b).T over threads)', 'min(run(b).T over ranks)', 'mean(T over ranks)', 'inclusive(T)', 'exclusive(T)', 'total(T)',
    'parent(T)', 'total(exclusive(T))', 'run(b).T'];
  const columns = new Columns(m, typed.map((formula, i) => ({ name: `n${i}`, formula })));
  const operand = (id: string): string | null => columns.get(id)?.operands.map((o) => o.id).join() ?? null;
  equal(typed.map((_, i) => operand(`t${i}i`)), ['2i', '3i', '4i', null, '0i', '0e', '0i', '0i', '0e', '1i'], 'columns: what formulas name');
  equal(typed.map((_, i) => operand(`t${i}e`)), ['2e', '3e', '4e', null, '0i', '0e', '0i', '0i', '0e', '1e'], 'columns: and exclusive');
  const at = (id: string): number[] => Array.from(columns.values(columns.get(id)!, null));
  equal(at('t7i'), [NaN, 10, 10, 10, 10, 10, 4, 10], 'columns: of the place around each');
  equal(at('t6e'), upTo(8).map(() => 10), 'columns: of the whole');
  const tables = new Tables(m);
  const groups = tables.level('line', true);
  equal(Array.from(columns.values(columns.get('t7i')!, groups)), [NaN, NaN, NaN], 'columns: several places have no one place around them');
  equal(['', 'x', '0', '0x', '9i', 't10i', '0-9i', '9-0i', 't0-1i', '0i '].map((id) => columns.get(id)), upTo(10).map(() => null), 'columns: that there are none of');
  equal(columns.refuse({ name: 'T', formula: '1' }), "There is a metric 'T' already", 'columns: a name that is taken');
  equal(columns.refuse({ name: '1x', formula: '1' }), 'A metric is given as NAME = FORMULA; a name is letters, digits, _, . and :', 'columns: a name that is none');
  equal(columns.refuse({ name: 'x', formula: '(' }), `x: character 2 of the formula: missing operand after '('; expected a number, the name of a metric or '('`,
    'columns: a formula that is none');
  equal(columns.refuse({ name: 'x', formula: 'T + V' }), "x: there is no metric 'V' before this one", 'columns: a metric that there is none of');
  equal(columns.refuse({ name: 'x', formula: 'mean(T over threads) + n0' }), null, 'columns: a metric that may be');
}

/** Titles of columns that the page makes, and the names of the others in formulas. */
function testMadeColumns(): void {
  const m = model(HEAT, [metric('a', { displayName: 'Cycles', unit: 's' }), metric('b', { displayName: 'a', unit: 's' }), metric('c', { displayName: 'Cycles', unit: 'B' }),
    metric('d', { displayName: 'D', unit: 'B', hasExclusive: false })]);
  const typed = ['a + b', 'a - c', 'Cycles', 'D', 'a / b', 'a * 2', 'total(a)', 'a + 1', 'c + D'].map((formula, i) => ({ name: `n${i}`, formula }));
  const columns = new Columns(m, [...typed, { name: 'D', formula: '1' }, { name: 'Cycles', formula: '2' }]);
  const made = (name: string, formula: string, unit: string, description: string): Metric => ({ name, displayName: name, unit, description, formula, event: '', period: 0,
    percent: false, display: true, sortBy: false, estimated: false, hasExclusive: true, summed: false, run: NONE });
  const [less, by] = ['A difference: + is more than in the base run', 'A ratio: 1 is as in the base run'];
  equal(['0-1i', '0/1e', '2-0i'].map((id) => columns.get(id)?.metric),
    [made('Cycles − a', '"a" - "b"', 's', less), made('Cycles ÷ a', '"a" / "b"', '', by), made('Cycles − Cycles', '"c" - "a"', 'B', less)], 'columns: what pairs are called');
  equal(columns.get('t0i')?.metric, made('n0', 'a + b', 's', 'Typed in this page'), 'columns: what typed ones are called');
  equal(typed.map((_, i) => columns.get(`t${i}i`)?.metric.unit), ['s', '', 's', 'B', '', 's', '', '', 'B'], 'columns: the unit of sums of one unit');
  equal(typed.map((_, i) => columns.get(`t${i}i`)?.operands.map((o) => o.id).join()), ['0i,1i', '0i,2i', '0i', '3i', '0i,1i', '0i', '0i', '0i', '2i,3i'],
    'columns: names before names that are shown, and the first of equals');
  equal(['0-1i', '0/1i', '0-3e', '0e', '3e', 't0e'].map((id) => columns.get(id)?.exclusive ?? null), [false, false, null, true, null, true], 'columns: which are exclusive');
  equal(['0-1i', '0/1i', '0i', 't0i'].map((id) => [columns.get(id)?.index, columns.get(id)?.difference?.base.id ?? null]), [[NONE, '1i'], [NONE, null], [0, null], [NONE, null]],
    'columns: which are differences');
  const event = { event: 'e', unit: 's' };
  const pairs: [string, Partial<Metric>, boolean][] = [['a - b', {}, true], ['a / b', {}, false], ['a - b', { event: 'f' }, false], ['a - b', { unit: '' }, false],
    ['a - b', { formula: 'a' }, false], ['a', {}, false], ['a - a', {}, false], ['a - 1', {}, false]];
  equal(pairs.map(([formula, more]) => new Columns(model(HEAT, [metric('a', event), metric('b', { ...event, ...more }), metric('-', { formula })])).get('2i')!.difference !== null),
    pairs.map((p) => p[2]), 'columns: which stored formulas are differences of one event');
}

function testMissingColumns(): void {
  const known = [metric('T', { hasExclusive: false }), metric('odd', { formula: '(', summed: false, percent: false })];
  const m = model(HEAT, known);
  const columns = new Columns(m);
  equal([columns.get('0e'), columns.of(0, true).id], [null, '0i'], 'columns: exclusive where there is no such thing');
  const odd = columns.get('1i')!;
  const groups = new Tables(m).level('procedure', true);
  equal([odd.formula, Array.from(columns.values(odd, groups))], [null, [3]], 'columns: a formula beyond us, at one place');
  const loops = model(`${HEAT}\n   proc g 1-9 @x.c\n    line 1 @x.c = 1 1`, known);
  equal(Array.from(new Columns(loops).values(new Columns(loops).get('1i')!, new Tables(loops).level('line', true))).slice(0, 1), [NaN], 'columns: and over several');
  const gone = new Columns({ ...m, values: { of: () => null, failure: (i) => (i ? 'gone' : undefined) } });
  equal([Array.from(gone.values(gone.of(0), null)), gone.total(gone.of(0)), gone.isReady(gone.of(0)), gone.failure(gone.of(0)), gone.failure(gone.of(1))],
    [upTo(8).map(() => NaN), NaN, false, undefined, 'gone'], 'columns: what is not here is blank');
  equal([gone.blankAmong(gone.of(0), null, null), Array.from(columns.blankAmong(columns.of(0), null, null)!), Array.from(columns.blankAmong(columns.of(0), null,
    Uint32Array.of(3, 7))!)], [null, [7], [7]], 'columns: places without a value');
  equal([columns.whole(columns.of(0)), columns.whole(odd), columns.isRatio(columns.of(0)), columns.isRatio(odd)], [10, NaN, false, true], 'columns: what is 100%');
  const ofAll = (flags: string): number => firstMetric([...flags].map((f) => metric(f, { sortBy: f === 's' || f === 'h', display: f === 's' || f === 'd' })));
  equal(['s', 'ddss', 'ddhs', 'h', 'hd', 'ndd', 'nn', 'n', ''].map(ofAll), [0, 2, 2, 0, 0, 1, 0, 0, NONE], 'columns: what is sorted by first');
  equal([columns.error(columns.of(0), -4), columns.error(columns.of(0), 0), columns.error(columns.of(0), NaN), columns.error(odd, 4)], [4, 0, NaN, NaN],
    'columns: how sure a value is');
}

/** Rows of a table, with the expected answers for each. */
function testRows(start: State): void {
  const names = [metric('A'), metric('B'), metric('R', { formula: 'A / B', summed: false, percent: false })];
  const drawing = 'program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 6 2 3\n    loop 2-3 @x.c\n     line 2 @x.c = 4 1 4\n   proc g 11-12 @x.c\n    line 11 @x.c = 90 1 9\n  file y.c\n   proc h 1-2 @y.c\n    line 1 @y.c = . 2 .\n    line 2 @y.c = 0.25 0.001 .';
  const m = model(drawing, names);
  const columns = new Columns(m);
  const tables = new Tables(m);
  const [a, b] = [columns.of(0), columns.of(1)];
  const subject = { columns, sort: a, weight: a };
  const text = (t: Table): string => upTo(t.count).map((row) => `${'.'.repeat(t.depth(row))}${t.place(row)}${t.isExpanded(row) ? '-' : t.hasChildren(row) ? '+' : ''}=${t.value(row, a)}`).join(' ');
  const tree = { ...start, sortBy: '0i', expanded: new Set([0, 1, 2, 3, 9, 10]) };
  const whole = tables.of(tree, subject);
  equal(text(whole), '0-=100.25 .1-=100.25 ..2-=100 ...7+=90 ...3-=10 ....4=6 ....5+=4 ..9-=0.25 ...10-=0.25 ....12=0.25 ....11=NaN', 'rows: the tree, the largest first');
  equal(text(tables.of({ ...tree, descending: false }, subject)),
    '0-=100.25 .1-=100.25 ..9-=0.25 ...10-=0.25 ....12=0.25 ....11=NaN ..2-=100 ...3-=10 ....5+=4 ....4=6 ...7+=90', 'rows: and the smallest first');
  equal([whole.isTree, whole.hidden, whole.instances(3), whole.largest(a), whole.error(0, a), whole.rowOf(6), whole.rowOf(8), whole.rowOf(0)], [true, 0, 1, 100.25,
    2 * Math.sqrt(100.25), 6, 3, 0], 'rows: what is said of them');
  equal(tables.of({ ...tree, zoom: 9 }, subject).rowOf(6), NONE, 'rows: a place that is not in sight');
  equal(text(tables.of({ ...tree, flatten: 1 }, subject)).split(' ')[0], '1-=100.25', 'rows: without the program');
  equal(text(tables.of({ ...tree, flatten: 2 }, subject)), '2-=100 .7+=90 .3-=10 ..4=6 ..5+=4 9-=0.25 .10-=0.25 ..12=0.25 ..11=NaN', 'rows: without the modules');
  equal(text(tables.of({ ...tree, flatten: 3, descending: false }, subject)), '10-=0.25 .12=0.25 .11=NaN 3-=10 .5+=4 .4=6 7+=90', 'rows: without the files, the smallest first');
  equal(text(tables.of({ ...tree, flatten: 3, sortBy: null, descending: false }, { ...subject, sort: null })), '3-=10 .4=6 .5+=4 7+=90 10-=0.25 .11=NaN .12=0.25',
    'rows: in the order of the database');
  equal(text(tables.of({ ...tree, least: 10 }, subject)), '0-=100.25 .1-=100.25 ..2-=100 ...7+=90', 'rows: of a tenth and more');
  equal(text(tables.of({ ...tree, least: (100 * 10) / 100.25 }, subject)), '0-=100.25 .1-=100.25 ..2-=100 ...7+=90 ...3-=10', 'rows: as much as is asked for is enough');
  equal(text(tables.of(tree, { ...subject, shown: [a] })).includes('11='), false, 'rows: without those that are blank in all columns');
  equal(text(tables.of(tree, { ...subject, shown: [a, b] })).includes('11='), true, 'rows: with those that are not blank in one');
  equal(text(tables.of({ ...tree, least: 1 }, { ...subject, shown: [a] })), '0-=100.25 .1-=100.25 ..2-=100 ...7+=90 ...3-=10 ....4=6 ....5+=4', 'rows: neither blank nor light');
  equal(text(tables.of({ ...tree, expanded: new Set([0]), filter: 'file:y.c' }, subject)), '0-=100.25 .1-=100.25 ..9+=0.25', 'rows: what is in what is found is not opened');
  equal(text(tables.of({ ...tree, filter: 'f' }, subject)), '0-=100.25 .1-=100.25 ..2-=100 ...3-=10 ....4=6 ....5+=4', 'rows: what is found, and what is in it');

  const flat = { ...start, view: 'line', sortBy: '0i' } as const;
  const lines = tables.of(flat, subject);
  equal(text(lines), '8=90 4=6 6=4 12=0.25 11=NaN', 'rows: lines, the largest first, those without a value at the end');
  equal(text(tables.of({ ...flat, descending: false }, subject)), '12=0.25 6=4 4=6 8=90 11=NaN', 'rows: the other way round');
  equal(text(tables.of(flat, subject)), '8=90 4=6 6=4 12=0.25 11=NaN', 'rows: and back');
  equal(text(tables.of(flat, { ...subject, sort: b })), '4=6 11=NaN 6=4 8=90 12=0.25', 'rows: by another column');
  equal(text(tables.of({ ...flat, descending: false }, { ...subject, sort: null })), '4=6 6=4 8=90 11=NaN 12=0.25', 'rows: by file and line');
  equal(text(tables.of(flat, { ...subject, sort: null })), '12=0.25 11=NaN 8=90 6=4 4=6', 'rows: and back');
  equal([lines.isTree, lines.hidden, lines.instances(0), lines.largest(a), lines.largest(b), lines.error(1, a), lines.rowOf(6), lines.rowOf(5), lines.rowOf(0)],
    [false, 0, 1, 90, 2, 2 * Math.sqrt(6), 2, NONE, NONE], 'rows: what is said of lines');
  const some = tables.of({ ...flat, least: 5 }, subject);
  equal([text(some), some.hidden, some.rowOf(6)], ['8=90 4=6', 3, NONE], 'rows: lines of a twentieth and more');
  const named = tables.of({ ...flat, filter: 'y.c', least: 0.1 }, subject);
  equal([text(named), named.hidden], ['12=0.25', 1], 'rows: those that are found are not those that are light');
  equal(text(tables.of(flat, { ...subject, shown: [a] })), '8=90 4=6 6=4 12=0.25', 'rows: lines without blank ones');
  const ratio = columns.of(2);
  equal(text(tables.of(flat, { ...subject, sort: ratio })), '8=90 6=4 4=6 12=0.25 11=NaN', 'rows: by a ratio, those with next to nothing last');
  equal(tables.has('inline'), false, 'rows: a level that there is none of');
  equal(tables.has('loop'), true, 'rows: and one that there is');
  equal(text(tables.of({ ...start, view: 'loop' }, { columns, sort: null, weight: null })), '5=4', 'rows: by nothing at all');
  const none = new Tables(model(drawing, [metric('A', { percent: false })]));
  equal(none.of({ ...flat, least: 50 }, { columns: new Columns(model(drawing, [metric('A', { percent: false })])), sort: null, weight: null }).hidden, 0,
    'rows: without a weight none is light');
}

/** Rows are collected in arrays that grow; depths beyond the largest representable one are clamped. */
function testManyRows(): void {
  const wide = 5000;
  const parent = Int32Array.from({ length: wide }, (_, i) => (i ? 0 : NONE));
  const children = childrenOf({ count: wide, parent });
  const rows = visibleRows(new SortedChildren(children, null, false), children, new Set([0]), null);
  const shown = upTo(rows.count).map((i) => rows.place[i] === i && rows.depth[i] === (i ? 1 : 0) && rows.flags[i] === (i ? 0 : 3));
  equal([rows.count, shown.every(Boolean)], [wide, true], 'many rows: each is there');
  const deep = 70000;
  const chain = Int32Array.from({ length: deep }, (_, i) => i - 1);
  const below = childrenOf({ count: deep, parent: chain });
  const all = visibleRows(new SortedChildren(below, null, false), below, new Set(upTo(deep)), null);
  equal([all.count, all.depth[65535], all.depth[65536], all.depth[deep - 1], all.place[deep - 1]], [deep, 65535, 65535, 65535, deep - 1], 'many rows: in each other');
  const cut = (limit: number): unknown => {
    const { places, isCut } = subtree(children, 0, limit);
    return [places, isCut];
  };
  equal([cut(0), cut(1)], [[[], true], [[0], false]], 'many rows: below a place, as many as are wanted');
  const three = subtree(below, 5, 3);
  equal([three.places, three.isCut], [[5, 6, 7], true], 'many rows: the upper ones first');
}

// ---- calls ----

/** More callers than anybody reads. */
function testManyCallers(): void {
  const m = model('program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 1 1');
  const count = 300_005;
  const chain: TreeNodes = { count, parent: Int32Array.from({ length: count }, (_, i) => i - 1), place: new Uint32Array(count).fill(4) };
  chain.place[count - 1] = 3;
  const cut = callersOf(m, chain, noValues, 3)!;
  equal([cut.nodes.count, cut.isCut], [300_000, true], 'callers: as many as are kept');
  equal(callersOf(m, { ...chain, count: 9 }, noValues, 3), null, 'callers: of what is on no path');
}

// ---- runs side by side ----

function testRuns(): void {
  const metrics = [metric('a.T', { run: 0 }), metric('b.T', { run: 1 }), metric('T', { run: 1, event: 'a.T' }), metric('b.D', { formula: '"b.T" - "a.T"',
    run: 1 })].map((x, i) => (i === 1 ? { ...x, event: 'a.T' } : x));
  const m = model(HEAT, metrics);
  const old = { ...m, version: 1 };
  equal([runsOf(old), upTo(4).map((i) => runOf(old, i))], [['a', 'b'], ['a', 'b', '', '']], 'runs: of version 1 what stands before the first dot');
  equal([runsOf({ ...m, version: 2 }), runOf({ ...m, version: 2 }, 0)], [[], ''], 'runs: after that they are named');
  const named = { ...m, version: 2, runs: [{ name: 'a' }, { name: 'b' }] as unknown as Run[] };
  equal([runsOf(named), upTo(4).map((i) => runOf(named, i))], [['a', 'b'], ['a', 'b', 'b', '']], 'runs: by name');
  equal([counterpart(named, 0, 'b'), counterpart(named, 2, 'a'), counterpart(named, 3, 'a'), counterpart(old, 1, 'a')], [1, 0, NONE, 0],
    'runs: the same in another one, with its run before the name or without');
  const dotted = { ...model(HEAT, [metric('.T'), metric('b.T', { event: '.T' })]), version: 1 };
  equal(runOf(dotted, 0), '', 'runs: nothing before the dot');
  equal(firstDifference(new Columns(old))?.id, '3i', 'runs: a difference that is stored');
  equal(firstDifference(new Columns({ ...old, metrics: metrics.slice(0, 3) }))?.id, '1-0i', 'runs: and one that is made');
  const three = { ...model(HEAT, ['a', 'b', 'c'].map((run) => metric(`${run}.T`, { event: 'T' }))), version: 1 };
  equal(allDifferences(new Columns(three)).map((c) => c.id), ['1-0i', '2-0i'], 'runs: each other one with the base');
  equal(firstDifference(new Columns({ ...m, metrics: [metric('A')] })), null, 'runs: nothing to compare');

  const run = (more: Partial<Run>): Run => ({ name: 'r', machine: 'm', command: 'c', asked: 'e', modules: ['x'], facts: [], firstProcess: 0, processes: 1, root: 0,
    ...more }) as Run;
  const processes = [{ host: 'h', kernel: 'k', threads: 1 }, { host: 'i', kernel: 'l', threads: 2 }] as unknown as Model['processes'];
  const differ = (a: Partial<Run>, b: Partial<Run>): string[] => differences({ ...m, processes, runs: [run(a),
    run(b)] }).map((d) => `${d.what}: ${d.values.join(' | ')}${d.whole.join() === d.values.join() ? '' : ` of ${d.whole.join(' | ')}`}`);
  equal(differ({}, {}), [], 'runs: no difference');
  equal(
    differ({ facts: [['x', '1'], ['env:OMP', '2'], ['built p', '-O2 -g a']] }, { command: 'd', machine: 'n', root: 1, asked: 'f', processes: 2, modules: ['z', 'x'],
      facts: [['built p', '-O3 -g a'], ['env:OMP', '3']] }),
    ['command: c | d', 'x: 1 | ', 'OMP: 2 | 3', 'compilation of p: -O2 | -O3 of -O2 -g a | -O3 -g a', 'machine: m | n', 'host: h | i', 'kernel: k | l',
      'events: e | f', 'number of processes: 1 | 2', 'number of threads: 1 | 2', 'load modules:  | z of x | x z'],
    'runs: all that differs, the weightiest first',
  );
  equal(differ({ root: 9 }, {}), ['host:  | h', 'kernel:  | k', 'number of threads:  | 1'], 'runs: a process that is not there');
  equal(differ({ facts: [['built p', 'a']] }, {}), [], 'runs: what is compiled in one of them alone');
  const words = (n: number): string => ['-march=x', ...upTo(n - 1).map((i) => `-mno-${i}`)].join(' ');
  equal(differ({ facts: [['built p', words(20)]] }, { facts: [['built p', '-g']] })[0].split(' of ')[1].split(': ')[1], `${words(20)} | -g`, 'runs: so many words are shown');
  equal(differ({ facts: [['built p', `${words(21)} --param=k -O2`]] }, { facts: [['built p', '-g']] })[0].split(' of ').slice(0, 2).join(' of '),
    'compilation of p: -march=x -O2 | -g', 'runs: of more, those that were asked for');
}

// ---- what things are called ----

function testNames(): void {
  const m = model('program p\n module a\n  file\n   proc f 1-9 @x.c\n    loop 0\n    loop 3-5 @x.c #2/3\n    loop 4\n    inline 0\n    inline g <x.c:7\n    inline h 0\n    line 0\n    line 9\n    line 3-5 @x.c\n   proc 0');
  const { places } = m;
  places.onLine[4] = 2;
  places.irreducible[4] = 1;
  places.role[5] = Role.Vector;
  places.role[6] = Role.Remainder;
  places.addressLow[3] = 0x1000;
  places.addressLow[4] = 0x10da;
  places.callLine[9] = 5;
  equal(
    upTo(14).map((i) => [labelOf(m, i).text, labelOf(m, i).detail, ...labelOf(m, i).badges].join('; ')),
    ['p; ', 'a; ', 'no source file known; ', 'f; ', 'loop at +0xda; address 0x10da; loop 2 of its line; irreducible', 'loop at x.c:3–5; ; vector; 2 of 3',
      'loop at line 4; ; remainder', 'a procedure without name; inlined', 'g; inlined at x.c:7', 'h; inlined at line 5', 'no line known; ', 'line 9; ', 'x.c:3–5; ',
      'code without symbol; '],
    'names: of all kinds',
  );
  equal(describe(m, 4), 'loop: loop at +0xda\naddress 0x10da\nloop 2 of its line, irreducible\naddress 0x10da', 'names: the whole story of a loop');
  equal(describe(m, 5), 'loop: loop at x.c:3–5\nvector, 2 of 3\nx.c:3–5', 'names: with its lines');
  equal(describe(m, 11), 'line: line 9', 'names: of a line without a file');
  equal(lineRange(m, 3), 'x.c:1–9', 'names: lines');
  const loopText = (low: number, high: number, procedure: readonly [number, number]): string => {
    [places.addressLow[3], places.addressHigh[3]] = procedure;
    [places.addressLow[4], places.addressHigh[4]] = [low, high];
    return labelOf(m, 4).text.slice('loop at '.length);
  };
  equal(
    [loopText(0x10, 0, [0x10, 0]), loopText(0x0f, 0, [0x10, 0]), loopText(0x20, 0, [0, 0]), loopText(0x20, 1, [0x10, 1]), loopText(0x20, 1, [0x10, 0]), loopText(5, 0x7f, [0, 0])],
    ['+0x0', '0xf', '0x20', '+0x10', '0x100000020', '0x7f00000005'],
    'names: how far into its procedure a loop is, or where',
  );
  const nameless = model('program\n module\n  file\n   proc 0');
  equal(upTo(4).map((i) => labelOf(nameless, i).text), ['program', 'code outside any module', 'no source file known', 'code without symbol'], 'names: of what has none');
  equal(['vector', 'remainder', 'unrolled', 'irreducible', '2 of 3', 'loop 2 of its line', '12 of 3x'].map((b) => badgeTitle(b).slice(0, 16)), ['The copy of the ',
    'The copy of the ', 'The copy of the ', 'A loop with seve', 'The compiler mad', '', ''], 'names: what badges mean');
  const short = (displayName: string): string => shortName(metric('x', { displayName }));
  equal(['perf::CYCLES', 'a.T', 'a.T − b.T', 'a.T − b.U', 'a b.T', 'perf::', 'r.perf::T:u=1'].map(short), ['CYCLES', 'a T', 'a − b T', 'a.T − b.U', 'a b.T',
    'perf::', 'r T:u=1'], 'names: of metrics, where there is little room');
}

// ---- numbers ----

function testSizes(): void {
  const time = metric('t', { unit: 's' });
  const scale = (m: Metric, total: number): string => {
    const { divisor, decimals, unit } = scaleFor(m, total);
    return `${Number(divisor.toPrecision(9))} ${decimals} ${unit}`;
  };
  equal([1, 0.9995, 0.99949, 1e-3, 0.00099949, 1e-6, 9e-10, 9.996e-10, 0].map((v) => scale(time, v)), ['1 3 s', '1 3 s', '0.001 3 ms', '0.001 3 ms', '0.000001 3 µs',
    '0.000001 3 µs', '1 -1 s', '1e-9 0 ns', '1 -1 s'], 'sizes: times');
  equal([scale(metric('t', { unit: 'ns' }), 2e9), scale(metric('t', { unit: 'µs' }), 0.5), scale(metric('t', { unit: 'ms', formula: 'A' }), 0), scale(metric('t',
    { unit: 'ms', formula: 'A' }), 5)], ['1000000000 3 s', '0.001 0 ns', '1 -1 ms', '1 3 ms'], 'sizes: times in other units');
  const count = metric('n', { unit: 'cy' });
  equal([99999, 99999.5, 100000, 999999, 1e6, 1e9, 1e12, 1e15, -2e6].map((v) => scale(count, v)), ['1 0 cy', '1 3 cy', '1000 3 k cy', '1000 3 k cy',
    '1000000 3 M cy', '1000000000 3 G cy', '1000000000000 3 T cy', '1000000000000000 3 P cy', '1000000 3 M cy'], 'sizes: counts');
  const ratio = metric('r', { formula: 'A / B' });
  equal([9999.5, 10000, 0].map((v) => scale(ratio, v)), ['1 -1 ', '1 0 ', '1 -1 '], 'sizes: ratios');
  equal([scaleAmong(count, 1e9, 1e7), scaleAmong(count, 1e9, 0.99e7)].map((s) => s.unit), ['G cy', 'M cy'], 'sizes: of what is small beside the total');
  const k = scaleFor(count, 123456);
  equal([1234, 0.4, -0.4, 0, -1234567, NaN].map((v) => formatScaled(v, k)), ['1.234', '<0.001', '>−0.001', '0.000', '−1,234.567', ''], 'sizes: in a column');
  equal([1, 10, 99, 100, 1000, 1e5].map((e) => formatScaled(123456, k, e)), ['123.456', '123.46\u2007', '123.46\u2007', '123.5\u2007\u2007',
    '123\u2007\u2007\u2007\u2008', '123\u2007\u2007\u2007\u2008'], 'sizes: no more digits than are known');
  equal([formatScaled(0.4, k, 1000), formatShort(123456, k, 100), formatShort(123456, k, 1000)], ['<1\u2007\u2007\u2007\u2008', '123.5', '123'], 'sizes: and in sentences');
  const plainScale = scaleFor(ratio, 1);
  equal([0, 1e6, 999999, 1000, 999.94, 100, 99.994, 10, 9.99994, 1, 0.99999, 1e-4, 9.9e-5, -12.3456].map((v) => formatScaled(v, plainScale)), ['0', '1.000e+6',
    '999,999.0', '1,000.0', '999.9', '100.0', '99.99', '10.00', '10.000', '1.000', '1.0000', '0.0001', '9.900e-5', '−12.35'], 'sizes: four digits of a ratio');
  equal([formatSigned('5', 1), formatSigned('5', 0), formatSigned('−5', -1), formatSigned('', 1)], ['+5', '5', '−5', ''], 'sizes: with a sign');
  equal([plural(1, 'row'), plural(0, 'row'), plural(1234, 'row'), plural(2, 'copy', 'copies')], ['1 row', '0 rows', '1,234 rows', '2 copies'], 'sizes: of things');
  equal([[NaN, 1], [1, NaN], [1, 0], [1, 3], [1, 10000], [-1, 10000], [0, 5], [-1, 4], [5, 4]].map(([v, t]) => formatPercent(v, t)), ['', '', '', '33.3', '<0.1',
    '<0.1', '0.0', '−25.0', '125.0'], 'sizes: shares');
  equal([[1, 2], [3, 2], [-1, 2], [1, 0], [0, 0], [NaN, 1]].map(([v, t]) => share(v, t)), [0.5, 1, 0, 1, 0, 0], 'sizes: from 0 to 1');
  equal([0, 1234567, -1234.5, 1e21, 1e-7, NaN].map(formatExact), ['0', '1,234,567', '−1,234.5', '1e+21', '1e-7', ''], 'sizes: every digit');
  const written = (v: number, m: Metric, error = NaN): string[] => (['scaled', 'si', 'scientific', 'exact'] as const).map((form) => formatAs(form, v, m, scaleFor(m, 1e6), error));
  equal([written(NaN, count), written(0, count), written(1234567, count), written(-1234567, count, 20000), written(0.5, time, 2)], [['', '', '', ''], ['0.000', '0',
    '0', '0'], ['1.235', '1.235 M', '1.235e6', '1,234,567'], ['−1.23\u2007', '−1.23 M', '−1.23e6', '−1,234,567'], ['1\u2007\u2007\u2007\u2008', '500 ms', '5e-1',
    '0.5']], 'sizes: in each form');
  equal((['scaled', 'si', 'scientific', 'exact'] as const).map((form) => [unitIn(form, count, k), unitIn(form, time, scaleFor(time, 1e-3))]), [['k cy', 'ms'], ['cy',
    ''], ['cy', 's'], ['cy', 's']], 'sizes: the unit in the head');
}

// ---- tables that lack something ----

const columnOf = (name: string, type: TableColumn['type'], to = ''): TableColumn => ({ name, title: name, unit: '', description: '', type, to });

function testLacking(): void {
  const m = model(HEAT);
  const threads = tableOf('thread_values', 'place>place metric>text process thread name>text value', [[4, 0, 0, 0, 1, 5], [4, 0, 0, 1, 1, 7], [4, 0, 0, 0, 1, 2], [6,
    2, 1, 0, 1, 9]], ['A', 'main', 'B']);
  const { info, rows } = threads;
  const shares = (metricName: string, place: number, without = ''): unknown => {
    const kept = upTo(info.columns.length).filter((c) => info.columns[c].name !== without);
    const d = distributionAt(m, { ...info, columns: kept.map((c) => info.columns[c]) }, { ...rows, cells: kept.map((c) => rows.cells[c]) }, metricName, place);
    return d && [d.place, d.hasProcesses, ...d.shares.map((s) => `${s.process}.${s.thread} ${s.name} ${s.value}`)];
  };
  equal([shares('A', 4), shares('A', 3), shares('C', 4), shares('B', 6)], [[4, false, '0.0 main 7', '0.1 main 7'], null, null, [6, false, '1.0 main 9']],
    'tables: threads at a place');
  equal(['place', 'metric', 'process', 'thread', 'value', 'name'].map((name) => shares('A', 4, name) !== null), [false, false, false, false, false, true],
    'tables: threads, without a column');
  equal(shares('A', 4, 'name'), [4, false, '0.0  7', '0.1  7'], 'tables: threads without names');
  const byMetric = info.columns.findIndex((c) => c.name === 'metric');
  const first = metricsByThread({ ...info, columns: [info.columns[byMetric]] }, { ...rows, cells: [rows.cells[byMetric]] });
  equal([metricsByThread(info, rows), first, metricsByThread({ ...info, columns: info.columns.slice(0, 1) }, rows)], [['A', 'B'], ['A', 'B'], []], 'tables: what is known by thread');

  const found = tableOf('findings', 'where>place title>text severity>number confidence>number evidence>text name>text', [[4, 0, 10, 0.5, 1, 2], [6, 1, 30, 0.9, 3,
    2], [NONE, 2, 50, NaN, 0, 2], [0, 2, 1, 1, 0, 0]], ['a', 'b', 'c', '']);
  const listed = (without: readonly string[], unit = ''): unknown => {
    const kept = upTo(found.info.columns.length).filter((c) => !without.includes(found.info.columns[c].name));
    const one = { info: { ...found.info, columns: kept.map((c) => ({ ...found.info.columns[c], unit })) }, rows: { ...found.rows, cells: kept.map((c) => found.rows.cells[c]) } };
    return findings(withTables(m, [one]))?.map((f) => `${f.place} ${f.severity} ${f.confidence} ${f.weight} ${f.title} ${f.more.join('+')}`);
  };
  equal(listed([]), ['-1 50 NaN 50 c a', '6 30 0.9 30 b ', '4 10 0.5 10 a b', '0 1 1 1 c a'], 'tables: findings, the worst first');
  equal(listed([], '%'), ['-1 0.5 NaN 50 c a', '6 0.3 0.9 30 b ', '4 0.1 0.5 10 a b', '0 0.01 1 1 c a'], 'tables: findings in percent');
  equal(listed(['severity']), ['4 NaN 0.5 0 a b', '6 NaN 0.9 0 b ', '-1 NaN NaN 0 c a', '0 NaN 1 0 c a'], 'tables: findings without a severity');
  equal(listed(['confidence']), ['-1 50 NaN 50 c a', '6 30 NaN 30 b ', '4 10 NaN 10 a b', '0 1 NaN 1 c a'], 'tables: findings without a confidence');
  equal(listed(['where', 'title', 'evidence', 'name']), ['-1 50 NaN 50  ', '-1 30 0.9 30  ', '-1 10 0.5 10  ', '-1 1 1 1  '], 'tables: findings without words');
  equal([findings(m), findingsAt(m, 4), findings(withTables(m, [{ ...found, rows: null }])), findingsAt(withTables(m, [{ ...found, rows: null }]), 4)], [null, [],
    null, []], 'tables: findings that are not here');

  const weights = tableOf('t', 'at>place by>place w', [[4, NONE, 1], [NONE, 6, 5], [1, 1, NaN], [5, 4, 5]]);
  const about = (place: number, columns = weights.info.columns): number[] => rowsAbout(m, { ...weights.info, columns }, weights.rows, place);
  equal([about(0), about(4), about(5), about(6), about(7), about(4, weights.info.columns.slice(0, 2))], [[1, 3, 0, 2], [3, 0], [1, 3], [1], [], [0, 3]],
    'tables: rows about a place, the weightiest first');
  const said = (type: TableColumn['type'], cell: number, to = ''): string => cellText(m, columnOf('c', type, to), { cells: [], strings: ['s'] }, cell);
  equal([said('text', 0), said('text', 1), said('time', 1.5e9), said('count', 12345), said('number', 0.5), said('number', 1e6 + 0.5), said('number', -0.00012345),
    said('number', 1e-3), said('number', 1e15), said('number', -12.3456), said('count', NaN), said('ref', 3, 'process')], ['s', '', '1.500000 s', '12,345', '0.5',
    '1.000e+6', '−1.234e-4', '0.001', '1.000e+15', '−12.35', '', ''], 'tables: cells');
  const chain = ['a', 'b', 'c', 'd', 'e'].map((name, i) => tableOf(name, `of>${'bcdea'[i]} n`, [[0, i]]));
  const deep = cellText(withTables(m, chain), columnOf('x', 'ref', 'a'), { cells: [], strings: [] }, 0);
  equal(deep, deepest, 'tables: rows of rows, as far as one reads them');

  const text = new Code(tableOf('i', 'address text>text', [[1, 0], [2, 5]], ['mov']).info, tableOf('i', 'address text>text', [[1, 0], [2, 5]], ['mov']).rows, null);
  equal([text.text('text', 0), text.text('text', 1), text.text('no', 0), text.cell('no', 0), text.cell('address', 1), Array.from(text.values(0))], ['mov', '', '',
    NaN, 2, [NaN, NaN]], 'tables: instructions');
  const counts = tableOf('c', 'instruction metric value', [[1, 0, 7], [9, 0, 5], [0, 1, 3]]);
  const counted = new Code(tableOf('i', 'address', [[1], [2]]).info, tableOf('i', 'address', [[1], [2]]).rows, counts);
  equal([Array.from(counted.values(0)), Array.from(counted.values(1)), counted.values(0) === counted.values(0)], [[NaN, 7], [3, NaN], true],
    'tables: what was counted at instructions');
  equal(Array.from(new Code(tableOf('i', 'address', [[1]]).info, tableOf('i', 'address', [[1]]).rows, tableOf('c', 'instruction metric', [[0, 0]])).values(0)),
    [NaN], 'tables: counts without a value');
  equal([Memory.of(m, 0), Memory.isThere(m), missesOnLine(m, 0, 1)], [null, false, null], 'tables: no simulated memory');

  const episodes = tableOf('episodes', 'begin last', [[0, 9], [10, 19]]);
  const arrivals = tableOf('arrivals', 'episode>episodes thread>names arrived', [[1, 1, 12], [0, 1, 5], [0, 0, 6], [NONE, 0, 1]]);
  const twins = tableOf('names', 'what>text', [[0], [0]], ['t']);
  const timed = withTables(m, [episodes, arrivals, twins]);
  const line = timeline(Rows.of(timed, 'episodes')!, Rows.of(timed, 'arrivals')!, 0);
  equal([line.lanes, line.bars.map((b) => `${b.lane} ${b.episode} ${b.begin}-${b.arrived}-${b.last}`), line.end], [['t', 't'], ['0 0 0-6-9', '1 0 0-5-9',
    '1 1 10-12-19'], 19], 'tables: threads of one name are two lanes');
}
const deepest = 'd 0 #2 #1 #0';

// ---- the summary ----

function testSaid(): void {
  const names = [metric('A', { event: 'cycles', period: 2 }), metric('B', { event: 'x', period: 0 })];
  const m = model('program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 300 1\n  file\n   proc g 0\n    line 0 = 100 1\n module lib\n  file\n   proc h 0\n    line 0 = 4 1',
    names);
  const said = (more: Partial<Model> = {}, index = 0): string[] => {
    const columns = new Columns({ ...m, ...more });
    return lacks(columns, columns.of(index));
  };
  const noLines = (percent: string, name: string): string => `${percent}% is in ${name} without source lines: compile it with -g, or install its debug symbols.`;
  equal(said(), [noLines('24.8', 'a')], 'summary: modules without lines, of one percent and more');
  equal(said({ warnings: ['a is odd'] }), [], 'summary: what a warning says already');
  const few = { ...m, metrics: [{ ...names[0], period: 2.02 }, names[1]] };
  equal(said({ metrics: [{ ...names[0], period: 404 / 200 }, names[1]] }), [noLines('24.8', 'a')], 'summary: samples that are enough');
  equal(said({ metrics: [{ ...few.metrics[0], period: 404 / 100 }, names[1]] })[1].slice(0, 73),
    'There are only 100 samples, so shares are known to ±20% of themselves at ', 'summary: few samples');
  equal(said({ metrics: [{ ...few.metrics[0], period: 1000 }, names[1]] })[1].slice(0, 62), 'There are only 0 samples, so shares are known to ±200% of them',
    'summary: next to none');
  equal(said({}, 1).some((s) => s.includes('samples')), false, 'summary: of what is not sampled nothing is said of samples');
  const timed = (events: readonly string[]): boolean => said({ metrics: events.map((event) => metric('A', { event, period: 1 })) }).some((s) => s.startsWith('Only time'));
  equal([timed(['perf::TASK-CLOCK', 'REALTIME']), timed(['REALTIME', 'cycles']), timed(['time']), timed(['times']), timed(['x.REALTIME']), timed([''])], [true,
    false, true, false, false, false], 'summary: whether time alone was measured');

  const two = model('program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 100 . 100\n   proc g 11-12 @x.c\n    line 11 @x.c = . 100 -100\n   proc h 21-22 @x.c\n    line 21 @x.c = 10 10 0\n   proc k 31-32 @x.c\n    line 31 @x.c = 9 0 9',
    [metric('a.T', { event: 't' }), metric('b.T', { event: 't' })]);
  const columns = new Columns(two);
  const change = changes(columns, new Tables(two), columns.get('0-1i')!, 'procedure');
  equal([change.worse, change.better].map((list) => list.map((c) => `${c.place} ${c.value} ${c.error}`)), [['3 100 20', '9 9 6'], ['5 -100 20']],
    'summary: what got worse and better, the largest first');
  equal(changes(columns, new Tables(two), columns.get('0-1i')!, 'module').worse.length, 0, 'summary: within the noise nothing changed');
  const renamed = new Columns(
    model('program p\n module a\n  file x.c\n   proc f<int> 1-9 @x.c\n    line 1 @x.c = 900 .\n   proc f(int) 1-9 @x.c\n    line 1 @x.c = . 910', two.metrics),
  );
  equal(changes(renamed, new Tables(renamed.model), renamed.get('0-1i')!, 'procedure').worse.length, 0, 'summary: one procedure under two names');
  const loops = new Columns(
    model('program p\n module a\n  file x.c\n   proc f<int> 1-9 @x.c\n    loop 2-4 @x.c\n     line 3 @x.c = 900 .\n    loop 6-8 @x.c\n     line 7 @x.c = 400 900\n   proc f<long> 1-9 @x.c\n    loop 1-5 @x.c\n     line 3 @x.c = . 910', two.metrics),
  );
  equal(changes(loops, new Tables(loops.model), loops.get('0-1i')!, 'loop').worse.length, 0, 'summary: a loop that another compiler begins elsewhere');
  equal(changes(loops, new Tables(loops.model), loops.get('0-1i')!, 'loop').better.map((c) => `${c.place} ${c.value}`), ['6 -500'], 'summary: a loop that both have is compared alone');
  const twins = model('program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 10 .\n   proc g 11-12 @x.c\n    line 11 @x.c = 100 .\n   proc h 21-22 @x.c\n    line 21 @x.c = 200 .\n    line 22 @x.c = 1 1\n   proc f 1-9 @x.c\n    line 1 @x.c = 90 .',
    two.metrics);
  const equalOnes = new Columns(twins);
  equal(changes(equalOnes, new Tables(twins), equalOnes.get('0-1i')!, 'line').worse.map((c) => `${c.place} ${c.value}`), ['8 200', '6 100', '11 100'],
    'summary: equals in the order of their places');
}

// ---- one against the other ----

function testPairs(): void {
  const names = [metric('BYTES_PER_FLOP'), metric('T'), metric('MEMORY_BALANCE2')];
  const m = model('program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    loop 1-2 @x.c\n     line 1 @x.c = 4 60 1\n    loop 3-4 @x.c\n     line 3 @x.c = 2 40 1\n    loop 5-6 @x.c\n     line 5 @x.c = . 1 1',
    names);
  const columns = new Columns(m);
  const choices = axisChoices(columns, [columns.of(1, true)]);
  equal(choices.map((c) => `${c.id} ${c.title} ${c.unit} ${c.table} ${c.tableColumn}`), ['0i BYTES_PER_FLOP  -1 -1', '1i T  -1 -1', '2i MEMORY_BALANCE2  -1 -1',
    '1/0i operations per byte FLOP/B -1 -1'], 'pairs: what may stand on an axis');
  const tables = new Tables(m);
  const dots = dotsOf(columns, tables, choices[3], choices[1], columns.of(1))!;
  equal(dots.map((d) => `${d.place} ${d.x} ${d.y} ${d.weight.toFixed(3)}`), ['6 0.5 40 0.396', '4 0.25 60 0.594'], 'pairs: the heaviest last, without what has no value');
  const absent = new Columns({ ...m, values: { ...m.values, of: (i, exclusive) => (i === 1 ? null : m.values.of(i, exclusive)) } });
  const away = axisChoices(absent, []);
  equal([dotsOf(absent, tables, away[0], away[0], absent.of(1)), dotsOf(absent, tables, away[1], away[0], absent.of(0)), dotsOf(absent, tables, away[0], away[1],
    absent.of(0)), dotsOf(absent, tables, away[0], away[0], absent.of(0))?.length], [null, null, null, 2], 'pairs: what is not here yet');
  const far = { ...withTables(m, [{ ...tableOf('loop_quality', 'loop>place cycles>number', [[4, 1]]), rows: null }]) };
  const [cycles] = axisChoices(new Columns(far), []).filter((c) => c.table !== NONE);
  equal([cycles.id, dotsOf(new Columns(far), new Tables(far), cycles, choices[1], columns.of(1))], ['loop_quality.cycles', null], 'pairs: a table that is not here yet');
  const axis = (unit: string): (typeof choices)[number] => ({ ...choices[0], unit });
  const roof = (x: string, y: string): unknown => roofOf(axis(x), axis(y), [{ place: 1, x: 2, y: 6, weight: 1 }, { place: 2, x: 1, y: 5, weight: 1 }, { place: 3,
    x: 0, y: 9, weight: 1 }, { place: 4, x: 9, y: 0, weight: 1 }]);
  equal([roof('FLOP/B', 'GFLOP/s'), roof('flops/byte', 'flop/s'), roof('B', 'flop/s'), roof('FLOP/B', 's'), roofOf(axis('FLOP/B'), axis('flop/s'), [{ place: 1, x: 0,
    y: 1, weight: 1 }])], [{ flops: 6, bytes: 5 }, { flops: 6, bytes: 5 }, null, null, null], 'pairs: what the dots show to be possible');
}

// ---- words of a source, filters, and failures ----

function testWords(): void {
  const shown = (file: string, text: string, state: Parameters<typeof tokenize>[2] = 'code'): string => {
    const { tokens, state: after } = tokenize(languageOf(file), text, state);
    return `${tokens.map((t) => `${t.kind[0]}:${t.text}`).join('|')} ${after}`;
  };
  equal(shown('a.c', 'int x; /* a */ y'), 'k:int|p: x; |c:/* a */|p: y code', 'words: of C');
  equal([shown('a.c', '/* a'), shown('a.c', 'b */ if', 'comment'), shown('a.c', '', 'comment'), shown('a.c', 'b', 'comment')], ['c:/* a comment',
    'c:b */|p: |k:if code', ' comment', 'c:b comment'], 'words: comments over several lines');
  equal([shown('a.py', "x = '''a"), shown('a.py', "b''' + 1", 'triple-single'), shown('a.py', '"""a"""', 'code')], ["p:x = |s:'''a triple-single",
    "s:b'''|p: + |n:1 code", 's:"""a""" code'], 'words: of Python');
  equal([shown('a.f90', 'DO i = 1, 2 ! x'), shown('a.f90', '!$omp do'), shown('a.rs', "let x: &'a u8 = b'c';")], ['k:DO|p: i = |n:1|p:, |n:2|p: |c:! x code',
    'd:!$omp do code', "k:let|p: x: &'a |k:u8|p: = |s:b'c'|p:; code"], 'words: of Fortran and Rust');
  equal([shown('a.txt', 'int'), shown('a.c', ''), shown('a.c', `int ${'x'.repeat(1996)}`).slice(0, 6), shown('a.c', `int ${'x'.repeat(1997)}`).slice(0, 6)],
    ['p:int code', ' code', 'k:int|', 'p:int '], 'words: of nothing we know, and of what is too long');
  equal([shown('a.c', 'a\nb'), shown('a.c', '#include <x>'), shown('a.c', '1e+5 0x1f "s\\"t" \'c')], ['p:a\nb code', 'd:#include|p: <x> code',
    'n:1e+5|p: |n:0x1f|p: |s:"s\\"t"|p: |s:\'c code'], 'words: numbers, strings and directives');
  const lines = Array.from({ length: 6000 }, (_, i) => (i === 10 ? '/* a' : i === 20 ? 'b */' : 'int x;'));
  const colours = new Colouring(languageOf('a.c'), lines);
  const first = colours.line(15);
  equal([first.map((t) => t.kind), colours.line(15) === first, colours.line(20).map((t) => t.kind), colours.line(21)[0].kind, colours.line(9)[0].kind], [['comment'],
    true, ['comment'], 'keyword', 'keyword'], 'words: by line, in any order');
  lines.forEach((_, i) => colours.line(i));
  equal([colours.line(15) === first, colours.line(15).map((t) => t.text)], [false, ['int x;']], 'words: so many lines are kept');

  /** Each row that is taken away brings the first line of an inner scope into sight. */
  const heads = (count: number, top = 10): number[] => headsAround([1, ...upTo(count).map((i) => top + 1 + i)].map((from) => ({ first: from, last: 99 })), top,
    (row) => row + 1, (line) => line - 1);
  equal(upTo(7).map((n) => heads(n)), [[1], [1, 11], [1, 11, 12], [1, 11, 12, 13], [1, 12, 13, 14], [1, 12, 13, 14], [1, 12, 13, 14]],
    'words: the first lines of what is around, four at the most');

  const problem = (text: string): string => parseFilter(text).problem?.replace(/^.*” /, '') ?? '';
  equal(
    ['/a*b*c*/', '/a*b*c*d*/', `/${Array.from({ length: 11 }, () => 'a').join('|')}/`, `/${Array.from({ length: 12 }, () => 'a').join('|')}/`, '/(a)*/', '/(a)\\1/',
      '/[(*]a\\*/', 'file:/(b)+/', 'module:/x{2}{3}/', '/a**/'].map((t) => problem(t).slice(0, 22)),
    ['', 'has more than 3 of * +', '', 'has more than 10 of | ', 'repeats a group, which', 'refers back to a group', '', 'repeats a group, which',
      'is not a regular expre', 'is not a regular expre'],
    'words: filters that are refused',
  );
  const filter = ({ name, file, module }: ReturnType<typeof parseFilter>): string => `${name}|${file}|${module}`;
  equal(['a b', 'file:x a', 'a FILE:"x y" module:/p q/ b', 'file:"x', 'afile:x', 'file:a file:b'].map((t) => filter(parseFilter(t))), ['a b||', 'a|x|',
    'a   b|x y|/p q/', '|x|', 'afile:x||', '|b|'], 'words: filters in their parts');
  equal([sentence(new Error('why')), sentence('so'), sentence(5)], ['why', 'so', '5'], 'words: what failed');

}

export function testCorners(start: State): void {
  testActions(start);
  testHeads();
  testSentences();
  testStatistics();
  testMadeColumns();
  testMissingColumns();
  testRows(start);
  testManyRows();
  testManyCallers();
  testRuns();
  testNames();
  testSizes();
  testLacking();
  testSaid();
  testPairs();
  testWords();
}
