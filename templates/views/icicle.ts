// SPDX-License-Identifier: BSD-3-Clause
// Icicles on a canvas, of the scope tree and of every other tree the database has (calling contexts): width is cost,
// colour is what a scope is, or a second metric.

import { Kind, NONE, type PlaceIx } from '../model/data';
import type { Column } from '../logic/columns';
import { formatPercent, formatShort } from '../logic/format';
import { CALLS } from '../logic/calls';
import { type Boxes, boxAt, icicle } from '../logic/icicle';
import { folded, kindName, labelIn, labelOf, shortName } from '../logic/labels';
import { Memo } from '../logic/memo';
import { matcherFor } from '../logic/search';
import { SortedChildren } from '../logic/tree';
import type { App } from './app';
import { button, h, muted, saveBlob, saveFile, svg, visible } from './dom';
import type { Pane, PaneType } from './panes';
import { valueTitle } from './table';

/** The picture alone, or everything. */
export const fillWindow = (): void => void document.documentElement.toggleAttribute('data-full');

const ROW = 18;
const LEGEND: readonly Kind[] = [Kind.Module, Kind.File, Kind.Procedure, Kind.Inline, Kind.Loop, Kind.Line];

class IciclePane implements Pane {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { class: 'icicle-canvas', tabindex: '0', role: 'img' });
  readonly #chosen = h('i', { class: 'icicle-mark', hidden: true });
  readonly #pointed = h('i', { class: 'icicle-mark pointed', hidden: true });
  readonly #scroller = h('div', { class: 'icicle-scroll' }, this.canvas, this.#chosen, this.#pointed);
  readonly #tip = h('div', { class: 'tip', hidden: true });
  readonly #tools = h('div', { class: 'picture-tools' });
  readonly #sorted = new Memo<SortedChildren>();
  readonly #layout = new Memo<Boxes>();
  private boxes: Boxes | null = null;
  #hovered = NONE;
  private width: Column | null = null;
  private colour: Column | null = null;
  #revealed: PlaceIx | null = null;
  readonly #painted = new Memo<null>();
  #seen = 0; // how wide it is; 0: that is not known
  #schemes = 0; // counts changes to dark and back

  constructor(
    private readonly app: App,
    private readonly title = 'scope tree',
  ) {
    this.element = h(
      'section',
      { class: 'pane icicle', 'aria-label': 'Icicle of the scope tree' },
      this.#tools,
      this.#scroller,
      this.#tip,
    );
    new ResizeObserver(() => {
      this.#seen = this.#scroller.clientWidth;
      this.draw();
    }).observe(this.#scroller);
    this.canvas.addEventListener('pointermove', (e) => this.#hover(this.#at(e), e));
    this.canvas.addEventListener('pointerleave', () => this.#hover(NONE, null));
    this.canvas.addEventListener('click', (e) => this.#visit(this.#at(e)));
    this.canvas.addEventListener('dblclick', (e) => this.#zoom(this.#at(e)));
    this.canvas.addEventListener('keydown', (e) => this.#onKey(e));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#schemes++;
      this.draw();
    });
  }

  draw(): void {
    const { selected } = this.app.state;
    const { app } = this;
    this.#chooseColumns();
    const width = this.#seen;
    const values = this.#values();
    if (!values || width === 0) {
      const why = (app.mainColumn && app.columns.failure(app.mainColumn)) ?? 'Reading …';
      if (width > 0) this.#tools.replaceChildren(muted(visible(why)));
      return;
    }
    const sorted = this.#sorted.get([values], () => new SortedChildren(app.tables.children, values, true));
    const root = app.state.zoom;
    const { parent } = app.model.places;
    this.boxes = this.#layout.get([sorted, root, width], () => icicle(parent, sorted, values, root, width));
    const { theme } = document.documentElement.dataset;
    const inputs = [this.boxes, this.width, this.colour, app.state.filter, theme, this.#schemes, devicePixelRatio];
    this.#painted.get(inputs, () => {
      this.#drawTools();
      this.#paint(width);
      this.#hover(NONE, null); // the element under the pointer moved
      return null;
    });
    this.#outline(this.#chosen, this.#boxOf(selected));
    if (selected !== this.#revealed) queueMicrotask(() => this.#reveal(selected)); // when all panes are drawn
  }

  /** null: still on their way. */
  #values(): Float64Array | null {
    const { app, width } = this;
    return width && app.columns.isReady(width) ? app.columns.values(width, null) : null;
  }

  /** Width is an additive cost; a ratio or a difference as the default metric becomes the colour. */
  #chooseColumns(): void {
    const { app } = this;
    const heat = app.heatColumn;
    const isCost = heat !== null && !heat.difference && !app.columns.isRatio(heat);
    this.width = heat && isCost ? app.inclusive(heat) : app.mainColumn;
    this.colour = heat && !isCost && heat.id !== this.width?.id ? heat : null;
    if (heat?.difference) this.width = app.inclusive(heat.difference.of);
    if (this.width?.index === NONE) this.width = app.mainColumn;
  }

  #drawTools(): void {
    const { width, colour } = this;
    if (!width) return;
    const legend = colour
      ? [
          muted(`colour: ${visible(shortName(colour.metric))}${colour.difference ? ' (blue less, orange more)' : ' (dark is much)'}`),
        ]
      : LEGEND.map((kind) =>
          h(
            'span',
            { class: `legend kind-back-${kind}` },
            kindName(kind).replace('load ', '').replace('inlined call', 'inlined'),
          ),
        );
    this.#tools.replaceChildren(
      muted(`width: ${visible(shortName(width.metric))}`),
      ...legend,
      h('span', { class: 'spacer' }),
      this.app.state.zoom
        ? button('Whole program', 'Back to the whole program (Escape)', () => this.app.zoomTo(0), 'button small')
        : '',
      button('Fill', 'Fill the window with this picture, or restore its size (x)', fillWindow, 'button small'),
      button('SVG', 'Save this picture', () => saveFile('icicle.svg', 'image/svg+xml', this.#svg()), 'button small'),
      button(
        'PNG',
        'Save this picture as pixels',
        () => this.canvas.toBlob((blob) => blob && saveBlob('icicle.png', blob)),
        'button small',
      ),
    );
  }

  #css(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  #paint(width: number): void {
    const { boxes, canvas, app } = this;
    if (!boxes) return;
    const scale = devicePixelRatio || 1;
    const height = Math.max(ROW, boxes.depths * ROW);
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = `${height}px`;
    canvas.setAttribute(
      'aria-label',
      `Icicle of ${boxes.count} scopes of the ${this.title}; the table next to it has the same numbers`,
    );
    const pen = canvas.getContext('2d');
    if (!pen) return;
    pen.scale(scale, scale);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const fill = this.#fills();
    const text = this.#css('--text');
    const matches = matcherFor(app.model, app.state.filter, false);
    for (let i = 0; i < boxes.count; i++) {
      const place = this.#place(i);
      const [x, y, w] = [boxes.x[i], boxes.depth[i] * ROW, boxes.width[i]];
      pen.globalAlpha = matches && !matches(place) ? 0.25 : 1;
      pen.fillStyle = fill(place);
      pen.fillRect(x, y, Math.max(w - 0.5, 0.5), ROW - 1);
      if (w > 28) {
        pen.fillStyle = text;
        pen.fillText(fitted(pen, visible(folded(labelIn(app.model, place).text)), w - 8), x + 4, y + ROW / 2);
      }
    }
  }

  #outline(mark: HTMLElement, box: number): void {
    mark.hidden = box === NONE || !this.boxes;
    if (mark.hidden) return;
    const { x, width, depth } = this.boxes!;
    mark.style.transform = `translate(${x[box]}px, ${depth[box] * ROW}px)`;
    mark.style.width = `${Math.max(4, width[box])}px`;
  }

  /** The colour of a place: of its kind, or of the second metric. */
  #fills(): (place: PlaceIx) => string {
    const { app, colour } = this;
    if (!colour) {
      const kinds = [0, 1, 2, 3, 4, 5, 6].map((k) => this.#css(`--kind-${k}`));
      return (place) => kinds[app.model.places.kind[place]];
    }
    const values = app.columns.values(colour, null);
    const plain = this.#css('--line');
    const heat = this.#css('--heat');
    const cool = this.#css('--cool');
    let most = 0;
    for (let i = 0; i < (this.boxes?.count ?? 0); i++) most = Math.max(most, Math.abs(values[this.#place(i)]) || 0);
    return (place) => {
      const part = values[place] / most;
      if (!(most > 0) || Number.isNaN(part)) return plain;
      return `rgba(${part < 0 && colour.difference ? cool : heat}, ${(0.08 + 0.72 * Math.abs(part)).toFixed(3)})`;
    };
  }

  /** The node of a box. */
  #place(box: number): PlaceIx {
    return this.boxes!.node[box];
  }

  #boxOf(place: PlaceIx | null): number {
    return place === null ? NONE : (this.boxes?.node.indexOf(place) ?? NONE);
  }

  #at(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    return this.boxes ? boxAt(this.boxes, event.clientX - box.left, Math.floor((event.clientY - box.top) / ROW)) : NONE;
  }

  #hover(box: number, event: PointerEvent | null): void {
    if (box !== this.#hovered) this.#outline(this.#pointed, (this.#hovered = box));
    this.#tip.hidden = box === NONE || !this.boxes || !this.width;
    if (this.#tip.hidden || !event) return;
    const { app } = this;
    const place = this.#place(box);
    const label = labelOf(app.model, place);
    const line = (column: Column): string => {
      const value = app.columns.at(column, place);
      return `${visible(shortName(column.metric))}: ${Number.isNaN(value) ? 'no data' : valueTitle(app, column, value, app.columns.error(column, value, null, place))}`;
    };
    this.#tip.replaceChildren(
      h(
        'b',
        null,
        visible(label.text.startsWith('loop') ? label.text : `${kindName(app.model.places.kind[place])} ${label.text}`),
      ),
      h('div', null, visible([label.detail, ...label.badges].filter(Boolean).join(', '))),
      h('div', null, line(this.width!)),
      this.colour ? h('div', null, line(this.colour)) : '',
      h('div', { class: 'muted' }, 'click: select · double click: look into'),
    );
    const frame = this.element.getBoundingClientRect();
    this.#tip.style.left = `${Math.max(0, Math.min(event.clientX - frame.left + 12, frame.width - this.#tip.offsetWidth - 4))}px`;
    this.#tip.style.top = `${event.clientY - frame.top + 16}px`;
  }

  #visit(box: number): void {
    if (box === NONE || !this.boxes) return;
    this.#revealed = this.#place(box); // one looks at it already
    this.app.select(this.#revealed);
  }

  #zoom(box: number): void {
    if (box !== NONE && this.boxes) this.app.zoomTo(this.#place(box));
  }

  #reveal(place: PlaceIx | null): void {
    this.#revealed = place;
    const box = this.#boxOf(place);
    if (box === NONE || !this.boxes) return;
    const top = this.boxes.depth[box] * ROW;
    const { scrollTop, clientHeight } = this.#scroller;
    if (top < scrollTop || top + ROW > scrollTop + clientHeight) this.#scroller.scrollTop = top - clientHeight / 2;
  }

  /** Arrows walk over the boxes: up and down the tree, left and right among brothers. */
  #onKey(event: KeyboardEvent): void {
    const { boxes } = this;
    const box = this.#boxOf(this.app.state.selected);
    if (!boxes || event.ctrlKey || event.metaKey || event.altKey) return;
    const { parent } = this.app.model.places;
    const depth = box === NONE ? -1 : boxes.depth[box];
    const find = (test: (i: number) => boolean): number => boxes.node.findIndex((_, i) => test(i));
    const next: { readonly [key: string]: () => number } = {
      ArrowDown: () =>
        box === NONE ? 0 : find((i) => boxes.depth[i] === depth + 1 && parent[boxes.node[i]] === boxes.node[box]),
      ArrowUp: () => find((i) => box !== NONE && boxes.node[i] === parent[boxes.node[box]]),
      ArrowRight: () => find((i) => boxes.depth[i] === depth && boxes.x[i] > boxes.x[box]),
      ArrowLeft: () => {
        for (let i = boxes.count - 1; i >= 0; i--) if (boxes.depth[i] === depth && boxes.x[i] < boxes.x[box]) return i;
        return NONE;
      },
    };
    if (event.key === 'Enter') this.#zoom(box);
    else if (Object.hasOwn(next, event.key)) this.#visitKeeping(next[event.key]());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #visitKeeping(box: number): void {
    if (box !== NONE && this.boxes) this.app.select(this.#place(box), true);
  }

  #svg(): string {
    const { boxes, app, width } = this;
    if (!boxes || !width) return '';
    const fill = this.#fills();
    const values = this.#values();
    if (!values) return '';
    const whole = app.columns.whole(width);
    const picture = svg('svg', {
      width: this.#scroller.clientWidth,
      height: boxes.depths * ROW,
      'font-family': 'sans-serif',
      'font-size': 11,
    });
    for (let i = 0; i < boxes.count; i++) {
      const node = boxes.node[i];
      const place = this.#place(i);
      const [x, y, w] = [boxes.x[i], boxes.depth[i] * ROW, boxes.width[i]];
      const { text } = labelOf(app.model, place);
      const scale = app.scale(width);
      const title = `${text}: ${formatShort(values[node], scale)} ${scale.unit} ${formatPercent(values[node], whole)}%`;
      const box = { x, y, width: Math.max(0.5, w - 0.5), height: ROW - 1, fill: fill(place) };
      const shown = w > 28 ? folded(labelIn(app.model, place).text).slice(0, Math.floor((w - 8) / 6)) : '';
      picture.append(
        svg(
          'g',
          {},
          svg('title', {}, visible(title)),
          svg('rect', box),
          svg('text', { x: x + 4, y: y + 12 }, visible(shown)),
        ),
      );
    }
    return new XMLSerializer().serializeToString(picture);
  }
}

