// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a database written plainly, byte by byte, from columns drawn at random, and read again; and each with one thing wrong, to the
// sentence that says so.

import { type Places, type TableColumn, type TableInfo } from '../model/data';
import { DatabaseError, decodeBase64, decodeMetric, decodePlaces, decodeTable, decodeTree, littleEndian, type PlacesInfo, sameByName } from '../model/decode';
import { draw } from './naive';
import { equal as report, textOf } from './tap';

let wrong = ''; // the first thing that was not as it should
function equal(got: unknown, wanted: unknown, what: string): void {
  if (textOf(got) !== textOf(wanted)) wrong ||= `${what}: got ${textOf(got)}, wanted ${textOf(wanted)}`;
}
const said = (action: () => unknown): string => {
  try {
    action();
    return 'nothing';
  } catch (error) {
    return error instanceof DatabaseError ? error.message.replace('the database is damaged: ', '') : `not a sentence: ${String(error)}`;
  }
};

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
/** Byte k of a number, be it negative. */
const byteOf = (x: number, k: number): number => Math.floor((x < 0 ? x + 2 ** 32 : x) / 256 ** k) % 256;
const planesOf = (column: readonly number[], planes: number): number[] => upTo(planes).flatMap((k) => column.map((x) => byteOf(x, k)));
/** So many planes a column needs at least. */
const needs = (column: readonly number[]): number => upTo(5).find((k) => column.every((x) => (x < 0 ? x + 2 ** 32 : x) < 256 ** k))!;

/** Bytes somewhere in memory: word-wise readers meet every alignment. */
function somewhere(bytes: readonly number[]): Uint8Array {
  const at = draw(8);
  const room = new Uint8Array(bytes.length + at + draw(4)).fill(255);
  room.set(bytes, at);
  return room.subarray(at, at + bytes.length);
}

const textBytes = (strings: readonly string[]): number[] => [...new TextEncoder().encode(strings.map((s) => `${s}\0`).join(''))];

const WIDE = ['parent', 'name', 'fullName', 'file', 'lineFirst', 'more', 'callFile', 'callLine', 'instance', 'instances', 'address', 'same'] as const;
type Wide = { [name in (typeof WIDE)[number]]: number[] };
interface Drawn {
  readonly kind: number[];
  readonly flags: number[];
  readonly wide: Wide; // as numbers, parent and same being indices
  readonly high: number[]; // of addresses
  readonly strings: string[];
  readonly files: number;
}

function drawPlaces(count: number): Drawn {
  const column = (of: (i: number) => number): number[] => Array.from({ length: count }, (_, i) => of(i));
  const sized = (): ((i: number) => number) => {
    const most = 2 ** (8 * draw(5));
    return () => draw(most);
  };
  const kind = column((i) => (i === 0 ? 0 : 1 + draw(6)));
  const strings = upTo(3 + draw(300)).map((i) => ['', 'a', 'füü', `name ${i}`][draw(4)]);
  const files = draw(4) ? 1 + draw(300) : 0;
  const fileOf = draw(3) ? (): number => draw(files + 1) - 1 : (): number => (files ? draw(files) : -1);
  const wide: Wide = {
    parent: column((i) => (i === 0 ? -1 : draw(i))),
    name: column(() => draw(strings.length)),
    fullName: column(() => draw(strings.length)),
    file: column(fileOf),
    lineFirst: column(sized()).map((x) => Math.floor(x / 2)),
    more: column(sized()).map((x) => Math.floor(x / 2)),
    callFile: column(fileOf),
    callLine: column(sized()),
    instance: column(sized()),
    instances: column(sized()),
    address: column(sized()),
    same: column((i) => i),
  };
  wide.same = column((i) => (draw(2) ? i : kind.indexOf(kind[i])));
  return { kind, flags: column(() => draw(256)), wide, high: column(sized()), strings, files };
}

/** Version 1: without `same`. Planes that are 0 may be there or not. */
function written({ kind, flags, wide, high, strings, files }: Drawn, version: number): { bytes: number[]; info: PlacesInfo } {
  const names = WIDE.slice(0, version === 1 ? -1 : undefined);
  const planes: number[] = [];
  const bytes = names.flatMap((name) => {
    const column = wide[name].map((x, i) => ((name === 'parent' || name === 'same') && (i > 0 || name === 'same') ? i - x : name === 'parent' ? 0 : x));
    const most = name === 'address' ? 8 : 4;
    const least = name === 'address' && needs(high) ? 4 + needs(high) : needs(column);
    const n = version < 3 ? most : least + draw(most - least + 1);
    planes.push(n);
    return name === 'address' ? [...planesOf(column, Math.min(n, 4)), ...planesOf(high, Math.max(0, n - 4))] : planesOf(column, n);
  });
  return { bytes: [...kind, ...flags, ...bytes, ...textBytes(strings)], info: { count: kind.length, strings: strings.length, files, planes } };
}

