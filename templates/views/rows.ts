// SPDX-License-Identifier: BSD-3-Clause
// A scrolling list that makes only the rows one sees, so that a million of them cost no more than fifty. Rows are made when
// all panes have said what they want, and where one looks at and how much is remembered: to ask the browser for it in between
// would make it lay out the page each time.

/** Browsers lose precision, or stop, somewhere above this many pixels; longer lists scroll in proportion. */
const TALLEST = 8_000_000;
/** In such a list rows keep their places in a block of so many, and the block moves: one style changes instead of all rows'. */
const BLOCK = 50_000;
const OVERSCAN = 4;
/** Jumps over more than half of the visible rows, one after the other within so many milliseconds, are a flight; it is over when for so
 *  long there was none. */
const FLIGHT = 300;
const LANDING = 200;

export class VirtualRows {
  #count = 0;
  #shown = new Map<number, HTMLElement>();
  readonly #brief = new Set<HTMLElement>();
  #top = 0; // how far it is scrolled
  #view = 0; // how much of it one sees; 0: nothing, or that is not known
  #base = 0; // the row that the block of rows begins with
  #isDue = false; // rows are to be made
  #isStale = false; // all of them
  #isMoved = false; // the scroller does not know yet
  #jumped = -Infinity; // when
  #landing = 0; // the timer that ends a flight

  constructor(
    private readonly scroller: HTMLElement,
    private readonly body: HTMLElement,
    private readonly rowHeight: number,
    private readonly headHeight: () => number,
    private readonly make: (row: number) => HTMLElement,
    /** The visible part of a row that flies by; `old` is the element of another one, to be reused. */
    private readonly makeBrief: ((row: number, old: HTMLElement | undefined) => HTMLElement) | null = null,
  ) {
    const onScroll = (): void => {
      this.#follow();
      this.#drawSoon();
    };
    scroller.addEventListener('scroll', onScroll, { passive: true });
    new ResizeObserver(() => {
      this.#measure();
      this.#drawSoon();
    }).observe(scroller);
  }

  #measure(): void {
    this.#view = Math.max(0, this.scroller.clientHeight - this.headHeight());
    this.#follow();
  }

  #follow(): void {
    if (!this.#isMoved) this.#top = this.scroller.scrollTop;
  }

  /** New rows, or rows with new content. */
  reset(count: number): void {
    this.#count = count;
    const height = `${this.#height()}px`;
    if (this.body.style.height !== height) this.body.style.height = height;
    this.#redraw();
  }

  #redraw(): void {
    clearTimeout(this.#landing);
    this.#isStale = true;
    this.#drawSoon();
  }

  /** Whether rows are to be brief because they fly by: whole ones would take longer than a frame. They are drawn when it is over. */
  #isFlight(first: number, end: number): boolean {
    const now = performance.now();
    let kept = 0;
    for (const row of this.#shown.keys()) if (row >= first && row < end) kept++;
    const isJump = this.#shown.size > 0 && 2 * kept < end - first;
    const isFlight = isJump && this.makeBrief !== null && now - this.#jumped < FLIGHT;
    if (isJump) this.#jumped = now;
    if (isFlight) {
      clearTimeout(this.#landing);
      this.#landing = window.setTimeout(() => this.#redraw(), LANDING);
    }
    return isFlight;
  }

  /** The same rows with another look. */
  restyle(style: (row: number, element: HTMLElement) => void): void {
    for (const [row, element] of this.#shown) style(row, element);
  }

  /** Whether one sees anything of it. */
  get isSeen(): boolean {
    if (this.#view === 0) this.#measure();
    return this.#view > 0;
  }

  reveal(row: number, where: 'near' | 'middle'): void {
    if (row < 0 || row >= this.#count || !this.isSeen) return;
    const { top } = this;
    const view = this.#view;
    const at = row * this.rowHeight;
    if (where === 'near' && at >= top && at + this.rowHeight <= top + view) return;
    let want: number;
    if (where === 'middle') {
      // leave it alone if it is well inside already: text that jumps is hard to read
      if (at >= top + view * 0.1 && at + this.rowHeight <= top + view * 0.9) return;
      want = at - view * 0.4;
    } else want = at < top ? at : at + this.rowHeight - view;
    this.scrollTo(want);
  }

  scrollTo(top: number): void {
    this.#top = Math.max(0, top) / this.#factor();
    this.#isMoved = true;
    this.#drawSoon();
  }

  /** Rows that fit, for Page Up and Page Down. */
  pageSize(): number {
    return Math.max(1, Math.floor(this.#view / this.rowHeight) - 1);
  }

  #height(): number {
    return Math.min(this.#count * this.rowHeight, TALLEST);
  }

  #factor(): number {
    const real = this.#count * this.rowHeight;
    return real <= TALLEST ? 1 : (real - this.#view) / (TALLEST - this.#view);
  }

  /** Where one looks at, as if no list were too long. */
  get top(): number {
    return this.#top * this.#factor();
  }

  #drawSoon(): void {
    if (!this.#isDue) queueMicrotask(() => this.#draw());
    this.#isDue = true;
  }

  #draw(): void {
    this.#isDue = false;
    if (!this.isSeen) return;
    if (this.#isStale) {
      for (const element of this.#shown.values()) element.remove();
      this.#shown.clear();
      this.#brief.clear();
      this.#isStale = false;
    }
    const last = Math.max(0, this.#height() - this.#view);
    if (this.#top > last) this.scrollTo(last * this.#factor());
    const { top } = this;
    const first = Math.max(0, Math.floor(top / this.rowHeight) - OVERSCAN);
    const end = Math.min(this.#count, Math.ceil((top + this.#view) / this.rowHeight) + OVERSCAN);
    const isFlight = this.#isFlight(first, end);
    const free: HTMLElement[] = [];
    for (const [row, element] of this.#shown)
      if (row < first || row >= end) {
        if (isFlight && this.#brief.has(element)) free.push(element);
        else element.remove();
        this.#shown.delete(row);
      }
    const base = top === this.#top ? 0 : Math.floor(first / BLOCK) * BLOCK;
    const shift = Math.round(this.#top - top + base * this.rowHeight);
    this.body.style.transform = shift === 0 ? '' : `translateY(${shift}px)`;
    const isMovedBlock = base !== this.#base;
    this.#base = base;
    const made = document.createDocumentFragment();
    for (let row = first; row < end; row++) {
      let element = this.#shown.get(row);
      if (!element) {
        const old = free.pop();
        element = isFlight ? this.makeBrief!(row, old) : this.make(row);
        if (isFlight) this.#brief.add(element);
        this.#shown.set(row, element);
        if (!old) made.append(element);
      } else if (!isMovedBlock) continue;
      element.style.top = `${(row - base) * this.rowHeight}px`;
    }
    for (const element of free) {
      element.remove();
      this.#brief.delete(element);
    }
    if (made.firstChild) this.body.append(made);
    if (this.#isMoved) queueMicrotask(() => this.#move()); // when the other lists have their rows
  }

  #move(): void {
    this.#isMoved = false;
    this.scroller.scrollTop = this.#top;
  }
}
