// The inspector's first tab: what is known of the selected place in numbers, each with its error and formula.

import { Kind, NONE } from '../model/data';
import type { Column } from '../logic/columns';
import { formatPercent, formatShort, formatSigned } from '../logic/format';
import { kindName, labelOf, lineRange, surroundings } from '../logic/labels';
import { same } from '../logic/memo';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import { factsTable } from './facts';
import type { Pane, PaneType } from './panes';

class WhyPane implements Pane {
  readonly element = h('section', { class: 'pane why', 'aria-label': 'Numbers of the selected place' });
  #drawn: readonly unknown[] = [];
  #isWhole = false;

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const { selected, shown, form } = app.state;
    const inputs = [selected, shown, form, app.columns, app.arrivals, this.#isWhole];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    if (selected === null || selected >= app.model.places.count) {
      this.element.replaceChildren(
        h('p', { class: 'empty small' }, 'Select a row, a line or a box to see its numbers here.'),
      );
      return;
    }
    this.element.replaceChildren(this.#title(selected), this.#numbers(selected));
  }

  #title(place: number): HTMLElement {
    const { model } = this.app;
    const label = labelOf(model, place);
    const details = [label.detail, surroundings(model, place), ...label.badges].filter(Boolean);
    const where = model.places.kind[place] === Kind.Procedure ? lineRange(model, place) : '';
    return h(
      'p',
      { class: 'why-title' },
      label.text.startsWith('loop') ? null : muted(`${kindName(model.places.kind[place])} `),
      h('b', null, visible(label.text)),
      muted(` ${visible([where, ...details].filter(Boolean).join(', '))}`),
    );
  }

  #columns(): Column[] {
    const { app } = this;
    const shown = app.shownColumns().map((c) => app.inclusive(c));
    const all = this.#isWhole ? app.model.metrics.map((_, i) => app.columns.of(i)) : [];
    return [...new Set([...shown, ...all])];
  }

  #numbers(place: number): HTMLElement {
    const { app } = this;
    const columns = this.#columns();
    const more = app.model.metrics.length - columns.filter((c) => c.index !== NONE).length;
    const heads = ['Metric', 'All in it', 'Error', 'of the program', 'of what is around', 'Its own', 'Formula'];
    return h(
      'div',
      null,
      factsTable(
        heads.map((text) => ({ text, isNumber: text !== 'Metric' && text !== 'Formula' })),
        columns.map((c) => this.#row(c, place)),
      ),
      more > 0
        ? button(`All metrics (${more} more)`, 'Read and show every metric of this place', () => {
            this.#isWhole = true;
            app.drawSoon();
          })
        : null,
    );
  }

  #row(column: Column, place: number): HTMLElement {
    const { app } = this;
    const { columns } = app;
    const cell = (text: string, className = 'n'): HTMLElement => h('td', { class: className }, text);
    if (columns.failure(column) !== undefined)
      return h(
        'tr',
        null,
        h('th', { scope: 'row' }, visible(column.metric.displayName)),
        h('td', { colspan: '6', class: 'warn' }, visible(columns.failure(column)!)),
      );
    const value = columns.at(column, place);
    const parent = app.model.places.parent[place];
    const error = columns.error(column, value, null, place);
    const scale = app.scaleAmong(column, Math.abs(value));
    const sign = (t: string): string => (column.difference ? formatSigned(t, value) : t);
    const percent = formatPercent(value, columns.whole(column));
    const around =
      parent === NONE || column.difference || Number.isNaN(columns.whole(column))
        ? ''
        : formatPercent(value, columns.at(column, parent));
    const own = columns.at(app.own(column), place);
    const blank = columns.isReady(column) ? 'no data' : '…';
    return h(
      'tr',
      null,
      h('th', { scope: 'row', title: visible(column.metric.description) }, visible(column.metric.displayName)),
      cell(Number.isNaN(value) ? blank : `${sign(formatShort(value, scale, error))} ${visible(scale.unit)}`),
      cell(error > 0 ? `± ${formatShort(error, scale, error)}` : '', 'muted n'),
      cell(percent && `${sign(percent)}%`),
      cell(around && `${around}%`),
      cell(
        Number.isNaN(own) || own === value
          ? ''
          : `${formatShort(own, scale, columns.error(app.own(column), own, null, place))} ${visible(scale.unit)}`,
      ),
      cell(visible(column.metric.formula), 'code'),
    );
  }
}

export const whyPane: PaneType = {
  name: 'why',
  title: 'Numbers',
  slot: 'inspect',
  room: 'Why',
  isThere: (app) => app.mainColumn !== null,
  make: (app) => new WhyPane(app),
};
