// SPDX-License-Identifier: BSD-3-Clause
// The front page: is this run what I think it is, where did the time go, what is there to know. Everything is a link.

import { Kind, NONE, type PlaceIx } from '../model/data';
import type { Column } from '../logic/columns';
import { type Difference, differences, firstDifference, runOf } from '../logic/compare';
import { findingsAt } from '../logic/diagnosis';
import { formatExact, formatPercent, formatShort, formatSigned } from '../logic/format';
import { type HotPlace, hotPlaces } from '../logic/hot_places';
import { badgeTitle, describe, enclosing, folded, labelOf, lineRange, shortName } from '../logic/labels';
import {
  type Change,
  type Changes,
  changes,
  type Hot,
  type HotList,
  hottestLineIn,
  hottestLoops,
  hottestOf,
  lacks,
  whereParts,
} from '../logic/summary';
import type { Level } from '../logic/flat';
import { Memo, same } from '../logic/memo';
import { findings } from '../logic/tables';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import { findingItem } from './finding';
import { calleeName, efficiencies, headline } from './headline';
import { factsStrip, moreBars, whereBars } from './run_summary';

const LISTED = 5;
const MOST_LINES = 100; // of which those without text give way to others
const MOST_CAUSES = 2;

export class SummaryPage {
  readonly element = h('main', { class: 'summary', id: 'summary', tabindex: '-1' });
  /** On paper it precedes the report in any state of the screen. */
  isPrinted = false;
  #drawn: readonly unknown[] = [];
  readonly #hot = new Memo<{ loops: HotList; lines: HotList; procedures: HotList }>();
  readonly #places = new Memo<readonly HotPlace[]>();
  readonly #compared = new Memo<Changes & { level: Level }>();

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    this.element.hidden = app.state.view !== 'summary' && !this.isPrinted;
    if (this.element.hidden) return;
    const inputs = [app.arrivals, app.columns, app.state.form];
    if (same(inputs, this.#drawn)) return;
    this.#drawn = inputs;
    const column = app.mainColumn;
    if (!column || app.model.places.count === 0) {
      this.element.replaceChildren(
        factsStrip(app, null),
        section(
          'Nothing was measured',
          '',
          h(
            'p',
            { class: 'empty small' },
            'The database has no samples. Did the program run long enough, and was it the one that was recorded?',
          ),
        ),
        this.#lacking(null),
      );
      return;
    }
    const failure = app.columns.failure(column);
    if (failure !== undefined) {
      this.element.replaceChildren(
        factsStrip(app, column),
        section('This metric cannot be shown', '', h('p', { class: 'empty small', role: 'alert' }, visible(failure))),
        this.#lacking(null),
      );
      return;
    }
    if (app.columns.isReady(column) && Number.isNaN(app.columns.total(column))) {
      this.element.replaceChildren(
        factsStrip(app, null),
        section(
          'No samples',
          '',
          h(
            'p',
            { class: 'empty small' },
            'This run has no samples. Did the program run long enough, and did it work?',
          ),
        ),
        this.#lacking(null),
      );
      return;
    }
    if (!app.columns.isReady(column)) {
      this.element.replaceChildren(h('p', { class: 'notice' }, 'Reading the metrics …'));
      return;
    }
    this.element.replaceChildren(
      headline(app, column, this.#headPlaces(column)) ?? '',
      factsStrip(app, column),
      efficiencies(app) ?? '',
      ...whereBars(app, column),
      ...moreBars(app, column),
      h('div', { class: 'summary-columns' }, ...this.#lists(column)),
    );
  }

  // ---- lists ----

  /** By the user's own code, if call paths were measured and are here; null: not (yet). */
  #hotPlaces(column: Column): readonly HotPlace[] | null {
    const calls = this.app.trees.smallCalls();
    const same = calls?.app.columns.get(column.id);
    if (!calls || !same || !calls.app.columns.isReady(same)) return null;
    const values = calls.app.columns.values(same, null);
    return this.#places.get([values], () => hotPlaces(this.app.model, calls.tree, values));
  }

  /** For the headline; of a program without call paths its loops; null: call paths are on their way. */
  #headPlaces(column: Column): readonly HotPlace[] | null {
    const { app } = this;
    const hot = this.#hotPlaces(column);
    if (hot || app.trees.isComing) return hot;
    return hottestLoops(app.columns, column, 2).top.map(({ place, value }) => ({ place, value, callee: NONE }));
  }

  #placeList(column: Column): HTMLElement | null {
    const all = this.#hotPlaces(column);
    if (!all?.length) return null;
    const { app } = this;
    const items = all.slice(0, LISTED).map(({ place, callee, value }) => {
      const hot = { place, value, copies: 1, error: app.columns.error(column, value) };
      return this.#hotItem(hot, column, callee === NONE ? '' : `calls ${calleeName(app, callee)}`);
    });
    const go = (text: string, view: 'loop' | 'calls'): HTMLElement =>
      button(text, 'Show all of them in a table', () => app.store.dispatch({ type: 'view', view }), 'link');
    return section(
      'Hot places',
      'your code; libraries are counted where you call them',
      h('ol', { class: 'hot' }, ...items),
      h('p', null, go('all loops', 'loop'), ' ', go('all calls', 'calls')),
    );
  }

