// SPDX-License-Identifier: BSD-3-Clause
// Kept episodes as threads over time, on a canvas: working until one arrives, waiting for the last. Dragging selects a range,
// the wheel goes closer, with Shift dragging moves; the same is a table for whoever wants to read it.

import { formatScaled, formatShort, timeScale, timeText } from '../logic/format';
import type { Bar, Timeline } from '../logic/phases';
import { button, h, muted, visible } from './dom';
import { cell, factsTable, type Head } from './facts';

const LANE = 16;
const NAMES = 90; // pixels
const AXIS = 16;
const ROWS = 500;

export class TimelineView {
  readonly element = h('div', { class: 'timeline' });
  private readonly canvas = h('canvas', { class: 'timeline-canvas', tabindex: '0', role: 'img' });
  readonly #said = h('p', { class: 'muted timeline-said' }, ' ');
  #asTable = false;
  #from = 0;
  #to = 0;
  #dragged: number | null = null; // pixels
  #range: readonly [number, number] | null = null;
  readonly #about = h('div', { 'aria-live': 'polite' });

  /** `about`: what a range of time is made of. */
  constructor(
    private readonly data: Timeline,
    private readonly barrier: (episode: number) => string,
    private readonly about: (from: number, to: number) => HTMLElement[],
  ) {
    this.#to = data.end || 1;
    new ResizeObserver(() => this.#paint()).observe(this.canvas);
    this.canvas.addEventListener('wheel', (e) => this.#wheel(e), { passive: false });
    this.canvas.addEventListener('pointerdown', (e) => {
      this.#dragged = e.offsetX;
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener('pointerup', (e) => {
      if (!e.shiftKey && Math.abs(e.offsetX - this.#dragged!) < 4) this.#select(null);
      this.#dragged = null;
    });
    this.canvas.addEventListener('pointermove', (e) => this.#move(e));
    this.canvas.addEventListener('keydown', (e) => this.#key(e));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#paint());
    this.#draw();
  }

  #draw(): void {
    const { lanes, bars } = this.data;
    const tools = h(
      'p',
      { class: 'why-title' },
      h('b', null, 'Episodes over time '),
      button(
        this.#asTable ? 'As a picture' : 'As a table',
        'Recorded episodes: the longest of each barrier and a sample of the rest',
        () => {
          this.#asTable = !this.#asTable;
          this.#draw();
        },
        'link',
      ),
      ' ',
      this.#asTable
        ? null
        : button('Whole run', 'All kept episodes; no range (Esc)', () => this.#wholeRun(), 'link'),
      this.#asTable ? null : muted(' Drag to select a range; + − ← → or the wheel zoom and move'),
    );
    this.canvas.setAttribute(
      'aria-label',
      `${bars.length} arrivals of ${lanes.length} threads over ${timeText(this.data.end)}; as a table they are numbers`,
    );
    this.element.replaceChildren(tools, ...(this.#asTable ? [this.#table()] : [this.canvas, this.#said, this.#about]));
    this.#paint();
  }

  #table(): HTMLElement {
    const { bars, lanes, end } = this.data;
    const scale = timeScale(end);
    const number = (text: string): Head => ({ text, unit: scale.unit, isNumber: true });
    const time = (ns: number): HTMLElement => cell(formatScaled(ns, scale), true);
    return factsTable(
      ['Thread', 'Barrier', number('Phase begins'), number('Arrived'), number('Waited')],
      bars.slice(0, ROWS).map((b) =>
        h(
          'tr',
          null,
          cell(visible(lanes[b.lane])),
          cell(this.barrier(b.episode)),
          time(b.begin),
          time(b.arrived),
          time(b.last - b.arrived),
        ),
      ),
    );
  }

  #x(time: number): number {
    return NAMES + ((time - this.#from) / (this.#to - this.#from)) * (this.canvas.clientWidth - NAMES);
  }

  #time(x: number): number {
    return this.#from + ((x - NAMES) / Math.max(1, this.canvas.clientWidth - NAMES)) * (this.#to - this.#from);
  }

  #select(range: readonly [number, number] | null): void {
    this.#range = range;
    this.#paint();
    this.#tell();
  }

  #wholeRun(): void {
    this.#range = null;
    this.#look(0, this.data.end || 1);
  }

  /** Of the range, or of the part in sight. */
  #tell(): void {
    const [from, to] = this.#range ?? [this.#from, this.#to];
    this.#about.replaceChildren(...(to - from < this.data.end ? this.about(from, to) : []));
  }

  #look(from: number, to: number): void {
    const length = Math.min(Math.max(to - from, 1000), this.data.end || 1);
    this.#from = Math.min(Math.max(0, from), Math.max(0, this.data.end - length));
    this.#to = this.#from + length;
    this.#paint();
    this.#tell();
  }

  #wheel(e: WheelEvent): void {
    e.preventDefault();
    const at = this.#time(e.offsetX);
    const by = e.deltaY > 0 ? 1.25 : 0.8;
    this.#look(at - (at - this.#from) * by, at + (this.#to - at) * by);
  }

  #move(e: PointerEvent): void {
    if (this.#dragged !== null && !e.shiftKey) {
      const ends = [this.#dragged, e.offsetX].map((x) => Math.min(this.data.end, Math.max(0, this.#time(x))));
      return this.#select([Math.min(...ends), Math.max(...ends)]);
    }
    if (this.#dragged !== null) {
      const by = this.#time(this.#dragged) - this.#time(e.offsetX);
      this.#dragged = e.offsetX;
      this.#look(this.#from + by, this.#to + by);
      return;
    }
    const bar = this.#at(e.offsetX, e.offsetY);
    this.#said.textContent = bar ? visible(this.#words(bar)) : ' ';
  }

  #key(e: KeyboardEvent): void {
    if (e.key === 'Escape') {
      e.stopPropagation();
      return this.#wholeRun();
    }
    const length = this.#to - this.#from;
    const steps: { readonly [key: string]: readonly [number, number] } = {
      ArrowLeft: [-0.1, -0.1],
      ArrowRight: [0.1, 0.1],
      '+': [0.1, -0.1],
      '-': [-0.125, 0.125],
    };
    const step = steps[e.key];
    if (!step) return;
    e.preventDefault();
    e.stopPropagation();
    this.#look(this.#from + step[0] * length, this.#to + step[1] * length);
  }

  #at(x: number, y: number): Bar | null {
    const lane = Math.floor((y - AXIS) / LANE);
    const time = this.#time(x);
    return this.data.bars.find((b) => b.lane === lane && b.begin <= time && time <= b.last) ?? null;
  }

  #words(b: Bar): string {
    return `${this.data.lanes[b.lane]}: ${timeText(b.arrived - b.begin)} until it came, waited ${timeText(b.last - b.arrived)} at ${this.barrier(b.episode)}`;
  }

  #paint(): void {
    const { canvas, data } = this;
    const width = canvas.clientWidth;
    const height = AXIS + data.lanes.length * LANE;
    const pen = width ? canvas.getContext('2d') : null;
    if (!pen) return;
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = `${height}px`;
    pen.scale(scale, scale);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    this.bars(pen, css('--part-1'), css('--part-0'), width);
    pen.fillStyle = css('--back');
    if (this.#range) {
      const [left, right] = this.#range.map((time) => this.#x(time));
      pen.globalAlpha = 0.65;
      pen.fillRect(0, AXIS, left, height);
      pen.fillRect(right, AXIS, width, height);
      pen.globalAlpha = 1;
      pen.strokeStyle = css('--accent');
      pen.strokeRect(left, AXIS, right - left, height - AXIS - 1);
    }
    pen.fillRect(0, 0, NAMES, height);
    pen.fillStyle = css('--text');
    data.lanes.forEach((name, i) => pen.fillText(visible(name).slice(0, 16), 2, AXIS + i * LANE + LANE / 2));
    const axis = timeScale(this.#to);
    for (let i = 0; i <= 4; i++) {
      const time = this.#from + ((this.#to - this.#from) * i) / 4;
      pen.textAlign = i === 4 ? 'right' : 'left';
      pen.fillText(`${formatShort(time, axis, (this.#to - this.#from) / 400)} ${axis.unit}`, this.#x(time), AXIS / 2);
    }
    pen.textAlign = 'left';
  }

  private bars(pen: CanvasRenderingContext2D, work: string, wait: string, width: number): void {
    for (const b of this.data.bars) {
      const [begin, arrived, last] = [this.#x(b.begin), this.#x(b.arrived), this.#x(b.last)];
      if (last < NAMES || begin > width) continue;
      const y = AXIS + b.lane * LANE;
      pen.fillStyle = work;
      pen.fillRect(begin, y, Math.max(arrived - begin, 0.5), LANE - 2);
      pen.fillStyle = wait;
      pen.fillRect(arrived, y, Math.max(last - arrived, b.last > b.arrived ? 0.5 : 0), LANE - 2);
    }
  }
}
