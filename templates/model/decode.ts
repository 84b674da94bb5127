// SPDX-License-Identifier: BSD-3-Clause
// Bytes of the database's blocks to columns.

import { Kind, NONE, type Numbers, type Places, type Present, type TableInfo, type TableRows, type TreeNodes } from './data';
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
  const native = Uint8Array.fromBase64;
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
    return joined32(this.take(4 * n), n);
  }
}

export const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Space for planes that are not aligned to a word; reused. */
let aside = new Uint8Array(0);

/** Byte planes, four at most, to numbers: four of them at a time, out of a word of each plane. */
function joined32(p: Uint8Array, n: number): Uint32Array {
  const planes = n ? p.length / n : 0;
  if (planes <= 1) return planes ? new Uint32Array(p) : new Uint32Array(n);
  const out = new Uint32Array(n);
  const words = littleEndian ? n >> 2 : 0;
  const w = words ? planeWords(p, n, planes) : out;
  const stride = n % 4 === 0 ? words : words + 1;
  const third = planes > 2 ? 2 * stride : 0;
  const fourth = planes > 3 ? 3 * stride : 0;
  for (let i = 0, at = 0; i < words; i++, at += 4) {
    const a = w[i];
    const b = w[stride + i];
    const low02 = (a & 0xff00ff) | ((b & 0xff00ff) << 8);
    const low13 = ((a >>> 8) & 0xff00ff) | (b & 0xff00ff00);
    const c = third ? w[third + i] : 0;
    const d = fourth ? w[fourth + i] : 0;
    const high02 = (c & 0xff00ff) | ((d & 0xff00ff) << 8);
    const high13 = ((c >>> 8) & 0xff00ff) | (d & 0xff00ff00);
    out[at] = (low02 & 0xffff) | (high02 << 16);
    out[at + 1] = (low13 & 0xffff) | (high13 << 16);
    out[at + 2] = (low02 >>> 16) | (high02 & 0xffff0000);
    out[at + 3] = (low13 >>> 16) | (high13 & 0xffff0000);
  }
  for (let i = words * 4; i < n; i++)
    for (let k = 0; k < planes; k++) out[i] |= p[k * n + i] << (8 * k);
  return out;
}

/** Planes as words, each aligned to a word: in place, or copied. */
function planeWords(p: Uint8Array, n: number, planes: number): Uint32Array {
  if (n % 4 === 0 && p.byteOffset % 4 === 0) return new Uint32Array(p.buffer, p.byteOffset, (n * planes) >> 2);
  const stride = (n + 3) & ~3;
  if (aside.length < stride * 4) aside = new Uint8Array(stride * 4);
  for (let k = 0; k < planes; k++) aside.set(p.subarray(k * n, k * n + n), k * stride);
  return new Uint32Array(aside.buffer, 0, (stride * planes) >> 2);
}

/** A column as its byte planes, four at most; joined on demand. */
class Packed {
  #planes: Uint8Array | null;
  #column: Numbers | null = null;

  constructor(
    planes: Uint8Array,
    private readonly n: number,
  ) {
    this.#planes = planes;
  }

  /** One number; the others stay as they are. */
  one(k: number): number {
    const { n } = this;
    const p = this.#planes;
    if (!p) return this.#column![k];
    let number = 0;
    for (let at = k + p.length - n; at >= 0; at -= n) number = number * 256 + p[at];
    return number;
  }

