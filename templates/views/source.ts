// The source pane: text with what each line costs beside it.

import { type Column, Kind, metricOf, NONE, type SourceFile } from '../model/data';
import type { SourceLines } from '../model/load';
import { formatExact, formatPercent, formatScaled, plural } from '../logic/format';
import { enclosing, shortName } from '../logic/labels';
import { hottestLine, type LineCost, lineCosts } from '../logic/lines';
import { Memo } from '../logic/rows';
import { Colouring, languageOf } from '../logic/syntax';
import type { App } from './app';
import { button, h, visible } from './dom';
import { VirtualRows } from './rows';

const ROW = 19;
/** Of one line; the rest is counted. */
const LONGEST_SHOWN = 1000;
const MOST_MARKS = 300;

const WHY_NO_TEXT: { readonly [S in SourceFile['state']]: string } = {
  text: '',
  missing:
    'Its text was not found when the database was built. Name its folder (hpcview build -I FOLDER, or <sources path="FOLDER"/> in the configuration) and build again.',
  'left-out': 'The database was built without its text.',
  'too-large': 'Its text is too large to be shown (more than 16 MB).',
  unreadable: 'Its text was found, but could not be read when the database was built.',
};

export class SourcePane {
  readonly element: HTMLElement;
  private readonly title: HTMLElement;
  private readonly tools: HTMLElement;
  private readonly columnHead: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly body: HTMLElement;
  private readonly marks: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly rows: VirtualRows;
  private readonly costs = new Memo<Map<number, LineCost>>();
  private lines: SourceLines = [];
  private colouring: Colouring | null = null;
  private drawn: readonly unknown[] = [];
  private revealed: unknown = null;
  private hottest = 0;

  constructor(private readonly app: App) {
    this.title = h('h2', { class: 'pane-title', id: 'source-title' });
    this.tools = h('div', { class: 'source-tools' });
    this.columnHead = h('div', { class: 'source-head' });
    this.body = h('div', { class: 'source-body' });
    this.scroller = h(
      'div',
      { class: 'source-scroll', id: 'source', tabindex: '0', role: 'grid', 'aria-labelledby': 'source-title' },
      this.body,
    );
    this.marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
    this.empty = h('div', { class: 'empty' });
    this.element = h(
      'section',
      { class: 'pane source' },
      h('header', { class: 'pane-head' }, this.title, this.tools),
      this.columnHead,
      h('div', { class: 'source-frame' }, this.scroller, this.marks, this.empty),
    );
    this.rows = new VirtualRows(
      this.scroller,
      this.body,
      ROW,
      () => 0,
      (row) => this.makeRow(row),
    );
    this.body.addEventListener('click', (event) => this.onClick(event));
    this.scroller.addEventListener('keydown', (event) => this.onKey(event));
  }

  draw(): void {
    const { app } = this;
    const { source, selected, exact } = app.state;
    const column = app.heatColumn;
    const inputs = [source, selected, column, exact, app.textVersion];
    if (inputs.every((x, i) => Object.is(x, this.drawn[i]))) return;
    this.drawn = inputs;
    if (!source) {
      this.drawNothing('', this.whyNoSource());
      return;
    }
    const file = app.model.files[source.file];
    const lines = app.texts.get(file);
    if (!lines) {
      this.drawNothing(
        file.name,
        file.state === 'text' ? (app.texts.failure(file) ?? 'Reading the text …') : WHY_NO_TEXT[file.state],
      );
      return;
    }
    this.empty.hidden = true;
    this.scroller.hidden = false;
    if (lines !== this.lines || !this.colouring) {
      this.lines = lines;
      this.colouring = new Colouring(languageOf(file.name), lines);
      this.scroller.scrollTop = 0;
      this.revealed = null;
    }
    const costs = this.lineCosts();
    this.hottest = 0;
    for (const cost of costs.values()) if (cost.value > this.hottest) this.hottest = cost.value;
    this.drawTitle(file.name);
    this.drawColumnHead(column);
    this.scroller.style.setProperty('--digits', String(Math.max(3, String(lines.length).length)));
    this.scroller.setAttribute('aria-rowcount', String(lines.length));
    this.rows.reset(lines.length);
    this.drawMarks(costs);
    this.reveal(costs);
  }

