// SPDX-License-Identifier: BSD-3-Clause
// The workspace: the table, and beside it slots of panes with their tabs. On a narrow screen one part at a time.

import { isPage, type Page, PAGES, type Slot, type View } from '../state/state';
import type { App } from './app';
import { button, h, preference } from './dom';
import type { Pane, PaneType } from './panes';
import { panesOf } from './registry';

const SLOT_NAMES: { readonly [S in Slot]: string } = {
  picture: 'Pictures',
  reading: 'Source',
  inspect: 'Selection',
  flame: 'Flame graph',
  time: 'Time',
  memory: 'Memory',
  data: 'Tables',
};
/** Parts of the views Code and Calls, on a narrow screen one at a time; which picture depends on the view. */
const PARTS = ['picture', 'reading', 'inspect'] as const;

/** A bar between two panes that can be dragged, or moved with the arrow keys; its place is a share of its parent, in
 *  percent. */
export function splitter(name: string, start: number, vertical: () => boolean, root: HTMLElement): HTMLElement {
  const set = (percent: number): void => {
    const clean = Math.max(10, Math.min(90, percent));
    root.style.setProperty(`--${name}`, `${clean.toFixed(2)}%`);
    preference.set(name, clean.toFixed(2));
    bar.setAttribute('aria-valuenow', clean.toFixed(0));
  };
  const now = (): number => Number.parseFloat(root.style.getPropertyValue(`--${name}`)) || start;
  const bar = h('div', {
    class: `splitter ${name}`,
    role: 'separator',
    tabindex: '0',
    'aria-label': `Size of the panes (${name})`,
    'aria-valuemin': '10',
    'aria-valuemax': '90',
  });
  bar.addEventListener('pointerdown', (down) => {
    bar.setPointerCapture(down.pointerId);
    const box = bar.parentElement!.getBoundingClientRect();
    const from = name === 'inspect' ? -1 : 1; // measured from the far edge
    const move = (e: PointerEvent): void => {
      const part = vertical() ? (e.clientX - box.left) / box.width : (e.clientY - box.top) / box.height;
      set((from < 0 ? 1 - part : part) * 100);
    };
    bar.addEventListener('pointermove', move);
    bar.addEventListener('lostpointercapture', () => bar.removeEventListener('pointermove', move), { once: true });
  });
  bar.addEventListener('keydown', (e) => {
    const step = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[e.key];
    if (step === undefined) return;
    set(now() + (name === 'inspect' ? -step : step));
    e.preventDefault();
    e.stopPropagation();
  });
  set(Number(preference.get(name)) || start);
  return bar;
}

function tabButton(title: string, id: string, choose: () => void): HTMLElement {
  const tab = button(title, title, choose, 'tab');
  tab.setAttribute('role', 'tab');
  tab.id = id;
  return tab;
}

function markTab(tab: HTMLElement, isOn: boolean): void {
  tab.classList.toggle('on', isOn);
  tab.setAttribute('aria-selected', String(isOn));
}

/** One slot: tabs, and the pane that is chosen, made when it is first seen. A page has one that cannot be closed. */
class SlotView {
  readonly element: HTMLElement;
  readonly #types: readonly PaneType[];
  readonly #tabs: readonly HTMLElement[];
  readonly #made = new Map<string, Pane>();
  readonly #frame = h('div', { class: 'slot-frame' });
  readonly #closer: HTMLElement;

