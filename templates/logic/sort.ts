// Sorting by numbers: a radix sort over the bits of doubles for long columns, the engine's own for short ones. Stable;
// blanks come last in either direction.

const SHORT = 1500;
const DIGITS = 65536;

/** Larger first (or smaller, when `descending` is false); blanks last in either case. */
export function compareValues(a: number, b: number, descending: boolean): number {
  if (a === b) return 0;
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return descending ? b - a : a - b;
}

/** Keys that order as the values do when compared as unsigned numbers: of positive doubles the sign is set, of negative
 *  ones all bits are turned. */
function keysOf(items: Uint32Array, values: Float64Array, descending: boolean): Uint16Array {
  const doubles = new Float64Array(1);
  const words = new Uint16Array(doubles.buffer);
  const keys = new Uint16Array(items.length * 4);
  const flip = descending ? 0xffff : 0;
  for (let i = 0; i < items.length; i++) {
    doubles[0] = values[items[i]] + 0; // -0 is 0
    const blank = Number.isNaN(doubles[0]);
    const negative = words[3] & 0x8000 ? 0xffff : 0;
    for (let w = 0; w < 4; w++)
      keys[i * 4 + w] = blank ? 0xffff : words[w] ^ negative ^ flip ^ (w === 3 && !negative ? 0x8000 : 0);
  }
  return keys;
}

function radixSort(items: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  const n = items.length;
  const keys = keysOf(items, values, descending);
  let from: Uint32Array<ArrayBufferLike> = Uint32Array.from({ length: n }, (_, i) => i);
  let to: Uint32Array<ArrayBufferLike> = new Uint32Array(n);
  const starts = new Uint32Array(DIGITS + 1);
  for (let word = 0; word < 4; word++) {
    starts.fill(0);
    for (let i = 0; i < n; i++) starts[keys[i * 4 + word] + 1]++;
    if (starts[keys[word] + 1] === n) continue; // all the same
    for (let d = 0; d < DIGITS; d++) starts[d + 1] += starts[d];
    for (let i = 0; i < n; i++) to[starts[keys[from[i] * 4 + word]]++] = from[i];
    [from, to] = [to, from];
  }
  for (let i = 0; i < n; i++) to[i] = items[from[i]];
  return to;
}

/** `items` in the order of their values; the order they come in decides between equals. */
export function sortedByValue(items: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  if (items.length < SHORT) {
    const order = Array.from(items, (item, at) => ({ item, at }));
    order.sort((a, b) => compareValues(values[a.item], values[b.item], descending) || a.at - b.at);
    return Uint32Array.from(order, (o) => o.item);
  }
  return radixSort(items, values, descending);
}