  private whyNoSource(): string {
    const { model, state } = this.app;
    if (state.selected === null || model.places.kind[state.selected] < Kind.File)
      return 'Select a row of the table, or a file, to see its source here.';
    const code = enclosing(model, state.selected, [Kind.Procedure]) ?? 'this code';
    const module = enclosing(model, state.selected, [Kind.Module]) ?? 'its module';
    return `No source is known for ${code}: ${module} has no debug information there. Compile it with -g; for a library of the system, install its debug symbols.`;
  }

  private lineCosts(): Map<number, LineCost> {
    const { app } = this;
    const file = app.state.source?.file ?? NONE;
    const column = app.heatColumn;
    return this.costs.get([file, column], () =>
      app.model.metrics.length ? lineCosts(app.model, app.lines, app.tables.sums, column, file) : new Map(),
    );
  }

  private drawNothing(title: string, why: string): void {
    this.title.textContent = visible(title) || 'Source';
    this.title.title = visible(title);
    this.tools.replaceChildren();
    this.columnHead.replaceChildren();
    this.marks.replaceChildren();
    this.empty.hidden = false;
    this.scroller.hidden = true;
    this.empty.replaceChildren(
      h('p', null, title ? h('strong', null, visible(title)) : null),
      h('p', null, visible(why)),
    );
    this.lines = [];
    this.colouring = null;
    if (title) this.tools.append(...this.instanceTools());
  }

  private drawTitle(name: string): void {
    const slash = name.lastIndexOf('/') + 1;
    this.title.replaceChildren(
      h('span', { class: 'muted' }, visible(name.slice(0, slash))),
      visible(name.slice(slash)),
    );
    this.title.title = visible(name);
    const { source } = this.app.state;
    const beyond = source && source.first > this.lines.length;
    this.tools.replaceChildren(
      beyond
        ? h(
            'span',
            { class: 'warn' },
            `line ${source.first} is beyond the end of this text: the file changed after it was compiled`,
          )
        : '',
      ...this.instanceTools(),
      button('Hottest line', 'Go to the costliest line of this file (h)', () => this.goToHottest()),
    );
  }

  /** "2 of 3 places" with ways to the others. */
  private instanceTools(): HTMLElement[] {
    const { app } = this;
    const { source, selected } = app.state;
    const all = app.instances();
    if (!source || source.first === 0 || source.first !== source.last) return [];
    if (all.length === 0) return [h('span', { class: 'muted' }, `line ${source.first}: no samples`)];
    const at = selected === null ? -1 : all.indexOf(selected);
    const text =
      all.length === 1
        ? `line ${source.first}: 1 place`
        : at < 0
          ? `line ${source.first}: ${plural(all.length, 'place')}`
          : `line ${source.first}: place ${at + 1} of ${all.length}`;
    const step = (label: string, title: string, by: 1 | -1): HTMLElement =>
      button(label, title, () => app.cycle(by), 'button small');
    return [
      h(
        'span',
        {
          class: 'instances',
          title: 'How many places of the program this line became: once for each loop copy and each inlined call',
        },
        text,
      ),
      ...(all.length > 1
        ? [
            step('‹', 'The place before ([)', -1),
            step('›', 'The next place (])', 1),
            button(
              'All',
              'Open the scope tree at all places of this line',
              () => app.showAllInstances(),
              'button small',
            ),
          ]
        : []),
    ];
  }

  goToHottest(): void {
    const line = hottestLine(this.lineCosts());
    if (line > 0 && this.app.state.source) this.app.markLine(this.app.state.source.file, line);
  }

  private drawColumnHead(column: Column): void {
    const { app } = this;
    const metric = app.model.metrics[metricOf(column)];
    if (!metric) return;
    const unit = app.state.exact ? metric.unit : app.scaleAmong(column, this.hottest).unit;
    this.columnHead.replaceChildren(
      h(
        'span',
        {
          class: 'source-head-metric',
          title: 'The metric the table is sorted by, for each line, added up over all its places',
        },
        visible(shortName(metric)),
        unit && h('span', { class: 'muted' }, ` ${visible(unit)}`),
      ),
    );
  }

