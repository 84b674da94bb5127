// A scrolling list that makes only the rows one sees, so that a million of them cost no more than fifty.

/** Browsers lose precision, or stop, somewhere above this many pixels; longer lists scroll in proportion. */
const TALLEST = 8_000_000;
const OVERSCAN = 4;
/** Jumps over more than half of what is in sight, one after the other within so many milliseconds, are a flight; it is over
 *  when for so long there was none. */
const FLIGHT = 300;
const LANDING = 200;

export class VirtualRows {
  #count = 0;
  #shown = new Map<number, HTMLElement>();
  readonly #brief = new Set<HTMLElement>();
  #frame = 0;
  #jumped = -Infinity; // when
  #landing = 0; // the timer that ends a flight

  constructor(
    private readonly scroller: HTMLElement,
    private readonly body: HTMLElement,
    private readonly rowHeight: number,
    private readonly headHeight: () => number,
    private readonly make: (row: number) => HTMLElement,
    /** What one sees of a row that flies by; `old` is the element of another one, to be made into it. */
    private readonly makeBrief: ((row: number, old: HTMLElement | undefined) => HTMLElement) | null = null,
  ) {
    scroller.addEventListener('scroll', () => this.#drawSoon(), { passive: true });
    new ResizeObserver(() => this.#drawSoon()).observe(scroller);
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
    this.#landing = 0;
    for (const element of this.#shown.values()) element.remove();
    this.#shown.clear();
    this.#brief.clear();
    this.#draw();
  }

  /** Whether rows are to be brief, as nobody can read them: whole ones would take longer than a frame. They come when it is
   *  over. */
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

  reveal(row: number, where: 'near' | 'middle'): void {
    if (row < 0 || row >= this.#count) return;
    const top = this.#virtualTop();
    const view = this.#viewHeight();
    const at = row * this.rowHeight;
    if (where === 'near' && at >= top && at + this.rowHeight <= top + view) return;
    let want: number;
    if (where === 'middle') {
      // leave it alone where it is well inside already: text that jumps is hard to read
      if (at >= top + view * 0.1 && at + this.rowHeight <= top + view * 0.9) return;
      want = at - view * 0.4;
    } else want = at < top ? at : at + this.rowHeight - view;
    this.scroller.scrollTop = Math.max(0, want) / this.#factor();
    this.#draw();
  }

  /** Rows that fit, for Page Up and Page Down. */
  pageSize(): number {
    return Math.max(1, Math.floor(this.#viewHeight() / this.rowHeight) - 1);
  }

  element(row: number): HTMLElement | undefined {
    return this.#shown.get(row);
  }

  #height(): number {
    return Math.min(this.#count * this.rowHeight, TALLEST);
  }

  #viewHeight(): number {
    return Math.max(0, this.scroller.clientHeight - this.headHeight());
  }

  #factor(): number {
    const real = this.#count * this.rowHeight;
    const view = this.#viewHeight();
    return real <= TALLEST ? 1 : (real - view) / (TALLEST - view);
  }

  #virtualTop(): number {
    return this.scroller.scrollTop * this.#factor();
  }

  #drawSoon(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const scrolled = this.scroller.scrollTop;
    const top = scrolled * this.#factor();
    const first = Math.max(0, Math.floor(top / this.rowHeight) - OVERSCAN);
    const end = Math.min(this.#count, Math.ceil((top + this.#viewHeight()) / this.rowHeight) + OVERSCAN);
    const isFlight = this.#isFlight(first, end);
    const free: HTMLElement[] = [];
    for (const [row, element] of this.#shown)
      if (row < first || row >= end) {
        if (isFlight && this.#brief.has(element)) free.push(element);
        else element.remove();
        this.#shown.delete(row);
      }
    const shift = scrolled - top;
    const made = document.createDocumentFragment();
    for (let row = first; row < end; row++) {
      let element = this.#shown.get(row);
      if (!element) {
        const old = free.pop();
        element = isFlight ? this.makeBrief!(row, old) : this.make(row);
        if (isFlight) this.#brief.add(element);
        this.#shown.set(row, element);
        if (!old) made.append(element);
      }
      element.style.top = `${row * this.rowHeight + shift}px`;
    }
    for (const element of free) {
      element.remove();
      this.#brief.delete(element);
    }
    if (made.firstChild) this.body.append(made);
  }
}
