/** A value remembered until one of its inputs is another. */
export class Memo<T> {
  #inputs: readonly unknown[] | null = null;
  #result!: T;

  get(inputs: readonly unknown[], make: () => T): T {
    if (!this.#inputs || inputs.length !== this.#inputs.length || inputs.some((x, i) => !Object.is(x, this.#inputs![i]))) {
      this.#result = make();
      this.#inputs = inputs;
    }
    return this.#result;
  }
}
