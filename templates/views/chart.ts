// SPDX-License-Identifier: BSD-3-Clause
// What charts have in common: a frame with its tools (the chart or its numbers, saving it), marks in SVG, two axes.

import type { Axis } from '../logic/axis';
import { button, h, saveBlob, saveFile, svg } from './dom';

/** The page's colours by purpose; a chart that is saved contains them itself. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const MARGIN = { left: 58, right: 22, top: 8, bottom: 32 } as const;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The part inside the axes. */
export interface Plot extends Size {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  x(part: number): number;
  y(part: number): number;
}

/** `room`: margin for marks as large as that. */
export function plotOf({ width, height }: Size, room = 0): Plot {
  const wide = Math.max(40, width - MARGIN.left - MARGIN.right);
  const high = Math.max(30, height - MARGIN.top - MARGIN.bottom);
  return {
    width: wide,
    height: high,
    left: MARGIN.left,
    right: MARGIN.left + wide,
    bottom: MARGIN.top + high,
    x: (part) => MARGIN.left + room + part * (wide - 2 * room),
    y: (part) => MARGIN.top + room + (1 - part) * (high - 2 * room),
  };
}

const label = (x: number, y: number, anchor: string, text: string, more: { [name: string]: string } = {}): SVGElement =>
  svg('text', { x, y, 'text-anchor': anchor, fill: colour('muted'), ...more }, text);

/** Lines across at each tick, with its number; `title` stands over them. */
export function leftAxis(plot: Plot, axis: Axis, title: string, format: (value: number) => string): SVGElement {
  const lines = axis.ticks.map((tick) => {
    const y = plot.y(axis.at(tick));
    return svg(
      'g',
      {},
      svg('line', { x1: plot.left, x2: plot.right, y1: y, y2: y, stroke: colour('line') }),
      label(plot.left - 5, y + 4, 'end', format(tick)),
    );
  });
  return svg('g', {}, ...lines, label(plot.left + 4, MARGIN.top + 9, 'start', title));
}

export function bottomAxis(plot: Plot, axis: Axis, title: string, format: (value: number) => string): SVGElement {
  const marks = axis.ticks.map((tick) => label(plot.x(axis.at(tick)), plot.bottom + 13, 'middle', format(tick)));
  return svg(
    'g',
    {},
    svg('line', { x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom, stroke: colour('line-strong') }),
    ...marks,
    label(plot.right, plot.bottom + 27, 'end', title),
  );
}

export function chart(size: Size, title: string, ...marks: SVGElement[]): SVGElement {
  return svg(
    'svg',
    {
      ...size,
      viewBox: `0 0 ${size.width} ${size.height}`,
      role: 'img',
      'aria-label': title,
      'font-family': 'system-ui, sans-serif',
      'font-size': 11,
    },
    svg('rect', { ...size, fill: colour('back') }),
    ...marks,
  );
}

/** Pictures out of SVG: the only way that the page's policy leaves is an image of a data: address. */
export function savePng(name: string, picture: SVGElement): void {
  const text = new XMLSerializer().serializeToString(picture);
  const image = new Image();
  image.onload = () => {
    const canvas = h('canvas', { width: image.width * 2, height: image.height * 2 });
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && saveBlob(name, blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

export const saveSvg = (name: string, picture: SVGElement): void =>
  saveFile(name, 'image/svg+xml', new XMLSerializer().serializeToString(picture));

/** A pane's frame: its choices, then the chart, or the table of the same numbers. */
export class ChartFrame {
  readonly element: HTMLElement;
  readonly body = h('div', { class: 'chart-body' });
  readonly #tools = h('div', { class: 'picture-tools' });
  #picture: SVGElement | null = null;
  isTable = false;

  /** `redraw` is called when the size changes, and when the tools are used. */
  constructor(
    title: string,
    private readonly file: string,
    private readonly redraw: () => void,
  ) {
    this.element = h('section', { class: 'pane chart', 'aria-label': title }, this.#tools, this.body);
    new ResizeObserver(() => this.redraw()).observe(this.body);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
  }

  get size(): Size {
    return { width: Math.floor(this.body.clientWidth), height: Math.max(110, Math.floor(this.body.clientHeight) - 2) };
  }

  showNothing(why: string, choices: readonly (HTMLElement | string)[] = []): void {
    this.#picture = null;
    this.#tools.replaceChildren(...choices);
    this.body.replaceChildren(h('p', { class: 'empty small' }, why));
  }

  show(choices: readonly (HTMLElement | string)[], picture: SVGElement, table: () => HTMLElement): void {
    this.#picture = picture;
    this.body.classList.toggle('is-table', this.isTable);
    this.body.replaceChildren(this.isTable ? table() : picture);
    const focused = this.#tools.contains(document.activeElement) ? document.activeElement?.textContent : null;
    const flip = (): void => {
      this.isTable = !this.isTable;
      this.redraw();
    };
    const save = (how: (name: string, picture: SVGElement) => void, name: string): void => {
      if (this.#picture) how(name, this.#picture);
    };
    this.#tools.replaceChildren(
      ...choices,
      h('span', { class: 'spacer' }),
      button(this.isTable ? 'Picture' : 'Numbers', 'The same as a picture, or as a table', flip, 'button small'),
      button('SVG', 'Save this picture', () => save(saveSvg, `${this.file}.svg`), 'button small'),
      button('PNG', 'Save this picture as pixels', () => save(savePng, `${this.file}.png`), 'button small'),
    );
    if (focused)
      [...this.#tools.querySelectorAll<HTMLElement>('button')].find((b) => b.textContent === focused)?.focus();
  }
}

/** A few words of which one is chosen. */
export function segments<T extends string>(
  name: string,
  all: readonly (readonly [T, string, string])[],
  now: T,
  choose: (value: T) => void,
): HTMLElement {
  return h(
    'span',
    { class: 'segments', role: 'group', 'aria-label': name },
    ...all.map(([value, text, title]) => {
      const one = button(text, title, () => choose(value), `button${value === now ? ' on' : ''}`);
      one.setAttribute('aria-pressed', String(value === now));
      return one;
    }),
  );
}

export function choice(
  name: string,
  all: readonly { readonly id: string; readonly title: string }[],
  now: string,
  choose: (id: string) => void,
): HTMLElement {
  const select = h(
    'select',
    { 'aria-label': name, title: name, onchange: () => choose(select.value) },
    ...all.map(({ id, title }) => h('option', { value: id, selected: id === now }, title)),
  );
  return select;
}
