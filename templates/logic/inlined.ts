// SPDX-License-Identifier: BSD-3-Clause
// What was inlined where a source line calls it: for each procedure the lines it is made of, with what they cost there.

import type { Columns, Column } from './columns';
import { type FileIx, Kind, type Model, NONE, type PlaceIx } from '../model/data';
import type { Children } from './tree';

export interface InlinedLine {
  readonly line: number;
  readonly value: number;
  readonly calls: boolean; // something was inlined there in turn
}

export interface Inlined {
  readonly name: string;
  readonly place: PlaceIx; // the costliest copy
  readonly copies: number;
  readonly file: FileIx;
  readonly value: number;
  readonly lines: readonly InlinedLine[]; // of its own file, in their order
}

/** The calls on a line that were inlined, the costliest first. `scopes`: scopes that begin or are called on the line. */
export function inlinedOn(columns: Columns, children: Children, column: Column, scopes: readonly PlaceIx[]): Inlined[] {
  const { model } = columns;
  const { places } = model;
  const values = columns.values(column, null);
  const byName = new Map<string, PlaceIx[]>();
  for (const place of scopes) {
    if (places.kind[place] !== Kind.Inline || !(values[place] > 0)) continue;
    const key = `${places.fullName[place]} ${places.file[place]}`;
    byName.set(key, [...(byName.get(key) ?? []), place]);
  }
  return [...byName.values()]
    .map((copies) => {
      const [place] = copies.sort((a, b) => values[b] - values[a]);
      return {
        name: places.strings[places.name[place]],
        place,
        copies: copies.length,
        file: fileOf(model, children, place),
        value: copies.reduce((sum, p) => sum + values[p], 0),
        lines: linesOf(model, children, values, copies),
      };
    })
    .sort((a, b) => b.value - a.value || a.place - b.place);
}

/** Location of its source; without a file (closures), the location of its lines. */
function fileOf(model: Model, children: Children, place: PlaceIx): FileIx {
  const { file, kind } = model.places;
  if (file[place] !== NONE) return file[place];
  const below = children.list.subarray(children.start[place], children.start[place + 1]);
  const line = below.find((p) => kind[p] === Kind.Line && file[p] !== NONE);
  return line === undefined ? NONE : file[line];
}

/** Lines of the procedure's own file below its copies; a call that was inlined into it counts where it stands. */
function linesOf(model: Model, children: Children, values: Float64Array, copies: readonly PlaceIx[]): InlinedLine[] {
  const { places } = model;
  const file = fileOf(model, children, copies[0]);
  const sums = new Map<number, { value: number; calls: boolean }>();
  const add = (line: number, value: number, calls: boolean): void => {
    if (line === 0 || !(value > 0)) return;
    const known = sums.get(line);
    sums.set(line, { value: (known?.value ?? 0) + value, calls: calls || known?.calls === true });
  };
  const todo = [...copies];
  while (todo.length) {
    const at = todo.pop()!;
    for (let i = children.start[at]; i < children.start[at + 1]; i++) {
      const child = children.list[i];
      if (places.kind[child] === Kind.Loop) todo.push(child);
      else if (places.kind[child] === Kind.Inline) {
        if (places.callFile[child] === NONE || places.callFile[child] === file)
          add(places.callLine[child], values[child], true);
      } else if (places.file[child] === file) add(places.lineFirst[child], values[child], false);
    }
  }
  return [...sums].map(([line, sum]) => ({ line, ...sum })).sort((a, b) => a.line - b.line);
}
