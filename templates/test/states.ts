// SPDX-License-Identifier: BSD-3-Clause
// Addresses: what the user chose comes back from its address, whatever it was; and what a link says is taken at its bounds and no further.

import { sourceOf } from '../logic/tree';
import type { Model } from '../model/data';
import { type SourceMark, type State, VIEWS } from '../state/state';
import { Store } from '../state/store';
import { fromHash, toHash } from '../state/url';
import { draw } from './naive';
import { metric, model } from './outline';
import { equal } from './tap';

const PLACES = 420;
const NODES = 340;

/** Two files of inlined calls and lines; a metric whose name contains all separators of an address and of a list of formulas. */
function drawModel(): Model {
  let text = 'program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n';
  for (let i = 4; i < PLACES; i++) text += draw(4) ? `    line ${1 + draw(60)} @${draw(2) ? 'x.c' : 'y.h'} = 1 2\n` : `    inline g <y.h:${1 + draw(9)}\n`;
  const m = model(text, [metric('A'), metric('odd;"=\'&%23?'), metric('C', { hasExclusive: false })]);
  return { ...m, trees: [{ name: 'calls', title: 'Calls', nodes: NODES }] };
}

const oneOf = <T>(list: readonly T[]): T => list[draw(list.length)];
const someOf = (below: number, count: number): Set<number> => {
  const some = new Set<number>();
  while (some.size < count) some.add(draw(below));
  return some;
};

function drawState(m: Model, start: State): State {
  const sizes = [0, 1, 2, 7, 299, 300, 301];
  const first = draw(3) ? 1 + draw(90) : 0;
  const source: SourceMark = { file: draw(m.files.length), first, last: first && draw(2) ? first + draw(5) : first };
  const typed = [
    { name: 'T', formula: `A ${'+-*/'[draw(4)]} 2` },
    { name: 'µ.x:1', formula: `'odd;"=\\'&%23?' + T` },
    { name: 'last', formula: '"odd;\\"=\'&%23?" / A' },
  ].slice(0, draw(4));
  const ids = ['0i', '0e', '1i', '1e', '2i', '1-0i', '2/0i', ...typed.flatMap((_, i) => [`t${i}i`, `t${i}e`])];
  return {
    ...start,
    view: oneOf(VIEWS),
    sortBy: draw(4) ? oneOf(ids) : null,
    descending: draw(2) === 0,
    shown: ids.filter(() => draw(3)),
    form: oneOf(['scaled', 'si', 'scientific', 'exact']),
    ofParent: draw(2) === 0,
    fuse: draw(2) === 0,
    flatten: draw(51),
    hot: 1 + draw(100),
    fold: draw(2) === 0,
    least: oneOf([0, 0.05, 1, 99.5, 100]),
    filter: oneOf(['', 'a&b=c', ' x ', '100%', '#?+;,:/', 'ü\u{1f600}']),
    selected: draw(4) ? draw(PLACES) : null,
    source: draw(3) ? source : null,
    beside: draw(2) === 0,
    about: draw(2) === 0,
    expanded: draw(5) ? someOf(PLACES, oneOf(sizes)) : new Set([0]),
    calls: draw(4) ? { open: someOf(NODES, oneOf(sizes)), selected: draw(3) ? draw(draw(2) ? 2 : NODES) : null } : null,
    zoom: draw(2) ? draw(PLACES) : 0,
    base: oneOf(['', 'old', 'a run;=']),
    typed,
    layout: { picture: oneOf(['', 'icicle', 'a-b_1']), reading: oneOf(['source', 'files']), inspect: oneOf(['', 'why']), flame: oneOf(['', 'tree-calls']), time: oneOf(['', 'threads']), memory: oneOf(['', 'x']), data: oneOf(['', 'table-a']) },
  };
}

const plain = (state: State): unknown => ({
  ...state,
  expanded: [...state.expanded].sort((a, b) => a - b),
  calls: state.calls && { ...state.calls, open: [...state.calls.open].sort((a, b) => a - b) },
});

