// SPDX-License-Identifier: BSD-3-Clause
// Calls, simulated memory, lines of a source, filters, ways through the tree and numbers against what their words say, written down plainly, on programs drawn at
// random: nothing is shared with what is tested but the data.

import { Kind, type Metric, type Model, NONE, type TableInfo, type TableRows, type TreeNodes, type Values } from '../model/data';
import { loopBrackets } from '../logic/brackets';
import { callersOf, callsOf, foldRecursion, type MadeTree, treeModel } from '../logic/calls';
import { formatAs, formatExact, formatPercent, formatScaled, scaleFor } from '../logic/format';
import { headsAround, spansOf } from '../logic/sticky_headers';
import { fileLines, hottestLine, lineIndex, placesOnLine, scopesOnLine } from '../logic/lines';
import { Memory, missesOnLine } from '../logic/memory';
import { matcherFor } from '../logic/search';
import { ancestors, childrenOf, hotPath, sourceOf, subtree } from '../logic/tree';
import { draw } from './naive';
import { metric, model } from './outline';
import { equal as report, textOf } from './tap';

let wrong = ''; // the first thing that was not as it should
function equal(got: unknown, wanted: unknown, what: string): void {
  if (textOf(got) !== textOf(wanted)) wrong ||= `${what}: got ${textOf(got)}, wanted ${textOf(wanted)}`;
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const plus = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : a + b);
const sum = (values: readonly number[]): number => values.reduce(plus, NaN);
const zero = (x: number): number => x || 0;
const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

const FILES = ['src/x.c', 'y.h'];

/** Two modules, each with a file of procedures, with loops, inlined calls and lines in each other; some of them are there twice. */
export function drawProgram(metrics?: readonly Metric[]): Model {
  let text = 'program p\n';
  const inside = (depth: number, indent: string): void => {
    for (let n = 1 + draw(3); n > 0; n--) {
      const first = draw(9) ? 1 + draw(12) : 0;
      const file = draw(9) ? ` @${FILES[draw(2)]}` : '';
      const call = draw(5) ? ` <${FILES[draw(2)]}:${1 + draw(12)}` : '';
      const what = depth < 3 ? draw(3) : 0;
      if (what === 0) text += `${indent}line ${first}${file} = ${draw(4) ? draw(9) : '.'} ${draw(9)} ${draw(3) ? draw(5) : '.'}\n`;
      else text += `${indent}${what === 1 ? 'loop' : `inline i${draw(2)}`} ${first}-${first + draw(6)}${file}${what === 1 ? '' : call}\n`;
      if (what > 0) inside(depth + 1, `${indent} `);
    }
  };
  for (const file of FILES) {
    text += ` module ${file === 'y.h' ? 'prog' : 'lib/m.so'}\n  file ${file}\n`;
    for (let n = 1 + draw(3); n > 0; n--) {
      text += `   proc f${draw(3)} ${1 + draw(9)}-${9 + draw(9)} @${file}\n`;
      inside(0, '    ');
    }
  }
  return model(text, metrics);
}

// ---- calls ----

/** Procedures call each other from their lines, again and again. */
function drawCalls(m: Model): TreeNodes {
  const { kind, parent } = m.places;
  const all = upTo(m.places.count);
  const procedures = all.filter((p) => kind[p] === Kind.Procedure);
  const below = (p: number, q: number): boolean => q !== NONE && (q === p || below(p, parent[q]));
  const nodes: { parent: number; place: number }[] = [{ parent: NONE, place: 0 }];
  const known = new Map<string, number>();
  const at = (up: number, place: number): number => {
    const key = `${up} ${place}`;
    if (!known.has(key)) known.set(key, nodes.push({ parent: up, place }) - 1);
    return known.get(key)!;
  };
  const call = (from: number, procedure: number, depth: number): void => {
    const lines = all.filter((p) => kind[p] === Kind.Line && below(procedure, p));
    for (let n = 1 + draw(3); n > 0; n--) {
      const way: number[] = [];
      for (let p = lines[draw(lines.length)] ?? procedure; p !== procedure; p = parent[p]) way.unshift(p);
      const line = way.reduce(at, at(from, procedure));
      if (depth < 5 && way.length && draw(3)) call(line, procedures[draw(procedures.length)], depth + 1);
    }
  };
  call(0, procedures[0], 0);
  return { count: nodes.length, parent: Int32Array.from(nodes, (n) => n.parent), place: Uint32Array.from(nodes, (n) => n.place) };
}

