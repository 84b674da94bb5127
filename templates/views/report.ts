// SPDX-License-Identifier: BSD-3-Clause
// What is printed behind the front page: the hottest loops with their source, all findings, runs and metrics. Made when
// the browser is about to print.

import { Kind, NONE, type PlaceIx } from '../model/data';
import type { Column } from '../logic/columns';
import { formatPercent } from '../logic/format';
import { labelOf, surroundings } from '../logic/labels';
import { type Hot, hottestLoops, hottestOf } from '../logic/summary';
import { findings } from '../logic/tables';
import { metricsTable, runsTable } from './about';
import type { App } from './app';
import { h, visible } from './dom';
import type { SummaryPage } from './summary';

const LOOPS = 5;
const FINDINGS = 40;
const MOST_LINES = 48;
/** Lines around a loop. */
const AROUND = 2;

export class Report {
  readonly element = h('div', { class: 'report' });

  constructor(
    private readonly app: App,
    summary: SummaryPage,
  ) {
    window.addEventListener('beforeprint', () => {
      summary.isPrinted = true;
      summary.draw();
      this.element.replaceChildren(...this.#parts());
    });
    window.addEventListener('afterprint', () => {
      summary.isPrinted = false;
      summary.draw();
      this.element.replaceChildren();
    });
  }

  #parts(): HTMLElement[] {
    const { app } = this;
    const column = app.mainColumn;
    const isThere = column !== null && app.columns.isReady(column) && app.columns.total(column) > 0;
    return [
      ...(isThere ? this.#hot(column) : []),
      ...this.#findings(),
      h('h2', null, 'Runs'),
      runsTable(app.model.processes),
      h('h2', null, 'Metrics'),
      metricsTable(app),
      ...this.warnings(),
    ];
  }

  /** Of a program without loops, its procedures. */
  #hot(column: Column): HTMLElement[] {
    const { app } = this;
    const loops = hottestLoops(app.columns, column, LOOPS).top;
    const all = loops.length ? loops : hottestOf(app.columns, app.tables, column, 'procedure', LOOPS).top;
    if (all.length === 0) return [];
    return [
      h('h2', null, loops.length ? 'Hot loops with their source' : 'Hot procedures with their source'),
      ...all.map((hot) => this.#excerpt(hot, column)),
    ];
  }

  #excerpt({ place, value }: Hot, column: Column): HTMLElement {
    const { model, columns } = this.app;
    const { text, detail } = labelOf(model, place);
    const percent = formatPercent(value, columns.whole(column));
    return h(
      'section',
      { class: 'excerpt-of' },
      h('h3', null, visible([`${percent}%`, text, detail, surroundings(model, place)].filter(Boolean).join(' '))),
      this.#lines(place, column),
    );
  }

  #lines(place: PlaceIx, column: Column): HTMLElement {
    const { app } = this;
    const { places, files } = app.model;
    const file = places.file[place];
    const texts = file === NONE ? null : app.texts.get(files[file]);
    if (!texts || places.lineFirst[place] === 0)
      return h('p', { class: 'muted' }, 'Its source is not known here, or was not read yet.');
    const around = places.kind[place] === Kind.Loop ? AROUND : 0;
    const first = Math.max(1, places.lineFirst[place] - around);
    const last = Math.min(texts.length, places.lineLast[place] + around, first + MOST_LINES - 1);
    const lines = app.fileLines(file);
    const values = app.columns.values(app.inclusive(column), lines.groups);
    const whole = app.columns.whole(column);
    const rows: HTMLElement[] = [];
    for (let line = first; line <= last; line++) {
      const group = lines.at.get(line);
      const value = group === undefined ? NaN : values[group];
      const percent = formatPercent(value, whole);
      const share = h('span', { class: 'excerpt-share' }, percent && `${percent}%`);
      if (value > 0) share.style.setProperty('--heat-alpha', (0.5 * Math.min(1, value / whole)).toFixed(3));
      rows.push(
        h(
          'div',
          { class: 'excerpt-line' },
          share,
          h('span', { class: 'excerpt-number' }, String(line)),
          h('span', null, visible(texts[line - 1].slice(0, 300))),
        ),
      );
    }
    if (last < places.lineLast[place])
      rows.push(h('div', { class: 'muted' }, `and on to line ${places.lineLast[place]}`));
    return h('div', { class: 'excerpt' }, ...rows);
  }

  #findings(): HTMLElement[] {
    const { model } = this.app;
    const all = findings(model) ?? [];
    if (all.length === 0) return [];
    const more = all.length - FINDINGS;
    return [
      h('h2', null, 'Findings'),
      h(
        'ol',
        null,
        ...all.slice(0, FINDINGS).map(({ place, severity, title, more: texts }) => {
          const share = Number.isNaN(severity) ? '' : `${(severity * 100).toFixed(1)}% `;
          const where = place !== NONE && place < model.places.count ? ` — ${labelOf(model, place).text}` : '';
          return h(
            'li',
            null,
            h('b', null, visible(`${share}${title}`)),
            visible(where),
            ...texts.map((t) => h('div', null, visible(t))),
          );
        }),
      ),
      ...(more > 0 ? [h('p', { class: 'muted' }, `and ${more} smaller ones`)] : []),
    ];
  }

  /** The front page has the first few. */
  private warnings(): HTMLElement[] {
    const { warnings } = this.app.model;
    if (warnings.length <= 8) return [];
    return [h('h2', null, 'Warnings'), h('ul', null, ...warnings.map((w) => h('li', null, visible(w))))];
  }
}
