// SPDX-License-Identifier: BSD-3-Clause
/** Numbers for keys of up to three words, in order of first use: a hash table of typed arrays, for a million keys. */
export class KeyNumbers {
  count = 0;
  #slots: Int32Array;
  readonly #a: number[] = [];
  readonly #b: number[] = [];
  readonly #c: number[] = [];

  constructor(expected: number) {
    let size = 64;
    while (size < expected * 2) size *= 2;
    this.#slots = new Int32Array(size).fill(-1);
  }

  /** Equal keys have equal numbers. */
  of(a: number, b: number, c: number): number {
    const mask = this.#slots.length - 1;
    let at = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35)) >>> 0;
    at = (at ^ (at >>> 15)) & mask;
    for (; ; at = (at + 1) & mask) {
      const number = this.#slots[at];
      if (number < 0) {
        this.#slots[at] = this.count;
        this.#a.push(a);
        this.#b.push(b);
        this.#c.push(c);
        return this.count++;
      }
      if (this.#a[number] === a && this.#b[number] === b && this.#c[number] === c) return number;
    }
  }
}