interface Own {
  readonly path: readonly number[]; // places from the root on
  readonly value: number;
}

/** Costs of the nodes below a path, and of its own lines. */
function valuesAt(m: Model, all: readonly Own[], path: readonly number[]): [number, number] {
  const isLine = (p: number): boolean => m.places.kind[p] === Kind.Line;
  const below = all.filter((o) => path.every((p, i) => o.path[i] === p));
  const isOwn = (o: Own): boolean =>
    o.path.length === path.length || (o.path.length === path.length + 1 && isLine(o.path.at(-1)!) && !isLine(path.at(-1)!));
  return [sum(below.map((o) => o.value)), sum(below.filter(isOwn).map((o) => o.value))];
}

/** The same, but of a procedure or an inlined call all lines that are its own code. */
function selfAt(m: Model, all: readonly Own[], path: readonly number[]): [number, number] {
  const { kind } = m.places;
  const [whole, own] = valuesAt(m, all, path);
  if (kind[path.at(-1)!] !== Kind.Procedure && kind[path.at(-1)!] !== Kind.Inline) return [whole, own];
  const isIn = (p: number): boolean => kind[p] === Kind.Inline || kind[p] === Kind.Loop;
  const lines = all.filter(
    (o) =>
      o.path.length > path.length &&
      path.every((p, i) => o.path[i] === p) &&
      kind[o.path.at(-1)!] === Kind.Line &&
      o.path.slice(path.length, -1).every(isIn),
  );
  return [whole, sum(lines.map((o) => o.value))];
}

const pathsOf = (nodes: TreeNodes): number[][] => {
  const paths: number[][] = [];
  for (let i = 0; i < nodes.count; i++) paths.push([...(i ? paths[nodes.parent[i]] : []), nodes.place[i]]);
  return paths;
};

const treeText = (tree: MadeTree): string[] => {
  const { values } = tree.model;
  return pathsOf(tree.nodes).map((path, i) => `${path.join(' ')}: ${values.of(0, false)![i]} ${values.of(0, true)![i]}`);
};

