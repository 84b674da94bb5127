// SPDX-License-Identifier: BSD-3-Clause
// What procedures and inlined calls cost themselves. Stored exclusive values are of direct lines: a procedure's are without
// its loops. Everybody else's "self" is the procedure's own code, loops and inlined code included, callees excluded.

import { Kind, type Metric, type Places, type Present, type Values } from '../model/data';

type Tree = Pick<Places, 'count' | 'kind' | 'parent'>;

export const isFrame = (kind: number): boolean => kind === Kind.Procedure || kind === Kind.Inline;

/** Exclusive values of a tree in which lines have callees below them. */
export function selfOfCalls({ count, kind, parent }: Tree, lines: Float64Array): Float64Array {
  const inside = new Float64Array(count).fill(NaN);
  const self = lines.slice();
  for (let i = count - 1; i > 0; i--) {
    if (kind[i] === Kind.Line && !Number.isNaN(lines[i])) inside[i] = (inside[i] || 0) + lines[i];
    if (isFrame(kind[i])) self[i] = inside[i];
    const up = parent[i];
    if (kind[i] > Kind.Procedure && kind[up] !== Kind.Line && !Number.isNaN(inside[i])) inside[up] = (inside[up] || 0) + inside[i];
  }
  return self;
}

/** Values as they are stored, but for exclusive ones of procedures and inlined calls. */
export class SelfValues implements Values {
  readonly #self = new WeakMap<Float64Array, Float64Array>(); // by stored exclusive values
  readonly #present = new WeakMap<Uint8Array, Uint8Array>();

  constructor(
    private readonly stored: Values,
    private readonly metrics: readonly Metric[],
    private readonly tree: Tree,
    private readonly hasCallees: boolean,
  ) {}

  of(metric: number, exclusive: boolean): Float64Array | null {
    const all = this.stored.of(metric, exclusive);
    if (!all || !exclusive || !this.metrics[metric].hasExclusive) return all;
    let self = this.#self.get(all);
    if (self) return self;
    const whole = this.hasCallees ? null : this.stored.of(metric, false);
    if (!this.hasCallees && !whole) return null;
    self = whole ? all.map((v, i) => (isFrame(this.tree.kind[i]) ? whole[i] : v)) : this.#ofCalls(metric, all);
    this.#self.set(all, self);
    return self;
  }

  /** Metrics that cannot be added up are unknown for a frame. */
  #ofCalls(metric: number, all: Float64Array): Float64Array {
    const { tree } = this;
    return this.metrics[metric].summed
      ? selfOfCalls(tree, all)
      : all.map((v, i) => (isFrame(tree.kind[i]) ? NaN : v));
  }

  at(metric: number, exclusive: boolean, place: number): number | null {
    const { stored } = this;
    const isWhole = exclusive && isFrame(this.tree.kind[place]);
    if (isWhole && this.hasCallees) return this.of(metric, true)?.[place] ?? null;
    const form = exclusive && !isWhole;
    return stored.at ? stored.at(metric, form, place) : (stored.of(metric, form)?.[place] ?? null);
  }

  present(metric: number, exclusive: boolean): Present | null {
    const { stored } = this;
    if (!exclusive && stored.present) return stored.present(metric, false);
    if (this.hasCallees || !stored.present) {
      const values = this.of(metric, exclusive);
      return values && { state: Uint8Array.from(values, (v) => (Number.isNaN(v) ? 0 : 1)), bits: 1 };
    }
    const [whole, own] = [stored.present(metric, false), stored.present(metric, true)];
    if (!whole || !own) return null;
    let state = this.#present.get(own.state);
    if (!state) {
      const has = ({ state, bits }: Present, i: number): boolean => (state[i] & bits) !== 0;
      state = own.state.map((_, i) => (has(isFrame(this.tree.kind[i]) ? whole : own, i) ? 1 : 0));
      this.#present.set(own.state, state);
    }
    return { state, bits: 1 };
  }

  failure = (metric: number): string | undefined => this.stored.failure(metric);
}
