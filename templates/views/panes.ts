// SPDX-License-Identifier: BSD-3-Clause
// What a pane is. One is added by a file that makes it and a row in registry.ts; it follows the selection by drawing
// whenever the state changes, and exists where its data do.

import type { Slot } from '../state/state';
import type { App } from './app';

export interface Pane {
  readonly element: HTMLElement;
  /** Called on each change while the pane is in sight; remembers what it drew. */
  draw(): void;
}

export interface PaneType {
  readonly name: string; // a word: it is part of the address
  readonly title: string;
  readonly slot: Slot;
  /** Whether the database has what it shows. */
  isThere(app: App): boolean;
  make(app: App): Pane;
}