function testCallsOf(): void {
  const m = drawProgram();
  const { kind, same, parent } = m.places;
  const nodes = drawCalls(m);
  const paths = pathsOf(nodes);
  const own = paths.map((path): Own => ({ path, value: kind[path.at(-1)!] === Kind.Line && draw(4) ? draw(9) : NaN }));
  const stored = [0, 1].map((form) => Float64Array.from(paths, (path) => valuesAt(m, own, path)[form]));
  const values: Values = { of: (_, exclusive) => stored[exclusive ? 1 : 0], failure: () => undefined };
  const calls = { nodes, model: treeModel(m, nodes, values) };
  equal(treeText(calls), paths.map((path) => `${path.join(' ')}: ${selfAt(m, own, path).join(' ')}`), `${nodes.count} calls: what frames cost themselves`);
  const one = (i: number): unknown => [false, true].map((form) => calls.model.values.at!(0, form, i));
  equal(upTo(nodes.count).map(one), paths.map((path) => selfAt(m, own, path)), 'and one by one');

  const folded = own.map(({ path, value }): Own => {
    const short: number[] = [];
    for (const p of path) {
      const before = kind[p] === Kind.Procedure ? short.findIndex((q) => kind[q] === Kind.Procedure && same[q] === same[p]) : -1;
      if (before >= 0) short.length = before + 1;
      else short.push(p);
    }
    return { path: short, value };
  });
  const names = unique(folded.map((o) => o.path.join(' ')));
  equal(
    treeText(foldRecursion(m, nodes, values)),
    names.map((name) => `${name}: ${selfAt(m, folded, name.split(' ').map(Number)).join(' ')}`),
    `${nodes.count} calls: recursion folded`,
  );

  for (const place of upTo(m.places.count).filter((p) => kind[p] >= Kind.Procedure && draw(2))) {
    const isIt = (p: number): boolean => same[p] === same[place];
    const outermost = upTo(nodes.count).filter((i) => isIt(nodes.place[i]) && paths[i].filter(isIt).length === 1);
    const ways = new Map<string, number[]>();
    for (const i of outermost) {
      const back = [same[place], ...paths[i].slice(1, -1).reverse()];
      back.forEach((_, k) => ways.set(back.slice(0, k + 1).join(' '), [...(ways.get(back.slice(0, k + 1).join(' ')) ?? []), i]));
    }
    const made = callersOf(m, nodes, values, place);
    equal(made?.isCut ?? false, false, `all callers of ${place}`);
    const cost = (members: readonly number[]): string => stored.map((v) => sum(members.map((i) => v[i]))).join(' ');
    equal(made && treeText(made), ways.size ? [...ways].map(([way, members]) => `${way}: ${cost(members)}`) : null, `the callers of ${place}`);

    // a call: the caller and the calling line, by the callee's node
    const frame = (path: readonly number[]): number => path.map((p) => kind[p] === Kind.Procedure).lastIndexOf(true);
    const all = paths.flatMap((path, i) => (kind[nodes.place[i]] === Kind.Procedure && path.length > 2 ? [{ i, path: path.slice(0, -1), callee: nodes.place[i] }] : []));
    let procedure = place;
    while (kind[procedure] !== Kind.Procedure) procedure = parent[procedure];
    const isFrame = (p: number): boolean => kind[p] === Kind.Procedure || kind[p] === Kind.Inline;
    let around = place;
    while (!isFrame(around)) around = parent[around];
    // of an inlined call: the caller it was inlined into, and the place itself as location
    const intoWhat = paths.flatMap((path, i) =>
      same[nodes.place[i]] === same[around] ? [{ i, path: [...path.slice(0, -1).filter(isFrame), nodes.place[i]], callee: nodes.place[i] }] : [],
    );
    const listed = (some: typeof all, last = frame): string[] => {
      const rows = new Map<string, { text: string; members: number[] }>();
      for (const { i, path, callee } of some) {
        const caller = path[last(path)];
        const line = path.at(-1)!;
        let loop = line;
        while (kind[loop] !== Kind.Procedure && kind[loop] !== Kind.Loop) loop = parent[loop];
        const key = [caller, callee, line].map((p) => same[p]).join(' ');
        if (!rows.has(key)) rows.set(key, { text: `${caller} ${callee} ${line} ${kind[loop] === Kind.Loop ? loop : NONE}`, members: [] });
        rows.get(key)!.members.push(i);
      }
      return [...rows.values()].map(({ text, members }) => {
        const outer = members.filter((i) => !members.some((k) => k !== i && paths[k].length < paths[i].length && isBelow(nodes, i, k)));
        return `${text}: ${sum(outer.map((i) => stored[0][i]))}`;
      });
    };
    const found = callsOf(m, calls, place)!;
    const shown = ({ rows, cells }: (typeof found)['callers']): string[] =>
      rows.map((r, row) => {
        const members = upTo(cells.members.length).filter((k) => k >= cells.start[row] && k < cells.start[row + 1] && cells.outermost[k]);
        return `${r.caller} ${r.callee} ${r.line} ${r.loop}: ${sum(members.map((k) => stored[0][cells.members[k]]))}`;
      });
    const callers =
      kind[around] === Kind.Inline
        ? listed(intoWhat, (path) => path.length - 2)
        : listed(all.filter((c) => same[c.callee] === same[procedure]));
    equal(shown(found.callers), callers, `who calls ${place}`);
    const isInside = ({ path }: { path: readonly number[] }): boolean => same[path[frame(path)]] === same[procedure] && path.slice(frame(path)).some(isIt);
    equal(shown(found.callees), listed(all.filter(isInside)), `what ${place} calls`);
  }
}