function plainSame({ kind, wide, strings }: Drawn): number[] {
  const key = (i: number): string => {
    const { file, lineFirst, fullName } = wide;
    const isNamed = kind[i] === 3 || kind[i] === 4;
    if (file[i] < 0 || kind[i] < 2 || (kind[i] >= 5 && lineFirst[i] === 0)) return `only ${i}`;
    return `${kind[i]} ${file[i]} ${isNamed ? fullName[i] : kind[i] === 2 ? '' : lineFirst[i]}`;
  };
  equal(strings.length > 0, true, 'strings');
  return kind.map((_, i) => kind.findIndex((_k, j) => key(j) === key(i)));
}

function testPlaces(): void {
  const drawn = drawPlaces(draw(3) ? draw(20) : 20 + draw(300));
  if (draw(2)) for (const name of ['file', 'lineFirst', 'fullName'] as const) drawn.wide[name] = drawn.wide[name].map((x) => (x < 0 ? x : x % 3)); // many are one
  const { kind, flags, wide, high, strings } = drawn;
  const version = 1 + draw(3);
  const { bytes, info } = written(drawn, version);
  const p = decodePlaces(somewhere(bytes), info);
  const got: [what: keyof Places, wanted: readonly number[]][] = [
    ['kind', kind],
    ['role', flags.map((f) => f % 4)],
    ['onLine', flags.map((f) => Math.floor(f / 4) % 32)],
    ['irreducible', flags.map((f) => Math.floor(f / 128))],
    ['parent', wide.parent],
    ['name', wide.name],
    ['fullName', wide.fullName],
    ['file', wide.file],
    ['lineFirst', wide.lineFirst],
    ['lineLast', wide.lineFirst.map((x, i) => x + wide.more[i])],
    ['callFile', wide.callFile],
    ['callLine', wide.callLine],
    ['instance', wide.instance],
    ['instances', wide.instances],
    ['addressLow', wide.address],
    ['addressHigh', high],
    ['same', version === 1 ? plainSame(drawn) : wide.same],
  ];
  for (const [what, wanted] of got) equal([...(p[what] as Uint32Array)], wanted, `${what} of ${kind.length} places`);
  equal([...sameByName(p)], plainSame(drawn), 'what is one by its name');
  equal([p.strings, p.count], [strings, kind.length], 'names');
}

/** One missing item, reported with the place that has it. */
function testBadPlaces(): void {
  const drawn = drawPlaces(2 + draw(40));
  const { kind, wide, strings, files } = drawn;
  const at = 1 + draw(kind.length - 1);
  const there = `place ${at} points to something that is not there`;
  const first = kind.indexOf(kind[at]);
  const other = upTo(at).find((i) => kind[i] !== kind[at])!; // the program, at least
  wide.same = upTo(kind.length);
  const faults: [what: keyof Wide | 'kind', value: number, says: string][] = [
    ['parent', at, there],
    ['parent', at + 1, there],
    ['parent', -1, there],
    ['parent', at - 1, 'nothing'],
    ['parent', 0, 'nothing'],
    ['name', strings.length, 'place 0 points to something that is not there'],
    ['name', strings.length - 1, 'nothing'],
    ['fullName', strings.length, 'place 0 points to something that is not there'],
    ['file', files, there],
    ['file', -2, there],
    ['file', files - 1, 'nothing'],
    ['callFile', files, there],
    ['callFile', -2, there],
    ['callFile', -1, 'nothing'],
    ['same', other, there],
    ['same', at + 1, there],
    ['same', first, 'nothing'],
    ['kind', 7, there],
  ];
  for (const [what, value, says] of faults) {
    const column = what === 'kind' ? kind : wide[what];
    const before = column[at];
    column[at] = value;
    const { bytes, info } = written(drawn, 2);
    equal(said(() => decodePlaces(somewhere(bytes), info)), says, `${what} ${value} of place ${at} of ${kind.length}`);
    column[at] = before;
  }
  const { bytes, info } = written(drawn, 3);
  const columns = bytes.length - textBytes(strings).length;
  equal(said(() => decodePlaces(somewhere(bytes.slice(0, draw(columns))), info)), 'the list of places ends too early', 'cut');
  equal(said(() => decodePlaces(somewhere(bytes), { ...info, strings: strings.length + 1 })), `it has ${strings.length} names, not ${strings.length + 1}`, 'names');
}