  constructor(
    private readonly app: App,
    private readonly slot: Slot,
    panes: readonly PaneType[],
    whyNone = '',
  ) {
    this.#types = panes.filter((p) => p.slot === slot && p.isThere(app));
    this.#tabs = this.#types.map((p) => tabButton(p.title, `tab-${p.name}`, () => this.#choose(p.name)));
    this.#closer = button('–', 'Close this part; click a tab to open it again', () => this.#choose(''), 'tab close');
    this.#closer.setAttribute('aria-label', `Close ${SLOT_NAMES[slot]}`);
    this.#frame.setAttribute('role', 'tabpanel');
    if (whyNone) this.#frame.append(h('p', { class: 'empty' }, whyNone));
    this.element = h(
      'div',
      { class: `slot slot-${slot}` },
      h(
        'div',
        { class: 'slot-tabs', hidden: this.#types.length === 0 },
        h('div', { class: 'tabs', role: 'tablist', 'aria-label': SLOT_NAMES[slot] }, ...this.#tabs),
        whyNone ? null : this.#closer,
      ),
      this.#frame,
    );
  }

  #choose(name: string): void {
    this.app.store.dispatch({ type: 'pane', slot: this.slot, name });
  }

  draw(): void {
    const name = this.app.state.layout[this.slot];
    const isClosed = name === '' && !isPage(this.slot as View);
    const type = isClosed ? null : (this.#types.find((t) => t.name === name) ?? this.#types[0] ?? null);
    this.element.classList.toggle('closed', isClosed);
    this.#closer.hidden = isClosed;
    this.#types.forEach((t, i) => markTab(this.#tabs[i], t === type));
    if (!type) {
      if (isClosed) this.#frame.replaceChildren();
      return;
    }
    let pane = this.#made.get(type.name);
    if (!pane) this.#made.set(type.name, (pane = type.make(this.app)));
    this.#frame.setAttribute('aria-labelledby', `tab-${type.name}`);
    if (this.#frame.firstChild !== pane.element) this.#frame.replaceChildren(pane.element);
    pane.draw();
  }

  get isEmpty(): boolean {
    return this.#types.length === 0;
  }
}

const WHY_NONE: { readonly [P in Page]: string } = {
  time: 'No barriers, waits or values by thread were measured. “hpcview record --phases -- ./program” records where threads wait, how long, and for which thread.',
  memory:
    'No memory accesses were simulated. “hpcview simulate -- ./program” counts cache misses by reference and array, and what evicts them.',
  data: 'The database has no other tables.',
};

/** Time, Memory, Data: one slot each that has the window to itself. */
export class Pages {
  readonly element = h('main', { class: 'page' });
  readonly #slots: readonly (readonly [Page, SlotView])[];

  constructor(private readonly app: App) {
    this.#slots = PAGES.map((page) => [page, new SlotView(app, page, panesOf(app), WHY_NONE[page])] as const);
    this.element.append(...this.#slots.map(([, slot]) => slot.element));
  }

  draw(): void {
    const { view } = this.app.state;
    this.element.hidden = !isPage(view);
    for (const [page, slot] of this.#slots) {
      slot.element.hidden = page !== view;
      if (page === view) slot.draw();
    }
  }
}

/** Table and slots, side by side or above one another; on a narrow screen one of them. */
export class Workspace {
  readonly element: HTMLElement;
  readonly #slots: readonly SlotView[];
  readonly #parts: readonly HTMLElement[];

  constructor(
    private readonly app: App,
    table: HTMLElement,
  ) {
    const main = (this.element = h('main', { class: 'main' }));
    const isSide = (): boolean => main.dataset['layout'] === 'side';
    const right = h('div', { class: 'reading' });
    const panes = panesOf(app);
    const slotOf = (slot: Slot): SlotView => new SlotView(app, slot, panes);
    this.#slots = [slotOf('picture'), slotOf('flame'), slotOf('reading'), slotOf('inspect')];
    const [picture, flame, reading, inspect] = this.#slots;
    right.append(
      picture.element,
      flame.element,
      splitter('picture', 30, () => false, right),
      reading.element,
      splitter('inspect', 42, () => false, right),
      inspect.element,
    );
    this.#parts = ['Table', ...PARTS.map((s) => SLOT_NAMES[s])].map((name, i) =>
      button(name, `Show the part “${name}”`, () => this.#showPart(i), 'tab'),
    );
    main.append(
      h('nav', { class: 'part-tabs', 'aria-label': 'Parts of the workspace' }, ...this.#parts),
      table,
      splitter('split', 54, isSide, main),
      right,
    );
    this.#followWidth();
    this.#showPart(0);
  }

  #showPart(part: number): void {
    this.element.dataset['part'] = ['table', ...PARTS][part];
    this.#parts.forEach((tab, i) => {
      tab.classList.toggle('on', i === part);
      tab.setAttribute('aria-pressed', String(i === part));
    });
    const slot = PARTS[part - 1] === 'picture' ? this.#pictureSlot : PARTS[part - 1];
    if (slot && this.app.state.layout[slot] === '')
      this.app.store.dispatch({ type: 'pane', slot, name: this.app.start.layout[slot] || 'icicle' });
    this.app.drawSoon();
  }

  #followWidth(): void {
    const narrow = matchMedia('(max-width: 900px)');
    const apply = (): void =>
      void (this.element.dataset['layout'] = preference.get('layout') ?? (narrow.matches ? 'stacked' : 'side'));
    narrow.addEventListener('change', apply);
    apply();
  }

  switchLayout(): void {
    const layout = this.element.dataset['layout'] === 'side' ? 'stacked' : 'side';
    preference.set('layout', layout);
    this.element.dataset['layout'] = layout;
    this.app.drawSoon();
  }

  get #pictureSlot(): Slot {
    return this.app.state.view === 'calls' ? 'flame' : 'picture';
  }

  togglePicture(): void {
    const slot = this.#pictureSlot;
    const { layout } = this.app.state;
    this.app.store.dispatch({ type: 'pane', slot, name: layout[slot] ? '' : this.app.start.layout[slot] || 'icicle' });
  }

  draw(): void {
    const { view } = this.app.state;
    this.element.hidden = view === 'summary' || isPage(view);
    if (this.element.hidden) return;
    const [picture, flame] = this.#slots;
    picture.element.hidden = picture.isEmpty || view === 'calls';
    flame.element.hidden = flame.isEmpty || view !== 'calls';
    for (const slot of this.#slots) if (!slot.element.hidden) slot.draw();
  }
}