const isBelow = (nodes: TreeNodes, node: number, above: number): boolean => {
  for (let up = nodes.parent[node]; up !== NONE; up = nodes.parent[up]) if (up === above) return true;
  return false;
};

// ---- tables ----

export function tableOf(name: string, columns: string, rows: readonly (readonly number[])[], strings: readonly string[] = []): { info: TableInfo; rows: TableRows } {
  const heads = columns.split(' ').map((word) => word.split('>'));
  return {
    info: {
      name,
      title: '',
      description: '',
      rows: rows.length,
      strings: strings.length,
      block: '',
      columns: heads.map(([column, to = '']) => ({ name: column, title: column, unit: '', description: '', type: to === 'text' || to === 'number' ? to : to ? 'ref' : 'count', to })),
    },
    rows: { cells: heads.map((_, c) => Float64Array.from(rows, (row) => row[c])), strings },
  };
}

// ---- simulated memory ----

const COUNTS = ['accesses', 'misses', 'temporal', 'used', 'evictions', 'cold', 'conflict'];

function testMisses(): void {
  const program = drawProgram();
  const { count, parent, file, lineFirst } = program.places;
  const anyPlace = (): number => draw(count + 1) - 1;
  const number = (): number => (draw(9) ? draw(4) : NaN);
  const levels = upTo(4).map((i) => [i, 8 << draw(3), draw(3), draw(2)]);
  const objects = upTo(4).map((i) => [i + 4, draw(3) ? anyPlace() : NaN]);
  const references = upTo(25).map(() => [anyPlace(), draw(5) - 1, draw(4), 20 + draw(20), ...COUNTS.slice(1).map(() => draw(20))]);
  const evictors = upTo(25).map(() => [anyPlace(), draw(5) - 1, anyPlace(), draw(5) - 1, draw(4), number(), number()]);
  const tables = [
    tableOf('levels', 'level>text line order run>run', levels, ['L1', 'L2', 'L3', 'TLB']),
    tableOf('objects', 'name>text where>place', objects, ['', '', '', '', 'a', 'b', 'c', 'd']),
    tableOf('references', `reference>place object>objects level>levels ${COUNTS.join(' ')}`, references),
    tableOf('evictors', 'victim>place victim_object>objects evictor>place evictor_object>objects level>levels blocks invalidated', evictors),
  ];
  const m = {
    ...program,
    runs: ['r', 's'].map((name) => ({ name }) as Model['runs'][number]),
    tables: tables.map((t) => t.info),
    tableRows: { of: (i: number) => tables[i].rows, failure: () => undefined },
  };
  const without = (name: string): Model => ({ ...m, tables: m.tables.map((t) => (t.name === name ? { ...t, rows: 0 } : t)) });
  equal(m.tables.filter((t) => Memory.isThere(without(t.name))).map((t) => t.name), ['evictors'], 'which table may be empty');
  const missesAt = (l: number): number => sum([0, ...references.filter((r) => r[2] === l).map((r) => r[4])]);
  const ordered: number[] = [];
  const runs = unique(levels.map((l) => l[3])).sort();
  for (const run of runs) for (const order of [0, 1, 2]) ordered.push(...upTo(4).filter((l) => levels[l][3] === run && levels[l][2] === order));
  const nameOf = (l: number): string => (runs.length > 1 ? `${'rs'[levels[l][3]]} ` : '') + ['L1', 'L2', 'L3', 'TLB'][l];
  const part = (a: number, b: number): number => (b > 0 ? (100 * a) / b : NaN);
  const use = (l: number, rows: readonly (readonly number[])[]): Record<string, number> => {
    const [accesses, misses, temporal, used, evictions, cold, conflict] = COUNTS.map((_, c) => sum([0, ...rows.map((r) => r[3 + c])]));
    return {
      accesses, misses, share: part(misses, missesAt(l)), ratio: part(misses, accesses), temporal: part(temporal, accesses - misses),
      spatial: part(used, evictions * levels[l][1]), cold: part(cold, misses), conflict: part(conflict, misses), evictions,
    }; // prettier-ignore
  };
  const mostFirst = (rows: Record<string, number>[]): Record<string, number>[] => rows.sort((a, b) => b.misses - a.misses || b.accesses - a.accesses);
  const where = (object: number): number => (object === NONE || Number.isNaN(objects[object][1]) ? NONE : objects[object][1]);

  for (const place of unique([0, ...upTo(6).map(() => draw(count))])) {
    const within = (p: number): boolean => (p === NONE ? place === 0 : p === place || (parent[p] !== NONE && within(parent[p])));
    const memory = Memory.of(m, place)!;
    equal(memory.levels, ordered.map((l) => ({ row: l, name: nameOf(l), blockBytes: levels[l][1], misses: missesAt(l) })), 'levels');
    for (const level of memory.levels) {
      const l = level.row;
      const mine = references.filter((r) => r[2] === l && within(r[0]));
      equal(memory.references(level), mostFirst(mine.map((r) => ({ ...use(l, [r]), place: r[0], object: r[1] }))), `references in ${place}`);
      const arrays = unique(mine.map((r) => r[1])).map((o) => ({ ...use(l, mine.filter((r) => r[1] === o)), place: where(o), object: o }));
      equal(memory.arrays(level), mostFirst(arrays), `arrays in ${place}`);
      equal(memory.total(level), mine.length ? use(l, mine) : null, `all of ${place}`);
      for (const one of [undefined, memory.references(level)[0]]) {
        const left = evictors.filter((e) => e[4] === l && within(e[0]) && (!one || (e[0] === one.place && e[1] === one.object)));
        const whole = sum([0, ...left.map((e) => zero(e[5]))]);
        const found = unique(left.map((e) => `${e[2]} ${e[3]}`)).map((key) => {
          const same = left.filter((e) => `${e[2]} ${e[3]}` === key);
          const blocks = sum(same.map((e) => zero(e[5])));
          const taken = sum(same.map((e) => zero(e[6])));
          return { place: same[0][2], object: same[0][3], blocks, taken, share: part(blocks, whole), isInside: within(same[0][2]) };
        });
        found.sort((a, b) => b.blocks - a.blocks || a.place - b.place || a.object - b.object);
        equal(memory.evictors(level, one), found, `who threw out blocks of ${place}`);
      }
    }
  }
  for (const f of [0, 1])
    for (const line of upTo(22)) {
      const isThere = (p: number): boolean => p !== NONE && line > 0 && file[p] === f && lineFirst[p] === line;
      const shares = ordered.flatMap((l) => {
        const mine = references.filter((r) => r[2] === l && isThere(r[0]));
        return mine.length ? [{ level: nameOf(l), share: sum(mine.map((r) => zero(part(r[4], missesAt(l))))) }] : [];
      });
      const got = missesOnLine(m, f, line);
      const rounded = (all: readonly { level: string; share: number }[]): string => all.map((s) => `${s.level} ${s.share.toFixed(6)}`).join();
      const share = (r: readonly number[]): number => zero(part(r[4], missesAt(r[2])));
      const most = references.filter((r) => isThere(r[0]));
      equal(got && rounded(got.shares), shares.length ? rounded(shares) : null, `misses on line ${line}`);
      equal(got && Math.max(...most.filter((r) => r[0] === got.place).map(share)), got && Math.max(...most.map(share)), 'and who misses most');
    }
}

