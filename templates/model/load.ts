// SPDX-License-Identifier: BSD-3-Clause
// Blocks of the database: from script files put into the page when they are needed (file:// forbids fetch), or from
// elements of the page itself where the database is a single file.

import { firstMetric, type Lazy, type Metric, type Model, type Present, type SourceFile, type Values } from './data';
import { SelfValues } from '../logic/self';
import { DatabaseError, decodeTable, decodeTree, placesOf, StoredMetric } from './decode';
import { type MetricBlock, placesInfo, readHead, rowsOf } from './head';
import { type FoundAhead, type MetricPart, type Metrics, sentence, unpack } from './jobs';

const arrived = new Map<string, string>();

const blockUrl = (name: string): string => {
  const url = `data/${name}.js`;
  if (!/^data\/[a-z]+(-[0-9]+)?\.js$/.test(url)) throw new DatabaseError(`${name}: not a block of a database`);
  return url;
};

/** The one place where a script address is made; with Trusted Types no other code could. */
const policy = globalThis.window?.trustedTypes?.createPolicy('hpcview', { createScriptURL: (url) => url }) ?? {
  createScriptURL: (url: string) => url,
};

function loadScript(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const failed = () =>
      reject(
        new DatabaseError(
          `data/${name}.js cannot be read; copy the whole folder of the database, not index.html alone.`,
        ),
      );
    script.onload = () => {
      const text = arrived.get(name);
      arrived.delete(name);
      script.remove();
      if (text === undefined) failed();
      else resolve(text);
    };
    script.onerror = failed;
    script.src = policy.createScriptURL(blockUrl(name));
    document.head.append(script);
  });
}

const textOf = async (name: string): Promise<string> =>
  document.getElementById(`data-${name}`)?.textContent ?? (await loadScript(name));

const scriptUrl = (url: string): string => policy.createScriptURL(url);
const loadBlock = async (name: string): Promise<Uint8Array> => unpack([await textOf(name)], 'bytes', null, scriptUrl);

/** Blocks under way, as `data-reading` of the page: numbers are still to come. */
let underWay = 0;
function reading(by: number): void {
  underWay += by;
  document.documentElement.toggleAttribute('data-reading', underWay > 0);
}

/** Blocks by name, each read on first use; an unreadable one fails alone. */
class Blocks<T> {
  private readonly made = new Map<string, T | null>(); // null: under way
  readonly #failures = new Map<string, string>();

  constructor(
    private readonly load: (name: string) => Promise<T>,
    private readonly changed: () => void,
  ) {}

  get(name: string): T | null {
    const known = this.made.get(name);
    if (known !== undefined) return known;
    this.made.set(name, null);
    reading(1);
    this.load(name)
      .then(
        (made) => void this.made.set(name, made),
        (error: unknown) => void this.#failures.set(name, sentence(error)),
      )
      .then(() => {
        reading(-1);
        this.changed();
      });
    return null;
  }

  /** Its contents were taken out. Another use reads it again. */
  release(name: string): void {
    this.made.delete(name);
  }

  failure(name: string): string | undefined {
    return this.#failures.get(name);
  }
}

/** So many numbers of a tree are kept as columns, of which the longest unused go first: 100 MB. */
const MOST_NUMBERS = 12_500_000;
const FEWEST_COLUMNS = 12;

/** Metrics of one tree; kept as stored until a form of them is needed. */
class LazyValues implements Values {
  readonly #stored = new Map<number, StoredMetric>();
  readonly #columns = new Map<number, Float64Array>(); // by metric * 2, + 1: exclusive
  readonly #failures = new Map<number, string>();
  readonly #blocks: Blocks<Metrics>;

  constructor(
    private readonly metrics: readonly Metric[],
    private readonly places: readonly MetricBlock[],
    private readonly count: number,
    changed: () => void,
  ) {
    const load = async (name: string) =>
      unpack([await textOf(name)], 'metrics', this.parts(name), scriptUrl);
    this.#blocks = new Blocks(load, changed);
  }

  /** Parts of a block to be read. */
  parts(name: string): MetricPart[] {
    return this.#in(name).map((i) => ({ ...this.places[i], count: this.count }));
  }

  indexIn = (name: string, metric: number): number => this.#in(name).indexOf(metric);

  /** A block that was read already, with one metric's column. */
  put(name: string, block: Metrics, metric: number, column: Float64Array | null): void {
    this.#take(name, block);
    if (column) this.#columns.set(metric * 2, column);
  }