  get(): Numbers {
    if (this.#planes) this.#column = joined(this.#planes, this.n);
    this.#planes = null;
    return this.#column!;
  }
}

/** Planes without the upper ones that are 0 everywhere, copied from their buffer, which can be freed. */
function trimmed(bytes: Uint8Array, n: number): Uint8Array {
  let planes = n ? bytes.length / n : 0;
  while (planes > 0 && isZero(bytes.subarray((planes - 1) * n, planes * n))) planes--;
  return bytes.slice(0, planes * n);
}

function isZero(plane: Uint8Array): boolean {
  const border = Math.min(plane.length, -plane.byteOffset & 3);
  const words = (plane.length - border) >> 2;
  for (let i = 0; i < border; i++) if (plane[i] !== 0) return false;
  for (let i = border + 4 * words; i < plane.length; i++) if (plane[i] !== 0) return false;
  if (words === 0) return true; // there may be no aligned one
  const w = new Uint32Array(plane.buffer, plane.byteOffset + border, words);
  for (let i = 0; i < words; i++) if (w[i] !== 0) return false;
  return true;
}

/** As narrow as its planes allow. */
function joined(p: Uint8Array, n: number): Numbers {
  if (p.length === n) return p;
  if (p.length === 0) return new Uint8Array(n);
  const column = joined32(p, n);
  return p.length === 2 * n ? new Uint16Array(column) : column;
}

const largestOf = (column: Numbers): number => {
  let most = 0;
  for (let i = 0; i < column.length; i++) if (column[i] > most) most = column[i];
  return most;
};

const asSigned = (column: Uint32Array): Int32Array => new Int32Array(column.buffer);

function readStrings(bytes: Uint8Array, count: number): string[] {
  const all = new TextDecoder().decode(bytes).split('\0');
  all.pop(); // after the last NUL
  if (all.length !== count)
    throw new DatabaseError(`the database is damaged: it has ${all.length} names, not ${count}`);
  return all;
}

/** Which places are the same thing in the source, for databases of version 1, which do not say it. */
export function sameByName(places: Pick<Places, 'count' | 'kind' | 'file' | 'lineFirst' | 'fullName'>): Uint32Array {
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

// Each goes through one column, and gives a place of which it is damaged, or NONE. (Small loops are compiled at once.)

/** Distances to parents become the parents. */
function parents(parent: Int32Array): number {
  let bad = NONE;
  for (let i = 1; i < parent.length; i++) {
    const up = i - parent[i];
    if (up < 0 || up >= i) bad = i;
    parent[i] = up;
  }
  if (parent.length) parent[0] = NONE;
  return bad;
}

/** Distances to the first that is the same become these. */
function firsts(same: Uint32Array, kind: Uint8Array): number {
  let bad = NONE;
  for (let i = 0; i < same.length; i++) {
    const first = i - same[i];
    if (first < 0 || kind[first] !== kind[i]) bad = i;
    same[i] = first;
  }
  return bad;
}

function kinds(kind: Uint8Array): number {
  let bad = NONE;
  for (let i = 0; i < kind.length; i++) if (kind[i] > 6) bad = i;
  return bad;
}

/** An index that is neither NONE nor one of `count`. */
function notBelow(column: Int32Array, count: number): number {
  let bad = NONE;
  for (let i = 0; i < column.length; i++) if (column[i] < NONE || column[i] >= count) bad = i;
  return bad;
}

/** Facts about the places known before their bytes are. */
export interface PlacesInfo {
  readonly count: number;
  readonly strings: number;
  readonly files: number;
  readonly planes: readonly number[]; // of each wide column
}

/** The columns of the places, each with bytes of its own; columns needed only for visible rows stay in planes. */
export interface PlaceColumns {
  readonly count: number;
  readonly kind: Uint8Array;
  readonly role: Uint8Array;
  readonly irreducible: Uint8Array;
  readonly onLine: Uint8Array;
  readonly parent: Int32Array;
  readonly name: Numbers;
  readonly fullName: Numbers;
  readonly file: Int32Array;
  readonly lineFirst: Uint32Array;
  readonly lineLast: Numbers;
  readonly callFile: Int32Array;
  readonly same: Uint32Array | null; // null: in version 1
  readonly packed: readonly Uint8Array[]; // callLine, instance, instances, addressLow, addressHigh
  readonly names: Uint8Array;
}

export function unpackPlaces(bytes: Uint8Array, { count, strings, files, planes }: PlacesInfo): PlaceColumns {
  const in_ = new Columns(bytes, 'the list of places');
  let columns = 0;
  const wide = (): Uint8Array => in_.take(planes[columns++] * count);
  const packed = (): Uint8Array => trimmed(wide(), count);
  const numbers = (): Numbers => joined(packed(), count);
  const u32 = (): Uint32Array => joined32(wide(), count);
  const kind = in_.take(count).slice(); // not a part of the bytes, which can go
  const role = in_.take(count).slice();
  const irreducible = role.slice();
  const onLine = role.slice();
  for (let i = 0; i < count; i++) role[i] &= 3;
  for (let i = 0; i < count; i++) onLine[i] = (onLine[i] >> 2) & 31;
  for (let i = 0; i < count; i++) irreducible[i] >>= 7;
  const parent = asSigned(u32());
  const name = numbers();
  const fullName = numbers();
  const file = asSigned(u32());
  const lineFirst = u32();
  const lineLast = lineFirst.slice();
  const more = numbers();
  for (let i = 0; i < count; i++) lineLast[i] += more[i];
  const callFile = asSigned(u32());
  const [callLine, instance, instances] = [packed(), packed(), packed()];
  const address = wide();
  const addressLow = trimmed(address.subarray(0, 4 * count), count);
  const addressHigh = trimmed(address.subarray(4 * count), count);
  const same = columns < planes.length ? u32() : null;
  let bad = largestOf(name) >= strings || largestOf(fullName) >= strings ? 0 : NONE;
  bad = Math.max(bad, parents(parent), notBelow(file, files), notBelow(callFile, files));
  bad = Math.max(bad, kinds(kind), same ? firsts(same, kind) : NONE);
  if (count > 0 && bad !== NONE)
    throw new DatabaseError(`the database is damaged: place ${bad} points to something that is not there`);
  return {
    count,
    kind,
    role,
    irreducible,
    onLine,
    parent,
    name,
    fullName,
    file,
    lineFirst,
    lineLast,
    callFile,
    same,
    packed: [callLine, instance, instances, addressLow, addressHigh],
    names: in_.rest().slice(),
  };
}

/** The places of a database: packed columns are unpacked on demand. */
export function placesOf(columns: PlaceColumns, { count, strings }: PlacesInfo): Places {
  const { packed, names, ...own } = columns;
  const late = (bytes: Uint8Array): (() => Numbers) => {
    const column = new Packed(bytes, count);
    return () => column.get();
  };
  const [callLine, instance, instances, addressLow, addressHigh] = packed.map(late);
  return {
    ...own,
    same: own.same ?? sameByName(own),
    strings: readStrings(names, strings),
    get callLine() {
      return callLine();
    },
    get instance() {
      return instance();
    },
    get instances() {
      return instances();
    },
    get addressLow() {
      return addressLow();
    },
    get addressHigh() {
      return addressHigh();
    },
  };
}

export const decodePlaces = (bytes: Uint8Array, info: PlacesInfo): Places => placesOf(unpackPlaces(bytes, info), info);

const INCLUSIVE = 1;
const EXCLUSIVE = 2;
const EQUAL = 4;

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

/** A metric's columns as they are kept, with bytes of their own. */
export interface MetricColumns {
  readonly state: Uint8Array;
  readonly planes: Uint8Array;
  readonly stored: number; // how many values there are
  readonly scale: number; // of which they are multiples; 0: they are doubles
}

export function unpackMetric(bytes: Uint8Array, count: number, scale: number): MetricColumns {
  const in_ = new Columns(bytes, 'a metric');
  const state = in_.take(count).slice();
  const rest = in_.rest();
  const width = scale === 0 ? 8 : 4;
  if (rest.length % width !== 0)
    throw new DatabaseError('the database is damaged: the values of a metric end too early');
  const stored = rest.length / width;
  let wanted = 0;
  for (let i = 0; i < count; i++) wanted += (state[i] & INCLUSIVE) + ((state[i] & EXCLUSIVE) >> 1);
  if (wanted !== stored) throw new DatabaseError('the database is damaged: a metric has a wrong number of values');
  return { state, planes: scale === 0 ? rest.slice() : trimmed(rest, stored), stored, scale };
}

/** One metric as it is stored: compact until a form of it is needed. */
export class StoredMetric {
  readonly #state: Uint8Array;
  readonly #packed: Packed | null; // multiples of `scale`
  #doubles: Uint8Array | null; // or doubles, as planes until they are needed
  #joined: Float64Array | null = null;
  #ranks: Ranks | null = null;
  private readonly scale: number;

  constructor({ state, planes, stored, scale }: MetricColumns) {
    this.#state = state;
    this.scale = scale;
    this.#packed = scale === 0 ? null : new Packed(planes, stored);
    this.#doubles = scale === 0 ? planes : null;
  }

  /** One value, found by counting from the last place at which that was done before. */
  at(place: number, exclusive: boolean): number {
    const state = this.#state;
    if (!(place < state.length)) return NaN;
    const s = state[place];
    const isOwn = exclusive && (s & EXCLUSIVE) !== 0;
    if (!isOwn && !(s & INCLUSIVE && (!exclusive || s & EQUAL))) return NaN;
    const bit = isOwn ? EXCLUSIVE : INCLUSIVE;
    const block = Math.floor(place / RANK_STEP);
    let k = 0;
    if (isOwn || block > 0) {
      const { inclusive, own, all } = (this.#ranks ??= ranksOf(state));
      k = isOwn ? all + own[block] : inclusive[block];
    }
    for (let i = block * RANK_STEP; i < place; i++) if (state[i] & bit) k++;
    return this.#packed ? this.#packed.one(k) * this.scale : this.#double(k);
  }

  #double(k: number): number {
    const planes = this.#doubles;
    if (!planes) return this.#joined![k];
    const n = planes.length / 8;
    return doubles(Uint8Array.from({ length: 8 }, (_, plane) => planes[plane * n + k]))[0];
  }

  present(exclusive: boolean): Present {
    return { state: this.#state, bits: exclusive ? EXCLUSIVE | EQUAL : INCLUSIVE };
  }

  inclusive(): Float64Array {
    const { values, scale } = this.#values();
    const state = this.#state;
    const out = new Float64Array(state.length);
    let used = 0;
    for (let i = 0; i < out.length; i++) out[i] = state[i] & INCLUSIVE ? values[used++] * scale : NaN;
    return out;
  }

  exclusive(): Float64Array {
    const { values, scale } = this.#values();
    const state = this.#state;
    const out = new Float64Array(state.length);
    let inclusive = 0;
    let own = 0;
    for (let i = 0; i < out.length; i++) own += state[i] & INCLUSIVE;
    for (let i = 0; i < out.length; i++) {
      const s = state[i];
      out[i] = s & EXCLUSIVE ? values[own++] * scale : s & EQUAL && s & INCLUSIVE ? values[inclusive] * scale : NaN;
      inclusive += s & INCLUSIVE;
    }
    return out;
  }

  #values(): { readonly values: Numbers | Float64Array; readonly scale: number } {
    if (this.#packed) return { values: this.#packed.get(), scale: this.scale };
    if (this.#doubles) this.#joined = doubles(this.#doubles);
    this.#doubles = null;
    return { values: this.#joined!, scale: 1 };
  }
}

/** How many values are stored before each block of places. */
interface Ranks {
  readonly inclusive: Uint32Array;
  readonly own: Uint32Array;
  readonly all: number; // inclusive ones, after which the exclusive ones come
}
const RANK_STEP = 256;

function ranksOf(state: Uint8Array): Ranks {
  const blocks = Math.floor(state.length / RANK_STEP) + 1;
  const inclusive = new Uint32Array(blocks);
  const own = new Uint32Array(blocks);
  let all = 0;
  let others = 0;
  for (let i = 0; i < state.length; i++) {
    if (i % RANK_STEP === 0) {
      inclusive[i / RANK_STEP] = all;
      own[i / RANK_STEP] = others;
    }
    all += state[i] & INCLUSIVE;
    others += (state[i] & EXCLUSIVE) >> 1;
  }
  return { inclusive, own, all };
}

export const decodeMetric = (bytes: Uint8Array, count: number, scale: number): StoredMetric =>
  new StoredMetric(unpackMetric(bytes, count, scale));

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

/** `rowsOf` returns how many rows the target of a reference has; undefined: unknown. */
export function decodeTable(
  bytes: Uint8Array,
  info: TableInfo,
  rowsOf: (to: string) => number | undefined,
): TableRows {
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
    const isText = column.type === 'text';
    if (!isText && column.type !== 'ref') return;
    const most = (isText ? strings.length : rowsOf(column.to)) ?? 2 ** 31;
    if (notBelow(cells[c] as Int32Array, most) !== NONE)
      throw new DatabaseError(
        `the database is damaged: the table ${info.name} names a ${isText ? 'text' : column.to} that is not there`,
      );
  });
  return { cells, strings };
}