// ---- filters ----

const NAMES = ['f', 'F1', 'i', 'f?', '*1', 'f*', '*', '?', '/^f[12]$/', '/1/', 'x.c', 'y', '*.h', 's*c', 'src/x.c', 'X.C:4', 'm*', 'x.?', '*.?:7', '/y/:3', 'zz', 'x.c:0'];
const FILES_ASKED = ['', '', 'x.c', 'y', '*.h', 'x*', 'src/*', '?.c', '/^s/', '"y.h"', 'zz'];
const MODULES_ASKED = ['', '', 'prog', 'm.so', 'lib/*', 'm*', 'P?og', '/g$/'];

/** Whether a text matches a filter's term; of a path its last component is enough. */
function isAsked(asked: string, text: string, isPath: boolean): boolean {
  const expression = /^\/(.+)\/$/.exec(asked)?.[1];
  if (expression) return new RegExp(expression, 'i').test(text);
  const whole = new RegExp(`^${asked.replace(/[.]/g, '\\.').replace(/[*]/g, '.*').replace(/[?]/g, '.')}$`, 'i');
  const isGlob = /[*?]/.test(asked);
  return text.toLowerCase().includes(asked.toLowerCase()) || (isGlob && (whole.test(text) || (isPath && whole.test(text.split('/').at(-1)!))));
}

