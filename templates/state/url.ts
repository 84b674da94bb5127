// SPDX-License-Identifier: BSD-3-Clause
// State <-> the address bar: "#v2/tree?sort=0i-&place=12&source=3:54". Only what differs from the start is written.
// What cannot be read in an old or a foreign link is passed over; the rest still holds. Version 1 lacks what was added
// since, and opened with nothing selected where it names no place.

import type { Model } from '../model/data';
import { CALLS } from '../logic/calls';
import { type ColumnId, Columns, type Typed } from '../logic/columns';
import { FORMS } from '../logic/format';
import { sourceOf } from '../logic/tree';
import { type CallRows, type Layout, type Page, type Slot, SLOTS, type SourceMark, type State, VIEWS, type View } from './state';

const VERSION = 'v2';
/** Longer lists of open rows are left out: addresses have limits, and so has the patience of those who paste them. */
const MOST_OPEN = 300;

const sortText = (state: State): string => `${state.sortBy ?? 'name'}${state.descending ? '-' : '+'}`;
const sourceText = (s: SourceMark): string =>
  s.first === 0 ? `${s.file}` : s.last > s.first ? `${s.file}:${s.first}-${s.last}` : `${s.file}:${s.first}`;
/** Without the slots at the end that are as at the start; the first three are always there. */
function layoutText(layout: Layout, start: Layout): string {
  const names = SLOTS.map((s) => layout[s]);
  while (names.length > 3 && names[names.length - 1] === start[SLOTS[names.length - 1]]) names.pop();
  return names.join(',');
}

/** Open rows as differences in base 36: they stand in one another's neighbourhood. null: too many. */
function openText(expanded: ReadonlySet<number>): string | null {
  if (expanded.size > MOST_OPEN) return null;
  let last = 0;
  return [...expanded]
    .sort((a, b) => a - b)
    .map((p) => {
      const text = (p - last).toString(36);
      last = p;
      return text;
    })
    .join('.');
}

function parseOpen(text: string, count: number): Set<number> {
  const open = new Set<number>();
  let place = 0;
  for (const part of text.split('.').slice(0, MOST_OPEN)) {
    if (!/^[0-9a-z]{1,7}$/.test(part)) break;
    place += Number.parseInt(part, 36);
    if (place >= count) break;
    open.add(place);
  }
  return open;
}

const typedText = (typed: readonly Typed[]): string => typed.map((t) => `${t.name}=${t.formula}`).join(';');

