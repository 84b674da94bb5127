// SPDX-License-Identifier: BSD-3-Clause
// What is made of places and tables against what the words for it say, written down plainly, on models drawn at random.

import { Kind, type Model, NONE, type PlaceIx, type TableInfo, type TableRows } from '../model/data';
import { loopBrackets } from '../logic/brackets';
import { Columns } from '../logic/columns';
import { counterpart } from '../logic/compare';
import { isSearch } from '../logic/diagnosis';
import { distributionAt } from '../logic/distribution';
import { headsAround, spansOf } from '../logic/sticky_headers';
import { frontOf } from '../logic/hotspots';
import { LEVEL_KIND, type Level } from '../logic/flat';
import { Code, loopPlace, show } from '../logic/instructions';
import { folded, labelOf, loopKinds } from '../logic/labels';
import { lineIndex } from '../logic/lines';
import { reasons } from '../logic/memory';
import { axisChoices, dotsOf } from '../logic/scatter';
import { type Subject, Tables } from '../logic/rows';
import { globMatches, matcherFor } from '../logic/search';
import { largestCells, turnedRound } from '../logic/sort';
import { hottestLineIn, hottestOf } from '../logic/summary';
import { cellText, isAboutPlaces, rowsAbout } from '../logic/tables';
import { readHead, VERSION } from '../model/head';
import { isStep } from '../state/actions';
import { reduce } from '../state/reduce';
import type { State } from '../state/state';
import { draw } from './naive';
import { metric, model } from './outline';
import { equal } from './tap';

/** Loops, inlined calls and lines in each other; all lines together have 128 of A. */
function drawModel(): Model {
  const lines: string[] = ['program prog'];
  let left = 128;
  const value = (): string => {
    if (draw(6) === 0) return '.';
    const some = Math.min(left, draw(9));
    left -= some;
    return String(some);
  };
  const body = (depth: number, file: string): void => {
    for (let i = 0, n = 1 + draw(4); i < n; i++) {
      const indent = ' '.repeat(depth);
      const first = 1 + draw(12);
      const what = depth < 8 ? draw(4) : 0;
      if (what === 1) {
        lines.push(`${indent}loop ${first}-${first + draw(5)} @${file}`);
        body(depth + 1, file);
      } else if (what === 2) {
        const inlined = 'vw'[draw(2)];
        lines.push(`${indent}inline ${inlined} ${first}-${first + 4} @y.h <${file}:${first}`);
        body(depth + 1, 'y.h');
      } else lines.push(`${indent}line ${first} @${file} = ${value()} ${draw(5)}`);
    }
  };
  for (const name of ['a.out', 'lib']) {
    lines.push(` module ${name}`);
    for (const file of ['x.c', 'z.c']) {
      lines.push(`  file ${file}`);
      for (let p = 0, n = 1 + draw(3); p < n; p++) {
        const first = 1 + draw(9);
        lines.push(`   proc p${p} ${first}-${first + draw(20)} @${file}`);
        body(4, file);
      }
    }
  }
  lines.push('  file y.h', '   proc rest 1-3 @y.h', `    line 99 @y.h = ${left} 1`);
  const m = model(lines.join('\n'));
  const { count, kind, role, irreducible } = m.places;
  for (let i = 0; i < count; i++)
    if (kind[i] === Kind.Loop) [(role as Uint8Array)[i], (irreducible as Uint8Array)[i]] = [draw(4), draw(5) === 0 ? 1 : 0];
  return m;
}

const isInside = (m: Model, place: PlaceIx, above: PlaceIx): boolean => {
  for (let up = m.places.parent[place]; up !== NONE; up = m.places.parent[up]) if (up === above) return true;
  return false;
};

const placesOf = (m: Model, kind: Kind): PlaceIx[] =>
  Array.from({ length: m.places.count }, (_, i) => i).filter((i) => m.places.kind[i] === kind);

interface PlainRow {
  readonly members: PlaceIx[];
  readonly value: number; // NaN: none of them has any
  readonly lead: PlaceIx;
}