  /** The metrics that a block has of this tree. */
  #in(name: string): number[] {
    return [...this.places.keys()].filter((i) => blockOf(this.places[i]) === name);
  }

  of(metric: number, exclusive: boolean): Float64Array | null {
    const wantsExclusive = exclusive && this.metrics[metric].hasExclusive;
    const key = metric * 2 + (wantsExclusive ? 1 : 0);
    let column = this.#columns.get(key);
    if (!column) {
      const stored = this.#storedMetric(metric);
      if (!stored) return null;
      column = wantsExclusive ? stored.exclusive() : stored.inclusive();
    } else this.#columns.delete(key);
    this.#columns.set(key, column); // the last one asked for is the last one here
    for (const [oldest] of this.#columns) {
      if (this.#columns.size * this.count <= MOST_NUMBERS || this.#columns.size <= FEWEST_COLUMNS) break;
      this.#columns.delete(oldest); // it is made again on demand
    }
    return column;
  }

  at(metric: number, exclusive: boolean, place: number): number | null {
    const wantsExclusive = exclusive && this.metrics[metric].hasExclusive;
    const column = this.#columns.get(metric * 2 + (wantsExclusive ? 1 : 0));
    return column ? column[place] : (this.#storedMetric(metric)?.at(place, wantsExclusive) ?? null);
  }

  present(metric: number, exclusive: boolean): Present | null {
    return this.#storedMetric(metric)?.present(exclusive && this.metrics[metric].hasExclusive) ?? null;
  }

  failure(metric: number): string | undefined {
    return this.#failures.get(metric) ?? this.#blocks.failure(blockOf(this.places[metric]));
  }

  #storedMetric(metric: number): StoredMetric | null {
    const known = this.#stored.get(metric);
    if (known || this.#failures.has(metric)) return known ?? null;
    const name = blockOf(this.places[metric]);
    const block = this.#blocks.get(name);
    if (!block) return null;
    this.#take(name, block);
    this.#blocks.release(name);
    return this.#stored.get(metric) ?? null;
  }

  #take(name: string, block: Metrics): void {
    this.#in(name).forEach((i, at) => {
      const made = block[at];
      if (typeof made === 'string') this.#failures.set(i, made);
      else if (made) this.#stored.set(i, new StoredMetric(made));
    });
  }
}

const blockOf = (of: MetricBlock): string => `metric-${of.chunk}`;

/** Things of one block each, decoded once. */
class LazyBlocks<T> implements Lazy<T> {
  readonly #known = new Map<number, T>();
  readonly #failures = new Map<number, string>();

  constructor(
    private readonly blocks: Blocks<Uint8Array>,
    private readonly name: (index: number) => string,
    private readonly decode: (bytes: Uint8Array, index: number) => T,
  ) {}

  of(index: number): T | null {
    const known = this.#known.get(index);
    if (known !== undefined || this.#failures.has(index)) return known ?? null;
    const bytes = this.blocks.get(this.name(index));
    if (!bytes) return null;
    try {
      const thing = this.decode(bytes, index);
      this.#known.set(index, thing);
      this.blocks.release(this.name(index));
      return thing;
    } catch (error) {
      this.#failures.set(index, sentence(error));
      return null;
    }
  }

  failure(index: number): string | undefined {
    return this.#failures.get(index) ?? this.blocks.failure(this.name(index));
  }
}

/** `changed` is called whenever a block arrived, or could not. */
export async function loadModel(changed: () => void): Promise<{ model: Model; ahead: FoundAhead | null }> {
  window.hpcview_data = (name, base64) => void arrived.set(name, base64);
  const head = readHead(document.getElementById('hpcview-head')?.textContent ?? '');
  const blocks = new Blocks(loadBlock, changed);
  const values = new LazyValues(head.metrics, head.metrics, head.placeCount, changed);
  const wanted = firstMetric(head.metrics);
  const name = wanted < 0 ? '' : blockOf(head.metrics[wanted]);
  const texts = [textOf('places')];
  if (name) texts.push(textOf(name).catch(() => '')); // when it is asked for again it says why
  const [placesText, metricText] = await Promise.all(texts);
  const info = placesInfo(head);
  const start = await unpack(
    metricText ? [placesText, metricText] : [placesText],
    'start',
    { places: info, metrics: name ? values.parts(name) : [], first: values.indexIn(name, wanted) },
    scriptUrl,
  );
  if (metricText) values.put(name, start.metrics, wanted, start.ahead?.values ?? null);
  const places = placesOf(start.places, info);
  const model: Model = {
    title: head.title,
    generator: head.generator,
    version: head.version,
    places,
    runs: head.runs,
    metrics: head.metrics,
    values: new SelfValues(values, head.metrics, places, false),
    trees: head.trees,
    treeNodes: new LazyBlocks(
      blocks,
      (i) => `tree-${i + 1}`,
      (bytes, i) => decodeTree(bytes, head.trees[i].nodes, head.placeCount),
    ),
    treeValues: head.trees.map((t) => new LazyValues(head.metrics, t.values, t.nodes, changed)),
    tables: head.tables,
    tableRows: new LazyBlocks(
      blocks,
      (i) => head.tables[i].block,
      (bytes, i) => decodeTable(bytes, head.tables[i], (to) => rowsOf(head, to)),
    ),
    files: head.files,
    processes: head.processes,
    warnings: head.warnings,
  };
  return { model, ahead: start.ahead };
}

export type SourceLines = readonly string[];

const chunkOf = (file: SourceFile): string => `source-${file.chunk}`;

/** Source texts, by chunk, loaded on first use of a file. */
export class SourceTexts {
  readonly #chunks: Blocks<Uint8Array>;
  readonly #lines = new Map<SourceFile, SourceLines>();

  constructor(changed: () => void) {
    this.#chunks = new Blocks(loadBlock, changed);
  }

  /** The file's lines, or null if they are not there (yet), after requesting them. */
  get(file: SourceFile): SourceLines | null {
    if (file.state !== 'text') return null;
    const known = this.#lines.get(file);
    if (known) return known;
    const chunk = this.#chunks.get(chunkOf(file));
    if (!chunk) return null;
    const text = new TextDecoder().decode(chunk.subarray(file.offset, file.offset + file.bytes));
    const lines = text.split(text.includes('\r') ? /\r\n|\r|\n/ : '\n'); // a string is split sooner
    if (lines.length > 1 && lines[lines.length - 1] === '') lines.pop();
    this.#lines.set(file, lines);
    return lines;
  }

  /** Why a text that should be there could not be loaded. */
  failure(file: SourceFile): string | undefined {
    return this.#chunks.failure(chunkOf(file));
  }
}
