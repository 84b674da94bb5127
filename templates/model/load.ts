// Blocks of the database: from script files put into the page when they are needed (file:// forbids fetch), or from
// elements of the page itself where the database is a single file.

import { firstMetric, type Lazy, type Metric, type Model, type Present, type SourceFile, type Values } from './data';
import { DatabaseError, decodePlaces, decodeTable, decodeTree, fromBase64, StoredMetric } from './decode';
import { type MetricBlock, readHead, rowsOf } from './head';

declare global {
  interface Window {
    hpcview_data?: (name: string, base64: string) => void;
    trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL(url: string): string },
      ): { createScriptURL(url: string): string };
    };
  }
}

const arrived = new Map<string, string>();

const blockUrl = (name: string): string => {
  const url = `data/${name}.js`;
  if (!/^data\/[a-z]+(-[0-9]+)?\.js$/.test(url)) throw new DatabaseError(`${name}: not a block of a database`);
  return url;
};

/** The one place where a script address is made; with Trusted Types no other code could. */
const policy = window.trustedTypes?.createPolicy('hpcview', { createScriptURL: (url) => url }) ?? {
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

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (typeof DecompressionStream === 'undefined')
    throw new DatabaseError(
      'this browser is too old: it cannot decompress (DecompressionStream). Chromium 80, Firefox 113 and Safari 16.4 can.',
    );
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new DatabaseError('the database is damaged: a block cannot be decompressed');
  }
}

async function loadBlock(name: string): Promise<Uint8Array> {
  const inside = document.getElementById(`data-${name}`);
  return inflate(fromBase64(inside ? (inside.textContent ?? '') : await loadScript(name)));
}

/** Blocks by name, each read when it is first wanted; what cannot be read fails alone. */
class Blocks {
  private readonly bytes = new Map<string, Uint8Array | null>(); // null: under way
  readonly #failures = new Map<string, string>();

  constructor(private readonly changed: () => void) {}

  get(name: string): Uint8Array | null {
    const known = this.bytes.get(name);
    if (known !== undefined) return known;
    this.bytes.set(name, null);
    loadBlock(name).then(
      (bytes) => {
        this.bytes.set(name, bytes);
        this.changed();
      },
      (error: unknown) => {
        this.#failures.set(name, sentence(error));
        this.changed();
      },
    );
    return null;
  }

  /** What it holds was taken out of it. Who wants more of it reads it again. */
  release(name: string): void {
    this.bytes.delete(name);
  }

  failure(name: string): string | undefined {
    return this.#failures.get(name);
  }
}

/** So many numbers of a tree are kept as columns, of which the longest unused go first: 100 MB. */
const MOST_NUMBERS = 12_500_000;
const FEWEST_COLUMNS = 12;

/** Metrics of one tree; what is read is kept as it is stored until a form of it is wanted. */
class LazyValues implements Values {
  readonly #stored = new Map<number, StoredMetric>();
  readonly #columns = new Map<number, Float64Array>(); // by metric * 2, + 1: exclusive
  readonly #failures = new Map<number, string>();

  constructor(
    private readonly blocks: Blocks,
    private readonly metrics: readonly Metric[],
    private readonly places: readonly MetricBlock[],
    private readonly count: number,
  ) {}

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
      this.#columns.delete(oldest); // it is made again when somebody wants it
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
    return this.#failures.get(metric) ?? this.blocks.failure(`metric-${this.places[metric].chunk}`);
  }

  #storedMetric(metric: number): StoredMetric | null {
    const known = this.#stored.get(metric);
    if (known || this.#failures.has(metric)) return known ?? null;
    const { chunk } = this.places[metric];
    const block = this.blocks.get(`metric-${chunk}`);
    if (!block) return null;
    this.places.forEach((p, i) => p.chunk === chunk && this.#store(i, block)); // all that it has of this tree
    this.blocks.release(`metric-${chunk}`);
    return this.#stored.get(metric) ?? null;
  }

  #store(metric: number, block: Uint8Array): void {
    const { offset, bytes, scale } = this.places[metric];
    try {
      this.#stored.set(metric, new StoredMetric(block.subarray(offset, offset + bytes), this.count, scale));
    } catch (error) {
      this.#failures.set(metric, sentence(error));
    }
  }
}

/** Things of one block each, decoded once. */
class LazyBlocks<T> implements Lazy<T> {
  readonly #known = new Map<number, T>();
  readonly #failures = new Map<number, string>();

  constructor(
    private readonly blocks: Blocks,
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

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** `changed` is called whenever a block arrived, or could not. */
export async function loadModel(changed: () => void): Promise<Model> {
  window.hpcview_data = (name, base64) => void arrived.set(name, base64);
  const head = readHead(document.getElementById('hpcview-head')?.textContent ?? '');
  const blocks = new Blocks(changed);
  const values = new LazyValues(blocks, head.metrics, head.metrics, head.placeCount);
  const wanted = firstMetric(head.metrics);
  if (wanted >= 0) values.of(wanted, false); // on its way while the places are read
  const placeBytes = await loadBlock('places');
  return {
    title: head.title,
    generator: head.generator,
    version: head.version,
    places: decodePlaces(placeBytes, head.placeCount, head.stringCount, head.files.length, head.planes),
    runs: head.runs,
    metrics: head.metrics,
    values,
    trees: head.trees,
    treeNodes: new LazyBlocks(
      blocks,
      (i) => `tree-${i + 1}`,
      (bytes, i) => decodeTree(bytes, head.trees[i].nodes, head.placeCount),
    ),
    treeValues: head.trees.map((t) => new LazyValues(blocks, head.metrics, t.values, t.nodes)),
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
}

export type SourceLines = readonly string[];

/** Source texts, by chunk, loaded when a file is first wanted. */
export class SourceTexts {
  readonly #chunks = new Map<number, Uint8Array | null>(); // null: under way
  readonly #lines = new Map<SourceFile, SourceLines>();
  readonly #failures = new Map<number, string>();

  constructor(private readonly changed: () => void) {}

  /** The file's lines, or null where they are not there (yet); asks for them then. */
  get(file: SourceFile): SourceLines | null {
    if (file.state !== 'text') return null;
    const known = this.#lines.get(file);
    if (known) return known;
    const chunk = this.#chunks.get(file.chunk);
    if (chunk === undefined) this.#load(file.chunk);
    if (!chunk) return null;
    const text = new TextDecoder().decode(chunk.subarray(file.offset, file.offset + file.bytes));
    const lines = text.split(/\r\n|\r|\n/);
    if (lines.length > 1 && lines[lines.length - 1] === '') lines.pop();
    this.#lines.set(file, lines);
    return lines;
  }

  /** Why a text that should be there could not be loaded. */
  failure(file: SourceFile): string | undefined {
    return this.#failures.get(file.chunk);
  }

  #load(chunk: number): void {
    this.#chunks.set(chunk, null);
    loadBlock(`source-${chunk}`).then(
      (bytes) => {
        this.#chunks.set(chunk, bytes);
        this.changed();
      },
      (error: unknown) => {
        this.#failures.set(chunk, sentence(error));
        this.changed();
      },
    );
  }
}