function fitted(pen: CanvasRenderingContext2D, text: string, width: number): string {
  const most = Math.floor(width / 4);
  let shown = text.length > most ? text.slice(0, most) : text;
  if (shown === text && pen.measureText(shown).width <= width) return shown;
  while (shown.length > 1 && pen.measureText(`${shown}…`).width > width)
    shown = shown.slice(0, -1 - Math.floor(shown.length / 12));
  return shown.length > 1 ? `${shown}…` : '';
}

export const iciclePane: PaneType = {
  name: 'icicle',
  title: 'Icicle',
  slot: 'picture',
  isThere: (app) => app.mainColumn !== null && app.model.places.count > 1,
  make: (app) => new IciclePane(app),
};

/** The picture of another tree; folded, it is another one. */
class TreePicture implements Pane {
  readonly element = h('div', { class: 'tree-picture' });
  readonly #made = new Map<App, IciclePane>();

  constructor(
    private readonly app: App,
    private readonly index: number,
    private readonly title: string,
  ) {}

  draw(): void {
    const { trees } = this.app;
    const tree = this.index === trees.callsIndex ? trees.callRows() : trees.of(this.index);
    if (!tree) {
      const why = trees.failure(this.index) ?? 'Reading …';
      this.element.replaceChildren(h('p', { class: 'empty small' }, visible(why)));
      return;
    }
    let picture = this.#made.get(tree.app);
    if (!picture) this.#made.set(tree.app, (picture = new IciclePane(tree.app, this.title)));
    if (this.element.firstChild !== picture.element) this.element.replaceChildren(picture.element);
    picture.draw();
  }
}

/** A picture of each further tree. */
export const treePanes = (app: App): PaneType[] =>
  app.model.trees.map((tree, i) => ({
    name: `tree-${tree.name}`,
    title: tree.name === CALLS ? 'Flame graph' : tree.title,
    slot: tree.name === CALLS ? 'flame' : 'picture',
    isThere: () => app.mainColumn !== null && tree.nodes > 1,
    make: () => new TreePicture(app, i, tree.title),
  }));
