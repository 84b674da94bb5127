// SPDX-License-Identifier: BSD-3-Clause
// Blocks made in a worker and without one: what comes of it is what the decoders make of the inflated bytes, whoever did it; and when a
// worker comes and goes. The worker of this test is the page's own (isWorker), called through copies of its messages.

import { resolveObjectURL } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import type { Model } from '../model/data';
import { decodeMetric, decodePlaces } from '../model/decode';
import { placesInfo, readHead } from '../model/head';
import { isWorker, type MetricPart, Jobs, sentence, type Start, type StartInfo } from '../model/jobs';
import { readDatabase } from './damage';
import { draw } from './naive';
import { equal } from './tap';

// ---- what a browser has ----

interface Message {
  readonly data: unknown;
}
type Heard = ((message: Message) => void) | null;

/** The page's script, seen from the worker it runs in. */
const inside: { onmessage: Heard; postMessage: (data: unknown, transfer: Transferable[]) => void } = { onmessage: null, postMessage: () => {} };
let alive: FakeWorker[] = [];
let made: FakeWorker[] = [];
let isMute = false; // it does not answer
let refuses = false; // there can be none
let unmade = 0; // answers that it could not

class FakeWorker {
  onmessage: Heard = null;
  onerror: (() => void) | null = null;
  asked = 0;

  constructor(readonly url: string) {
    if (refuses) throw new Error('no workers here');
    alive.push(this);
    made.push(this);
  }
  postMessage(data: unknown): void {
    this.asked++;
    if (isMute) return;
    inside.postMessage = (answer, transfer) => {
      const copy = structuredClone(answer, { transfer }) as { readonly made?: unknown };
      if (copy.made === undefined) unmade++;
      if (alive.includes(this)) this.onmessage?.({ data: copy });
    };
    inside.onmessage!({ data: structuredClone(data) });
  }
  terminate(): void {
    alive = alive.filter((w) => w !== this);
  }
}

/** Timers that go off when the test says so. */
let timers: { readonly id: number; readonly action: () => void; readonly after: number }[] = [];
let timer = 0;
const FAKES = {
  self: inside,
  Worker: FakeWorker,
  setTimeout: (action: () => void, after: number): number => (timers.push({ id: ++timer, action, after }), timer),
  clearTimeout: (id: number | undefined): void => void (timers = timers.filter((t) => t.id !== id)),
};
const goOff = (after: number): void => timers.filter((t) => t.after === after).forEach((t) => (FAKES.clearTimeout(t.id), t.action()));
const due = (): string => timers.map((t) => t.after).join();

// ---- blocks ----

const textOf = (bytes: Uint8Array, level = 6): string => deflateSync(bytes, { level }).toString('base64');
const anyBytes = (n: number): Uint8Array => Uint8Array.from({ length: n }, () => draw(256));

/** A block of so many letters, and its contents. */
function blockOf(letters: number): { readonly text: string; readonly bytes: Uint8Array } {
  for (let n = (letters / 4) * 3 - 6; ; n--) {
    const bytes = anyBytes(64 + draw(9));
    const all = new Uint8Array(n).map((_, i) => bytes[i % bytes.length]);
    const text = textOf(all, 0);
    if (text.length === letters) return { text, bytes: all };
  }
}

const LEAST = 300_000; // letters that are worth a worker
const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);
const url = (address: string): string => `may be taken from ${address}`;
const failureOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'none', sentence);

