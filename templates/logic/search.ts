// SPDX-License-Identifier: BSD-3-Clause
// What the filter box finds:
//
//     text            in a name, or file:line
//     spm*  ?axpy     a whole name, with * for any text and ? for any character
//     /^cg|dot$/      a regular expression, in a name
//     file:WHAT  module:WHAT    what stands there; WHAT is any of the three, quoted where it has spaces
// All terms must match. Upper and lower case are the same.

import { Kind, type Model, NONE, type PlaceIx } from '../model/data';

export type Matcher = (place: PlaceIx) => boolean;
type Test = (text: string) => boolean;

/** A filter in its parts; `problem`: why it cannot be used. */
export interface Filter {
  readonly name: string;
  readonly file: string;
  readonly module: string;
  readonly problem: string | null;
}

/** A regular expression of a link must not hang the page: longer names are cut, and an expression that backtracks too much on a name is
 *  refused. */
const LONGEST_NAME = 300;
const MOST_REPEATS = 3;
const MOST_CHOICES = 10;

const PREFIX = /(^|\s)(file|module):("[^"]*"?|\/(?:\\.|[^/\\])+\/|\S+)/gi;
const unquoted = (text: string): string => text.replace(/^"([^"]*)"?$/, '$1');

export function parseFilter(text: string): Filter {
  const parts = { file: '', module: '' };
  const name = text
    .replace(PREFIX, (_, space: string, key: string, what: string) => {
      parts[key.toLowerCase() as 'file' | 'module'] = unquoted(what);
      return space;
    })
    .trim();
  const problem = [name, parts.file, parts.module].map(refuse).find((p) => p !== null) ?? null;
  return { name, ...parts, problem };
}

const expressionIn = (text: string): string | undefined => /^\/(.+)\/$/s.exec(text)?.[1];

/** Why a part of a filter cannot be used, or null. */
function refuse(text: string): string | null {
  const expression = expressionIn(text);
  if (expression === undefined) return null;
  try {
    new RegExp(expression, 'i');
  } catch (error) {
    return `“${text}” is not a regular expression: ${String((error as Error).message).replace(/^.*\/[a-z]*: /s, '')}`;
  }
  const bare = expression.replace(/\\[^1-9k]/g, 'x').replace(/\[(?:\\.|[^\]\\])*\]/g, 'x');
  const count = (what: RegExp): number => bare.match(what)?.length ?? 0;
  if (/\\/.test(bare)) return `“${text}” refers back to a group, which the filter does not do`;
  if (/\)[*+?{]/.test(bare)) return `“${text}” repeats a group, which the filter does not do`;
  if (count(/[*+{]/g) > MOST_REPEATS) return `“${text}” has more than ${MOST_REPEATS} of * + {`;
  if (count(/[|]|[^(*+?}]\?/g) > MOST_CHOICES) return `“${text}” has more than ${MOST_CHOICES} of | and ?`;
  return null;
}

/** null: everything. */
function testOf(text: string, isPath: boolean): Test | null {
  if (text === '') return null;
  const expression = expressionIn(text);
  if (expression !== undefined) {
    const wanted = new RegExp(expression, 'i');
    return (s) => wanted.test(s.slice(0, LONGEST_NAME));
  }
  const wanted = text.toLowerCase();
  const contains: Test = (s) => s.toLowerCase().includes(wanted);
  if (!/[*?]/.test(text)) return contains;
  const whole: Test = (s) => globMatches(wanted, s.toLowerCase());
  const base: Test = (s) => whole(s.slice(s.lastIndexOf('/') + 1));
  return (s) => contains(s) || whole(s) || (isPath && base(s)); // "operator*" is a name too
}

/** Goes back to the last * only, so its time is bounded by the product of both lengths. */
export function globMatches(glob: string, text: string): boolean {
  let g = 0;
  let star = -1;
  let from = 0;
  for (let t = 0; t < text.length;) {
    if (glob[g] === '*') {
      star = g++;
      from = t;
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === text[t])) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++from;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}

const NOTHING: Matcher = () => false;

/** `isTree`: the descendants of a matching scope are included; else lines and loops match by their file's name too. */
export function matcherFor(model: Model, text: string, isTree: boolean): Matcher | null {
  const filter = parseFilter(text);
  if (filter.problem !== null) return NOTHING;
  const inside = scopeMatcher(model, filter);
  const named = filter.name === '' ? null : nameMatcher(model, filter.name, !isTree);
  if (named) return inside ? (i) => inside(i) && named(i) : named;
  if (!inside || !isTree) return inside;
  const { parent } = model.places;
  return (i) => inside(i) && !(parent[i] !== NONE && inside(parent[i])); // the outermost stands for all in it
}

/** Places in the requested files and modules. */
function scopeMatcher(model: Model, { file, module }: Filter): Matcher | null {
  const { places } = model;
  const ofFile = testOf(file, true);
  const ofModule = testOf(module, true);
  if (!ofFile && !ofModule) return null;
  const files = ofFile && model.files.map((f) => ofFile(f.name));
  const inModule = ofModule && new Uint8Array(places.count);
  if (inModule) {
    const names = places.strings.map(ofModule);
    for (let i = 0; i < places.count; i++)
      inModule[i] = places.kind[i] === Kind.Module ? Number(names[places.name[i]]) : (inModule[places.parent[i]] ?? 0);
  }
  return (i) => (!files || (places.file[i] !== NONE && files[places.file[i]])) && (!inModule || inModule[i] === 1);
}

function nameMatcher(model: Model, text: string, linesByFile: boolean): Matcher {
  const { places } = model;
  const test = testOf(text, false)!;
  const inString = places.strings.map(test);
  const byLine = /^(.*[^:]|):(\d+)$/.exec(text);
  const ofFile = testOf(byLine ? byLine[1] : text, true);
  const files = model.files.map((f) => !ofFile || ofFile(f.name));
  const line = byLine ? Number(byLine[2]) : 0;
  const isIn = (i: PlaceIx): boolean => places.kind[i] >= Kind.Loop && places.file[i] !== NONE && files[places.file[i]];
  if (byLine)
    return (i) =>
      inString[places.name[i]] ||
      (isIn(i) && places.lineFirst[i] <= line && line <= places.lineLast[i] && places.lineFirst[i] > 0);
  return (i) => inString[places.name[i]] || (linesByFile && isIn(i));
}
