// The front page: is this run what I think it is, where did the time go, what is there to know. Everything is a link.

import { Kind, type Metric, NONE, type PlaceIx, type Process } from '../model/data';
import type { Column } from '../logic/columns';
import { firstDifference } from '../logic/compare';
import { formatExact, formatPercent, formatShort, formatSigned, plural } from '../logic/format';
import { describe, enclosing, labelOf, lineRange, shortName } from '../logic/labels';
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
  type Part,
  whereParts,
} from '../logic/summary';
import type { Level } from '../logic/flat';
import { Memo } from '../logic/memo';
import { type Finding, findings } from '../logic/tables';
import type { App } from './app';
import { button, h, visible } from './dom';

const LISTED = 5;
const MOST_PARTS = 8;
const TIME_UNITS = ['ns', 'us', 'µs', 'ms', 's', 'seconds'];

const isTime = (m: Metric): boolean => m.formula === '' && TIME_UNITS.includes(m.unit);

export class SummaryPage {
  readonly element = h('main', { class: 'summary', id: 'summary', tabindex: '-1' });
  /** On paper it stands in front of the report whatever is on the screen. */
  isPrinted = false;
  #drawn: readonly unknown[] = [];
  readonly #hot = new Memo<{ loops: HotList; lines: HotList; procedures: HotList }>();
  private readonly parts = new Memo<readonly Part[]>();
  readonly #compared = new Memo<Changes>();

  constructor(private readonly app: App) {}

