// SPDX-License-Identifier: BSD-3-Clause
// The card of what is selected: what it is, what it costs, why, who called it. Sentences and labelled numbers; tables are
// links to the view Data.

import { Kind, NONE, type PlaceIx, type TableInfo } from '../model/data';
import type { Column } from '../logic/columns';
import { findingsAt } from '../logic/diagnosis';
import { distributionAt, evenParts, summed } from '../logic/distribution';
import { formatPercent, formatShort, formatSigned, plural } from '../logic/format';
import { folded, kindName, labelOf, lineRange, shortName, surroundings } from '../logic/labels';
import { same } from '../logic/memo';
import { cellText, isAboutPlaces } from '../logic/tables';
import type { App } from './app';
import { callLists } from './calls';
import { copiesOf } from './copies';
import { button, h, muted, visible } from './dom';
import { findingItem } from './finding';
import { explained } from './glossary';
import type { Pane, PaneType } from './panes';
import { threadBars } from './run_summary';

/** Of the table loop_quality, in groups: bound, vectors, references, code. */
const QUALITY = [
  ['bound', 'bound_by', 'chain', 'ports', 'memory', 'trips'],
  ['vectorized', 'efficiency', 'elements', 'unroll'],
  ['loaded', 'stored', 'stride_one', 'stride_more', 'indirect', 'intensity'],
  ['instructions', 'uops', 'flops', 'spills', 'calls'],
] as const;
/** Tables whose rows the card has, or another view. */
const NO_LINK = new Set(['instructions', 'instruction_counts', 'thread_values', 'findings', 'search']);

const labelled = (label: string, value: string, more = '', title = ''): HTMLElement =>
  h('div', { title: title || explained(label) }, h('dt', null, label), h('dd', null, h('b', null, value), more ? muted(` ${more}`) : null));

class CardPane implements Pane {
  readonly element = h('section', { class: 'pane selection', 'aria-label': 'What is selected' });
  #drawn: readonly unknown[] = [];
  #isWhole = false;

  constructor(private readonly app: App) {}

  draw(): void {
    const { front } = this.app;
    const { selected, shown, form, typed } = front.state;
    const inputs = [front, selected, shown, form, typed, front.heatColumn, this.app.arrivals, this.#isWhole];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    if (selected === null || selected >= front.model.places.count) {
      this.element.replaceChildren(h('p', { class: 'empty small' }, 'Select a row, a line or a box: its costs and their causes are shown here.'));
      return;
    }
    // of a node of the tree of calls: its kind
    const place = front.model.scopes?.of[selected] ?? selected;
    this.element.replaceChildren(
      this.#head(front, selected),
      ...this.#findings(place),
      this.#numbers(front, selected),
      ...this.#quality(place),
      ...callLists(this.app, place),
      ...copiesOf(this.app, place),
      ...this.#threads(place),
      this.#links(place),
    );
  }

