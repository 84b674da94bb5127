// SPDX-License-Identifier: BSD-3-Clause
/** Whether these equal the previous ones from index `from` on. */
export const same = (inputs: readonly unknown[], before: readonly unknown[], from = 0): boolean =>
  inputs.every((x, i) => Object.is(x, before[from + i]));

/** A value remembered until one of its inputs is another. */
export class Memo<T> {
  #inputs: readonly unknown[] | null = null;
  #result!: T;

  get(inputs: readonly unknown[], make: () => T): T {
    if (inputs.length !== this.#inputs?.length || !same(inputs, this.#inputs)) {
      this.#result = make();
      this.#inputs = inputs;
    }
    return this.#result;
  }
}
