// The workspace: the table, and beside it slots of panes with their tabs. On a narrow screen one part at a time.

import { type Slot, SLOTS } from '../state/state';
import type { App } from './app';
import { button, h, preference } from './dom';
import type { Pane, PaneType } from './panes';
import { panesOf } from './registry';
import { type Room, ROOMS } from './rooms';

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

/** A tab, and the panes that are chosen in it. */
interface Tab {
  readonly title: string;
  readonly panes: readonly PaneType[];
  readonly element: HTMLElement;
}

/** Panes of one room are one tab; a room that has but one goes by that pane's title. */
function groupsOf(types: readonly PaneType[]): (readonly PaneType[])[] {
  const byRoom = new Map<string, PaneType[]>();
  for (const type of types) {
    const room = type.room ?? type.title;
    byRoom.set(room, [...(byRoom.get(room) ?? []), type]);
  }
  // rooms of no name here come with the last
  const place = (room: string): number => (ROOMS.indexOf(room as Room) + ROOMS.length) % ROOMS.length;
  const isOrdered = types.some((t) => t.room !== undefined);
  const all = [...byRoom].map(([room, panes]) => ({ room, panes }));
  if (isOrdered) all.sort((a, b) => place(a.room) - place(b.room));
  return all.map(({ panes }) => panes);
}

function tabButton(title: string, id: string, className: string, choose: () => void): HTMLElement {
  const tab = button(title, title, choose, className);
  tab.setAttribute('role', 'tab');
  tab.id = id;
  return tab;
}

function markTab(tab: HTMLElement, isOn: boolean): void {
  tab.classList.toggle('on', isOn);
  tab.setAttribute('aria-selected', String(isOn));
}

/** One slot: tabs, and the pane that is chosen, made when it is first seen. */
class SlotView {
  readonly element: HTMLElement;
  readonly #types: readonly PaneType[];
  readonly #tabs: readonly Tab[];
  readonly #chosen = new Map<Tab, string>(); // the pane one last saw there
  readonly #made = new Map<string, Pane>();
  readonly #choices = h('div', { class: 'choices', role: 'tablist' });
  readonly #frame = h('div', { class: 'slot-frame' });
  readonly #closer: HTMLElement;
  #open: Tab | null = null;

  constructor(
    private readonly app: App,
    private readonly slot: Slot,
    panes: readonly PaneType[],
  ) {
    this.#types = panes.filter((p) => p.slot === slot && p.isThere(app));
    this.#tabs = groupsOf(this.#types).map((group) => this.#tabOf(group));
    this.#closer = button('–', 'Close this part; a click on a tab opens it again', () => this.#choose(''), 'tab close');
    this.#closer.setAttribute('aria-label', `Close ${SLOT_NAMES[slot]}`);
    this.#frame.setAttribute('role', 'tabpanel');
    this.element = h(
      'div',
      { class: `slot slot-${slot}` },
      h(
        'div',
        { class: 'slot-tabs' },
        h(
          'div',
          { class: 'tabs', role: 'tablist', 'aria-label': SLOT_NAMES[slot] },
          ...this.#tabs.map((tab) => tab.element),
        ),
        this.#closer,
      ),
      this.#choices,
      this.#frame,
    );
  }

  #tabOf(panes: readonly PaneType[]): Tab {
    const [first] = panes;
    const title = panes.length === 1 ? first.title : (first.room ?? first.title);
    const choose = (): void => this.#choose(this.#chosen.get(tab) ?? first.name);
    const id = panes.length === 1 ? `tab-${first.name}` : `room-${title}`;
    const tab = { title, panes, element: tabButton(title, id, 'tab', choose) };
    return tab;
  }

  #choose(name: string): void {
    this.app.store.dispatch({ type: 'pane', slot: this.slot, name });
  }

  #wanted(): PaneType | null {
    const name = this.app.state.layout[this.slot];
    if (name === '') return null;
    return this.#types.find((t) => t.name === name) ?? this.#tabs[0]?.panes[0] ?? null;
  }

  /** Which pane of the tab, where it has several. */
  #drawChoices(tab: Tab | null, type: PaneType | null): void {
    if (tab !== this.#open) {
      this.#open = tab;
      this.#choices.replaceChildren(
        ...(tab?.panes ?? []).map((p) => tabButton(p.title, `tab-${p.name}`, 'choice', () => this.#choose(p.name))),
      );
      this.#choices.setAttribute('aria-label', tab?.title ?? '');
    }
    this.#choices.hidden = tab === null || tab.panes.length < 2;
    tab?.panes.forEach((p, i) => markTab(this.#choices.children[i] as HTMLElement, p === type));
  }

  draw(): void {
    const type = this.#wanted();
    const open = type && (this.#tabs.find((t) => t.panes.includes(type)) ?? null);
    this.element.hidden = this.#types.length === 0;
    this.element.classList.toggle('closed', type === null);
    this.#closer.hidden = type === null;
    for (const tab of this.#tabs) markTab(tab.element, tab === open);
    this.#drawChoices(open, type);
    if (!type || !open) return this.#frame.replaceChildren();
    this.#chosen.set(open, type.name);
    let pane = this.#made.get(type.name);
    if (!pane) this.#made.set(type.name, (pane = type.make(this.app)));
    this.#frame.setAttribute('aria-labelledby', `tab-${type.name}`);
    if (this.#frame.firstChild !== pane.element) this.#frame.replaceChildren(pane.element);
    pane.draw();
  }
}

/** Table and slots, beside or above one another; on a narrow screen one of them. */
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
    this.#slots = SLOTS.map((slot) => new SlotView(app, slot, panes));
    const [picture, reading, inspect] = this.#slots;
    right.append(
      picture.element,
      splitter('picture', 24, () => false, right),
      reading.element,
      splitter('inspect', 26, () => false, right),
      inspect.element,
    );
    this.#parts = ['Table', ...SLOTS.map((s) => SLOT_NAMES[s])].map((name, i) =>
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
    this.element.dataset['part'] = ['table', ...SLOTS][part];
    this.#parts.forEach((tab, i) => {
      tab.classList.toggle('on', i === part);
      tab.setAttribute('aria-pressed', String(i === part));
    });
    const slot = SLOTS[part - 1];
    if (slot && this.app.state.layout[slot] === '')
      this.app.store.dispatch({ type: 'pane', slot, name: this.app.start.layout[slot] });
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
    if (!this.element.hidden) for (const slot of this.#slots) slot.draw();
  }
}
