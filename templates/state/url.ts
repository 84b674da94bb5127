// State <-> the address bar: "#v1/tree?sort=0i-&place=12&source=3:54". Only what differs from the start is written.
// What cannot be read in an old or a foreign link is passed over; the rest still holds.

import { type Column, columnOf, isExclusive, metricOf, type Model } from '../model/data';
import { type SourceMark, type State, VIEWS, type View } from './state';

const VERSION = 'v1';

const columnText = (column: Column): string => `${metricOf(column)}${isExclusive(column) ? 'e' : 'i'}`;

function parseColumn(text: string, model: Model): Column | null {
  const match = /^(\d+)([ie])$/.exec(text);
  if (!match) return null;
  const metric = Number(match[1]);
  if (metric >= model.metrics.length || (match[2] === 'e' && !model.metrics[metric].hasExclusive)) return null;
  return columnOf(metric, match[2] === 'e');
}

const sortText = (state: State): string =>
  `${state.sortBy === null ? 'name' : columnText(state.sortBy)}${state.descending ? '-' : '+'}`;
const sourceText = (s: SourceMark): string =>
  s.first === 0 ? `${s.file}` : s.last > s.first ? `${s.file}:${s.first}-${s.last}` : `${s.file}:${s.first}`;

export function toHash(state: State, start: State): string {
  const query: string[] = [];
  const put = (key: string, value: string): void =>
    void query.push(`${key}=${encodeURIComponent(value).replace(/%3A/g, ':').replace(/%2C/g, ',')}`);
  if (sortText(state) !== sortText(start)) put('sort', sortText(state));
  if (state.shown.join() !== start.shown.join()) put('columns', state.shown.map(columnText).join(','));
  if (state.exact) put('exact', '1');
  if (!state.fuse) put('fuse', '0');
  if (state.filter) put('find', state.filter);
  if (state.selected !== null) put('place', String(state.selected));
  if (state.source) put('source', sourceText(state.source));
  return `#${VERSION}/${state.view}${query.length ? `?${query.join('&')}` : ''}`;
}

function parseSource(text: string, model: Model): SourceMark | null {
  const match = /^(\d+)(?::(\d+)(?:-(\d+))?)?$/.exec(text);
  if (!match || Number(match[1]) >= model.files.length) return null;
  const first = Number(match[2] ?? 0);
  return { file: Number(match[1]), first, last: Math.max(first, Number(match[3] ?? first)) };
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
  const match = /^#v1\/([a-z]+)(?:\?(.*))?$/.exec(hash);
  if (!match) return null;
  const query = new Map(
    (match[2] ?? '').split('&').map((part) => {
      const eq = part.indexOf('=');
      return [part.slice(0, Math.max(eq, 0)), decode(part.slice(eq + 1))];
    }),
  );
  const view = VIEWS.includes(match[1] as View) ? (match[1] as View) : start.view;
  let { sortBy, descending, shown } = start;
  const sort = /^(.*?)([-+])$/.exec(query.get('sort') ?? '');
  if (sort) {
    const column = parseColumn(sort[1], model);
    if (column !== null || sort[1] === 'name') {
      sortBy = column;
      descending = sort[2] === '-';
    }
  }
  const columns = query.get('columns');
  if (columns !== undefined)
    shown = columns
      .split(',')
      .map((c) => parseColumn(c, model))
      .filter((c) => c !== null);
  const place = /^\d+$/.test(query.get('place') ?? '') ? Number(query.get('place')) : null;
  return {
    view,
    sortBy,
    descending,
    shown,
    exact: query.get('exact') === '1',
    fuse: query.get('fuse') !== '0',
    filter: query.get('find') ?? '',
    selected: place !== null && place < model.places.count ? place : null,
    source: parseSource(query.get('source') ?? '', model),
  };
}