/** Formulas with ';' between them; one in quotes is of a metric's name. */
const FORMULA = /(?:[^;"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+/gsu;

function parseTyped(text: string, model: Model): Typed[] {
  const typed: Typed[] = [];
  for (const [part] of [...text.matchAll(FORMULA)].slice(0, 100)) {
    const eq = part.indexOf('=');
    const metric = { name: part.slice(0, Math.max(0, eq)), formula: part.slice(eq + 1) };
    if (metric.formula.length <= 2000 && new Columns(model, typed).refuse(metric) === null)
      typed.push(metric);
  }
  return typed;
}

export function toHash(state: State, start: State): string {
  const query: string[] = [];
  const put = (key: string, value: string): void =>
    void query.push(
      `${key}=${encodeURIComponent(value).replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%2F/g, '/')}`,
    );
  if (state.typed.length) put('typed', typedText(state.typed));
  if (sortText(state) !== sortText(start)) put('sort', sortText(state));
  if (state.shown.join() !== start.shown.join()) put('columns', state.shown.join());
  if (state.base) put('base', state.base);
  if (state.form === 'exact') put('exact', '1');
  else if (state.form !== start.form) put('numbers', state.form);
  if (state.ofParent) put('percent', 'parent');
  if (!state.fuse) put('fuse', '0');
  if (state.flatten) put('flatten', String(state.flatten));
  if (state.hot !== start.hot) put('hot', String(state.hot));
  if (state.fold) put('fold', '1');
  if (state.least !== start.least) put('least', String(state.least));
  if (state.beside) put('beside', '1');
  if (state.about) put('about', '1');
  if (state.filter) put('find', state.filter);
  if (state.zoom) put('zoom', String(state.zoom));
  const [panes, usual] = [state.layout, start.layout].map((layout) => layoutText(layout, start.layout));
  if (panes !== usual) put('panes', panes);
  if (state.view !== 'summary') {
    const open = openText(state.expanded);
    if (open !== null && open !== openText(start.expanded)) put('open', open);
    if (state.selected !== null) put('place', String(state.selected));
    if (state.source) put('source', sourceText(state.source));
  }
  if (state.view === 'calls' && state.calls) {
    const { open, selected } = state.calls;
    const text = openText(open);
    if (text !== null) put('calls', text);
    if (selected !== null) put('call', String(selected));
  }
  return `#${VERSION}/${state.view}${query.length ? `?${query.join('&')}` : ''}`;
}

function parseSource(text: string, model: Model): SourceMark | null {
  const match = /^(\d+)(?::(\d+)(?:-(\d+))?)?$/.exec(text);
  if (!match || Number(match[1]) >= model.files.length) return null;
  const first = Number(match[2] ?? 0);
  return { file: Number(match[1]), first, last: Math.max(first, Number(match[3] ?? first)) };
}

function parsePlace(text: string | undefined, count: number): number | null {
  return text !== undefined && /^\d+$/.test(text) && Number(text) < count ? Number(text) : null;
}

function parseCalls(open: string, selected: string | undefined, model: Model): CallRows {
  const count = model.trees.find((t) => t.name === CALLS)?.nodes ?? 0;
  return { open: parseOpen(open, count), selected: parsePlace(selected, count) };
}

function parseLayout(text: string | undefined, start: Layout): { [S in Slot]: string } {
  const names = text?.split(',') ?? [];
  const layout: { [S in Slot]: string } = { ...start };
  SLOTS.forEach((slot, i) => {
    if (/^[\w-]*$/.test(names[i] ?? '?')) layout[slot] = names[i];
  });
  return layout;
}

/** The page that has what stood in the inspector when a link was made. */
const pageOf = (pane: string): Page | null =>
  pane === 'barriers' || pane === 'threads' ? 'time' : pane === 'memory' ? pane : /^(table-|search$)/.test(pane) ? 'data' : null;

function between(text: string | undefined, least: number, most: number, otherwise: number): number {
  const number = /^\d+$/.test(text ?? '') ? Number(text) : NaN;
  return number >= least && number <= most ? number : otherwise;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** null where the address says nothing to us. */
export function fromHash(hash: string, start: State, model: Model): Partial<State> | null {
  const match = /^#(v1|v2)\/([a-z]+)(?:\?(.*))?$/.exec(hash);
  if (!match) return null;
  const query = new Map(
    (match[3] ?? '').split('&').map((part) => {
      const eq = part.indexOf('=');
      return [part.slice(0, Math.max(eq, 0)), decode(part.slice(eq + 1))];
    }),
  );
  const layout = parseLayout(query.get('panes'), start.layout);
  let view = VIEWS.includes(match[2] as View) ? (match[2] as View) : match[1] === 'v1' ? 'tree' : start.view;
  const page = pageOf(layout.inspect);
  if (page && view !== 'summary') {
    layout[page] = layout.inspect;
    layout.inspect = start.layout.inspect;
    view = page;
  }
  const typed = parseTyped(query.get('typed') ?? '', model);
  const known = new Columns(model, typed);
  let { sortBy, descending, shown } = start;
  const sort = /^(.*?)([-+])$/.exec(query.get('sort') ?? '');
  if (sort && (sort[1] === 'name' || known.get(sort[1]))) {
    sortBy = sort[1] === 'name' ? null : sort[1];
    descending = sort[2] === '-';
  }
  const columns = query.get('columns');
  if (columns !== undefined) shown = columns.split(',').filter((c: ColumnId) => known.get(c));
  const least = Number(query.get('least') ?? start.least);
  const open = query.get('open');
  const calls = query.get('calls');
  const selected = parsePlace(query.get('place'), model.places.count);
  const itsSource = selected === null ? undefined : sourceOf(model, selected); // of a link somebody wrote
  return {
    view,
    sortBy,
    descending,
    shown,
    typed,
    form: query.get('exact') === '1' ? 'exact' : (FORMS.find((f) => f === query.get('numbers')) ?? start.form),
    ofParent: query.get('percent') === 'parent',
    fuse: query.get('fuse') !== '0',
    flatten: between(query.get('flatten'), 0, 50, 0),
    hot: between(query.get('hot'), 1, 100, start.hot),
    fold: query.get('fold') === '1',
    least: least >= 0 && least <= 100 ? least : start.least,
    beside: query.get('beside') === '1',
    about: query.get('about') === '1' || page === 'data',
    filter: query.get('find') ?? '',
    selected,
    source: parseSource(query.get('source') ?? '', model) ?? itsSource ?? null,
    zoom: parsePlace(query.get('zoom'), model.places.count) ?? 0,
    base: query.get('base') ?? '',
    layout,
    ...(open === undefined ? {} : { expanded: parseOpen(open, model.places.count) }),
    ...(calls === undefined ? {} : { calls: parseCalls(calls, query.get('call'), model) }),
  };
}