// ---- metrics ----

const doubleBytes = (values: readonly number[]): number[] => {
  const all = values.map((v) => [...new Uint8Array(new Float64Array([v]).buffer)]);
  return upTo(8).flatMap((plane) => all.map((bytes) => bytes[littleEndian ? plane : 7 - plane]));
};

function testMetrics(): void {
  const count = draw(4) ? draw(30) : 200 + draw(700);
  const scale = [0, 1, 0.5, 1000][draw(4)];
  const most = 2 ** (8 * draw(5));
  const state = upTo(count).map(() => [0, 1, 1, 2, 3, 5][draw(6)]); // 1: inclusive, 2: exclusive, 4: the same as inclusive
  const whole = draw(3); // of doubles: with a few bits, with all, or nothing at all
  const value = (): number => (scale ? draw(most) * scale : whole === 0 ? (draw(2000) - 1000) / 8 : whole === 1 ? (draw(1e9) - 5e8) / 3 : 0);
  const inclusive = state.map((s) => (s & 1 ? value() : NaN));
  const exclusive = state.map((s, i) => (s & 2 ? value() : s === 5 ? inclusive[i] : NaN));
  const stored = [...inclusive.filter((_, i) => state[i] & 1), ...exclusive.filter((_, i) => state[i] & 2)];
  const bytes = [...state, ...(scale ? planesOf(stored.map((v) => v / scale), 4) : doubleBytes(stored))];
  const m = decodeMetric(somewhere(bytes), count, scale);
  const ask = (): void => {
    for (let i = 0; i < 40 && count; i++) {
      const place = draw(count);
      equal([m.at(place, false), m.at(place, true)], [inclusive[place], exclusive[place]], `place ${place} of ${count}`);
    }
  };
  ask();
  equal([m.at(count, false), m.at(count, true)], [NaN, NaN], 'behind the last');
  if (draw(2)) equal([...m.inclusive()], inclusive, 'inclusive');
  if (draw(2)) equal([...m.exclusive()], exclusive, 'exclusive');
  ask();
  equal([[...m.inclusive()], [...m.exclusive()]], [inclusive, exclusive], 'and again');
  const has = [false, true].map((own) => m.present(own)).map((p) => [...p.state].map((s) => (s & p.bits) !== 0));
  equal(has, [inclusive, exclusive].map((values) => values.map((v) => !Number.isNaN(v))), 'where there are values');
  const early = 'the values of a metric end too early';
  if (stored.length) equal(said(() => decodeMetric(somewhere(bytes.slice(0, -1)), count, scale)), early, 'cut');
  equal(said(() => decodeMetric(somewhere([...bytes, ...upTo(scale ? 4 : 8)]), count, scale)), 'a metric has a wrong number of values', 'one too many');
  if (count) equal(said(() => decodeMetric(somewhere(state.slice(1)), count, scale)), 'a metric ends too early', 'without its places');
}

// ---- trees and tables ----

function testTrees(): void {
  const count = draw(30);
  const places = 1 + draw(300);
  const parent = upTo(count).map((i) => (i === 0 ? -1 : draw(i)));
  const place = upTo(count).map(() => draw(places));
  const bytes = (): number[] => [...planesOf(parent.map((p, i) => (i === 0 ? draw(2) * 7 : i - p)), 4), ...planesOf(place, 4)];
  const tree = decodeTree(somewhere(bytes()), count, places);
  equal([tree.count, [...tree.parent], [...tree.place]], [count, parent, place], `a tree of ${count}`);
  if (!count) return;
  equal(said(() => decodeTree(somewhere(bytes().slice(0, -1)), count, places)), 'a tree ends too early', 'cut');
  const at = draw(count);
  const there = `node ${at} of a tree points to something that is not there`;
  for (const [list, value] of [[place, places], [parent, at], [parent, at + 1], [parent, -1]] as const) {
    const before = list[at];
    list[at] = value;
    if (at > 0 || list === place) equal(said(() => decodeTree(somewhere(bytes()), count, places)), there, `node ${at} with ${value}`);
    list[at] = before;
  }
}

