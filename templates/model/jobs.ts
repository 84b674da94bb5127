// SPDX-License-Identifier: BSD-3-Clause
// What takes long with a large block, inflating and taking it apart, is done beside the page's own thread: in a worker made
// of the page's own script (from disk, none can be loaded). Where the browser has none it is done here, with the same result.

import type { Places } from './data';
import {
  DatabaseError,
  fromBase64,
  type MetricColumns,
  type PlaceColumns,
  placesOf,
  type PlacesInfo,
  StoredMetric,
  unpackMetric,
  unpackPlaces,
} from './decode';

/** Where a metric's values lie in a block, and how many places there are. */
export interface MetricPart {
  readonly offset: number;
  readonly bytes: number;
  readonly scale: number;
  readonly count: number;
}

export type Metrics = readonly (MetricColumns | string)[]; // or why one cannot be read

/** The places, and the block that has the metric one sees first, where it could be read. */
export interface StartInfo {
  readonly places: PlacesInfo;
  readonly metrics: readonly MetricPart[];
  readonly first: number; // of `metrics`
}
export interface Start {
  readonly places: PlaceColumns;
  readonly metrics: Metrics;
  readonly ahead: FoundAhead | null; // null: without a worker; then it is found out when it is asked for
}
/** The first metric's values, and results derived from them. */
export interface FoundAhead {
  readonly values: Float64Array;
  readonly found: unknown;
}

/** Objects that can be made of blocks. */
interface Made {
  bytes: [null, Uint8Array];
  start: [StartInfo, Start];
  metrics: [readonly MetricPart[], Metrics];
}
interface Job<K extends keyof Made> {
  readonly texts: readonly string[]; // blocks as base64
  readonly make: K;
  readonly of: Made[K][0];
}
type AnyJob = Job<keyof Made>;

async function partsOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array[]> {
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (typeof DecompressionStream === 'undefined')
    throw new DatabaseError(
      'this browser is too old: it cannot decompress (DecompressionStream). Chromium 80, Firefox 113 and Safari 16.4 can.',
    );
  try {
    const { writable, readable } = new DecompressionStream('deflate');
    const parts = partsOf(readable); // (a Response of it is refused in WebKit's workers)
    const writer = writable.getWriter();
    await Promise.all([writer.write(bytes), writer.close(), parts]);
    return joined(await parts);
  } catch {
    throw new DatabaseError('the database is damaged: a block cannot be decompressed');
  }
}

export const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function unpackMetrics(block: Uint8Array, parts: readonly MetricPart[]): Metrics {
  return parts.map(({ offset, bytes, scale, count }) => {
    try {
      return unpackMetric(block.subarray(offset, offset + bytes), count, scale);
    } catch (error) {
      return sentence(error);
    }
  });
}

type LookAhead = (places: Places, values: Float64Array) => unknown;

function unpackStart([bytes, more]: readonly Uint8Array[], of: StartInfo, look: LookAhead | null): Start {
  const places = unpackPlaces(bytes, of.places);
  const metrics = more ? unpackMetrics(more, of.metrics) : [];
  const first = metrics[of.first];
  if (!look || !first || typeof first === 'string') return { places, metrics, ahead: null };
  const values = new StoredMetric(first).inclusive();
  return { places, metrics, ahead: { values, found: look(placesOf(places, of.places), values) } };
}

async function doHere({ texts, make, of }: AnyJob, look: LookAhead | null = null): Promise<unknown> {
  const blocks = await Promise.all(texts.map((text) => inflate(fromBase64(text))));
  if (make === 'start') return unpackStart(blocks, of as StartInfo, look);
  return make === 'metrics' ? unpackMetrics(blocks[0], of as readonly MetricPart[]) : blocks[0];
}

