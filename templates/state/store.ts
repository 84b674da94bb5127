// SPDX-License-Identifier: BSD-3-Clause
import type { Action } from './actions';
import { reduce } from './reduce';
import type { State } from './state';

export type Dispatch = (action: Action) => void;

/** Holds the state; notifies its listeners of changes. They may delay drawing until the next frame. */
export class Store {
  #listeners: ((state: State, action: Action) => void)[] = [];

  constructor(private current: State) {}

  get state(): State {
    return this.current;
  }

  readonly dispatch: Dispatch = (action) => {
    this.current = reduce(this.current, action);
    for (const listener of this.#listeners) listener(this.current, action);
  };

  subscribe(listener: (state: State, action: Action) => void): void {
    this.#listeners.push(listener);
  }
}