function testTables(): void {
  const rows = draw(20);
  const strings = upTo(1 + draw(300)).map((i) => `s${i}`);
  const column = (name: string, type: TableColumn['type'], to = ''): TableColumn => ({ name, title: name, unit: '', description: '', type, to });
  const columns = [column('n', 'count'), column('x', 'number'), column('t', 'time'), column('w', 'text'), column('p', 'ref', 'place'), column('o', 'ref', 'others')];
  const places = 1 + draw(300);
  const cells = [
    upTo(rows).map(() => (draw(4) ? draw(2 ** 30) * 2 ** draw(24) : NaN)),
    upTo(rows).map(() => (draw(4) ? (draw(999) - 500) / 4 : NaN)),
    upTo(rows).map(() => (draw(4) ? draw(2 ** 30) : NaN)),
    upTo(rows).map(() => draw(strings.length + 1) - 1),
    upTo(rows).map(() => draw(places + 1) - 1),
    upTo(rows).map(() => draw(2 ** 31) - 1),
  ];
  const wideBytes = (list: readonly number[]): number[] => upTo(8).flatMap((k) => list.map((x) => (Number.isNaN(x) ? 255 : Math.floor(x / 256 ** k) % 256)));
  const info: TableInfo = { name: 'drawn', title: '', description: '', rows, strings: strings.length, block: '', columns };
  const bytes = (): number[] => [...wideBytes(cells[0]), ...doubleBytes(cells[1]), ...wideBytes(cells[2]), ...[3, 4, 5].flatMap((c) => planesOf(cells[c], 4)), ...textBytes(strings)];
  const rowsOf = (to: string): number | undefined => (to === 'place' ? places : undefined);
  const table = decodeTable(somewhere(bytes()), info, rowsOf);
  equal([table.cells.map((c) => [...c]), table.strings], [cells, strings], `a table of ${rows}`);
  equal(said(() => decodeTable(somewhere(bytes()), { ...info, columns: [...columns, column('z', 'odd' as 'text')] }, rowsOf)), 'the table drawn has a column of a kind this page does not know', 'a kind');
  if (!rows) return;
  equal(said(() => decodeTable(somewhere(bytes().slice(0, draw(36 * rows))), info, rowsOf)), 'the table drawn ends too early', 'cut');
  const at = draw(rows);
  const faults: [c: number, value: number, says: string][] = [
    [3, strings.length, 'the table drawn names a text that is not there'],
    [3, -2, 'the table drawn names a text that is not there'],
    [4, places, 'the table drawn names a place that is not there'],
    [4, -2, 'the table drawn names a place that is not there'],
    [5, 2 ** 31 - 1, 'nothing'],
    [5, -2, 'the table drawn names a others that is not there'],
  ];
  for (const [c, value, says] of faults) {
    const before = cells[c][at];
    cells[c][at] = value;
    equal(said(() => decodeTable(somewhere(bytes()), info, rowsOf)), says, `row ${at}, column ${c}: ${value}`);
    cells[c][at] = before;
  }
}

// ---- base64 ----

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function testLetters(): void {
  const bytes = upTo(draw(12)).map(() => draw(256));
  const bits = bytes.map((b) => b.toString(2).padStart(8, '0')).join('');
  const letters = (bits.match(/.{1,6}/g) ?? []).map((six) => LETTERS[Number.parseInt(six.padEnd(6, '0'), 2)]).join('');
  const padded = letters.padEnd(Math.ceil(letters.length / 4) * 4, '=');
  equal([...decodeBase64(padded)], bytes, `${padded} is`);
  equal([...decodeBase64(letters)], bytes, `${letters} is`);
  for (const [i] of [...letters].entries()) {
    const odd = ['!', '-', '_', ' ', '\x7f', 'é', '=a'][draw(7)];
    equal(said(() => decodeBase64(letters.slice(0, i) + odd + letters.slice(i + 1))), 'a block is not base64', `${odd} in base64`);
  }
}

export function testBlocks(): void {
  const tests = { places: testPlaces, 'damaged places': testBadPlaces, metrics: testMetrics, trees: testTrees, tables: testTables, letters: testLetters };
  for (const [what, test] of Object.entries(tests)) {
    wrong = '';
    for (let i = 0; i < 40; i++) test();
    report(wrong, '', `blocks: ${what}, drawn at random`);
  }
}