/** The memory of the result, to be transferred instead of copied. */
function buffersOf(thing: unknown, found: Set<Transferable> = new Set()): Set<Transferable> {
  if (ArrayBuffer.isView(thing)) found.add(thing.buffer as ArrayBuffer);
  else if (thing && typeof thing === 'object') for (const part of Object.values(thing)) buffersOf(part, found);
  return found;
}

// ---- in the worker ----

interface Answer {
  readonly id: number;
  readonly made?: unknown; // not where it went wrong: then the page tries, and says why
}

/** Whether this is the worker; then it waits for work. `look` finds out what the first view needs. */
export function isWorker(look: LookAhead): boolean {
  if (typeof document !== 'undefined') return false;
  const worker = self as unknown as Worker;
  const answer = (a: Answer): void => worker.postMessage(a, [...buffersOf(a.made)]);
  worker.onmessage = ({ data: [id, job] }: MessageEvent<[number, AnyJob]>) =>
    void doHere(job, look).then(
      (made) => answer({ id, made }),
      () => answer({ id }),
    );
  answer({ id: 0 });
  return true;
}

// ---- in the page ----

interface Waiting {
  readonly job: AnyJob;
  readonly done: (made: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** Below this many letters a worker takes longer to start than the work. */
const WORTH_IT = 300_000;
/** A worker that has not sent a message after so many milliseconds will not come. */
const PATIENCE = 4000;
/** Without work for so long it goes, with the memory it has. */
const IDLE = 3000;

/** Hands what is large to a worker made of `script`, and does the rest here; with null, everything. */
export class Jobs {
  readonly #waiting = new Map<number, Waiting>();
  private worker: Worker | null | undefined; // undefined: not tried yet; null: there is none
  #last = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly script: string | null) {}

  /** `scriptUrl` makes an address that scripts may be taken from. */
  unpack<K extends keyof Made>(
    texts: readonly string[],
    make: K,
    of: Made[K][0],
    scriptUrl: (url: string) => string,
  ): Promise<Made[K][1]> {
    const job: Job<K> = { texts, make, of };
    if (texts.reduce((n, text) => n + text.length, 0) < WORTH_IT) return doHere(job) as Promise<Made[K][1]>;
    if (this.worker === undefined) this.#start(scriptUrl);
    const { worker } = this;
    if (!worker) return doHere(job) as Promise<Made[K][1]>;
    clearTimeout(this.#idle);
    const id = ++this.#last;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { job, done: done as (made: unknown) => void, failed });
      worker.postMessage([id, job]);
    });
  }

  #start(scriptUrl: (url: string) => string): void {
    this.worker = null;
    if (this.script === null) return;
    try {
      this.worker = new Worker(scriptUrl(URL.createObjectURL(new Blob([this.script], { type: 'text/javascript' }))));
    } catch {
      return;
    }
    const giveUp = (): void => this.#withoutWorker();
    const patience = setTimeout(giveUp, PATIENCE);
    this.worker.onerror = giveUp;
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      clearTimeout(patience);
      clearTimeout(this.#idle);
      if (data.id === 0) performance.mark('hpcview-worker');
      const wanted = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (this.#waiting.size === 0) this.#idle = setTimeout(() => this.#sendAway(), IDLE);
      if (!wanted) return;
      if (data.made !== undefined) wanted.done(data.made);
      else doHere(wanted.job).then(wanted.done, wanted.failed);
    };
  }

  /** All that waits for it is done here. */
  #withoutWorker(): void {
    this.worker?.terminate();
    this.worker = null;
    const left = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { job, done, failed } of left) doHere(job).then(done, failed);
  }

  #sendAway(): void {
    this.worker?.terminate();
    this.worker = undefined; // another one when there is work again
  }
}

const ofPage = new Jobs(typeof document === 'undefined' ? null : (document.currentScript?.textContent ?? null));

/** In the page's own worker, where that is worth it. */
export const unpack: Jobs['unpack'] = (texts, make, of, scriptUrl) => ofPage.unpack(texts, make, of, scriptUrl);
