// SPDX-License-Identifier: BSD-3-Clause
// Making elements. Text goes in as text nodes only; there is no way from here to markup.

type Child = Node | string | null | undefined | false;
type Props = {
  readonly class?: string | false;
  readonly title?: string | undefined;
  readonly onclick?: (event: MouseEvent) => void;
  readonly [attribute: string]: unknown;
};

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key.slice(2), value as EventListener);
    else if (key === 'class') element.className = String(value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** Placed behind the rest. */
export const muted = (...children: Child[]): HTMLElement => h('span', { class: 'muted' }, ...children);

/** An element of a picture that is saved; text goes in as text there too. */
export function svg(
  tag: string,
  attributes: { readonly [name: string]: string | number },
  ...children: (Node | string)[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, typeof value === 'number' ? String(Math.round(value * 10) / 10) : value);
  element.append(...children);
  return element as SVGElement;
}

export function button(label: string, title: string, action: () => void, className = 'button'): HTMLButtonElement {
  return h('button', { type: 'button', class: className, title, onclick: action }, label);
}

/** Invisible controls in the text of a name (bidirectional overrides, escapes) are made visible. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The user's preferences, kept by the browser if it allows that. */
const chosen = new Map<string, string>();
export const preference = {
  get(key: string): string | null {
    try {
      return chosen.get(key) ?? localStorage.getItem(`hpcview-${key}`);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    chosen.set(key, value);
    try {
      localStorage.setItem(`hpcview-${key}`, value);
    } catch {
      /* private browsing: then it lasts as long as the page */
    }
  },
};

/** Hands something to the user as a file. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const saveFile = (name: string, type: string, text: string): void => saveBlob(name, new Blob([text], { type }));