/** Rows in the order of their first places. */
function plainRows(m: Model, level: Level, fuse: boolean, values: Float64Array): PlainRow[] {
  const groups = new Map<number, PlaceIx[]>();
  for (const place of placesOf(m, LEVEL_KIND[level])) {
    const key = fuse ? m.places.same[place] : place;
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  return [...groups.values()].map((members) => {
    const counted = members.filter((p) => !members.some((other) => isInside(m, p, other)) && !Number.isNaN(values[p]));
    let [lead] = members;
    for (const p of members) if (values[p] > values[lead] || (Number.isNaN(values[lead]) && !Number.isNaN(values[p]))) lead = p;
    return { members, value: counted.length ? counted.reduce((sum, p) => sum + values[p], 0) : NaN, lead };
  });
}

function plainLabel(m: Model, { members, lead }: PlainRow): unknown {
  const label = labelOf(m, lead);
  if (members.length === 1) return label;
  const badges = m.places.kind[lead] === Kind.Loop ? [...new Set(members.flatMap((p) => loopKinds(m, p)))] : [];
  return { text: label.text, detail: m.places.kind[lead] === Kind.Inline ? '' : label.detail, badges };
}

function testFlat(m: Model, start: State): void {
  const columns = new Columns(m);
  const a = columns.of(0);
  const values = columns.values(a, null);
  const tables = new Tables(m);
  const subject: Subject = { columns, sort: a, weight: a };
  for (const level of ['line', 'loop', 'procedure', 'inline', 'file', 'module'] as const)
    for (const fuse of [true, false])
      for (const descending of [true, false]) {
        const all = plainRows(m, level, fuse, values);
        const known = all.filter((row) => !Number.isNaN(row.value));
        known.sort((p, q) => (descending ? q.value - p.value : p.value - q.value));
        const rows = [...known, ...all.filter((row) => Number.isNaN(row.value))];
        const state: State = { ...start, view: level, fuse, descending };
        const table = tables.of(state, subject);
        const what = `${level}${fuse ? ', fused' : ''}`;
        const shown = Array.from({ length: table.count }, (_, row) => row);
        const leads = shown.map((row) => (Number.isNaN(rows[row].value) && rows[row].members.includes(table.place(row)) ? rows[row].lead : table.place(row)));
        equal(leads, rows.map((row) => row.lead), `${what}: rows stand for their costliest places`);
        equal(shown.map((row) => table.value(row, a)), rows.map((row) => row.value), `${what}: their values`);
        equal(shown.every((row) => !table.isExpanded(row) && !table.hasChildren(row) && table.depth(row) === 0), true, `${what}: nothing is below a row`);
        equal(shown.map((row) => table.instances(row)), rows.map((row) => row.members.length), `${what}: how many places`);
        equal(shown.map((row) => table.label(row)), rows.map((row, i) => plainLabel(m, { ...row, lead: table.place(i) })), `${what}: labels`);
        equal(rows.every((row, i) => row.members.every((p) => table.rowOf(p) === i)), true, `${what}: found from any place`);
        equal(table.largest(a), Math.max(...known.map((row) => Math.abs(row.value))), `${what}: the largest`);
        const border = known[known.length >> 1].value; // just enough is enough
        const least = tables.of({ ...state, least: (border / 128) * 100 }, subject);
        const heavy = border > 0 ? known.filter((row) => row.value >= border) : rows;
        equal([least.count, least.hidden], [heavy.length, rows.length - heavy.length], `${what}: without the light ones`);
      }
}

/** Without a column to sort by: by name if there are names, by file and line, and in the given order. */
function testByName(m: Model, start: State): void {
  const columns = new Columns(m);
  const tables = new Tables(m);
  const { file, lineFirst, kind } = m.places;
  const values = columns.values(columns.of(0), null);
  for (const level of ['line', 'loop', 'procedure', 'inline', 'file', 'module'] as const)
    for (const descending of [true, false]) {
      const rows = plainRows(m, level, true, values).map((row, at) => ({ first: row.members[0], at }));
      const name = (place: PlaceIx): string => (kind[place] < Kind.Loop ? labelOf(m, place).text : '');
      const order = (a: (typeof rows)[number], b: (typeof rows)[number]): number => {
        const [p, q] = [name(a.first), name(b.first)];
        if (p !== q) return p < q ? -1 : 1;
        return file[a.first] - file[b.first] || lineFirst[a.first] - lineFirst[b.first] || a.at - b.at;
      };
      rows.sort((a, b) => (descending ? -1 : 1) * order(a, b));
      const table = tables.of({ ...start, view: level, fuse: true, descending }, { columns, sort: null, weight: null });
      equal(Array.from({ length: table.count }, (_, row) => table.place(row)), rows.map((row) => row.first), `${level} by name`);
    }
}

/** A comparison begins with its own columns, the largest first; everything else stays. */
function testCompared(start: State): void {
  const before: State = { ...start, view: 'line', descending: false, filter: 'x', selected: 3 };
  const after = reduce(before, { type: 'compare', base: 'old', shown: ['0i', '1-0i'], sortBy: '1-0i' });
  equal(after, { ...before, base: 'old', shown: ['0i', '1-0i'], sortBy: '1-0i', descending: true }, 'a comparison');
}

function testTree(m: Model, start: State): void {
  const columns = new Columns(m);
  const tables = new Tables(m);
  const expanded = new Set(Array.from({ length: m.places.count }, (_, i) => i));
  const table = tables.of({ ...start, view: 'tree', expanded }, { columns, sort: null, weight: null });
  const rows = Array.from({ length: table.count }, (_, row) => row);
  const hasChild = (place: PlaceIx): boolean => m.places.parent.includes(place);
  equal(table.count, m.places.count, 'an open tree shows all');
  equal(rows.every((row) => table.hasChildren(row) === hasChild(table.place(row)) && table.isExpanded(row) === hasChild(table.place(row))), true, 'what can be opened');
  equal(rows.every((row) => table.rowOf(table.place(row)) === row), true, 'each is found');
}

function testHottest(m: Model): void {
  const columns = new Columns(m);
  const tables = new Tables(m);
  const a = columns.of(0);
  const values = columns.values(a, null);
  let wrong = '';
  for (let place = 0; place < m.places.count; place++) {
    const best = hottestLineIn(m, tables, place, values);
    const most = Math.max(0, ...placesOf(m, Kind.Line).filter((l) => (l === place || isInside(m, l, place)) && values[l] > 0).map((l) => values[l]));
    const good = best === NONE || most === 0 ? best === NONE && most === 0 : values[best] === most && m.places.kind[best] === Kind.Line && (best === place || isInside(m, best, place));
    if (!good) wrong ||= `${place}: ${best}`;
  }
  equal(wrong, '', 'the costliest line in each place');
  for (const level of ['line', 'procedure', 'file', 'module'] as const) {
    const rows = plainRows(m, level, true, values).filter((row) => row.value > 0);
    rows.sort((p, q) => q.value - p.value || p.lead - q.lead);
    const hot = hottestOf(columns, tables, a, level, 5);
    equal(hot.top.map((h) => h.value), rows.slice(0, 5).map((row) => row.value), `the hottest of ${level}`);
    equal(hot.top.every((h) => rows.some((row) => row.lead === h.place && row.value === h.value && row.members.length === h.copies)), true, `and which ${level} that is`);
  }
}

function testSpans(m: Model): void {
  const index = lineIndex(m);
  m.files.forEach((_, file) => {
    const members = placesOf(m, Kind.Loop).filter((p) => m.places.file[p] === file);
    const spans = spansOf(m, index, file, loopBrackets(m, members, file));
    const ordered = spans.every((s, i) => i === 0 || s.first > spans[i - 1].first || (s.first === spans[i - 1].first && s.last <= spans[i - 1].last));
    equal(ordered, true, 'spans of a file, the outer ones first');
  });
}

const columnOf = (name: string, type: 'count' | 'ref' | 'text', to = ''): TableInfo['columns'][number] => ({ name, title: name, unit: '', description: '', type, to });

function tableOf(columns: TableInfo['columns'], rows: readonly (readonly number[])[]): { info: TableInfo; rows: TableRows } {
  return {
    info: { name: 't', title: '', description: '', rows: rows.length, strings: 0, block: '', columns } as TableInfo,
    rows: { cells: columns.map((_, c) => Float64Array.from(rows, (row) => row[c])), strings: [] },
  };
}

/** Rows that touch a place or what is in it; the weightiest first, equals and blanks in their order. */
function testAbout(m: Model): void {
  const columns = [columnOf('of', 'ref', 'place'), columnOf('who', 'ref', 'thread'), columnOf('by', 'ref', 'place'), columnOf('n', 'count'), columnOf('k', 'count')];
  const some = (): number => (draw(5) ? draw(m.places.count) : NONE);
  const data = Array.from({ length: 40 }, () => [some(), draw(9), some(), draw(4) ? draw(6) : NaN, draw(9)]);
  const { info, rows } = tableOf(columns, data);
  equal([isAboutPlaces(info), isAboutPlaces({ ...info, columns: [columns[1], columns[3]] })], [true, false], 'tables about places');
  for (let place = 0; place < m.places.count; place += 1 + draw(4)) {
    const touches = (cell: number): boolean => cell >= 0 && (cell === place || isInside(m, cell, place));
    const wanted = data.map((_, i) => i).filter((i) => place === 0 || touches(data[i][0]) || touches(data[i][2]));
    wanted.sort((p, q) => (data[q][3] || 0) - (data[p][3] || 0) || p - q);
    equal(rowsAbout(m, info, rows, place), wanted, `rows about place ${place}`);
  }
  const plain = tableOf([columnOf('who', 'ref', 'thread'), columnOf('what', 'text')], [[1, 0], [0, 0], [2, 0]]);
  equal(rowsAbout(m, plain.info, plain.rows, 5), [0, 1, 2], 'without places and weights, all as they come');
}

/** Loops are nests of the instructions in them; arrows of jumps do not cross in a lane. */
function testCode(): void {
  const names = ['procedure', 'build', 'address', 'line', 'target', 'loop', 'around'];
  const data: number[][] = [];
  const procedures = [3, 4, 9];
  for (const procedure of procedures)
    for (let build = 0; build < 1 + draw(2); build++) {
      const n = 1 + draw(30);
      const nest: number[] = [];
      const around = new Map<number, number>();
      for (let i = 0, address = 100; i < n; i++, address += 4) {
        if (nest.length && draw(4) === 0) nest.pop();
        else if (draw(3) === 0) {
          around.set(address, nest.at(-1) ?? NaN);
          nest.push(address);
        }
        const loop = nest.at(-1) ?? NaN;
        data.push([procedure, build, address, draw(4), draw(3) ? NaN : 96 + 4 * draw(n + 2), loop, around.get(loop) ?? NaN]);
      }
    }
  const { info, rows } = tableOf(names.map((name) => columnOf(name, 'count')), data);
  const code = new Code(info, rows, null);
  const pieces = procedures.flatMap((p) => code.pieces(p));
  const plain: { first: number; end: number }[] = [];
  data.forEach(([p, b], row) => {
    const last = plain.at(-1);
    if (last && data[last.first][0] === p && data[last.first][1] === b) last.end = row + 1;
    else plain.push({ first: row, end: row + 1 });
  });
  equal(pieces, plain, 'each build of a procedure is a piece');
  equal([code.pieces(0), code.pieces(5), code.pieces(10)], [[], [], []], 'of others there are none');
  for (const piece of pieces) {
    const shown = show(code, piece);
    const inside = (row: number, header: number): boolean => {
      for (let l = data[row][5]; !Number.isNaN(l); l = data.slice(piece.first, piece.end).find((d) => d[2] === l)![6]) if (l === header) return true;
      return false;
    };
    const mine = Array.from({ length: piece.end - piece.first }, (_, i) => piece.first + i);
    const headers = [...new Set(mine.map((row) => data[row][5]).filter((l) => !Number.isNaN(l)))];
    const all = new Set(headers.flatMap((h) => [h, ...mine.map((row) => data[row][5]).filter((l) => !Number.isNaN(l))]));
    let loops = [...all].map((header) => {
      const rowsIn = mine.filter((row) => inside(row, header));
      const depth = [...all].filter((other) => other !== header && inside(rowsIn.find((row) => data[row][2] === header) ?? rowsIn[0], other)).length;
      return { header, first: shown.at.get(rowsIn[0])!, last: shown.at.get(rowsIn.at(-1)!)!, track: Math.min(depth, 5) };
    });
    loops = loops.sort((p, q) => p.first - q.first || q.last - p.last);
    const text = (l: { header: number; first: number; last: number; track: number }): string => `${l.header}: ${l.first}-${l.last}, ${l.track}`;
    equal(shown.loops.map(text), loops.map(text), 'loops from where to where');
    equal(shown.tracks, Math.max(0, ...shown.loops.map((l) => l.track + 1)), 'so many brackets');
    const length = (j: { from: number; to: number }): number => Math.abs(j.from - j.to);
    const { jumps } = shown;
    const jumpsThere = mine.filter((row) => mine.some((to) => data[to][2] === data[row][4]));
    const ways = jumpsThere.filter((row) => data[row][4] !== data[row][2]).map((row) => [shown.at.get(row), shown.at.get(mine.find((to) => data[to][2] === data[row][4])!)].join());
    equal(jumps.filter((j) => j.from !== j.to).map((j) => [j.from, j.to].join()).sort(), ways.sort(), 'each jump is shown');
    equal(jumps.length <= jumpsThere.length && jumps.every((j) => data[shown.lines[j.from].row][4] === data[shown.lines[j.to].row][2]), true, 'jumps lead where they go');
    equal(jumps.every((j, i) => i === 0 || length(j) > length(jumps[i - 1]) || (length(j) === length(jumps[i - 1]) && j.from > jumps[i - 1].from)), true, 'short ones first');
    const crosses = (p: (typeof jumps)[number], q: (typeof jumps)[number]): boolean =>
      p.to !== q.to && Math.min(p.from, p.to) <= Math.max(q.from, q.to) && Math.min(q.from, q.to) <= Math.max(p.from, p.to);
    equal(jumps.every((p, i) => jumps.slice(i + 1).every((q) => p.lane !== q.lane || !crosses(p, q))), true, 'none crosses another in its lane');
    equal(jumps.every((j, i) => Array.from({ length: j.lane }, (_, lane) => lane).every((lane) => jumps.slice(0, i).some((q) => q.lane === lane && crosses(j, q)))), true, 'and none leaves a free lane');
    equal(shown.lanes, Math.max(0, ...jumps.map((j) => j.lane + 1)), 'so many lanes');
  }
}

/** Loops that claim to be around each other are not an endless nest. */
function testCircles(): void {
  const names = ['procedure', 'build', 'address', 'line', 'target', 'loop', 'around'];
  const of = (...around: number[]): unknown => {
    const { info, rows } = tableOf(names.map((name) => columnOf(name, 'count')), around.map((other, i) => [1, 0, 10 + i, NaN, NaN, 10 + i, other]));
    const code = new Code(info, rows, null);
    return show(code, code.pieces(1)[0]).loops.map((l) => `${l.header} ${l.first}-${l.last} ${l.track}`);
  };
  equal([of(10), of(11, 10), of(11, 12, 11), of(99, 10)], [['10 0-0 0'], ['10 0-1 1', '11 0-1 1'], ['11 0-2 1', '12 0-2 1', '10 0-0 2'], ['10 0-1 0', '11 1-1 1']],
    'loops around each other');
}

/** The loop of a procedure that begins at an address. */
function testLoopPlaces(m: Model): void {
  const loops = placesOf(m, Kind.Loop);
  const { addressLow, addressHigh } = m.places as { addressLow: Uint32Array; addressHigh: Uint32Array };
  loops.forEach((place, i) => ([addressLow[place], addressHigh[place]] = [(i >> 1) * 4 + 64, i & 1]));
  let wrong = '';
  for (const procedure of placesOf(m, Kind.Procedure))
    for (const loop of loops) {
      const header = addressHigh[loop] * 2 ** 32 + addressLow[loop];
      const found = loopPlace(m, procedure, header);
      if (found !== (isInside(m, loop, procedure) ? loop : NONE)) wrong ||= `${procedure} ${loop}: ${found}`;
    }
  equal(wrong, '', 'the loop of a procedure by its address');
}

/** Properties that a typed formula and a difference inherit from their operands. */
function testUnits(): void {
  const drawing = 'program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 6 2 3 4';
  const m = model(drawing, [
    metric('A', { unit: 's', event: 'e' }),
    metric('B', { unit: 's', event: 'e' }),
    metric('C', { unit: 'B', event: 'e' }),
    metric('D', { unit: 's', event: 'f' }),
    metric('AB', { formula: 'A - B' }),
    metric('AC', { formula: 'A - C' }),
    metric('AD', { formula: 'A - D' }),
  ]);
  const typed = ['A + B', 'A + C', 'A * B', 'A - total(B)', '2 * A'].map((formula, i) => ({ name: `T${i}`, formula }));
  const columns = new Columns(m, typed);
  equal(typed.map((_, i) => columns.get(`t${i}i`)!.metric.unit), ['s', '', '', '', 's'], 'a sum of one unit has that unit');
  equal([4, 5, 6].map((i) => columns.of(i).difference !== null), [true, false, false], 'a difference is of one event and one unit');
  const one = columns.get('t0i')!.metric;
  equal([one.display, one.estimated, one.hasExclusive, one.summed, one.percent, one.run], [true, false, true, false, false, NONE], 'what a typed metric is');
}

/** Threads' costs where they are known: at the place, or at the nearest one around it. */
function testThreads(m: Model): void {
  const names = ['place', 'metric', 'process', 'thread', 'name', 'value'];
  const { info, rows } = tableOf(
    names.map((name) => columnOf(name, name === 'place' ? 'ref' : name === 'metric' || name === 'name' ? 'text' : 'count', name === 'place' ? 'place' : '')),
    Array.from({ length: 60 }, () => [draw(m.places.count), draw(2), draw(3), draw(3), 2, 1 + draw(9)]),
  );
  const data = Array.from({ length: info.rows }, (_, row) => rows.cells.map((cells) => cells[row]));
  const texts = { ...rows, strings: ['TIME', 'MISSES', 'worker'] };
  for (let place = 0; place < m.places.count; place++) {
    const mine = data.filter((row) => row[1] === 0);
    let at = place;
    while (at !== NONE && !mine.some((row) => row[0] === at)) at = m.places.parent[at];
    const threads = [...new Set(mine.map((row) => row[2] * 10 + row[3]))].sort((a, b) => a - b);
    const wanted = threads.map((key) => {
      const value = mine.filter((row) => row[0] === at && row[2] * 10 + row[3] === key).reduce((sum, row) => sum + row[5], 0);
      return { process: Math.floor(key / 10), thread: key % 10, name: 'worker', value };
    });
    const got = distributionAt(m, info, texts, 'TIME', place);
    equal(got && [got.place, got.shares], at === NONE ? null : [at, wanted], `threads at place ${place}`);
  }
}

/** All that a head says of a metric, and nothing else. */
function testMetricsOfHead(): void {
  const flags = ['percent', 'display', 'sort_by', 'estimated', 'has_exclusive', 'summed'] as const;
  for (let bits = 0; bits < 64; bits++) {
    const given = {
      ...{ name: 'n', display_name: bits & 1 ? 'shown' : '', unit: 'u', description: 'd', formula: 'f', event: 'e', period: 5, run: 0, chunk: 1, offset: 2, bytes: 3, scale: 0.5 },
      ...Object.fromEntries(flags.map((flag, i) => [flag, (bits >> i & 1) === 1])),
    };
    const text = JSON.stringify({
      ...{ format: 'hpcview-database', version: VERSION, generator: 'g', title: 't', places: 1, strings: 1 },
      ...{ planes: [1, 1, 1, 4, 2, 0, 4, 0, 0, 0, 8, 0], metrics: [given], files: [], processes: [], warnings: [] },
    });
    const [read] = readHead(text).metrics;
    equal(
      [read.name, read.displayName, read.unit, read.description, read.formula, read.event, read.period, read.run, read.chunk, read.offset, read.bytes, read.scale],
      ['n', bits & 1 ? 'shown' : 'n', 'u', 'd', 'f', 'e', 5, 0, 1, 2, 3, 0.5],
      'words and numbers of a metric',
    );
    equal(
      [read.percent, read.display, read.sortBy, read.estimated, read.hasExclusive, read.summed],
      flags.map((_, i) => (bits >> i & 1) === 1),
      'what it is and is not',
    );
  }
}

/** How many planes each column has: twelve numbers, none above what the column can have. */
function testPlanesOfHead(): void {
  const most = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4];
  const read = (planes: unknown, version: number): unknown => {
    const head = { format: 'hpcview-database', version, generator: 'g', title: 't', places: 1, strings: 1, planes, metrics: [], files: [], processes: [], warnings: [] };
    try {
      return readHead(JSON.stringify(head)).planes;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const bad = 'the database is damaged: "planes" of its head is not how many each column of the places has';
  equal([most, most.map(() => 0)].map((planes) => read(planes, 3)), [most, most.map(() => 0)], 'planes at their bounds');
  const odd = [undefined, null, 5, 'x', {}, [], most.slice(1), [...most, 1], { length: 12 }, 'x'.repeat(12)];
  equal(odd.map((planes) => read(planes, 3)), odd.map(() => bad), 'planes that are none');
  most.forEach((n, i) => equal([n + 1, -1, 0.5, '1', null].map((x) => read(most.map((k, at) => (at === i ? x : k)), 3)), Array.from({ length: 5 }, () => bad), `planes of column ${i}`));
  equal([read('x', 1), read('x', 2)], [most.slice(0, 11), most], 'before version 3 they are all there');
}

/** The target of a cell, by name; a row of another table by its texts. */
function testReferences(): void {
  const m = model('program p\n module a\n  file x.c\n   proc f 1-9 @x.c\n    line 1 @x.c = 6 2');
  const process = (rank: number, source: string): Model['processes'][number] => ({ rank, source }) as Model['processes'][number];
  const run = (name: string, firstProcess: number, processes: number): Model['runs'][number] => ({ name, firstProcess, processes }) as Model['runs'][number];
  const barriers = tableOf([columnOf('of', 'ref', 'process'), columnOf('n', 'count'), columnOf('what', 'text'), columnOf('more', 'text')], [[0, 7, 0, 1], [2, NaN, 0, 1]]);
  const numbers = tableOf([columnOf('n', 'count'), columnOf('k', 'count')], [[7, 8]]);
  const known: Model = {
    ...m,
    runs: [run('old', 0, 2), run('new', 2, 1)],
    processes: [process(0, 'p.0'), process(1, 'p.1'), process(-1, 'q')],
    tables: [{ ...barriers.info, name: 'barriers' }, { ...numbers.info, name: 'numbers' }],
    tableRows: { of: (i: number) => (i === 0 ? { ...barriers.rows, strings: ['omp', 'no'] } : numbers.rows), failure: () => undefined },
  };
  const text = (to: string, cell: number): string => cellText(known, columnOf('x', 'ref', to), { cells: [], strings: [] }, cell);
  equal(
    [text('place', 4), text('place', 99), text('metric', 1), text('metric', 9), text('file', 0), text('run', 1), text('process', 1), text('process', 2), text('process', 9), text('place', NONE)],
    ['x.c:1', 'place 99', 'B', '', 'x.c', 'new', 'rank 1', 'q', '', ''],
    'what is referred to',
  );
  equal([text('barriers', 0), text('barriers', 1), text('numbers', 0), text('nothing', 3)], ['rank 0 #7 omp', 'omp', '#7', 'nothing 3'], 'rows of tables, without a process that is alone');
}

function testBorders(): void {
  const use = (cold: number, conflict: number, evictions: number, spatial: number): Parameters<typeof reasons>[0] => ({ cold, conflict, evictions, spatial }) as Parameters<typeof reasons>[0];
  equal(
    [use(50, 50, 0, 50), use(50, 50, 1, 49.96), use(51, 51, 1, 50), use(50, 51, 1, 50)].map((u) => reasons(u).map((text) => text.slice(0, 16))),
    [[], ['most are reloads', '50.0% of the byt'], ['most are first u'], ['most are conflic']],
    'why it misses, at the borders',
  );
  const long = (n: number): string => 'x'.repeat(n);
  equal(
    ['<lambda>', `<${long(30)}>::f`, `f<${long(20)}>`, `f<${long(21)}>`, `a<b<${long(30)}>>::c<${long(22)}>::d`, `operator<<${long(3)}<${long(25)}>`, `a->b<${long(25)}`].map(folded),
    ['<lambda>', '<…>::f', `f<${long(20)}>`, 'f<…>', 'a<…>::c<…>::d', `operator<<${long(3)}<…>`, `a->b<${long(25)}`],
    'long arguments of templates',
  );
  const info = { name: 'search', title: '', description: '', rows: 0, strings: 0, block: '', columns: ['hypothesis', 'place', 'state', 'value', 'threshold', 'experiment', 'parent', 'note'].map((name) => columnOf(name, 'text')) } as TableInfo;
  equal([isSearch(info), isSearch({ ...info, rows: 1 }), isSearch({ ...info, rows: 1, name: 'found' })], [false, true, false], 'a search has steps');
  const runs = [{ name: 'a' }, { name: 'b' }] as unknown as Model['runs'];
  const m = { ...model('program p\n module a', [metric('a.T', { run: 0, event: 'e' }), metric('b.T', { run: 1, event: 'f' }), metric('b.T', { run: 1, event: 'e' }), metric('b.U', { run: 1, event: 'e' })]), version: 3, runs };
  equal([counterpart(m, 0, 'b'), counterpart(m, 1, 'a'), counterpart(m, 2, 'a'), counterpart(m, 3, 'a'), counterpart(m, 0, 'c')], [2, NONE, 0, NONE, NONE], 'the same measurement in another run');
}

/** Facts of loops as axes: of a loop's copies the largest counts. */
function testAxes(m: Model): void {
  const columns = new Columns(m);
  const loops = placesOf(m, Kind.Loop);
  const fact = { ...columnOf('cycles', 'count'), type: 'number' as const, title: 'cycles', unit: 'cy' };
  const { info, rows } = tableOf([columnOf('loop', 'ref', 'place'), fact, { ...fact, name: 'confidence' }], [...loops.map((p) => [p, draw(9), 1]), [NONE, 99, 1], [0, 77, 1]]);
  const known: Model = { ...m, tables: [{ ...info, name: 'other' }, { ...info, name: 'loop_quality' }], tableRows: { of: () => rows, failure: () => undefined } };
  const choices = axisChoices(new Columns(known), []).filter((c) => c.table !== NONE);
  equal(choices.map((c) => `${c.id} ${c.table} ${c.tableColumn} ${c.unit}`), loops.length ? ['loop_quality.cycles 1 1 cy'] : choices.map(() => ''), 'axes of a table');
  const [x] = choices;
  const [y] = axisChoices(columns, [columns.of(0)]);
  const groups = new Tables(known).level('loop', true);
  const dots = dotsOf(new Columns(known), new Tables(known), x, y, columns.of(0)) ?? [];
  const plain = plainRows(m, 'loop', true, columns.values(columns.of(0), null));
  for (const dot of dots) {
    const row = plain.find((r) => r.members.includes(dot.place))!;
    const most = Math.max(...row.members.map((p) => rows.cells[1][loops.indexOf(p)]));
    if (dot.x !== most || dot.y !== row.value) equal([dot.x, dot.y], [most, row.value], `loop ${dot.place} among the dots`);
  }
  equal(dots.length > 0 && dots.length <= groups.count, true, 'dots of loops');
}

/** The largest above 0, equals in their order; and sorted values the other way round. */
function testLargest(): void {
  for (let round = 0; round < 60; round++) {
    const values = Float64Array.from({ length: draw(30) }, () => (draw(6) ? draw(9) - 3 : NaN));
    const order = Array.from(values, (_, i) => i);
    const above = order.filter((i) => values[i] > 0).sort((a, b) => values[b] - values[a] || a - b);
    const most = 1 + draw(8);
    equal(largestCells(values, most), { top: above.slice(0, most), count: above.length }, `the ${most} largest`);
    const known = order.filter((i) => !Number.isNaN(values[i]));
    const blank = order.filter((i) => Number.isNaN(values[i]));
    const up = [...known].sort((a, b) => values[a] - values[b] || a - b);
    const down = [...known].sort((a, b) => values[b] - values[a] || a - b);
    equal([...turnedRound(Uint32Array.from([...up, ...blank]), values)], [...down, ...blank], 'turned round');
    equal([...turnedRound(Uint32Array.from([...down, ...blank]), values)], [...up, ...blank], 'and back');
  }
}

/** Lines and loops that are one in the source, added up; a loop has what runs in it and in no loop inside. */
function testFront(m: Model): void {
  const { kind, file, lineFirst, parent, same } = m.places;
  const values = new Columns(m).values(new Columns(m).of(0), null);
  const loopAround = (place: PlaceIx): PlaceIx => {
    let up = parent[place];
    while (up !== NONE && kind[up] !== Kind.Loop) up = parent[up];
    return up;
  };
  const own = (loop: PlaceIx): number => {
    const lines = placesOf(m, Kind.Line).filter((l) => loopAround(l) === loop && !Number.isNaN(values[l]));
    return lines.length ? lines.reduce((sum, l) => sum + values[l], 0) : NaN;
  };
  const plain = (places: PlaceIx[], cost: (place: PlaceIx) => number): { value: number; copies: number; most: number }[] => {
    const groups = new Map<number, PlaceIx[]>();
    for (const place of places) groups.set(same[place], [...(groups.get(same[place]) ?? []), place]);
    return [...groups.values()]
      .map((members) => {
        const known = members.map(cost).filter((c) => !Number.isNaN(c));
        return { value: known.reduce((sum, c) => sum + c, 0), copies: members.length, most: Math.max(...known) };
      })
      .filter((g) => g.value > 0)
      .sort((a, b) => b.value - a.value);
  };
  const check = (got: ReturnType<ReturnType<typeof frontOf>['lines']>, places: PlaceIx[], cost: (place: PlaceIx) => number, what: string): void => {
    const wanted = plain(places, cost);
    equal(got.count, wanted.length, `how many ${what}`);
    equal(got.top.map((h) => h.value), wanted.slice(0, got.top.length).map((g) => g.value), `the hottest ${what}`);
    equal(got.top.every((h) => wanted.some((g) => g.value === h.value && g.copies === h.copies && g.most === cost(h.place))), true, `and which ${what}`);
  };
  for (const most of [3, 12, 50]) {
    const front = frontOf(m.places, values.slice());
    check(front.lines(most), placesOf(m, Kind.Line).filter((l) => file[l] !== NONE && lineFirst[l] > 0), (l) => values[l], 'lines');
    check(front.loops(most), placesOf(m, Kind.Loop), own, 'loops');
    equal(front.lines(most).top.length <= most && front.loops(most).top.length <= most, true, 'no more than asked for');
  }
  const modules = placesOf(m, Kind.Module).filter((p) => values[p] > 0);
  modules.sort((a, b) => values[b] - values[a] || a - b);
  const known = (module: PlaceIx): number =>
    placesOf(m, Kind.Line).filter((l) => isInside(m, l, module) && file[l] !== NONE && lineFirst[l] > 0 && values[l] > 0).reduce((sum, l) => sum + values[l], 0);
  equal(frontOf(m.places, values.slice()).parts, modules.map((place) => ({ place, value: values[place], withSource: known(place) })), 'modules');
}

/** Rows over the text: each takes one away, until what is around the first line left is all there. */
function testHeadsAround(): void {
  for (let round = 0; round < 400; round++) {
    const spans = Array.from({ length: draw(9) }, () => {
      const first = 1 + draw(30);
      return { first, last: first + draw(20) };
    }).sort((a, b) => a.first - b.first || b.last - a.last);
    const top = draw(35);
    const lines = Array.from({ length: 80 }, (_, i) => Array<number>(round % 2 && draw(4) === 0 ? 1 + draw(5) : 1).fill(i + 1)).flat(); // by row: rows of other files below some
    const rowOf = (line: number): number => lines.indexOf(line);
    let heads: number[] = [];
    for (let i = 0; i < 5; i++) {
      const line = lines[top + heads.length]; // of the first row left, or above it
      const firsts = [...new Set(spans.filter((s) => line > s.first && line <= s.last).map((s) => s.first))].filter((f) => rowOf(f) < top + heads.length);
      const shown = firsts.length > 4 ? [firsts[0], ...firsts.slice(-3)] : firsts;
      if (shown.length <= heads.length) {
        heads = shown.length === heads.length ? shown : heads.slice(0, shown.length);
        break;
      }
      heads = shown;
    }
    equal(headsAround(spans, top, (row) => lines[row], rowOf), heads, `heads over row ${top}`);
  }
}

/** A glob by its definition. */
function matches(glob: string, text: string): boolean {
  if (glob === '') return text === '';
  if (glob[0] === '*') return matches(glob.slice(1), text) || (text !== '' && matches(glob, text.slice(1)));
  return text !== '' && (glob[0] === '?' || glob[0] === text[0]) && matches(glob.slice(1), text.slice(1));
}

/** Matches of filters: by name, by file, by module, by line. */
function testFilters(m: Model): void {
  for (let round = 0; round < 300; round++) {
    const word = (letters: string): string => Array.from({ length: draw(7) }, () => letters[draw(letters.length)]).join('');
    const [glob, text] = [word('ab*?'), word('ab')];
    if (globMatches(glob, text) !== matches(glob, text)) equal(globMatches(glob, text), matches(glob, text), `${glob} on ${text}`);
  }
  const { kind, file, lineFirst, lineLast, parent, strings, name, count } = m.places;
  const all = Array.from({ length: count }, (_, i) => i);
  const fileName = (i: PlaceIx): string => (file[i] === NONE ? '' : m.files[file[i]].name);
  const moduleOf = (i: PlaceIx): string => {
    let up = i;
    while (up !== NONE && kind[up] !== Kind.Module) up = parent[up];
    return up === NONE ? '' : strings[name[up]];
  };
  const named = (i: PlaceIx, text: string): boolean => strings[name[i]].toLowerCase().includes(text);
  const isCode = (i: PlaceIx): boolean => kind[i] >= Kind.Loop && file[i] !== NONE;
  const lineIn = (i: PlaceIx, line: number): boolean => isCode(i) && lineFirst[i] > 0 && lineFirst[i] <= line && line <= lineLast[i];
  const outermost = (test: (i: PlaceIx) => boolean) => (i: PlaceIx): boolean => test(i) && !(parent[i] !== NONE && test(parent[i]));
  const cases: [string, boolean, (i: PlaceIx) => boolean][] = [
    ['p1', false, (i) => named(i, 'p1') || (isCode(i) && fileName(i).includes('p1'))],
    ['p1', true, (i) => named(i, 'p1')],
    ['x.c', false, (i) => named(i, 'x.c') || (isCode(i) && fileName(i) === 'x.c')],
    ['X.C', true, (i) => named(i, 'x.c')],
    ['x.c:5', true, (i) => named(i, 'x.c:5') || (lineIn(i, 5) && fileName(i) === 'x.c')],
    [':7', false, (i) => lineIn(i, 7)],
    ['file:x.c', false, (i) => fileName(i) === 'x.c'],
    ['file:x.c', true, outermost((i) => fileName(i) === 'x.c')],
    ['module:lib', false, (i) => moduleOf(i) === 'lib'],
    ['module:lib', true, outermost((i) => moduleOf(i) === 'lib')],
    ['module:lib p0', true, (i) => moduleOf(i) === 'lib' && named(i, 'p0')],
    ['file:y.h module:a.out', false, (i) => fileName(i) === 'y.h' && moduleOf(i) === 'a.out'],
  ];
  for (const [text, isTree, wanted] of cases) {
    const matcher = matcherFor(m, text, isTree);
    equal(matcher && all.filter(matcher), all.filter(wanted), `what "${text}" finds${isTree ? ' in the tree' : ''}`);
  }
  equal([matcherFor(m, '', true), matcherFor(m, '  ', false)], [null, null], 'nothing asked for');
}

/** Actions that the back button undoes. */
function testSteps(): void {
  const select = { type: 'select', place: 1, source: null, reveal: [] } as const;
  equal([isStep(select), isStep({ ...select, passing: true }), isStep({ ...select, passing: false })], [true, false, true], 'passing by is no step');
}

export function testDrawn(start: State): void {
  for (let round = 0; round < 6; round++) {
    const m = drawModel();
    testFlat(m, start);
    testByName(m, start);
    testTree(m, start);
    testHottest(m);
    testSpans(m);
    testAbout(m);
    testLoopPlaces(m);
    testCode();
    testThreads(m);
    testAxes(m);
    testFront(m);
    testFilters(m);
  }
  testCircles();
  testLargest();
  testHeadsAround();
  testSteps();
  testCompared(start);
  testUnits();
  testMetricsOfHead();
  testPlanesOfHead();
  testReferences();
  testBorders();
}
