// SPDX-License-Identifier: BSD-3-Clause
// Where the time goes in the terms of the user's own code: loops and procedures by what they compute, and lines by what the
// libraries they call cost. Every sample counts once.

import { Kind, type Model, NONE, type PlaceIx } from '../model/data';
import type { MadeTree } from './calls';

export interface HotPlace {
  readonly place: PlaceIx; // a loop or a procedure; of a call into a library the line that calls
  readonly callee: PlaceIx; // the procedure of the library, or the library if that has no name; NONE: the place's own code
  readonly value: number;
}

/** Files of the system, and our libraries in the measured process, are not the user's code. */
const SYSTEM_FILE = /^\/usr\/|(^|\/)(bits|c\+\+|sysdeps)\//;
const OWN_LIBRARY = /libhpcview-/;
/** The display name of a procedure without a symbol. */
const NAMELESS = /^(waiting in .* )?\(?function at 0x/;

/** By place: it is on a line of a file whose text is known and that is not the system's. */
function ownCode({ places, files }: Model): (place: PlaceIx) => boolean {
  const isOwnFile = files.map((f) => f.state === 'text' && !SYSTEM_FILE.test(f.name));
  const isOurs = new Uint8Array(places.count); // in one of our own libraries
  for (let i = 1; i < places.count; i++) {
    const isModule = places.kind[i] === Kind.Module && OWN_LIBRARY.test(places.strings[places.name[i]]);
    isOurs[i] = isModule || isOurs[places.parent[i]] ? 1 : 0;
  }
  return (place) => {
    const file = places.kind[place] === Kind.Inline ? places.callFile[place] : places.file[place];
    return isOurs[place] === 0 && file !== NONE && isOwnFile[file];
  };
}

/** The costliest first; of code that no line of the user called, the procedures, those of one name together. `values`: by
 *  node of the tree of calls. */
export function hotPlaces(model: Model, { nodes }: MadeTree, values: Float64Array): HotPlace[] {
  const { kind, same, name, strings } = model.places;
  const { count, parent, place } = nodes;
  const isOwn = ownCode(model);
  const own = values.slice(); // without what is below
  for (let i = 1; i < count; i++) if (!Number.isNaN(values[i])) own[parent[i]] -= values[i];
  const found = new Map<string, { place: PlaceIx; callee: PlaceIx; value: number }>();
  const moduleOf = (at: PlaceIx): PlaceIx => {
    while (at > 0 && kind[at] !== Kind.Module) at = model.places.parent[at];
    return at;
  };
  const nearest = (node: number): PlaceIx => {
    for (let up = node; up > 0; up = parent[up])
      if (kind[place[up]] === Kind.Loop || kind[place[up]] === Kind.Procedure) return place[up];
    return place[node];
  };
  for (let i = 1; i < count; i++) {
    if (!(own[i] > 1e-9 * Math.abs(values[i]))) continue;
    let ground = i;
    let callee = NONE;
    while (ground > 0 && !((kind[place[ground]] === Kind.Line || kind[place[ground]] === Kind.Inline) && isOwn(place[ground]))) {
      if (kind[place[ground]] === Kind.Procedure) callee = place[ground];
      ground = parent[ground];
    }
    let at: PlaceIx;
    let key: string;
    if (ground <= 0) {
      at = nearest(i);
      while (at > 0 && kind[at] > Kind.Procedure) at = model.places.parent[at];
      callee = NONE;
      key = strings[name[at]].replace(/ \(function at .*/, '');
    } else {
      at = callee !== NONE && kind[place[ground]] === Kind.Line ? place[ground] : nearest(ground);
      if (callee !== NONE && NAMELESS.test(strings[name[callee]])) callee = moduleOf(callee);
      key = `${same[at]} ${callee === NONE ? NONE : moduleOf(callee)}`;
    }
    const known = found.get(key);
    if (known) {
      known.value += own[i];
      if (known.callee !== NONE && kind[known.callee] === Kind.Module) known.callee = callee;
    } else found.set(key, { place: at, callee, value: own[i] });
  }
  return [...found.values()].sort((a, b) => b.value - a.value);
}
