// The workspace: the table, and beside it slots of panes with their tabs. On a narrow screen one part at a time.

import { type Slot, SLOTS } from '../state/state';
import type { App } from './app';
import { button, h, preference } from './dom';
import type { Pane, PaneType } from './panes';
import { panesOf } from './registry';

const SLOT_NAMES: { readonly [S in Slot]: string } = { picture: 'Pictures', reading: 'Source', inspect: 'Details' };

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

/** One slot: tabs, and the pane that is chosen, made when it is first seen. */
class SlotView {
  readonly element: HTMLElement;
  private readonly types: readonly PaneType[];
  private readonly tabs = new Map<string, HTMLElement>();
  private readonly made = new Map<string, Pane>();
  private readonly frame = h('div', { class: 'slot-frame' });
  private readonly closer: HTMLElement;

  constructor(
    private readonly app: App,
    private readonly slot: Slot,
    panes: readonly PaneType[],
  ) {
    this.types = panes.filter((p) => p.slot === slot && p.isThere(app));
    for (const type of this.types) {
      const tab = button(type.title, type.title, () => this.choose(type.name), 'tab');
      tab.setAttribute('role', 'tab');
      tab.id = `tab-${type.name}`;
      this.tabs.set(type.name, tab);
    }
    this.closer = button('–', 'Close this part; a click on a tab opens it again', () => this.choose(''), 'tab close');
    this.closer.setAttribute('aria-label', `Close ${SLOT_NAMES[slot]}`);
    this.frame.setAttribute('role', 'tabpanel');
    this.element = h(
      'div',
      { class: `slot slot-${slot}` },
      h(
        'div',
        { class: 'slot-tabs' },
        h('div', { class: 'tabs', role: 'tablist', 'aria-label': SLOT_NAMES[slot] }, ...this.tabs.values()),
        this.closer,
      ),
      this.frame,
    );
  }

  private choose(name: string): void {
    this.app.store.dispatch({ type: 'pane', slot: this.slot, name });
  }

  private wanted(): PaneType | null {
    const name = this.app.state.layout[this.slot];
    if (name === '') return null;
    return this.types.find((t) => t.name === name) ?? this.types[0] ?? null;
  }

  draw(): void {
    const type = this.wanted();
    this.element.hidden = this.types.length === 0;
    this.element.classList.toggle('closed', type === null);
    this.closer.hidden = type === null;
    for (const [name, tab] of this.tabs) {
      tab.classList.toggle('on', name === type?.name);
      tab.setAttribute('aria-selected', String(name === type?.name));
    }
    if (!type) return this.frame.replaceChildren();
    let pane = this.made.get(type.name);
    if (!pane) this.made.set(type.name, (pane = type.make(this.app)));
    this.frame.setAttribute('aria-labelledby', `tab-${type.name}`);
    if (this.frame.firstChild !== pane.element) this.frame.replaceChildren(pane.element);
    pane.draw();
  }
}

/** Table and slots, beside or above one another; on a narrow screen one of them. */
export class Workspace {
  readonly element: HTMLElement;
  private readonly slots: readonly SlotView[];
  private readonly parts: readonly HTMLElement[];

  constructor(
    private readonly app: App,
    table: HTMLElement,
  ) {
    const main = (this.element = h('main', { class: 'main' }));
    const isSide = (): boolean => main.dataset['layout'] === 'side';
    const right = h('div', { class: 'reading' });
    const panes = panesOf(app);
    this.slots = SLOTS.map((slot) => new SlotView(app, slot, panes));
    const [picture, reading, inspect] = this.slots;
    right.append(
      picture.element,
      splitter('picture', 24, () => false, right),
      reading.element,
      splitter('inspect', 26, () => false, right),
      inspect.element,
    );
    this.parts = ['Table', ...SLOTS.map((s) => SLOT_NAMES[s])].map((name, i) =>
      button(name, `Show the part “${name}”`, () => this.showPart(i), 'tab'),
    );
    main.append(
      h('nav', { class: 'part-tabs', 'aria-label': 'Parts of the workspace' }, ...this.parts),
      table,
      splitter('split', 54, isSide, main),
      right,
    );
    this.followWidth();
    this.showPart(0);
  }

  private showPart(part: number): void {
    this.element.dataset['part'] = ['table', ...SLOTS][part];
    this.parts.forEach((tab, i) => {
      tab.classList.toggle('on', i === part);
      tab.setAttribute('aria-pressed', String(i === part));
    });
    const slot = SLOTS[part - 1];
    if (slot && this.app.state.layout[slot] === '')
      this.app.store.dispatch({ type: 'pane', slot, name: this.app.start.layout[slot] });
    this.app.drawSoon();
  }

  private followWidth(): void {
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

  togglePicture(): void {
    const { layout } = this.app.state;
    this.app.store.dispatch({
      type: 'pane',
      slot: 'picture',
      name: layout.picture ? '' : this.app.start.layout.picture,
    });
  }

  draw(): void {
    this.element.hidden = this.app.state.view === 'summary';
    if (!this.element.hidden) for (const slot of this.slots) slot.draw();
  }
}
