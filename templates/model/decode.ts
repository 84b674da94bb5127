// Bytes of the database's blocks to columns.

import { Kind, NONE, type Places, type TableInfo, type TableRows, type TreeNodes } from './data';
import { KeyNumbers } from './keys';

/** A database that cannot be read; the message is a sentence for the user. */
export class DatabaseError extends Error {}

const LETTER_VALUES = (() => {
  const table = new Uint8Array(128).fill(255);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let i = 0; i < letters.length; i++) table[letters.charCodeAt(i)] = i;
  return table;
})();

/** Base64 with padding: the browser's own decoder where it has one. (atob would make a string of it first, which for
 *  large blocks takes several times as long as the loop.) */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (!native) return decodeBase64(text);
  try {
    return native.call(Uint8Array, text);
  } catch {
    throw new DatabaseError('the database is damaged: a block is not base64');
  }
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 61) end--;
  const out = new Uint8Array(Math.floor((end * 3) / 4));
  let at = 0;
  for (let i = 0; i < end; i += 4) {
    const left = end - i;
    const a = LETTER_VALUES[text.charCodeAt(i)];
    const b = LETTER_VALUES[text.charCodeAt(i + 1)];
    const c = left > 2 ? LETTER_VALUES[text.charCodeAt(i + 2)] : 0;
    const d = left > 3 ? LETTER_VALUES[text.charCodeAt(i + 3)] : 0;
    if (!(a < 64 && b < 64 && c < 64 && d < 64))
      throw new DatabaseError('the database is damaged: a block is not base64');
    out[at++] = (a << 2) | (b >> 4);
    if (left > 2) out[at++] = ((b & 15) << 4) | (c >> 2);
    if (left > 3) out[at++] = ((c & 3) << 6) | d;
  }
  return out;
}

