// SPDX-License-Identifier: BSD-3-Clause
// Sorting by numbers: a radix sort over the bits of doubles for long columns, the engine's own for short ones. Stable;
// blanks come last in either direction.

import { littleEndian } from '../model/decode';

const SHORT = 1500;
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Larger first (or smaller, when `descending` is false); blanks last in either case. */
export function compareValues(a: number, b: number, descending: boolean): number {
  if (a === b) return 0;
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return descending ? b - a : a - b;
}

/** 0, 1, 2, ... */
export function countUp(n: number): Uint32Array {
  const out = new Uint32Array(n);
  for (let i = 0; i < n; i++) out[i] = i;
  return out;
}

const UPPER = littleEndian ? 1 : 0; // of the two words of a double
const BLANK = 0xffffffff;

/** The upper halves of keys that order as the values do when compared as unsigned numbers: of positive doubles the sign is
 *  set, of negative ones all bits are turned. How often each digit stands in them is counted on the way. */
function keysOf(items: Uint32Array, values: Float64Array, descending: boolean, counts: readonly Uint32Array[]): Uint32Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const keys = new Uint32Array(items.length);
  const flip = descending ? -1 : 0;
  const [low, middle, high] = counts;
  for (let i = 0; i < keys.length; i++) {
    const value = values[items[i]];
    const word = value === 0 ? 0 : words[items[i] * 2 + UPPER] | 0; // -0 is 0
    const key = value !== value ? BLANK : (word ^ ((word >> 31) | 0x80000000) ^ flip) >>> 0; // not NaN
    keys[i] = key;
    low[key & (DIGITS - 1)]++;
    middle[(key >>> DIGIT_BITS) & (DIGITS - 1)]++;
    high[key >>> (2 * DIGIT_BITS)]++;
  }
  return keys;
}

/** By the upper halves of the keys, in three passes that each take keys and items along: memory is read in order. */
function radixSort(items: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  const n = items.length;
  const counts = [new Uint32Array(DIGITS), new Uint32Array(DIGITS), new Uint32Array(DIGITS)];
  let keys: Uint32Array = keysOf(items, values, descending, counts);
  let from: Uint32Array = items;
  let nextKeys: Uint32Array = new Uint32Array(n);
  let to: Uint32Array = new Uint32Array(n);
  for (let pass = 0; pass < counts.length; pass++) {
    const shift = pass * DIGIT_BITS;
    const at = counts[pass];
    if (at[(keys[0] >>> shift) & (DIGITS - 1)] === n) continue; // all the same
    for (let d = 0, sum = 0; d < DIGITS; d++) {
      const count = at[d];
      at[d] = sum;
      sum += count;
    }
    for (let i = 0; i < n; i++) {
      const key = keys[i];
      const next = at[(key >>> shift) & (DIGITS - 1)]++;
      nextKeys[next] = key;
      to[next] = from[i];
    }
    [keys, nextKeys] = [nextKeys, keys];
    [from, to] = [to, from === items ? new Uint32Array(n) : from]; // the argument is not changed
  }
  if (from === items) from = items.slice();
  sortRuns(from, keys, values, descending);
  return from;
}

/** Values that differ only in the lower half are few: runs of equal keys are sorted if they are not in order. */
function sortRuns(items: Uint32Array, keys: Uint32Array, values: Float64Array, descending: boolean): void {
  const n = items.length;
  for (let first = 0; first < n && keys[first] !== BLANK;) {
    let end = first + 1;
    let isOrdered = true;
    let last = values[items[first]];
    for (; end < n && keys[end] === keys[first]; end++) {
      const value = values[items[end]];
      if (value !== last && value > last === descending) isOrdered = false;
      last = value;
    }
    if (!isOrdered) items.set(shortSort(items.subarray(first, end), values, descending), first);
    first = end;
  }
}

function shortSort(items: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  return Uint32Array.from([...items].sort((a, b) => compareValues(values[a], values[b], descending))); // (which keeps equals in their order)
}

/** `items` in the order of their values; the order they come in decides between equals. */
export function sortedByValue(items: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  return items.length < SHORT ? shortSort(items, values, descending) : radixSort(items, values, descending);
}

/** Reverses an order: runs of equals keep their order, and blanks come last. */
export function turnedRound(sorted: Uint32Array, values: Float64Array): Uint32Array {
  const out = new Uint32Array(sorted.length);
  let end = sorted.length;
  while (Number.isNaN(values[sorted[end - 1]])) end--;
  out.set(sorted.subarray(end), end);
  let value = end > 0 ? values[sorted[end - 1]] : 0;
  for (let at = 0; end > 0;) {
    let first = end - 1;
    let before = value; // each value is looked up once: they stand all over the memory
    while (first > 0 && (before = values[sorted[first - 1]]) === value) first--;
    for (let i = first; i < end; i++) out[at++] = sorted[i];
    end = first;
    value = before;
  }
  return out;
}

/** The `most` cells with the largest values above 0, and how many are above 0 at all. */
export function largestCells(values: Float64Array, most: number): { readonly top: number[]; readonly count: number } {
  const top: number[] = [];
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] > 0)) continue;
    count++;
    if (top.length === most && !(values[i] > values[top[most - 1]])) continue;
    let at = Math.min(top.length, most - 1);
    for (; at > 0 && values[i] > values[top[at - 1]]; at--) top[at] = top[at - 1];
    top[at] = i;
  }
  return { top, count };
}