async function testBytes(): Promise<void> {
  const jobs = new Jobs('the page');
  const small = blockOf(LEAST - 4);
  const large = blockOf(LEAST);
  equal(same(await jobs.unpack([small.text], 'bytes', null, url), small.bytes), true, 'jobs: a block');
  equal(made.length, 0, 'jobs: a small one is not worth a worker');
  equal(same(await jobs.unpack([large.text], 'bytes', null, url), large.bytes), true, 'jobs: a large block');
  equal([made.length, made[0]?.asked, due()], [1, 1, '3000'], 'jobs: by a worker, that stays for a while');
  const [, address] = /^may be taken from (.*)$/.exec(made[0].url) ?? [];
  const script = resolveObjectURL(address);
  equal([await script?.text(), script?.type], ['the page', 'text/javascript'], 'jobs: which is made of the page itself');

  const [first, second] = [jobs.unpack([large.text], 'bytes', null, url), jobs.unpack([small.text, textOf(anyBytes(9))], 'bytes', null, url)];
  equal(due(), '', 'jobs: with work it does not go');
  equal([same(await first, large.bytes), same(await second, small.bytes)], [true, true], 'jobs: two at once, each has its own');
  equal([made.length, made[0].asked, due()], [1, 3, '3000'], 'jobs: by the same worker');
  goOff(3000);
  equal(alive.length, 0, 'jobs: without work it goes');
  equal(same(await jobs.unpack([large.text], 'bytes', null, url), large.bytes), true, 'jobs: and there is another one');
  equal([made.length, alive.length], [2, 1], 'jobs: when there is work again');

  const half = `${large.text.slice(0, LEAST / 2)}${'A'.repeat(LEAST / 2)}`;
  equal(await failureOf(jobs.unpack([half], 'bytes', null, url)), 'the database is damaged: a block cannot be decompressed', 'jobs: why it cannot be done');
  equal(await failureOf(jobs.unpack(['?'.repeat(LEAST)], 'bytes', null, url)), 'the database is damaged: a block is not base64', 'jobs: or is not base64');
  equal(await failureOf(jobs.unpack(['????'], 'bytes', null, url)), 'the database is damaged: a block is not base64', 'jobs: or a small one');
}

/** Waiting for one that does not speak, that fails, or that cannot be there. */
async function testWithout(): Promise<void> {
  const large = blockOf(LEAST);
  for (const how of ['silent', 'failing', 'late', 'refused', 'no script']) {
    [alive, made, timers, isMute, refuses] = [[], [], [], how === 'silent' || how === 'failing', how === 'refused'];
    const jobs = new Jobs(how === 'no script' ? null : 'the page');
    const twice = [0, 1].map(() => jobs.unpack([large.text], 'bytes', null, url));
    const hasWorker = how !== 'refused' && how !== 'no script';
    equal([made.length, due()], hasWorker ? [1, '4000'] : [0, ''], `jobs: a worker that is ${how}`);
    if (how === 'silent') goOff(4000);
    if (how === 'failing') made[0].onerror!();
    performance.clearMarks();
    if (how === 'late') made[0].onmessage!({ data: { id: 0 } }); // it has begun
    equal((await Promise.all(twice)).map((bytes) => same(bytes, large.bytes)), [true, true], `jobs: with one that is ${how}`);
    equal(performance.getEntriesByName('hpcview-worker').length, how === 'late' ? 1 : 0, 'jobs: when it began is noted');
    isMute = false;
    equal(same(await jobs.unpack([large.text], 'bytes', null, url), large.bytes), true, 'jobs: and then');
    equal([made.length, alive.length], how === 'late' ? [1, 1] : [hasWorker ? 1 : 0, 0], `jobs: after one that is ${how} there is ${how === 'late' ? 'that one' : 'none'}`);
  }
}