  private makeRow(row: number): HTMLElement {
    const { app } = this;
    const line = row + 1;
    const column = app.heatColumn;
    const { source } = app.state;
    const cost = this.lineCosts().get(line);
    const marked = source !== null && source.first > 0 && source.first <= line && line <= source.last;
    const single = marked && source.first === source.last;
    const value = h('span', { class: 'line-value', role: 'gridcell' });
    const share = h('span', { class: 'line-percent', role: 'gridcell' });
    const element = h(
      'div',
      {
        class: `line${marked ? (single ? ' marked' : ' within') : ''}${marked && line === source.first ? ' first' : ''}${cost ? ' costs' : ''}`,
        role: 'row',
        'aria-rowindex': String(line),
        'aria-selected': String(marked),
        'data-line': String(line),
      },
      value,
      share,
    );
    if (cost && !Number.isNaN(cost.value)) {
      const metric = app.model.metrics[metricOf(column)];
      value.textContent = app.state.exact
        ? formatExact(cost.value)
        : formatScaled(cost.value, app.scaleAmong(column, this.hottest));
      if (metric.percent) share.textContent = `${formatPercent(cost.value, app.total(column))}%`;
      value.title = `${formatExact(cost.value)} ${visible(metric.unit)}`;
      const heat = this.hottest > 0 ? Math.sqrt(Math.max(0, cost.value) / this.hottest) : 0;
      element.style.setProperty('--heat-alpha', (0.06 + 0.5 * heat).toFixed(3));
    }
    element.append(
      h(
        'span',
        {
          class: 'line-count',
          title: cost && cost.instances > 1 ? `${cost.instances} places of the program come from this line` : undefined,
        },
        cost && cost.instances > 1 ? `×${cost.instances}` : '',
      ),
      h('span', { class: 'line-number', role: 'rowheader' }, String(line)),
      this.code(row),
    );
    return element;
  }

  private code(row: number): HTMLElement {
    const text = this.lines[row];
    const code = h('code', { class: 'line-text', role: 'gridcell' });
    if (text.length > LONGEST_SHOWN) {
      code.append(
        visible(text.slice(0, LONGEST_SHOWN)),
        h('span', { class: 'muted' }, ` … ${plural(text.length - LONGEST_SHOWN, 'more character')}`),
      );
      return code;
    }
    for (const token of this.colouring?.line(row) ?? [])
      code.append(
        token.kind === 'plain' ? visible(token.text) : h('span', { class: `t-${token.kind}` }, visible(token.text)),
      );
    return code;
  }

  /** Where in the file the cost is, beside the scroll bar. */
  private drawMarks(costs: ReadonlyMap<number, LineCost>): void {
    const hot = [...costs]
      .filter(([line, cost]) => line > 0 && line <= this.lines.length && cost.value > 0)
      .sort((a, b) => b[1].value - a[1].value)
      .slice(0, MOST_MARKS);
    this.marks.replaceChildren(
      ...hot.map(([line, cost]) => {
        const mark = h('span', { class: 'mark' });
        mark.style.top = `${((line - 0.5) / this.lines.length) * 100}%`;
        mark.style.opacity = String(0.15 + 0.85 * Math.sqrt(cost.value / this.hottest));
        return mark;
      }),
    );
  }

  private reveal(costs: ReadonlyMap<number, LineCost>): void {
    const { source } = this.app.state;
    if (!source || this.revealed === source) return;
    this.revealed = source;
    const line = source.first > 0 ? source.first : hottestLine(costs);
    if (line > 0) this.rows.reveal(Math.min(line, this.lines.length) - 1, 'middle');
  }

  private onClick(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>('[data-line]');
    const { source } = this.app.state;
    if (!row || !source || String(getSelection()) !== '') return;
    const line = Number(row.dataset['line']);
    if (source.first === line && source.last === line && this.app.instances().length > 1) this.app.cycle(1);
    else this.app.markLine(source.file, line);
  }

  private onKey(event: KeyboardEvent): void {
    const { source } = this.app.state;
    if (!source || event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (line: number): void =>
      this.app.markLine(source.file, Math.max(1, Math.min(this.lines.length, line)), true);
    switch (event.key) {
      case 'ArrowDown':
        go(source.last + 1);
        break;
      case 'ArrowUp':
        go(source.first - 1);
        break;
      case 'PageDown':
        go(source.last + this.rows.pageSize());
        break;
      case 'PageUp':
        go(source.first - this.rows.pageSize());
        break;
      case 'Home':
        go(1);
        break;
      case 'End':
        go(this.lines.length);
        break;
      case 'Enter':
        this.app.cycle(1);
        break;
      case 'h':
        this.goToHottest();
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
