// SPDX-License-Identifier: BSD-3-Clause
// Barriers and phases: stacked columns of phase and barrier times, one for each run; the same as numbers, with the loops that
// ran before each barrier; episodes over time; who waited for whom.

import { NONE, type PlaceIx } from '../model/data';
import { formatScaled, plural, timeScale, timeText } from '../logic/format';
import { labelOf } from '../logic/labels';
import { Memo, same } from '../logic/memo';
import { type LoopOfPhase, type Phase, Rows, type Stack, barrierName, type InRange, inRange, loopsBefore, phasesOf, placesInRange, stacks, timeline, whoWaits } from '../logic/phases';
import type { App } from './app';
import { button, h, muted, visible } from './dom';
import { cell, factsTable } from './facts';
import type { Pane, PaneType } from './panes';
import { TimelineView } from './timeline';

const MOST = 40;
const FEW = 5; // of a range of time
const LOOPS = 3; // of a phase, until one asks for more
const HEIGHT = 200; // of the tallest column, pixels
const COLOURS = [1, 2, 3, 4, 5, 6]; // --part-N; 0 is waiting, 7 the rest

const number = (text: string, unit = ''): { text: string; unit: string; isNumber: boolean } => ({ text, unit, isNumber: true });

class BarriersPane implements Pane {
  readonly element = h('section', { class: 'pane facts-pane', 'aria-label': 'Barriers and phases' });
  readonly #about = h('div', null); // the selected place
  readonly #view = new Memo<TimelineView>();
  #drawn: readonly unknown[] = [];
  #drawnAbout: readonly unknown[] = [];
  #normalized = false;
  #run = 0;
  #opened = NONE; // the barrier whose loops are all shown

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    const inputs = [app.arrivals, this.#normalized, this.#run, this.#opened];
    if (!same(inputs, this.#drawn)) {
      this.#drawn = inputs;
      const barriers = Rows.of(app.model, 'barriers');
      this.element.replaceChildren(
        ...(barriers ? this.#parts(barriers) : [h('p', { class: 'empty small' }, 'Reading …')]),
      );
    }
    const selected = [app.arrivals, app.state.selected];
    if (same(selected, this.#drawnAbout)) return;
    this.#drawnAbout = selected;
    this.#about.replaceChildren(...this.#phasesOfSelected());
  }

  #parts(barriers: Rows): HTMLElement[] {
    const all = stacks(barriers);
    if (!all.some((s) => s.run === this.#run)) this.#run = all[0]?.run ?? 0;
    return [
      ...this.#timeline(barriers),
      this.#head(),
      this.#columns(barriers, all),
      ...(all.length > 1 ? [this.#runs(all)] : []),
      this.#numbers(barriers),
      ...this.#matrix(),
      this.#about,
    ];
  }

  #set(change: () => void): void {
    change();
    this.app.drawSoon();
  }

  #head(): HTMLElement {
    return h(
      'p',
      { class: 'why-title' },
      h('b', null, 'Phases and the barriers that end them '),
      button(
        this.#normalized ? 'Show times' : 'Show shares of the total',
        'Absolute times, or each column as 100%',
        () => this.#set(() => (this.#normalized = !this.#normalized)),
        'link',
      ),
    );
  }

  // ---- stacked columns

  #runName(run: number): string {
    return visible(this.app.model.runs[run]?.name ?? '');
  }

  #columns(barriers: Rows, all: readonly Stack[]): HTMLElement {
    const tallest = Math.max(...all.map((s) => s.total), 1);
    const column = (stack: Stack): HTMLElement => {
      const scale = HEIGHT / (this.#normalized ? stack.total || 1 : tallest);
      return h(
        'div',
        { class: 'stack' },
        h('div', { class: 'stack-bars' }, ...stack.phases.flatMap((p, i) => this.#segments(barriers, p, i, scale)).reverse()),
        h('div', { class: 'stack-name' }, this.#runName(stack.run)),
        h('div', { class: 'muted' }, timeText(stack.total)),
      );
    };
    return h(
      'div',
      { class: 'stacks', role: 'img', 'aria-label': 'Phase and barrier times as stacked columns; the table below has the numbers' },
      ...all.map(column),
      this.#legend(barriers, all),
    );
  }

  #colour(p: Phase): string {
    return p.row === NONE ? 'var(--part-7)' : `var(--part-${COLOURS[p.colour % COLOURS.length]})`;
  }

  #name(barriers: Rows, row: number): string {
    return row === NONE ? 'all others' : visible(barrierName(barriers, row));
  }

  #segments(barriers: Rows, p: Phase, i: number, scale: number): HTMLElement[] {
    const name = this.#name(barriers, p.row);
    const part = (ns: number, colour: string, title: string, text: string): HTMLElement => {
      const height = ns * scale;
      const element = h('div', { class: 'stack-part', title }, height > 13 ? text : '');
      element.style.height = `${height.toFixed(2)}px`;
      element.style.background = colour;
      return element;
    };
    return [
      part(p.work, this.#colour(p), `phase ${i + 1}, before ${name}: ${timeText(p.work)} until the first came`, String(i + 1)),
      part(p.wait, 'var(--part-0)', `barrier ${i + 1}, ${name}: ${timeText(p.wait)} from the first to the last`, ''),
    ];
  }

  #legend(barriers: Rows, all: readonly Stack[]): HTMLElement {
    const named = new Map(all.flatMap((s) => s.phases.map((p) => [p.colour, p] as const)));
    const entry = (colour: string, text: string): HTMLElement => {
      const mark = h('span', { class: 'stack-mark' });
      mark.style.background = colour;
      return h('li', null, mark, ` ${text}`);
    };
    return h(
      'ul',
      { class: 'stack-legend' },
      entry('var(--part-0)', 'barrier time: from the first arrival to the last'),
      ...[...named].sort((a, b) => a[0] - b[0]).map(([, p]) => entry(this.#colour(p), `phase before ${this.#name(barriers, p.row)}`)),
    );
  }

  #runs(all: readonly Stack[]): HTMLElement {
    return h(
      'p',
      { class: 'why-title' },
      'Below: ',
      ...all.map((s) =>
        s.run === this.#run
          ? h('b', null, `${this.#runName(s.run)} `)
          : button(this.#runName(s.run), 'Show this run', () => this.#set(() => (this.#run = s.run)), 'link'),
      ),
    );
  }

  // ---- numbers, and the loops of each phase

  #numbers(barriers: Rows): HTMLElement {
    const phase = (row: number): number => barriers.value('phase', row) || 0;
    const order = barriers
      .all()
      .filter((row) => barriers.run(row) === this.#run)
      .sort((a, b) => phase(b) - phase(a) || a - b)
      .slice(0, MOST);
    const scale = timeScale(phase(order[0]));
    const loops = Rows.of(this.app.model, 'phase_loops');
    const bars = order.map((row) =>
      h(
        'tr',
        null,
        cell(this.#barrierLink(barriers, row)),
        cell(barriers.text('episodes', row), true),
        cell(formatScaled(phase(row), scale), true),
        cell(formatScaled(barriers.value('barrier', row) || 0, scale), true),
        cell(percent(barriers.value('share', row)), true),
        cell(percent(barriers.value('imbalance', row)), true),
        cell(this.#lastThread(barriers, row)),
        h('td', null, ...(loops ? this.#loopsOf(loops, row) : [])),
      ),
    );
    return factsTable(
      [
        'Ended by',
        number('Episodes'),
        number('Phase', scale.unit),
        number('Barrier', scale.unit),
        number('of phase', '%'),
        number('Imbalance', '%'),
        'Most often last',
        'Hottest loops',
      ],
      bars,
    );
  }

  #barrierLink(barriers: Rows, row: number): HTMLElement | string {
    const place = barriers.value('place', row);
    const label = this.#name(barriers, row);
    return place === NONE ? label : button(label, 'Go there', () => this.app.selectInTree(place), 'crumb');
  }

  #lastThread(barriers: Rows, row: number): string {
    const share = barriers.value('last_share', row);
    const thread = visible(barriers.text('last_thread', row));
    return thread && share > 0 ? `${thread}, ${percent(share)}%` : thread;
  }

  #loopsOf(loops: Rows, barrier: number): HTMLElement[] {
    const found = loopsBefore(loops, barrier);
    const all = this.#opened === barrier;
    return [
      ...found.slice(0, all ? MOST : LOOPS).map((l) => h('div', null, this.#placeLink(l.place), ` ${percent(l.share)}%`)),
      ...(found.length > LOOPS && !all
        ? [button(`${found.length - LOOPS} more`, 'All loops of this phase', () => this.#set(() => (this.#opened = barrier)), 'link')]
        : []),
    ];
  }

  #placeLink(place: PlaceIx): HTMLElement {
    return button(visible(labelOf(this.app.model, place).text), 'Go there', () => this.app.selectInTree(place), 'crumb');
  }

  // ---- from a loop to its phases

  #phasesOfSelected(): HTMLElement[] {
    const { model, state } = this.app;
    const loops = Rows.of(model, 'phase_loops');
    const barriers = Rows.of(model, 'barriers');
    const place = state.selected ?? 0;
    const found = loops && barriers && place !== 0 ? phasesOf(model, loops, place) : [];
    if (!barriers || found.length === 0) return [];
    const row = (l: LoopOfPhase): HTMLElement =>
      h(
        'tr',
        null,
        cell(l.begun === NONE ? 'the begin' : this.#barrierLink(barriers, l.begun)),
        cell(l.ended === NONE ? '' : this.#barrierLink(barriers, l.ended)),
        cell(visible(l.event)),
        cell(String(l.samples), true),
        cell(percent(l.share), true),
      );
    return [
      h(
        'p',
        { class: 'why-title' },
        h('b', null, 'Phases of the selected place '),
        muted(visible(labelOf(model, place).text)),
      ),
      factsTable(['From', 'to', 'Event', number('Samples'), number('of the phase', '%')], found.slice(0, MOST).map(row)),
    ];
  }

  // ---- episodes, the wait matrix

  #timeline(barriers: Rows): HTMLElement[] {
    const { model } = this.app;
    const episodes = Rows.of(model, 'episodes');
    const arrivals = Rows.of(model, 'arrivals');
    if (!episodes || !arrivals) return [];
    const data = timeline(episodes, arrivals, this.#run);
    if (data.bars.length === 0) return [];
    return [
      this.#view.get([episodes.rows, arrivals.rows, this.#run], () => {
        const name = (episode: number): string => this.#name(barriers, episodes.value('barrier', episode));
        return new TimelineView(data, name, (from, to) => this.#range(barriers, inRange(data, episodes, from, to), from, to));
      }).element,
    ];
  }

  /** The card of a range of time. */
  #range(barriers: Rows, range: InRange, from: number, to: number): HTMLElement[] {
    const all = range.work + range.wait;
    const title = `From ${timeText(from)} to ${timeText(to)}`;
    if (!(all > 0)) return [h('p', { class: 'memory-why' }, h('b', null, title), ': no episode is kept here.')];
    const loops = Rows.of(this.app.model, 'phase_loops');
    const share = (part: number, ...what: (HTMLElement | string)[]): HTMLElement => {
      const bar = h('span', { class: 'bar' });
      bar.style.width = `${(100 * part).toFixed(1)}%`;
      return h('li', { class: 'hot-item' }, h('span', { class: 'hot-share' }, bar, h('b', null, `${percent(100 * part)}%`)), h('span', { class: 'hot-what' }, ...what));
    };
    const list = (name: string, hint: string, items: HTMLElement[]): HTMLElement =>
      h('section', { class: 'card' }, h('header', { class: 'card-head' }, h('h2', null, name), muted(hint)), h('ol', { class: 'hot' }, ...items));
    const places = loops ? placesInRange(loops, range).slice(0, FEW) : [];
    return [
      h(
        'p',
        { class: 'memory-why' },
        h('b', null, title),
        `: the threads work ${percent((100 * range.work) / all)}% of the time and wait ${percent((100 * range.wait) / all)}%, in ${plural(range.episodes, 'recorded episode')}.`,
      ),
      h(
        'div',
        { class: 'summary-columns' },
        list(
          'Barriers here',
          'share of the threads’ time before and at each',
          range.barriers
            .slice(0, FEW)
            .map((b) => share((b.work + b.wait) / all, this.#barrierLink(barriers, b.row), muted(`waited ${timeText(b.wait)}${b.wait > 0 ? `, ${visible(b.last)} most often last` : ''}`))),
        ),
        list('Hot places here', 'estimated from the samples of these phases in the whole run', places.map(([place, part]) => share(part, this.#placeLink(place)))),
      ),
    ];
  }

  /** Waiting threads (rows), and those they waited for (columns). */
  #matrix(): HTMLElement[] {
    const t = Rows.of(this.app.model, 'waits_for');
    const m = t && whoWaits(t, this.#run);
    if (!m || m.waiters.length === 0) return [];
    const others = m.others.slice(0, MOST);
    const scale = timeScale(m.most);
    const shaded = (waited: number): HTMLElement => {
      const element = cell(waited ? formatScaled(waited, scale) : '', true);
      element.style.background = `color-mix(in srgb, var(--part-0) ${((waited / m.most) * 80).toFixed(0)}%, transparent)`;
      return element;
    };
    return [
      h('p', { class: 'why-title' }, h('b', null, 'Who waits for whom '), muted(`${scale.unit}; columns came last`)),
      factsTable(
        ['waits', ...others.map((o) => number(visible(`for ${o}`)))],
        m.waiters.slice(0, MOST).map((w) => h('tr', null, cell(visible(w)), ...others.map((o) => shaded(m.waited(w, o))))),
      ),
    ];
  }
}

const percent = (x: number): string => (Number.isNaN(x) ? '' : x.toFixed(1));

export const barriersPane: PaneType = {
  name: 'barriers',
  title: 'Phases and barriers',
  slot: 'time',
  isThere: (app) => app.model.tables.some((t) => t.name === 'barriers' && t.rows > 0 && t.columns.some((c) => c.name === 'phase')),
  make: (app) => new BarriersPane(app),
};
