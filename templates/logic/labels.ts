// SPDX-License-Identifier: BSD-3-Clause
// What a place is called, in parts a view can style.

import { Kind, type Metric, type Model, NONE, type PlaceIx, Role } from '../model/data';

export interface Label {
  readonly text: string;
  readonly detail: string; // muted, behind the text
  readonly badges: readonly string[];
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export function fileName(model: Model, file: number): string {
  return file === NONE ? '' : model.files[file].name;
}

/** A metric's name for narrow places: without PAPI's component, and with the run as a separate word. Tooltips and About have the full
 *  name. */
export const shortName = (metric: Metric): string =>
  metric.displayName
    .replace(/\b[a-z_]+::(?=.)/g, '')
    .replace(/^([^.\s]+)\.([^.\s]+) − ([^.\s]+)\.\2$/, '$1 − $3 $2')
    .replace(/^([^.\s]+)\.(?=\S+$)/, '$1 ');

const SHORT_ARGUMENTS = 20; // characters
const OPERATOR = /operator ?[-<>=]+/y;

/** A name for narrow places: "std::map<…>::at". Short template arguments stay; tooltips have all of them. */
export function folded(name: string): string {
  let text = '';
  for (let i = 0, depth = 0, done = 0, from = 0; ; i++) {
    if (i === name.length) return text + name.slice(done);
    OPERATOR.lastIndex = i;
    if (OPERATOR.test(name)) i = OPERATOR.lastIndex - 1;
    else if (name[i] === '<' && depth++ === 0) from = i + 1;
    else if (name[i] === '>' && depth > 0 && --depth === 0 && i - from > SHORT_ARGUMENTS) {
      text += `${name.slice(done, from)}…`;
      done = i;
    }
  }
}

/** "heat.f90:52–60", with the base name of the file; "line 52–60" if there is none. */
export function lineRange(model: Model, place: PlaceIx): string {
  const { file, lineFirst, lineLast } = model.places;
  const name = baseName(fileName(model, file[place]));
  const first = lineFirst[place];
  const last = lineLast[place];
  if (first === 0) return name;
  return `${name ? `${name}:` : 'line '}${first}${last > first ? `–${last}` : ''}`;
}

const ROLE_BADGES: { readonly [role: number]: string } = {
  [Role.Vector]: 'vector',
  [Role.Remainder]: 'remainder',
  [Role.Unrolled]: 'unrolled',
};

/** The kind of a loop, the same for all of its instances. */
export function loopKinds(model: Model, place: PlaceIx): string[] {
  const role = ROLE_BADGES[model.places.role[place]];
  return [...(role ? [role] : []), ...(model.places.irreducible[place] ? ['irreducible'] : [])];
}

function loopLabel(model: Model, place: PlaceIx): Label {
  const { places } = model;
  const badges = loopKinds(model, place);
  if (places.instances[place] > 1) badges.push(`${places.instance[place]} of ${places.instances[place]}`);
  const where = lineRange(model, place);
  if (places.onLine[place]) badges.unshift(`loop ${places.onLine[place]} of its line`);
  if (where) return { text: `loop at ${where}`, detail: '', badges };
  return { text: `loop at ${offset(model, place)}`, detail: `address ${address(model, place)}`, badges };
}

/** How far into its procedure a loop begins: "+0xda"; where that is not known, its address. In other trees a node's parent
 *  need not be the procedure around it. */
function offset(model: Model, node: PlaceIx): string {
  const places = model.scopes?.places ?? model.places;
  const place = model.scopes?.of[node] ?? node;
  for (let up = places.parent[place]; up !== NONE; up = places.parent[up]) {
    if (places.kind[up] !== Kind.Procedure || places.addressHigh[up] !== places.addressHigh[place]) continue;
    const far = places.addressLow[place] - places.addressLow[up];
    if (places.addressLow[up] !== 0 && far >= 0) return `+0x${far.toString(16)}`;
  }
  return address(model, node);
}

function inlineLabel(model: Model, place: PlaceIx): Label {
  const { places } = model;
  const name = places.strings[places.name[place]] || 'a procedure without name';
  const file = baseName(fileName(model, places.callFile[place]));
  const line = places.callLine[place];
  const at = file && line ? `inlined at ${file}:${line}` : line ? `inlined at line ${line}` : 'inlined';
  return { text: name, detail: at, badges: [] };
}

export function address(model: Model, place: PlaceIx): string {
  const high = model.places.addressHigh[place];
  const low = model.places.addressLow[place].toString(16);
  return high ? `0x${high.toString(16)}${low.padStart(8, '0')}` : `0x${low}`;
}

const NAMELESS: { readonly [kind: number]: string } = {
  [Kind.Program]: 'program',
  [Kind.Module]: 'code outside any module',
  [Kind.File]: 'no source file known',
  [Kind.Procedure]: 'code without symbol',
};

export function labelOf(model: Model, place: PlaceIx): Label {
  const { places } = model;
  switch (places.kind[place]) {
    case Kind.Loop:
      return loopLabel(model, place);
    case Kind.Inline:
      return inlineLabel(model, place);
    case Kind.Line:
      return places.lineFirst[place] === 0
        ? { text: 'no line known', detail: '', badges: [] }
        : { text: lineRange(model, place), detail: '', badges: [] };
    default: {
      // of a row of the tree of calls, the line of the call
      const isCall = model.scopes && places.kind[place] === Kind.Procedure && places.callFile[place] !== NONE;
      const detail = isCall ? `called at ${baseName(fileName(model, places.callFile[place]))}:${places.callLine[place]}` : '';
      return { text: places.strings[places.name[place]] || NAMELESS[places.kind[place]] || '', detail, badges: [] };
    }
  }
}

/** As a row or a box below the scope around it: that scope's file is not repeated. */
export function labelIn(model: Model, place: PlaceIx): Label {
  const { kind, file, parent, lineFirst } = model.places;
  const label = labelOf(model, place);
  const isThere = kind[place] >= Kind.Loop && lineFirst[place] > 0 && file[place] !== NONE;
  if (!isThere || file[parent[place]] !== file[place]) return label;
  const range = lineRange(model, place).slice(baseName(fileName(model, file[place])).length + 1);
  return { ...label, text: `${kind[place] === Kind.Loop ? 'loop' : 'line'} ${range}` };
}

/** Explanation of a badge, in a sentence; "" if it is self-explanatory. */
export const badgeTitle = (badge: string): string =>
  (({
    vector: 'The copy of the loop that works on several elements at once',
    remainder: 'The copy of the loop for the elements that fill no whole vector, or no whole round of the unrolled copy',
    unrolled: 'The copy of the loop that does several iterations in one',
    irreducible: 'A loop with several entries: the program jumps into it at more than one place',
  }) as { readonly [badge: string]: string })[badge] ??
  (/^\d+ of \d+$/.test(badge) ? 'The compiler made several copies of this loop; this is one of them' : '');

/** The name, folded, of the nearest scope of one of these kinds, `place` itself included. */
export function enclosing(model: Model, place: PlaceIx, kinds: readonly number[]): string | null {
  for (let up = place; up !== NONE; up = model.places.parent[up])
    if (kinds.includes(model.places.kind[up])) return folded(labelOf(model, up).text);
  return null;
}

/** Where a row of a flat table belongs: the procedure around a loop or line, the file of a procedure. */
export function surroundings(model: Model, place: PlaceIx): string {
  const { places } = model;
  const isWanted = (kind: number): boolean =>
    places.kind[place] >= Kind.Loop
      ? kind === Kind.Procedure || kind === Kind.Inline
      : kind < places.kind[place] && kind >= Kind.Module;
  for (let up = places.parent[place]; up !== NONE; up = places.parent[up]) {
    if (!isWanted(places.kind[up])) continue;
    const name = labelOf(model, up).text;
    if (name !== NAMELESS[Kind.File]) return `in ${folded(name)}`; // a procedure without a file is identified by its module
  }
  return '';
}

const KIND_NAMES = ['program', 'load module', 'file', 'procedure', 'inlined call', 'loop', 'line'] as const;
export const kindName = (kind: number): string => KIND_NAMES[kind];

/** The whole story, for tooltips. */
export function describe(model: Model, place: PlaceIx): string {
  const { places } = model;
  const label = labelOf(model, place);
  const full = places.strings[places.fullName[place]];
  const parts = [`${kindName(places.kind[place])}: ${full || label.text}`];
  if (label.detail) parts.push(label.detail);
  if (label.badges.length) parts.push(label.badges.join(', '));
  const file = fileName(model, places.file[place]);
  if (file && places.kind[place] !== Kind.File && places.lineFirst[place])
    parts.push(
      `${file}:${places.lineFirst[place]}${places.lineLast[place] > places.lineFirst[place] ? `–${places.lineLast[place]}` : ''}`,
    );
  if (places.addressLow[place] || places.addressHigh[place]) parts.push(`address ${address(model, place)}`);
  return parts.join('\n');
}
