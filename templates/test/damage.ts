// SPDX-License-Identifier: BSD-3-Clause
// Damaged databases: from those of the fuzz corpus, with bytes of their blocks and values of their heads changed. What cannot be read is told in
// a sentence (DatabaseError); what can be read keeps what the decoders promise. The same changes every time; DAMAGE_RUNS=100000 makes more of them.

import { readdirSync, readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import type { Places } from '../model/data';
import { DatabaseError, decodeMetric, decodePlaces, decodeTable, decodeTree, fromBase64 } from '../model/decode';
import { type Head, placesInfo, readHead, rowsOf } from '../model/head';
import { equal } from './tap';

interface Database {
  readonly head: string;
  readonly blocks: ReadonlyMap<string, Uint8Array>;
}

/** Numbers below n that look like chance (xorshift32). */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(n: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return (x >>> 0) % n;
  }

  of<T>(from: readonly T[]): T {
    return from[this.below(from.length)];
  }
}

export function readDatabase(path: string): Database {
  const text = readFileSync(path, 'utf8');
  const blocks = new Map<string, Uint8Array>();
  for (const [, name, base64] of text.matchAll(/id="data-([a-z0-9-]+)">([^<]*)</g))
    blocks.set(name, new Uint8Array(inflateSync(fromBase64(base64.trim()))));
  return { head: /id="hpcview-head">([^<]*)</.exec(text)?.[1] ?? '', blocks };
}

const ODD = [0, -1, 1, 0.5, 1e9, 2 ** 32, 2 ** 53, -(2 ** 31), null, '', 'x', [], {}, true];

/** One value anywhere in the head becomes something else, or goes. */
function damagedHead(text: string, chance: Chance): string {
  const head: unknown = JSON.parse(text);
  let at = head as Record<string, unknown>;
  for (;;) {
    const keys = Object.keys(at);
    if (keys.length === 0) return JSON.stringify(head);
    const key = chance.of(keys);
    const inside = at[key];
    if (typeof inside === 'object' && inside !== null && chance.below(4) > 0) {
      at = inside as Record<string, unknown>;
      continue;
    }
    if (chance.below(5) === 0) delete at[key];
    else at[key] = chance.of(ODD);
    return JSON.stringify(head);
  }
}

/** Bits turn, bytes become other ones, the end is missing, or there is more. */
function damagedBlock(bytes: Uint8Array, chance: Chance): Uint8Array {
  const how = chance.below(8);
  if (how === 0) return bytes.slice(0, chance.below(bytes.length + 1));
  if (how === 1) return new Uint8Array([...bytes, ...bytes.slice(0, 1 + chance.below(16))]);
  const out = bytes.slice();
  for (let i = chance.below(4); i >= 0; i--) {
    const at = chance.below(out.length + 1);
    out[at] = how < 5 ? out[at] ^ (1 << chance.below(8)) : chance.of([0, 1, 7, 127, 128, 254, 255]);
  }
  return out;
}

function soundPlaces(p: Places, head: Head): boolean {
  for (let i = 0; i < p.count; i++) {
    const parent = p.parent[i];
    if (i === 0 ? parent !== -1 : !(parent >= 0 && parent < i)) return false;
    if (!(p.name[i] < p.strings.length && p.fullName[i] < p.strings.length && p.same[i] <= i)) return false;
    if (p.file[i] >= head.files.length || p.callFile[i] >= head.files.length) return false;
  }
  return p.strings.length === head.stringCount;
}

/** Everything that the page would read of it; whether what came out is sound. */
function readAll(head: Head, block: (name: string) => Uint8Array): boolean {
  const places = decodePlaces(block('places'), placesInfo(head));
  let sound = soundPlaces(places, head);
  for (const m of head.metrics) {
    const bytes = block(`metric-${m.chunk}`).subarray(m.offset, m.offset + m.bytes);
    const stored = decodeMetric(bytes, head.placeCount, m.scale);
    sound &&= stored.inclusive().length === places.count && stored.exclusive().length === places.count;
  }
  head.trees.forEach((tree, i) => {
    const nodes = decodeTree(block(`tree-${i + 1}`), tree.nodes, head.placeCount);
    sound &&= nodes.place.every((place) => place < head.placeCount);
  });
  for (const table of head.tables) {
    const { cells } = decodeTable(block(table.block), table, (to) => rowsOf(head, to));
    sound &&= cells.every((column) => column.length === table.rows);
    table.columns.forEach((column, c) => {
      const most = column.type === 'ref' ? rowsOf(head, column.to) : undefined;
      sound &&= most === undefined || (cells[c] as Int32Array).every((row) => row >= -1 && row < most);
    });
  }
  return sound;
}

/** Faults of a reader; none: the block is read, or a sentence explains why not. */
function complaint(database: Database, chance: Chance): string | null {
  const inHead = chance.below(2) === 0;
  const name = chance.of([...database.blocks.keys()]);
  const text = inHead ? damagedHead(database.head, chance) : database.head;
  const changed = inHead ? null : damagedBlock(database.blocks.get(name)!, chance);
  try {
    const block = (wanted: string): Uint8Array => {
      if (changed && wanted === name) return changed;
      const bytes = database.blocks.get(wanted);
      if (!bytes) throw new DatabaseError(`${wanted}: not there`);
      return bytes;
    };
    return readAll(readHead(text), block) ? null : `unsound: ${inHead ? text : name}`;
  } catch (error) {
    return error instanceof DatabaseError ? null : `${String(error)}: ${inHead ? text.slice(0, 2000) : name}`;
  }
}

export function testDamage(): void {
  const folder = `${process.env['top_srcdir'] ?? '..'}/tests/corpus/database`;
  const runs = Number(process.env['DAMAGE_RUNS'] ?? 4000);
  for (const file of readdirSync(folder).filter((f) => f.endsWith('.html')).sort()) {
    const database = readDatabase(`${folder}/${file}`);
    const chance = new Chance(20011);
    let wrong: string | null = null;
    equal(readAll(readHead(database.head), (name) => database.blocks.get(name)!), true, `${file}: read as it is`);
    for (let i = 0; i < runs && wrong === null; i++) wrong = complaint(database, chance);
    equal(wrong, null, `${file}: damaged in ${runs} ways, each is told in a sentence or read soundly`);
  }
}