  #head(app: App, at: PlaceIx): HTMLElement {
    const { model } = app;
    const label = labelOf(model, at);
    const kind = model.places.kind[at];
    const where = kind === Kind.Procedure ? lineRange(model, at) : '';
    const details = [where, label.detail, surroundings(model, at), ...label.badges].filter(Boolean).join(', ');
    return h(
      'header',
      { class: 'selection-head' },
      h(
        'p',
        { class: 'selection-name' },
        label.text.startsWith('loop') ? null : muted(`${kindName(kind)} `),
        h('b', null, visible(folded(label.text))),
        muted(` ${visible(details)}`),
      ),
    );
  }

  #findings(place: PlaceIx): HTMLElement[] {
    const found = findingsAt(this.app.model, place);
    return found.length ? [h('ol', { class: 'hot' }, ...found.map((f) => findingItem(this.app, f, false)))] : [];
  }

  #numbers(app: App, at: PlaceIx): HTMLElement {
    const shown = app.shownColumns().map((c) => app.inclusive(c));
    const all = this.#isWhole ? app.model.metrics.map((_, i) => app.columns.of(i)) : [];
    const columns = [...new Set([...shown, ...all])];
    const more = app.model.metrics.length - columns.filter((c) => c.index !== NONE).length;
    return h(
      'dl',
      { class: 'labelled numbers' },
      ...columns.map((c) => this.#number(app, c, at)),
      more > 0
        ? button(`All metrics (${more} more)`, 'Read and show every metric of this place', () => {
            this.#isWhole = true;
            this.app.drawSoon();
          }, 'link')
        : null,
    );
  }

  #number(app: App, column: Column, at: PlaceIx): HTMLElement {
    const { columns } = app;
    const { metric } = column;
    const name = visible(shortName(metric));
    const title = visible([metric.displayName, metric.description, metric.formula && `= ${metric.formula}`].filter(Boolean).join('\n'));
    const failure = columns.failure(column);
    if (failure !== undefined) return labelled(name, 'not available', visible(failure), title);
    const value = columns.at(column, at);
    if (Number.isNaN(value)) return labelled(name, columns.isReady(column) ? 'no data' : '…', '', title);
    const scale = app.scaleAmong(column, Math.abs(value));
    const unit = visible(scale.unit);
    const sign = (t: string): string => (column.difference ? formatSigned(t, value) : t);
    const error = columns.error(column, value, null, at);
    const parent = app.model.places.parent[at];
    const percent = formatPercent(value, columns.whole(column));
    const isShare = parent > 0 && !column.difference && !Number.isNaN(columns.whole(column));
    const around = isShare ? formatPercent(value, columns.at(column, parent)) : '';
    const own = columns.at(app.own(column), at);
    return labelled(
      name,
      `${sign(formatShort(value, scale, error))} ${unit}`.trim(),
      [
        error > 0 ? `± ${formatShort(error, scale, error)}` : '',
        percent && `${sign(percent)}% of the run`,
        around && around !== percent ? `${around}% of ${folded(labelOf(app.model, parent).text)}` : '',
        Number.isNaN(own) || own === value ? '' : `self ${formatShort(own, scale, columns.error(app.own(column), own, null, at))} ${unit}`,
      ].filter(Boolean).map(visible).join(', '),
      title,
    );
  }

  /** The quality of a loop's code; of something in a loop, that loop's. */
  #quality(place: PlaceIx): HTMLElement[] {
    const { model } = this.app;
    const at = model.tables.findIndex((t) => t.name === 'loop_quality');
    const rows = at < 0 || model.places.kind[place] < Kind.Loop ? null : model.tableRows.of(at);
    if (!rows) return [];
    const info = model.tables[at];
    const column = (name: string): number => info.columns.findIndex((c) => c.name === name);
    const places = rows.cells[column('place')];
    let loop = place;
    let row = NONE;
    for (; loop > 0 && row < 0; loop = model.places.parent[loop]) if (model.places.kind[loop] === Kind.Loop) row = places?.indexOf(loop as never) ?? NONE;
    if (row < 0) return [];
    const text = (c: number): string => (c < 0 ? '' : cellText(model, info.columns[c], rows, rows.cells[c][row]));
    const summary = text(column('summary'));
    const groups = QUALITY.map((names) =>
      names
        .map((name) => column(name))
        .filter((c) => text(c) !== '' && text(c) !== '0')
        .map((c) => labelled(visible(info.columns[c].title), visible(text(c)), visible(info.columns[c].unit), visible(info.columns[c].description))),
    ).filter((group) => group.length > 0);
    return [
      ...(places[row] === place ? [] : [h('h3', null, visible(labelOf(model, places[row]).text))]),
      ...(summary ? [h('p', { class: 'selection-words' }, visible(summary))] : []),
      ...groups.map((group) => h('dl', { class: 'labelled' }, ...group)),
    ];
  }

  #threads(place: PlaceIx): HTMLElement[] {
    const { model, mainColumn } = this.app;
    const at = model.tables.findIndex((t) => t.name === 'thread_values' && t.rows > 0);
    const rows = at < 0 ? null : model.tableRows.of(at);
    const given = rows && mainColumn && distributionAt(model, model.tables[at], rows, mainColumn.metric.name, place);
    if (!given || given.place !== place) return [];
    const parts = evenParts(given);
    if (parts.length < 2) return [];
    const { imbalance } = summed(parts);
    const what = given.ranks.size > 1 ? 'rank' : 'thread';
    const words = `${plural(parts.length, what)}, imbalance ${(imbalance * 100).toFixed(0)}%`;
    return [h('div', { class: 'selection-threads' }, threadBars(this.app, parts, words, place), muted(words))];
  }

  #links(place: PlaceIx): HTMLElement {
    const { app } = this;
    const isWanted = (t: TableInfo): boolean => t.rows > 0 && isAboutPlaces(t) && !NO_LINK.has(t.name);
    const tables = app.model.tables.filter(isWanted);
    return h(
      'p',
      { class: 'selection-links' },
      tables.length ? muted('Tables: ') : null,
      ...tables.map((t) => button(visible(t.title), visible(`${t.description}: the rows about this place`), () => app.showTable(t.name, place), 'link')),
    );
  }
}

export const cardPane: PaneType = {
  name: 'card',
  title: 'Selection',
  slot: 'inspect',
  isThere: (app) => app.mainColumn !== null,
  make: (app) => new CardPane(app),
};
