// The inspector's tab of copies: everywhere the compiler put what is selected, with what it costs there and through which
// inlined calls it came there.

import { Kind, NONE, type PlaceIx } from '../model/data';
import { formatPercent, formatScaled, plural } from '../logic/format';
import { LEVEL_KIND, type Level } from '../logic/flat';
import { baseName, fileName, labelOf } from '../logic/labels';
import { same } from '../logic/memo';
import { compareValues } from '../logic/sort';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import type { Pane, PaneType } from './panes';

const MOST = 100;

class CallersPane implements Pane {
  readonly element = h('section', { class: 'pane callers', 'aria-label': 'Copies and inlined calls' });
  #drawn: readonly unknown[] = [];

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const { selected } = app.state;
    const inputs = [selected, app.heatColumn, app.arrivals];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    if (selected === null) {
      this.element.replaceChildren(
        h('p', { class: 'empty small' }, 'Select a row or a line to see where its copies are.'),
      );
      return;
    }
    const copies = this.#copies(selected);
    const shown = copies.slice(0, MOST);
    this.element.replaceChildren(
      h(
        'p',
        { class: 'why-title' },
        h('b', null, visible(labelOf(app.model, selected).text)),
        ` is in the program ${plural(copies.length, 'time')}`,
      ),
      h('ul', { class: 'parts' }, ...shown.map((place) => this.#item(place))),
      copies.length > shown.length
        ? h('p', { class: 'muted' }, `and ${copies.length - shown.length} cheaper ones`)
        : '',
    );
  }

  /** Of the same source construct, the costliest first. */
  #copies(place: PlaceIx): PlaceIx[] {
    const { app } = this;
    const kind = app.model.places.kind[place];
    const level = (Object.keys(LEVEL_KIND) as Level[]).find((l) => LEVEL_KIND[l] === kind);
    const column = app.heatColumn;
    if (!level || !column) return [place];
    const groups = app.tables.level(level, true);
    const group = groups.groupOf[place];
    const values = app.columns.values(app.inclusive(column), null);
    return Array.from(groups.members.subarray(groups.start[group], groups.start[group + 1])).sort(
      (a, b) => compareValues(values[a], values[b], true) || a - b,
    );
  }

  #item(place: PlaceIx): HTMLElement {
    const { app } = this;
    const column = app.inclusive(app.heatColumn!);
    const value = app.columns.values(column, null)[place];
    const percent = formatPercent(value, app.columns.whole(column));
    const text = percent ? `${percent}%` : formatScaled(value, app.scale(column));
    return h(
      'li',
      { class: place === app.state.selected && 'on' },
      h('span', { class: 'n' }, text || 'no data'),
      ...this.#chain(place),
    );
  }

  /** "in loop at x.c:5, in dot inlined at x.c:7, in main": each a way there. */
  #chain(place: PlaceIx): (HTMLElement | string)[] {
    const { app } = this;
    const { places } = app.model;
    const parts: (HTMLElement | string)[] = [];
    for (let up = place; up !== NONE && places.kind[up] >= Kind.Procedure; up = places.parent[up]) {
      if (parts.length) parts.push(muted(' in '));
      parts.push(
        button(visible(labelOf(app.model, up).text), 'Go there in the scope tree', () => app.selectInTree(up), 'crumb'),
      );
      const file = places.callFile[up];
      const line = places.callLine[up];
      if (places.kind[up] === Kind.Inline && file !== NONE)
        parts.push(
          button(
            visible(`called at ${baseName(fileName(app.model, file))}:${line}`),
            'Show the call',
            () => app.store.dispatch({ type: 'show-source', source: { file, first: line, last: line } }),
            'crumb',
          ),
        );
    }
    return parts;
  }
}

export const callersPane: PaneType = {
  name: 'callers',
  title: 'Copies',
  slot: 'inspect',
  room: 'Callers',
  isThere: (app) => app.mainColumn !== null && app.model.places.kind.includes(Kind.Procedure),
  make: (app) => new CallersPane(app),
};