/** Of a whole database: its places, and the block with the metric that one sees first. */
async function testStart(): Promise<void> {
  const { head: text, blocks } = readDatabase(`${process.env['top_srcdir'] ?? '..'}/tests/corpus/database/version-3.html`);
  const head = readHead(text);
  const info = placesInfo(head);
  const pieces = head.metrics.map((m) => blocks.get(`metric-${m.chunk}`)!.subarray(m.offset, m.offset + m.bytes));
  const block = Uint8Array.from(pieces.flatMap((piece) => [...piece])); // all in one
  const parts = head.metrics.map(({ bytes, scale }, i): MetricPart => ({ offset: pieces.slice(0, i).reduce((n, p) => n + p.length, 0), bytes, scale, count: head.placeCount }));
  const broken = parts.map((part, i) => (i === 1 ? { ...part, bytes: part.bytes - 1 } : part));
  const wanted = decodePlaces(blocks.get('places')!, info);
  const columnOf = (at: number): string => {
    const stored = decodeMetric(pieces[at], head.placeCount, parts[at].scale);
    return stored.inclusive().join();
  };
  const texts = [textOf(blocks.get('places')!), textOf(block)];
  const padding = blockOf(LEAST).text;
  unmade = 0;
  const jobs = new Jobs('the page');
  [alive, made, timers] = [[], [], []];
  for (const isLarge of [false, true])
    for (const first of [0, 1, parts.length]) {
      const what = `jobs: the start${isLarge ? ', by a worker' : ''}, metric ${first}`;
      const ask = (metrics: readonly MetricPart[]): Promise<Start> => jobs.unpack([...texts, ...(isLarge ? [padding] : [])], 'start', { places: info, metrics, first } as StartInfo, url);
      const { places, metrics, ahead } = await ask(parts);
      equal([[...places.kind], [...places.parent], [...places.lineLast]], [[...wanted.kind], [...wanted.parent], [...wanted.lineLast]], `${what}: the places`);
      equal(metrics.length, parts.length, `${what}: all metrics`);
      const inclusive = first < parts.length ? columnOf(first) : '';
      equal(ahead && [ahead.values.join(), ahead.found], isLarge && first < parts.length ? [inclusive, `${wanted.count} ${inclusive}`] : null, `${what}: what is found ahead`);
      const damaged = await ask(broken);
      equal(damaged.metrics.map((m) => typeof m), parts.map((_, i) => (i === 1 ? 'string' : 'object')), `${what}: one that is damaged`);
      equal(damaged.ahead === null, !isLarge || first !== 0, `${what}: and nothing ahead of that`);
    }
  equal(unmade, 0, 'jobs: nothing that the worker could not do');
  const alone = await jobs.unpack([textOf(blocks.get('places')!)], 'start', { places: info, metrics: [], first: 0 }, url);
  equal([alone.metrics, alone.ahead, alone.places.count], [[], null, wanted.count], 'jobs: the places alone');
  for (const more of [[], [padding]]) {
    const metrics = await jobs.unpack([textOf(block), ...more], 'metrics', broken, url);
    equal(metrics.map((m) => (typeof m === 'string' ? m : m.stored > 0)), parts.map((_, i) => (i === 1 ? 'the database is damaged: the values of a metric end too early' : true)), 'jobs: metrics of a block');
  }
}

/** The page's script is a worker if there is no document; its results are not copied. */
async function testWorker(): Promise<void> {
  const said: { id: number; made?: unknown }[] = [];
  const handed: number[] = [];
  inside.postMessage = (answer, transfer) => {
    said.push(answer as (typeof said)[number]);
    handed.push(transfer.length);
  };
  const look = (places: Model['places'], values: Float64Array): string => `${places.count} ${values.join()}`;
  Object.assign(globalThis, { document: {} });
  equal([isWorker(look), said.length], [false, 0], 'jobs: a page is no worker');
  Reflect.deleteProperty(globalThis, 'document');
  equal([isWorker(look), said, handed], [true, [{ id: 0 }], [0]], 'jobs: a worker says that it is there');
  const bytes = anyBytes(50);
  inside.onmessage!({ data: [7, { texts: [textOf(bytes)], make: 'bytes', of: null }] });
  inside.onmessage!({ data: [8, { texts: ['AAAA'], make: 'bytes', of: null }] });
  while (said.length < 3) await new Promise((soon) => setImmediate(soon));
  const [, seven, eight] = said.sort((a, b) => a.id - b.id);
  equal([same(seven.made as Uint8Array, bytes), 'made' in eight, handed.sort()], [true, false, [0, 0, 1]], 'jobs: what it answers');
}

/** Leaves the world as it was. */
export async function testJobs(): Promise<void> {
  const before = Object.fromEntries(Object.keys(FAKES).map((name) => [name, Reflect.get(globalThis, name) as unknown]));
  Object.assign(globalThis, FAKES);
  await testWorker();
  await testBytes();
  await testWithout();
  await testStart();
  Object.assign(globalThis, before);
}