function testFilters(): void {
  const m = drawProgram();
  const { count, kind, parent, name, strings, file, lineFirst, lineLast } = m.places;
  const inFile = (p: number, asked: string): boolean => file[p] !== NONE && isAsked(asked, m.files[file[p]].name, true);
  const moduleOf = (p: number): number => (p === NONE || kind[p] === Kind.Module ? p : moduleOf(parent[p]));
  for (let i = 0; i < 40; i++) {
    const asked = draw(4) ? NAMES[draw(NAMES.length)] : '';
    const files = FILES_ASKED[draw(FILES_ASKED.length)];
    const module = MODULES_ASKED[draw(MODULES_ASKED.length)];
    const text = [module && `module:${module}`, asked, files && `FILE:${files}`].filter(Boolean).join(' ');
    const inside = (p: number): boolean =>
      (!files || inFile(p, files.replace(/"/g, ''))) && (!module || (moduleOf(p) !== NONE && isAsked(module, strings[name[moduleOf(p)]], true)));
    const [, ofLine, line] = /^(.*):(\d+)$/.exec(asked) ?? [];
    for (const isTree of [true, false]) {
      const onLine = (p: number): boolean =>
        line ? inFile(p, ofLine) && lineFirst[p] > 0 && lineFirst[p] <= Number(line) && Number(line) <= lineLast[p] : !isTree && inFile(p, asked);
      const isNamed = (p: number): boolean => isAsked(asked, strings[name[p]], false) || (kind[p] >= Kind.Loop && onLine(p));
      const wanted = upTo(count).filter((p) => inside(p) && (asked ? isNamed(p) : !isTree || p === 0 || !inside(parent[p])));
      const matches = matcherFor(m, text, isTree);
      equal(matches && upTo(count).filter(matches), text ? wanted : null, `the filter ${text}${isTree ? ' in the tree' : ''}`);
    }
  }
}

// ---- the hot path, and the surroundings of a place ----

function testWays(): void {
  const m = drawProgram();
  const { count, kind, parent, file, lineFirst, lineLast, callFile, callLine } = m.places;
  const children = childrenOf(m.places);
  const values = m.values.of(draw(2), false)!;
  if (draw(2)) file[upTo(count).find((p) => kind[p] === Kind.File)!] = NONE;
  for (const from of upTo(count)) {
    const part = [0.2, 0.5, 1][draw(3)];
    const path = [from];
    for (let at = from; ; path.push(at)) {
      const below = upTo(count).filter((p) => parent[p] === at && values[p] > 0);
      const best = below.find((p) => below.every((q) => values[q] <= values[p]));
      const isEnough = best !== undefined && (values[best] >= part * values[at] || (kind[at] === Kind.File && file[at] === NONE));
      if (!isEnough) break;
      at = best;
    }
    equal(hotPath(m, children, values, from, part), path, `the hot path from ${from}, each at least ${part}`);

    const around: number[] = [];
    for (let p = parent[from]; p !== NONE; p = parent[p]) around.push(p);
    equal(ancestors(m.places, from), around, `what is around ${from}`);
    const isIn = (p: number): boolean => p === from || (p !== NONE && isIn(parent[p]));
    const depth = (p: number): number => (p === NONE ? 0 : 1 + depth(parent[p]));
    const inside = upTo(count).filter((p) => isIn(p) && [...parent].includes(p));
    const byDepth = upTo(9).flatMap((d) => inside.filter((p) => depth(p) === depth(from) + d));
    const limit = 1 + draw(9);
    equal(subtree(children, from, limit), { places: byDepth.slice(0, limit), isCut: byDepth.length > limit }, `at most ${limit} in ${from}`);

    const hasLine = file[from] !== NONE && lineFirst[from] > 0;
    const isCall = kind[from] === Kind.Inline && !hasLine && callFile[from] !== NONE;
    const own = kind[from] === Kind.File ? { first: 0, last: 0 } : { first: lineFirst[from], last: Math.max(lineFirst[from], lineLast[from]) };
    const shown = isCall ? { file: callFile[from], first: callLine[from], last: callLine[from] } : file[from] === NONE ? null : { file: file[from], ...own };
    equal(sourceOf(m, from), kind[from] < Kind.File ? undefined : shown, `the source of ${from}`);
  }
}

// ---- numbers ----

const SIZES: { readonly [prefix: string]: number } = { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** The displayed text is the number again, except for the rounding of its last digit. */
function testNumbers(): void {
  const plain = (text: string): number => Number(text.replace(/[\u2007\u2008,]/g, '').replace(/−/g, '-'));
  const lastDigit = (text: string): number => {
    const [, fraction = '', power = '0'] = /^[^.e]*(?:\.(\d*))?(?:e(.*))?$/.exec(text.replace(/[\u2007\u2008,]/g, ''))!;
    return 10 ** (Number(power) - fraction.length);
  };
  const digits = [0, 1e6, -2.5e6, 999999, 1234.56, 100.04, 12.345, 1.23456, 0.123456, 1e-4, 0.00005, -0.00005, 1000, 100, 10, 1].map((x) => formatScaled(x, { divisor: 1, decimals: -1, unit: '' }));
  const four = ['0', '1.000e+6', '−2.500e+6', '999,999.0', '1,234.6', '100.0', '12.35', '1.235', '0.1235', '0.0001', '5.000e-5', '−5.000e-5', '1,000.0', '100.0', '10.00', '1.000'];
  equal(digits, four, 'four digits');
  for (let i = 0; i < 400; i++) {
    const unit = ['ns', 'ms', 's', '', 'cycles'][draw(5)];
    const m = metric('M', { unit, formula: draw(3) ? '' : 'A / B' });
    const size = 10 ** (draw(16) - (m.formula ? 5 : 0));
    const value = (draw(2) ? 1 : -1) * Math.round(draw(100000) * size) / 1000;
    const scale = scaleFor(m, draw(2) ? value : value * (1 + draw(50)));
    const error = draw(2) ? Math.abs(value) / (1 + draw(900)) : NaN;
    const text = formatScaled(value, scale, error);
    const shown = /^[<>]/.test(text) ? NaN : plain(text) * scale.divisor;
    const digit = lastDigit(text) * scale.divisor;
    equal(Number.isNaN(shown) ? Math.abs(value) < Math.max(digit, error || 0) : Math.abs(shown - value) <= digit * 0.500001, true, `${value} ${unit}, +- ${error}, is ${text} ${scale.unit}`);
    if (error > 0 && scale.decimals > 0 && digit < 0.999 * scale.divisor) equal(digit > error / 10.001, true, `${text} has no digits below its error of ${error}`);
    equal(scale.decimals <= 0 || text.replace(/^[<>−]*[\d,]+/, '').length === scale.decimals + 1, true, `${text}: points stand in line`);
    equal(plain(formatExact(value)), value, `${value}, exactly`);

    const [number, prefix = ''] = formatAs('si', value, m, scale, NaN).split(' ');
    const isTime = ['ns', 'ms', 's'].includes(unit);
    const seconds = isTime ? SIZES[unit] : 1;
    equal(Math.abs(plain(number) * SIZES[prefix] - value * seconds) <= 0.500001 * lastDigit(number) * SIZES[prefix], true, `${value} ${unit} is ${number} ${prefix}`);
    const power = formatAs('scientific', value, m, scale, error);
    equal(Math.abs(plain(power) - value) <= 0.500001 * lastDigit(power), true, `${value} is ${power}`);
    const total = value * (1 + draw(3000));
    const percent = formatPercent(value, total);
    const exact = (100 * value) / total;
    equal(percent === '<0.1' ? exact < 0.05 : value === 0 ? percent === '' : Math.abs(plain(percent) - exact) <= 0.0500001, true, `${value} of ${total} is ${percent}`);
  }
}

// ---- lines ----

function testLinesOf(): void {
  const m = drawProgram();
  const { count, kind, file, lineFirst, lineLast, callFile, callLine } = m.places;
  const index = lineIndex(m);
  for (const f of [0, 1]) {
    const isCall = (p: number): boolean => kind[p] === Kind.Inline && callFile[p] !== NONE;
    const mine = upTo(count).filter((p) => kind[p] >= Kind.Procedure && (isCall(p) ? callFile[p] : file[p]) === f);
    const lineOf = (p: number): number => (isCall(p) ? callLine[p] : lineFirst[p]);
    const lines = fileLines(m, index, f);
    const numbers = unique(mine.map(lineOf)).sort((a, b) => a - b);
    equal([...lines.numbers], numbers, 'the lines of a file');
    const values = m.values.of(0, false)!;
    const costliest = (a: number, b: number): number =>
      Number.isNaN(values[a]) || Number.isNaN(values[b]) ? Number(Number.isNaN(values[a])) - Number(Number.isNaN(values[b])) || a - b : values[b] - values[a] || a - b;
    for (const line of upTo(14)) {
      const here = mine.filter((p) => lineOf(p) === line);
      const own = here.filter((p) => kind[p] === Kind.Line);
      equal(placesOnLine(m, lines, values, line), (own.length ? own : here).sort(costliest), `what stands on line ${line}`);
      equal(scopesOnLine(m, lines, line), mine.filter((p) => lineOf(p) === line && kind[p] !== Kind.Line), 'and begins there');
    }
    const sizes = Float64Array.from(numbers, () => (draw(5) ? draw(9) - 4 : NaN));
    const most = Math.max(...numbers.map((n, g) => (n > 0 ? zero(Math.abs(sizes[g])) : 0)));
    const hottest = numbers.find((n, g) => n > 0 && Math.abs(sizes[g]) === most) ?? 0;
    equal(hottestLine(lines, sizes), hottest, 'the costliest line');

    const brackets = loopBrackets(m, index.places.subarray(index.start[f], index.start[f + 1]), f);
    const spans = spansOf(m, index, f, brackets);
    const procedures = mine.filter((p) => kind[p] === Kind.Procedure && file[p] === f && lineLast[p] > lineFirst[p]);
    const all = [...brackets.list, ...procedures.map((p) => ({ first: lineFirst[p], last: lineLast[p] }))].map((s) => `${s.first}-${s.last}`);
    equal(spans.map((s) => `${s.first}-${s.last}`).sort(), all.sort(), 'procedures and loops');
    equal(spans.every((s, i) => i === 0 || spans[i - 1].first < s.first || (spans[i - 1].first === s.first && spans[i - 1].last >= s.last)), true, 'outer ones first');
    const around = (line: number): number[] => unique(spans.filter((s) => s.first < line && line <= s.last).map((s) => s.first));
    for (let top = 0; top < 20; top++) {
      const heads = headsAround(spans, top, (row) => row + 1, (line) => line - 1);
      const above = (rows: number): number[] => around(top + rows + 1).filter((first) => first <= top + rows);
      equal(heads.length <= 4 && heads.every((h) => h <= top + heads.length), true, `at most four heads over line ${top}`);
      const first = above(0);
      if (first.length <= 4 && textOf(above(first.length)) === textOf(first)) equal(heads, first, `heads over line ${top}`);
    }
  }
}

export function testMade(): void {
  const tests = { calls: testCallsOf, 'simulated memory': testMisses, 'lines of sources': testLinesOf, filters: testFilters, ways: testWays, numbers: testNumbers };
  for (const [what, test] of Object.entries(tests)) {
    wrong = '';
    for (let i = 0; i < 12; i++) test();
    report(wrong, '', `${what}, drawn at random`);
  }
}