  #lists(column: Column): HTMLElement[] {
    const { app } = this;
    const difference = firstDifference(app.columns);
    const hasLines = app.tables.has('line');
    const values = app.columns.values(column, null);
    const { loops, lines, procedures } = this.#hot.get([app.columns, column, values], () => ({
      loops: hottestLoops(app.columns, column, LISTED),
      lines: hasLines ? hottestOf(app.columns, app.tables, column, 'line', MOST_LINES) : { top: [], count: 0 },
      procedures: hottestOf(app.columns, app.tables, column, 'procedure', LISTED),
    }));
    // of a program without line numbers, the lines of its libraries say nothing
    const known = whereParts(app.model, values).reduce((n, p) => n + p.withSource, 0);
    const showsLines = lines.top.length > 0 && known >= 0.25 * app.columns.total(column);
    const isFlat = !difference && !showsLines && (loops.top[0]?.value ?? 0) < (procedures.top[0]?.value ?? 0);
    const run = difference ? `${runOf(app.model, column.index)}: ` : '';
    const loopList = this.#list('Hot loops', `${run}time in each loop, excluding loops nested inside it`, loops, column, 'loop');
    const { file } = app.model.places;
    const ownLines = lines.top.filter(({ place }) => app.model.files[file[place]]?.state === 'text');
    const shownLines = { ...lines, top: (ownLines.length ? ownLines : lines.top).slice(0, LISTED) };
    const lineList = showsLines ? this.#list('Hot lines', `${run}each line over all its copies`, shownLines, column, 'line') : null;
    const procedureList = this.#list(
      'Hot procedures',
      `${run}including inlined code`,
      procedures,
      column,
      'procedure',
    );
    const findingList = this.#findings();
    const changed = difference && app.columns.isReady(difference) ? this.#changed(difference) : [];
    const placeList = difference ? null : this.#placeList(column);
    const hot = isFlat ? [placeList, procedureList] : difference ? [procedureList, loopList] : [placeList ?? loopList, lineList];
    const rest = isFlat ? [loopList] : difference ? [lineList] : [procedureList];
    // the most important at the top: left costs, right causes; the rest where it fits
    const [first, ...others] = [...changed, ...hot].filter((card) => card !== null);
    const left = first ? [first] : [];
    const right = [...(difference ? this.#differing() : []), ...findingList];
    for (const card of [...others, ...rest.filter((c) => c !== null), this.#lacking(column)])
      (linesOf(left) <= linesOf(right) ? left : right).push(card);
    return [h('div', { class: 'summary-column' }, ...left), h('div', { class: 'summary-column' }, ...right)];
  }

  #list(title: string, hint: string, list: HotList, column: Column, level: Level): HTMLElement | null {
    const { app } = this;
    if (list.top.length === 0) return null;
    const more = list.count - list.top.length;
    return section(
      title,
      hint,
      h('ol', { class: 'hot' }, ...list.top.map((hot) => this.#hotItem(hot, column))),
      more > 0
        ? button(
            `all ${formatExact(list.count)}`,
            `Show all of them in a table`,
            () => app.store.dispatch({ type: 'view', view: level }),
            'link',
          )
        : null,
    );
  }

  #hotItem(hot: Hot, column: Column, what = ''): HTMLElement {
    const { app } = this;
    const whole = app.columns.whole(column);
    const percent = formatPercent(hot.value, whole);
    const scale = app.scaleAmong(column, hot.value);
    const error = Math.ceil((hot.error / whole) * 100);
    const bar = h('span', { class: 'bar' });
    bar.style.width = `${Math.min(100, (hot.value / whole) * 100).toFixed(1)}%`;
    return this.#item(
      hot.place,
      h(
        'span',
        {
          class: 'hot-share',
          title: `${formatShort(hot.value, scale, hot.error)} ${scale.unit}${hot.error > 0 ? `; sampling knows it to ± ${formatShort(hot.error, scale, hot.error)} ${scale.unit}` : ''}`,
        },
        bar,
        h('b', null, percent ? `${percent}%` : formatShort(hot.value, scale)),
        error > 0 ? muted(` ±${error}`) : null,
      ),
      hot.copies,
      app.columns.values(column, null),
      () => undefined,
      what,
    );
  }

  /** Share, name, where, and the text of the line or of the hottest line in it. */
  #item(
    place: PlaceIx,
    share: HTMLElement,
    copies: number,
    values: Float64Array,
    before: () => void = () => undefined,
    what = '',
  ): HTMLElement {
    const { app } = this;
    const { model } = app;
    const label = labelOf(model, place);
    const kind = model.places.kind[place];
    const inside =
      kind === Kind.Procedure
        ? enclosing(model, model.places.parent[place], [Kind.Module])
        : enclosing(model, model.places.parent[place], [Kind.Procedure, Kind.Inline]);
    const line = kind === Kind.Line ? place : hottestLineIn(model, app.tables, place, values);
    const text = this.#textOf(line);
    const lineLabel = kind === Kind.Line || line === NONE ? '' : `${this.#lineName(place, line)}: `;
    const details = [
      what,
      kind === Kind.Line && text ? label.text : label.detail,
      inside ? `in ${inside}` : '',
      copies > 1 ? `×${copies}` : '',
    ];
    const badges = label.badges.filter((b) => !/^\d+ of \d+$/.test(b));
    return h(
      'li',
      null,
      h(
        'button',
        {
          type: 'button',
          class: 'hot-item',
          title: visible(describe(model, place)),
          'data-place': String(place),
          onclick: () => {
            before();
            app.selectInTree(place);
          },
        },
        share,
        h(
          'span',
          { class: 'hot-what' },
          h('span', { class: `hot-name kind-${kind}` }, visible(kind === Kind.Line && text ? text : folded(label.text))),
          muted(visible(details.filter(Boolean).join('  '))),
          ...badges.map((b) => h('span', { class: 'badge', title: badgeTitle(b) || undefined }, b)),
          ...this.#causes(place),
          kind !== Kind.Line && text ? h('span', { class: 'hot-text' }, visible(`${lineLabel}${text}`)) : null,
        ),
      ),
    );
  }

  /** Findings there, in a word or two: the evidence is among the findings. */
  #causes(place: PlaceIx): HTMLElement[] {
    const titles = [...new Set(findingsAt(this.app.model, place).map((f) => folded(f.title)))];
    return titles.slice(0, MOST_CAUSES).map((t) => h('span', { class: 'badge cause', title: 'Found here' }, visible(t)));
  }

  /** For a line within a place its number, else with its file: inlined lines are elsewhere. */
  #lineName(place: PlaceIx, line: PlaceIx): string {
    const { file, lineFirst, lineLast } = this.app.model.places;
    const isWithin =
      file[line] === file[place] && lineFirst[place] <= lineFirst[line] && lineFirst[line] <= lineLast[place];
    return isWithin ? String(lineFirst[line]) : lineRange(this.app.model, line);
  }

  #textOf(place: PlaceIx): string {
    const { places, files } = this.app.model;
    if (place === NONE || places.file[place] === NONE || places.lineFirst[place] === 0) return '';
    const lines = this.app.texts.get(files[places.file[place]]);
    return lines?.[places.lineFirst[place] - 1]?.trim().slice(0, 160) ?? '';
  }

  // ---- comparison ----

  #changed(difference: Column): HTMLElement[] {
    const { app } = this;
    const hasText = app.tables.has('line') && app.model.files.some((f) => f.state === 'text');
    const values = app.columns.values(difference, null);
    const levels: Level[] = [app.tables.has('loop') ? 'loop' : hasText ? 'line' : 'procedure', 'procedure'];
    const { level, worse, better } = this.#compared.get([values], () => {
      const all = levels.map((level) => ({ level, ...changes(app.columns, app.tables, difference, level) }));
      return all.find((c) => c.worse.length + c.better.length > 0) ?? all[0];
    });
    const base = difference.difference!.base;
    const list = (title: string, all: readonly Change[], none: string): HTMLElement =>
      section(
        title,
        `${level}s beyond the noise of sampling, percent of ${shortName(base.metric)}`,
        all.length
          ? h('ol', { class: 'hot' }, ...all.slice(0, LISTED).map((c) => this.#change(c, difference)))
          : h('p', { class: 'muted' }, none),
        all.length > LISTED
          ? button(
              `all ${all.length}`,
              'Show the table, sorted by the difference',
              () => {
                app.store.dispatch({ type: 'show-columns', shown: [...new Set([...app.state.shown, difference.id])] });
                if (app.state.sortBy !== difference.id) app.store.dispatch({ type: 'sort', by: difference.id });
                app.store.dispatch({ type: 'view', view: level });
              },
              'link',
            )
          : null,
      );
    return [
      list('Costs more', worse, `No ${level} differs beyond the noise of sampling.`),
      list('Costs less', better, `No ${level} differs beyond the noise of sampling.`),
    ];
  }

  /** Possible causes: how it was compiled, where and how it ran. */
  #differing(): HTMLElement[] {
    const { model } = this.app;
    const all = differences(model);
    if (all.length === 0) return [];
    const cells = (d: Difference): HTMLElement[] =>
      d.values.map((text, i) => h('td', { title: visible(d.whole[i]) }, visible(text || '–')));
    return [
      section(
        'Differences between the runs',
        '',
        h(
          'table',
          { class: 'differs' },
          h('thead', null, h('tr', null, h('td', null), ...model.runs.map((r) => h('th', { scope: 'col' }, visible(r.name))))),
          h('tbody', null, ...all.map((d) => h('tr', null, h('th', { scope: 'row' }, visible(d.what)), ...cells(d)))),
        ),
      ),
    ];
  }

  /** The tables show what the lists of changes do: a comparison with the same base. */
  #compare(difference: Column): void {
    const { app } = this;
    const base = runOf(app.model, difference.difference!.base.index);
    if (difference.index === NONE && base !== '' && app.state.base === '') app.compareWith(base);
  }

  #change(change: Change, difference: Column): HTMLElement {
    const { app } = this;
    const whole = app.columns.whole(difference);
    const scale = app.scaleAmong(difference, change.value);
    const value = `${formatSigned(formatShort(change.value, scale, change.error), change.value)} ${scale.unit}`;
    const bar = h('span', { class: `bar ${change.value > 0 ? 'worse' : 'better'}` });
    bar.style.width = `${Math.min(100, (Math.abs(change.value) / whole) * 100).toFixed(1)}%`;
    return this.#item(
      change.place,
      h(
        'span',
        { class: 'hot-share of-change', title: `${value} ± ${formatShort(change.error, scale, change.error)}` },
        bar,
        h('b', null, `${formatSigned(formatPercent(change.value, whole), change.value)}%`),
        muted(` ${value}`),
      ),
      1,
      app.columns.values(difference, null),
      () => this.#compare(difference),
    );
  }

  // ---- findings ----

  /** The worst that is known: property, place, evidence, remedy. */
  #findings(): HTMLElement[] {
    const { app } = this;
    const { model } = app;
    const at = model.tables.findIndex((t) => t.name === 'findings');
    if (at < 0) return [];
    const failure = model.tableRows.failure(at);
    if (failure !== undefined) return [section('Findings', '', h('p', { class: 'warn' }, visible(failure)))];
    const all = findings(model);
    if (!all) return [section('Findings', '', h('p', { class: 'muted' }, 'Reading …'))];
    if (all.length === 0)
      return [section('Findings', '', h('p', { class: 'muted' }, 'No problems found.'))];
    return [
      section(
        'Findings',
        'largest likely gain first',
        h('ol', { class: 'hot' }, ...all.slice(0, LISTED).map((f) => findingItem(app, f))),
        all.length > LISTED
          ? button(
              `all ${all.length}`,
              'Show all of them in a table',
              () => app.showTable('findings'),
              'link',
            )
          : null,
      ),
    ];
  }

  // ---- what is lacking ----

  #lacking(column: Column | null): HTMLElement {
    const { app } = this;
    const all = [...app.model.warnings, ...(column ? lacks(app.columns, column) : [])];
    return section(
      'Limitations of this result',
      '',
      all.length
        ? h('ul', { class: 'lacks' }, ...all.slice(0, 8).map((w) => h('li', null, visible(w))))
        : h('p', { class: 'muted' }, 'None known.'),
      all.length > 8
        ? button(
            `all ${all.length}`,
            'About this database',
            () => app.store.dispatch({ type: 'panel', panel: 'about' }),
            'link',
          )
        : null,
    );
  }
}

/** About how tall cards are, in lines. */
const linesOf = (cards: readonly HTMLElement[]): number =>
  cards.reduce(
    (sum, card) =>
      sum + 2 + [...card.querySelectorAll('li')].reduce((n, item) => n + 1 + Math.floor((item.textContent ?? '').length / 75), 0),
    0,
  );

function section(title: string, hint: string, ...content: (HTMLElement | null)[]): HTMLElement {
  return h(
    'section',
    { class: 'card' },
    h(
      'header',
      { class: 'card-head' },
      h('h2', null, title),
      hint ? muted(visible(hint)) : null,
    ),
    ...content,
  );
}