/** Reads columns one after the other; a column of wide numbers is stored as its byte planes. */
class Columns {
  #at = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly what: string,
  ) {}

  take(n: number): Uint8Array {
    if (n > this.bytes.length - this.#at)
      throw new DatabaseError(`the database is damaged: ${this.what} ends too early`);
    this.#at += n;
    return this.bytes.subarray(this.#at - n, this.#at);
  }

  rest(): Uint8Array {
    return this.bytes.subarray(this.#at);
  }

  u32(n: number): Uint32Array {
    const p = this.take(4 * n);
    const out = new Uint32Array(n);
    for (let i = 0; i < n; i++) out[i] = p[i] | (p[n + i] << 8) | (p[2 * n + i] << 16) | (p[3 * n + i] << 24);
    return out;
  }
}

const asSigned = (column: Uint32Array): Int32Array => new Int32Array(column.buffer);

function readStrings(bytes: Uint8Array, count: number): string[] {
  const all = new TextDecoder().decode(bytes).split('\0');
  all.pop(); // after the last NUL
  if (all.length !== count)
    throw new DatabaseError(`the database is damaged: it has ${all.length} names, not ${count}`);
  return all;
}

/** Which places are the same thing in the source, for databases of version 1, which do not say it. */
export function sameByName(places: Omit<Places, 'same'>): Uint32Array {
  const keys = new KeyNumbers(places.count);
  const first: number[] = [];
  return Uint32Array.from({ length: places.count }, (_, i) => {
    const kind = places.kind[i];
    const named = kind === Kind.Procedure || kind === Kind.Inline;
    const lined = kind === Kind.Line || kind === Kind.Loop;
    if (places.file[i] === NONE || kind < Kind.File || (lined && places.lineFirst[i] === 0)) return i;
    const what = named ? places.fullName[i] : kind === Kind.File ? 0 : places.lineFirst[i];
    const key = keys.of(kind, places.file[i], what);
    if (key === first.length) first.push(i);
    return first[key];
  });
}

export function decodePlaces(
  bytes: Uint8Array,
  count: number,
  stringCount: number,
  fileCount: number,
  version: number,
): Places {
  const in_ = new Columns(bytes, 'the list of places');
  const kind = in_.take(count);
  const roles = in_.take(count);
  const parent = asSigned(in_.u32(count));
  const name = in_.u32(count);
  const fullName = in_.u32(count);
  const file = asSigned(in_.u32(count));
  const lineFirst = in_.u32(count);
  const lineLast = in_.u32(count);
  const callFile = asSigned(in_.u32(count));
  const callLine = in_.u32(count);
  const instance = in_.u32(count);
  const instances = in_.u32(count);
  const addressLow = in_.u32(count);
  const addressHigh = in_.u32(count);
  const same = version > 1 ? in_.u32(count) : null;
  const role = new Uint8Array(count);
  const irreducible = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    parent[i] = i === 0 ? -1 : i - parent[i];
    lineLast[i] += lineFirst[i];
    role[i] = roles[i] & 0x7f;
    irreducible[i] = roles[i] >> 7;
    const bad =
      (i > 0 && !(parent[i] >= 0 && parent[i] < i)) ||
      kind[i] > 6 ||
      name[i] >= stringCount ||
      fullName[i] >= stringCount ||
      file[i] >= fileCount ||
      callFile[i] >= fileCount ||
      (same !== null && (same[i] > i || kind[i - same[i]] !== kind[i]));
    if (same) same[i] = i - same[i];
    if (bad) throw new DatabaseError(`the database is damaged: place ${i} points to something that is not there`);
  }
  const places = {
    count,
    kind,
    role,
    irreducible,
    parent,
    name,
    fullName,
    file,
    lineFirst,
    lineLast,
    callFile,
    callLine,
    instance,
    instances,
    addressLow,
    addressHigh,
    strings: readStrings(in_.rest(), stringCount),
  };
  return { ...places, same: same ?? sameByName(places) };
}

const INCLUSIVE = 1;
const EXCLUSIVE = 2;
const EQUAL = 4;

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function doubles(bytes: Uint8Array): Float64Array {
  const n = bytes.length / 8;
  if (!Number.isInteger(n)) throw new DatabaseError('the database is damaged: the values of a metric end too early');
  const out = new Float64Array(n);
  const raw = new Uint8Array(out.buffer);
  for (let plane = 0; plane < 8; plane++) {
    const from = plane * n;
    const byte = littleEndian ? plane : 7 - plane;
    for (let i = 0; i < n; i++) raw[8 * i + byte] = bytes[from + i];
  }
  return out;
}

/** One metric as it is stored: compact until a form of it is wanted. */
export class StoredMetric {
  readonly #state: Uint8Array;
  private readonly bytes: Uint8Array;
  private readonly stored: number;

  constructor(
    bytes: Uint8Array,
    private readonly count: number,
    private readonly scale: number,
  ) {
    const in_ = new Columns(bytes, 'a metric');
    this.#state = in_.take(count);
    this.bytes = in_.rest();
    const width = scale === 0 ? 8 : 4;
    if (this.bytes.length % width !== 0)
      throw new DatabaseError('the database is damaged: the values of a metric end too early');
    this.stored = this.bytes.length / width;
    let wanted = 0;
    for (let i = 0; i < count; i++) wanted += (this.#state[i] & INCLUSIVE) + ((this.#state[i] & EXCLUSIVE) >> 1);
    if (wanted !== this.stored)
      throw new DatabaseError('the database is damaged: a metric has a wrong number of values');
  }

  inclusive(): Float64Array {
    const value = this.#reader();
    const out = new Float64Array(this.count);
    let used = 0;
    for (let i = 0; i < this.count; i++) out[i] = this.#state[i] & INCLUSIVE ? value(used++) : NaN;
    return out;
  }

  exclusive(): Float64Array {
    const value = this.#reader();
    const out = new Float64Array(this.count);
    let inclusive = 0;
    let own = 0;
    for (let i = 0; i < this.count; i++) own += this.#state[i] & INCLUSIVE;
    for (let i = 0; i < this.count; i++) {
      const state = this.#state[i];
      out[i] = state & EXCLUSIVE ? value(own++) : state & EQUAL && state & INCLUSIVE ? value(inclusive) : NaN;
      inclusive += state & INCLUSIVE;
    }
    return out;
  }

  /** The k-th stored value: a multiple of `scale`, or a double where that is 0. */
  #reader(): (k: number) => number {
    const { bytes, stored, scale } = this;
    if (scale === 0) {
      const all = doubles(bytes);
      return (k) => all[k];
    }
    return (k) =>
      ((bytes[k] | (bytes[stored + k] << 8) | (bytes[2 * stored + k] << 16) | (bytes[3 * stored + k] << 24)) >>> 0) *
      scale;
  }
}

export function decodeTree(bytes: Uint8Array, count: number, placeCount: number): TreeNodes {
  const in_ = new Columns(bytes, 'a tree');
  const parent = asSigned(in_.u32(count));
  const place = in_.u32(count);
  for (let i = 0; i < count; i++) {
    parent[i] = i === 0 ? NONE : i - parent[i];
    if ((i > 0 && !(parent[i] >= 0 && parent[i] < i)) || place[i] >= placeCount)
      throw new DatabaseError(`the database is damaged: node ${i} of a tree points to something that is not there`);
  }
  return { count, parent, place };
}

const MISSING_COUNT = 2 ** 64; // as a double; 2^64 - 1 is not one

/** Whole numbers of 64 bits as doubles; beyond 2^53 they are near enough to be looked at. */
function counts(bytes: Uint8Array, n: number): Float64Array {
  const out = new Float64Array(n);
  for (let plane = 7; plane >= 0; plane--) for (let i = 0; i < n; i++) out[i] = out[i] * 256 + bytes[plane * n + i];
  for (let i = 0; i < n; i++) if (out[i] === MISSING_COUNT) out[i] = NaN;
  return out;
}

export function decodeTable(bytes: Uint8Array, info: TableInfo): TableRows {
  const in_ = new Columns(bytes, `the table ${info.name}`);
  const { rows } = info;
  const cells = info.columns.map((column) => {
    if (column.type === 'number') return doubles(in_.take(8 * rows));
    if (column.type === 'count' || column.type === 'time') return counts(in_.take(8 * rows), rows);
    if (column.type === 'text' || column.type === 'ref') return asSigned(in_.u32(rows));
    throw new DatabaseError(`the table ${info.name} has a column of a kind this page does not know`);
  });
  const strings = readStrings(in_.rest(), info.strings);
  info.columns.forEach((column, c) => {
    if (column.type === 'text' && cells[c].some((s) => s < NONE || s >= strings.length))
      throw new DatabaseError(`the database is damaged: the table ${info.name} names a text that is not there`);
  });
  return { cells, strings };
}