  draw(): void {
    const { app } = this;
    this.element.hidden = app.state.view !== 'summary' && !this.isPrinted;
    if (this.element.hidden) return;
    const inputs = [app.arrivals, app.columns, app.state.form];
    if (inputs.every((x, i) => Object.is(x, this.#drawn[i]))) return;
    this.#drawn = inputs;
    const column = app.mainColumn;
    if (!column || app.model.places.count === 0) {
      this.element.replaceChildren(
        this.#facts(null),
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
        this.#facts(column),
        section('This metric cannot be shown', '', h('p', { class: 'empty small', role: 'alert' }, visible(failure))),
        this.#lacking(null),
      );
      return;
    }
    if (app.columns.isReady(column) && Number.isNaN(app.columns.total(column))) {
      this.element.replaceChildren(
        this.#facts(null),
        section(
          'No samples',
          '',
          h(
            'p',
            { class: 'empty small' },
            'Nothing fell into this run: did the program run long enough, and did it do what it should?',
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
      this.#facts(column),
      ...this.#where(column),
      h('div', { class: 'summary-columns' }, ...this.#lists(column)),
    );
  }

  // ---- facts ----

  #facts(column: Column | null): HTMLElement {
    const { app } = this;
    const { model } = app;
    const first = model.processes[model.runs[0]?.root ?? 0];
    const lines = [first ? this.#runLine(first) : [], column ? this.#numberLine(column) : []];
    return h(
      'section',
      { class: 'strip', 'aria-label': 'What was measured' },
      ...lines.filter((l) => l.length > 0).map((l) => h('p', { class: 'facts-line' }, ...l)),
    );
  }

  #runLine(first: Process): (HTMLElement | string)[] {
    const { processes } = this.app.model;
    const commands = [...new Set([first, ...processes].map((p) => p.command))];
    const started =
      first.startMs > 0
        ? new Date(first.startMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
        : '';
    const hosts = [...new Set(processes.map((p) => p.host))];
    const facts = [
      hosts.length > 1 ? plural(hosts.length, 'host') : first.host,
      first.machine,
      started,
      processes.length > 1 ? plural(processes.length, 'process', 'processes') : '',
    ];
    return [
      h('b', { class: 'code', title: visible(commands.join('\n')) }, visible(commands[0])),
      commands.length > 1 ? h('span', { class: 'muted' }, `and ${plural(commands.length - 1, 'other command')}`) : '',
      ...facts.filter(Boolean).map((f) => h('span', { class: 'fact' }, visible(f))),
    ];
  }

  #numberLine(column: Column): HTMLElement[] {
    const { app } = this;
    const { model, columns } = app;
    const fact = (value: string, what: string, title = ''): HTMLElement =>
      h('span', { class: 'fact', title: title || undefined }, h('b', null, value), ` ${what}`);
    const total = columns.total(column);
    const scale = app.scale(column);
    const facts = [
      fact(
        formatShort(total, scale, columns.error(column, total)) || '–',
        `${visible(scale.unit)} ${isTime(column.metric) ? 'CPU time' : visible(shortName(column.metric))}`,
        `${formatExact(total)} ${column.metric.unit}: ${column.metric.description}`,
      ),
    ];
    const wall = Math.max(...model.processes.map((p) => p.seconds ?? NaN));
    if (Number.isFinite(wall))
      facts.push(fact(`${wall >= 100 ? wall.toFixed(0) : wall.toFixed(2)} s`, 'from start to end'));
    const threads = model.processes.reduce((n, p) => n + p.threads, 0);
    if (threads > 0) facts.push(fact(String(threads), threads === 1 ? 'thread' : 'threads'));
    const ranks = model.processes.filter((p) => p.rank >= 0).length;
    if (ranks > 1) facts.push(fact(String(ranks), 'ranks'));
    if (column.metric.period > 0 && column.metric.formula === '') {
      const samples = Math.round(total / column.metric.period);
      facts.push(
        fact(formatExact(samples), 'samples', `one every ${formatExact(column.metric.period)} ${column.metric.unit}`),
      );
    }
    const values = columns.values(column, null);
    const parts = this.parts.get([values], () => whereParts(model, values));
    const source = parts.reduce((sum, p) => sum + p.withSource, 0);
    facts.push(
      fact(plural(parts.length, 'module'), ''),
      fact(`${formatPercent(source, total) || '0'}%`, 'with source lines'),
    );
    const { runs, processes } = model;
    const isMain = (p: Process, i: number): boolean => p.rank >= 0 || runs.some((run) => run.root === i) || !runs.length;
    const bad = processes.find((p, i) => !p.complete || (p.exitStatus > 0 && isMain(p, i))); // commands that scripts try may fail
    if (bad) facts.push(h('span', { class: 'fact warn' }, bad.complete ? 'ended with an error' : 'was cut off'));
    return facts;
  }

  // ---- where ----

  #where(column: Column): HTMLElement[] {
    const { app } = this;
    const difference = firstDifference(app.columns)?.difference;
    const runs = difference ? [difference.base, difference.of] : [column];
    for (const run of runs) if (!app.columns.isReady(run)) return [];
    const whole = Math.max(...runs.map((r) => Math.abs(app.columns.total(r))));
    const bars = runs.map((run) => ({ run, parts: whereParts(app.model, app.columns.values(run, null)) }));
    // a module has its colour in every bar
    const names = [...new Set(bars.flatMap((b) => b.parts.map((p) => p.name)))];
    const colourOf = (name: string): number => Math.min(names.indexOf(name), MOST_PARTS - 1);
    return [
      h(
        'section',
        { class: 'where', 'aria-label': 'Where the samples fell' },
        h('h2', null, 'Where'),
        h(
          'div',
          { class: 'where-bars' },
          ...bars.map(({ run, parts }) => this.#bar(run, parts, whole, colourOf, runs.length > 1)),
        ),
        h('p', { class: 'muted small' }, 'Load modules; the hatched part of one has no source lines.'),
      ),
    ];
  }

  #bar(
    column: Column,
    parts: readonly Part[],
    whole: number,
    colourOf: (name: string) => number,
    isNamed: boolean,
  ): HTMLElement {
    const { app } = this;
    const total = app.columns.total(column);
    const shown = parts.slice(0, MOST_PARTS);
    const rest = parts.slice(MOST_PARTS).reduce((sum, p) => sum + p.value, 0);
    const scale = app.scale(column);
    const row = h('div', { class: 'where-bar', role: 'list' });
    for (const part of shown) {
      const percent = formatPercent(part.value, total);
      const without = (part.value - part.withSource) / part.value;
      const element = h(
        'button',
        {
          type: 'button',
          class: `where-part part-${colourOf(part.name)}`,
          title: visible(
            `${part.name}: ${percent}%, ${formatShort(part.value, scale, app.columns.error(column, part.value))} ${scale.unit}; ${formatPercent(part.withSource, part.value)}% of it on known source lines`,
          ),
          onclick: () => app.selectInTree(part.place),
        },
        h('span', { class: 'where-name' }, visible(`${part.name} ${percent}%`)),
      );
      element.style.setProperty('--hatched', `${(without * 100).toFixed(1)}%`);
      const item = h('div', { role: 'listitem', class: 'where-item' }, element);
      item.style.flexGrow = String(part.value / whole);
      row.append(item);
    }
    if (rest > 0)
      row.append(
        spacer(
          rest / whole,
          `${plural(parts.length - MOST_PARTS, 'other module')}: ${formatPercent(rest, total)}%`,
          'where-rest',
        ),
      );
    if (total < whole) row.append(spacer((whole - total) / whole, '', 'where-nothing'));
    return h(
      'div',
      { class: 'where-line' },
      isNamed
        ? h(
            'span',
            { class: 'where-run' },
            visible(
              `${shortName(column.metric)} ${formatShort(total, scale, app.columns.error(column, total))} ${scale.unit}`,
            ),
          )
        : null,
      row,
    );
  }

  // ---- lists ----

  #lists(column: Column): HTMLElement[] {
    const { app } = this;
    const difference = firstDifference(app.columns);
    const hasLines = app.tables.has('line');
    const values = app.columns.values(column, null);
    const { loops, lines, procedures } = this.#hot.get([app.columns, column, values], () => ({
      loops: hottestLoops(app.columns, app.tables, column, LISTED),
      lines: hasLines ? hottestOf(app.columns, app.tables, column, 'line', LISTED) : { top: [], count: 0 },
      procedures: hottestOf(app.columns, app.tables, column, 'procedure', LISTED),
    }));
    // of a program without line numbers, the lines of its libraries say nothing
    const known = this.parts.get([values], () => whereParts(app.model, values)).reduce((n, p) => n + p.withSource, 0);
    const showsLines = lines.top.length > 0 && known >= 0.25 * app.columns.total(column);
    const isFlat = !difference && !showsLines && (loops.top[0]?.value ?? 0) < (procedures.top[0]?.value ?? 0);
    const loopList = this.#list('Hot loops', 'what runs in a loop and in no loop inside it', loops, column, 'loop');
    const lineList = this.#list('Hot lines', 'each line over all its copies', lines, column, 'line');
    const procedureList = this.#list(
      'Hot procedures',
      'with what was inlined into them',
      procedures,
      column,
      'procedure',
    );
    const left: HTMLElement[] = [];
    const right: HTMLElement[] = [...this.#findings()];
    if (difference && app.columns.isReady(difference)) left.push(...this.#changed(difference));
    if (isFlat) left.push(procedureList);
    if (loops.top.length) (isFlat || difference ? right : left).push(loopList);
    if (showsLines) (difference ? right : left).push(lineList);
    if (!isFlat && procedures.top.length) (difference ? left : right).push(procedureList);
    right.push(this.#lacking(column));
    return [h('div', { class: 'summary-column' }, ...left), h('div', { class: 'summary-column' }, ...right)];
  }

  #list(title: string, hint: string, list: HotList, column: Column, level: Level): HTMLElement {
    const { app } = this;
    const more = list.count - list.top.length;
    return section(
      title,
      hint,
      h('ol', { class: 'hot' }, ...list.top.map((hot) => this.#hotItem(hot, column))),
      more > 0
        ? button(
            `all ${formatExact(list.count)}`,
            `The table of all of them`,
            () => app.store.dispatch({ type: 'view', view: level }),
            'link',
          )
        : null,
    );
  }

  #hotItem(hot: Hot, column: Column): HTMLElement {
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
        error > 0 ? h('span', { class: 'muted' }, ` ±${error}`) : null,
      ),
      hot.copies,
      app.columns.values(column, null),
    );
  }

  /** Share, name, where, and the text of the line or of the hottest line in it. */
  #item(place: PlaceIx, share: HTMLElement, copies: number, values: Float64Array): HTMLElement {
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
      kind === Kind.Line && text ? label.text : label.detail,
      inside ? `in ${inside}` : '',
      ...label.badges.filter((b) => !/^\d+ of \d+$/.test(b)),
      copies > 1 ? `×${copies}` : '',
    ];
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
          onclick: () => app.selectInTree(place),
        },
        share,
        h(
          'span',
          { class: 'hot-what' },
          h('span', { class: `hot-name kind-${kind}` }, visible(kind === Kind.Line && text ? text : label.text)),
          h('span', { class: 'muted' }, visible(details.filter(Boolean).join('  '))),
          kind !== Kind.Line && text ? h('span', { class: 'hot-text' }, visible(`${lineLabel}${text}`)) : null,
        ),
      ),
    );
  }

  /** Of a line that is written within a place its number, else with its file: what was inlined stands elsewhere. */
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
    const level: Level =
      app.tables.has('line') && app.model.files.some((f) => f.state === 'text') ? 'line' : 'procedure';
    const values = app.columns.values(difference, null);
    const { worse, better } = this.#compared.get([values, level], () =>
      changes(app.columns, app.tables, difference, level),
    );
    const base = difference.difference!.base;
    const list = (title: string, all: readonly Change[], none: string): HTMLElement =>
      section(
        title,
        `${shortName(difference.metric)}: beyond the noise of sampling, percent of ${shortName(base.metric)}`,
        all.length
          ? h('ol', { class: 'hot' }, ...all.slice(0, LISTED).map((c) => this.#change(c, difference)))
          : h('p', { class: 'muted' }, none),
        all.length > LISTED
          ? button(
              `all ${all.length}`,
              'The table, sorted by the difference',
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
      list('Got worse', worse, 'Nothing, beyond the noise.'),
      list('Got better', better, 'Nothing, beyond the noise.'),
    ];
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
        { class: 'hot-share', title: `${value} ± ${formatShort(change.error, scale, change.error)}` },
        bar,
        h('b', null, `${formatSigned(formatPercent(change.value, whole), change.value)}%`),
        h('span', { class: 'muted' }, ` ${value}`),
      ),
      1,
      app.columns.values(difference, null),
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
      return [section('Findings', '', h('p', { class: 'muted' }, 'None: no property that was looked for holds.'))];
    return [
      section(
        'Findings',
        'the worst first',
        h('ol', { class: 'hot' }, ...all.slice(0, LISTED).map((f) => this.#finding(f))),
        all.length > LISTED
          ? button(
              `all ${all.length}`,
              'The table of all of them',
              () => {
                app.store.dispatch({ type: 'pane', slot: 'inspect', name: 'table-findings' });
                app.selectInTree(0);
              },
              'link',
            )
          : null,
      ),
    ];
  }

  #finding(finding: Finding): HTMLElement {
    const { app } = this;
    const { place, severity } = finding;
    const hasPlace = place !== NONE && place < app.model.places.count;
    const label = hasPlace ? labelOf(app.model, place) : null;
    return h(
      'li',
      null,
      h(
        'button',
        {
          type: 'button',
          class: 'hot-item',
          onclick: () => {
            app.store.dispatch({ type: 'pane', slot: 'inspect', name: 'table-findings' });
            app.selectInTree(hasPlace ? place : 0);
          },
        },
        h(
          'span',
          { class: 'hot-share' },
          h('b', null, Number.isNaN(severity) ? '' : `${(severity * 100).toFixed(severity < 0.095 ? 1 : 0)}%`),
        ),
        h(
          'span',
          { class: 'hot-what' },
          h('span', { class: 'hot-name' }, visible(finding.title)),
          label && !finding.title.includes(label.text) ? h('span', { class: 'muted' }, visible(label.text)) : null,
          ...finding.more.map((text) => h('span', { class: 'hot-more' }, visible(text))),
        ),
      ),
    );
  }

  // ---- what is lacking ----

  #lacking(column: Column | null): HTMLElement {
    const { app } = this;
    const all = [...app.model.warnings, ...(column ? lacks(app.columns, column) : [])];
    return section(
      'What this result lacks',
      '',
      all.length
        ? h('ul', { class: 'lacks' }, ...all.slice(0, 8).map((w) => h('li', null, visible(w))))
        : h('p', { class: 'muted' }, 'Nothing that is known.'),
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

function spacer(share: number, title: string, className: string): HTMLElement {
  const element = h(
    'div',
    { class: className, role: 'listitem', title: title || undefined },
    title ? h('span', { class: 'where-name' }, title) : null,
  );
  element.style.flexGrow = String(share);
  return element;
}

function section(title: string, hint: string, ...content: (HTMLElement | null)[]): HTMLElement {
  return h(
    'section',
    { class: 'card' },
    h(
      'header',
      { class: 'card-head' },
      h('h2', null, title),
      hint ? h('span', { class: 'muted' }, visible(hint)) : null,
    ),
    ...content,
  );
}