/** Long lists of open rows, and state that the shown view lacks, are not in the address. */
function testThereAndBack(m: Model, start: State): void {
  let wrong = '';
  for (let i = 0; i < 400; i++) {
    const state = drawState(m, start);
    const isSummary = state.view === 'summary';
    const selected = isSummary ? null : state.selected;
    const wanted: State = {
      ...state,
      selected,
      source: (isSummary ? null : state.source) ?? (selected === null ? null : (sourceOf(m, selected) ?? null)),
      expanded: isSummary || state.expanded.size > 300 ? start.expanded : state.expanded,
      calls: state.view === 'calls' && state.calls && state.calls.open.size <= 300 ? state.calls : start.calls,
    };
    const hash = toHash(state, start);
    const [got, should] = [plain({ ...start, ...fromHash(hash, start, m) }), plain(wanted)].map((s) => JSON.stringify(s));
    if (got !== should) wrong ||= `${hash}\n got ${got}\nwant ${should}`;
  }
  equal(wrong, '', 'addresses: what was chosen comes back');
}

/** Numbers at their bounds; anything else is as at the start. */
function testBounds(m: Model, start: State): void {
  start = { ...start, least: 2, hot: 60 };
  const numbers: [key: string, low: number, high: number, otherwise: unknown, of: (s: Partial<State>) => unknown][] = [
    ['flatten', 0, 50, 0, (s) => s.flatten],
    ['hot', 1, 100, 60, (s) => s.hot],
    ['least', 0, 100, 2, (s) => s.least],
    ['place', 0, PLACES - 1, null, (s) => s.selected],
    ['zoom', 0, PLACES - 1, 0, (s) => s.zoom],
    ['calls=&call', 0, NODES - 1, null, (s) => s.calls?.selected ?? null],
    ['source', 0, m.files.length - 1, null, (s) => s.source?.file ?? null],
  ];
  for (const [key, low, high, otherwise, of] of numbers) {
    const asked = [low - 1, low, low + 1, high - 1, high, high + 1, 'x', `${low}x`, '-'];
    const isGood = (n: unknown): boolean => typeof n === 'number' && n >= low && n <= high;
    equal(asked.map((n) => of(fromHash(`#v2/tree?${key}=${n}`, start, m)!)), asked.map((n) => (isGood(n) ? n : otherwise)), `addresses: ${key} from ${low} to ${high}`);
    equal(of(fromHash('#v2/tree?find=1', start, m)!), otherwise, `addresses: without ${key}`);
  }
  const sources = ['0:0', '0:7', '1:7-9', '1:9-7', '1:7-7', '0:', '0:7-', ':7', '0-3'];
  equal(
    sources.map((s) => fromHash(`#v2/tree?source=${s}`, start, m)!.source),
    [{ file: 0, first: 0, last: 0 }, { file: 0, first: 7, last: 7 }, { file: 1, first: 7, last: 9 }, { file: 1, first: 9, last: 9 }, { file: 1, first: 7, last: 7 }, null, null, null, null],
    'addresses: lines of a source',
  );
  const marks = [[0, 0], [7, 7], [7, 9]].map(([first, last]) => toHash({ ...start, source: { file: 1, first, last } }, start));
  equal(marks, ['#v2/tree?source=1', '#v2/tree?source=1:7', '#v2/tree?source=1:7-9'], 'addresses: as short as they can be');
  const open = (text: string): number[] => [...fromHash(`#v2/tree?open=${text}`, start, m)!.expanded!];
  equal([open('0.1'), open('z.1'), open('bn'), open('bo'), open('bm.1.0'), open('00000001.1'), open('0000001.1'), open('1.-1'), open('1..1')], [[0, 1], [35, 36], [419], [], [418, 419], [], [1, 2], [1], [1]], 'addresses: open rows');
  const far = [...fromHash(`#v2/tree?open=${Array.from({ length: 400 }, () => '1').join('.')}`, start, m)!.expanded!];
  equal([far.length, far.at(-1)], [300, 300], 'addresses: no more than so many');
  const at: State = { ...start, view: 'loop', form: 'si' };
  const views = ['#v1/line', '#v1/nothing', '#v2/nothing', '#v2/calls'];
  equal(views.map((h) => fromHash(h, at, m)!.view), ['line', 'tree', 'loop', 'calls'], 'addresses: the view');
  equal(['#v3/tree', '#v2', '#v2/', 'v2/tree', '#v2/tree!', '#v2/Tree'].map((h) => fromHash(h, at, m)), [null, null, null, null, null, null], 'addresses: nothing that we would say');
  const forms = ['exact=1', 'exact=0', 'numbers=exact', 'numbers=x', 'exact=1&numbers=scaled', ''];
  equal(forms.map((f) => fromHash(`#v2/tree?${f}`, at, m)!.form), ['exact', 'si', 'exact', 'si', 'exact', 'si'], 'addresses: the form of numbers');
  const sorts = ['1e-', '1e+', 'name-', 'name+', '9i-', '1e', '', '-'];
  const sorted = sorts.map((s) => fromHash(`#v2/tree?sort=${encodeURIComponent(s)}`, { ...at, sortBy: '0i', descending: true }, m)!);
  equal(sorted.map((s) => `${s.sortBy} ${s.descending}`), ['1e true', '1e false', 'null true', 'null false', '0i true', '0i true', '0i true', '0i true'], 'addresses: what is sorted by');
  const words = ['ofParent', 'fuse', 'fold', 'beside', 'about'] as const;
  const on = fromHash('#v2/tree?percent=parent&fuse=1&fold=1&beside=1&about=1', at, m)!;
  const off = fromHash('#v2/tree?percent=total&fuse=0&fold=0&beside=2&about=0', at, m)!;
  equal([words.map((w) => on[w]), words.map((w) => off[w])], [[true, true, true, true, true], [false, false, false, false, false]], 'addresses: on and off');
}

/** No more typed metrics than a hundred, none longer than 2000 letters, none that could not be typed. */
function testTypedIn(m: Model, start: State): void {
  const typedIn = (text: string): string[] => fromHash(`#v2/tree?typed=${encodeURIComponent(text)}`, start, m)!.typed!.map((t) => `${t.name}=${t.formula}`);
  const sum = (letters: number): string => `A+${' '.repeat(letters - 3)}1`;
  equal([typedIn(`T=${sum(2000)}`).length, typedIn(`T=${sum(2001)}`).length], [1, 0], 'addresses: long formulas');
  const many = Array.from({ length: 120 }, (_, i) => `T${i}=A+${i}`);
  equal(typedIn(many.join(';')), many.slice(0, 100), 'addresses: a hundred formulas');
  equal(typedIn('A=1;=2;x;T=A;T=A;U=T+V;V=T;W=V;9=1;Z="no";Y="odd'), ['T=A', 'V=T', 'W=V'], 'addresses: what cannot be typed');
}

/** Events are reported to all listeners, with their results. */
function testStore(start: State): void {
  const store = new Store(start);
  const told: string[] = [];
  for (const name of ['a', 'b']) store.subscribe((state, action) => told.push(`${name} ${action.type} ${state.filter} ${store.state === state}`));
  store.dispatch({ type: 'filter', text: 'x' });
  store.dispatch({ type: 'fuse', on: false });
  equal(told, ['a filter x true', 'b filter x true', 'a fuse x true', 'b fuse x true'], 'what listeners are told');
  equal([store.state.filter, store.state.fuse], ['x', false], 'and what the state is');
}

export function testStates(start: State): void {
  testStore(start);
  const m = drawModel();
  testThereAndBack(m, start);
  testBounds(m, start);
  testTypedIn(m, start);
}
