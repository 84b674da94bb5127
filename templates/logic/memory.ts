// SPDX-License-Identifier: BSD-3-Clause
// A simulated memory hierarchy, out of the tables of a database: which references of a place miss at each level, why, and what
// evicts their lines.

import { type Model, NONE, type PlaceIx } from '../model/data';
import { Rows } from './phases';
import { placesWithin } from './tables';

export interface Level {
  readonly row: number; // of the table of levels
  readonly name: string;
  readonly blockBytes: number;
  readonly misses: number; // of the whole run
}

/** Displayed quantities of counts: percents, NaN if the base is zero. */
export interface Use {
  readonly accesses: number;
  readonly misses: number;
  readonly share: number; // of the level's misses
  readonly ratio: number; // misses of accesses
  readonly temporal: number; // of the hits: on bytes that had been touched before
  readonly spatial: number; // of the bytes of evicted lines: had been touched
  readonly cold: number; // of the misses
  readonly conflict: number; // of the misses; NaN: not distinguished
  readonly evictions: number;
}
export interface Reference extends Use {
  readonly place: PlaceIx; // NONE of arrays that were allocated nowhere
  readonly object: number; // row of the table of objects
}
export interface Evictor {
  readonly place: PlaceIx;
  readonly object: number;
  readonly blocks: number;
  readonly share: number; // percent of all that left
  readonly taken: number; // blocks taken by another thread's store
  readonly isInside: boolean; // it is in the place whose blocks these were
}

const COUNTS = ['accesses', 'misses', 'temporal', 'used', 'evictions', 'cold', 'conflict'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

const percent = (part: number, whole: number): number => (whole > 0 ? (100 * part) / whole : NaN);

const useOf = (level: Level, c: Counts): Use => ({
  accesses: c.accesses,
  misses: c.misses,
  share: percent(c.misses, level.misses),
  ratio: percent(c.misses, c.accesses),
  temporal: percent(c.temporal, c.accesses - c.misses),
  spatial: percent(c.used, c.evictions * level.blockBytes),
  cold: percent(c.cold, c.misses),
  conflict: percent(c.conflict, c.misses),
  evictions: c.evictions,
});

const TABLES = ['levels', 'objects', 'references', 'evictors'] as const;

export class Memory {
  readonly levels: readonly Level[];
  private readonly within: Uint8Array;
  private readonly inside: Record<'references' | 'evictors', ReadonlyMap<number, readonly number[]>>; // rows by level

  private constructor(
    model: Model,
    private readonly tables: Record<(typeof TABLES)[number], Rows>,
    readonly place: PlaceIx,
  ) {
    this.within = placesWithin(model, place);
    this.levels = this.readLevels();
    this.inside = {
      references: this.rowsInside(tables.references, 'reference'),
      evictors: this.rowsInside(tables.evictors, 'victim'),
    };
  }

  private rowsInside(table: Rows, column: string): Map<number, number[]> {
    const found = new Map<number, number[]>(this.levels.map((l) => [l.row, []]));
    for (let row = 0; row < table.count; row++)
      if (this.isWithin(table.value(column, row))) found.get(table.value('level', row))?.push(row);
    return found;
  }

  static isThere = (model: Model): boolean =>
    TABLES.every((name) => model.tables.some((t) => t.name === name && (t.rows > 0 || name === 'evictors')));

  /** Of a place and its descendants; null: not loaded yet, or there is none. */
  static of(model: Model, place: PlaceIx): Memory | null {
    const [levels, objects, references, evictors] = TABLES.map((name) => Rows.of(model, name)); // all are asked for
    return levels && objects && references && evictors
      ? new Memory(model, { levels, objects, references, evictors }, place)
      : null;
  }

  /** A run after the other, caches before TLBs. */
  private readLevels(): Level[] {
    const { levels, references } = this.tables;
    const misses = new Map<number, number>();
    for (const row of references.all()) {
      const level = references.value('level', row);
      misses.set(level, (misses.get(level) ?? 0) + (references.value('misses', row) || 0));
    }
    const order = (a: number, b: number): number =>
      levels.run(a) - levels.run(b) || levels.value('order', a) - levels.value('order', b) || a - b;
    const isAlone = new Set(levels.all().map((row) => levels.run(row))).size < 2;
    return levels
      .all()
      .sort(order)
      .map((row) => ({
        row,
        name: isAlone ? levels.text('level', row) : `${levels.text('run', row)} ${levels.text('level', row)}`,
        blockBytes: levels.value('line', row),
        misses: misses.get(row) ?? 0,
      }));
  }

  arrayName(object: number): string {
    return object === NONE ? '' : this.tables.objects.text('name', object);
  }

  /** Where a heap block was allocated; NONE: not on the heap, or unknown. */
  allocatedAt(object: number): PlaceIx {
    const at = object === NONE ? NONE : this.tables.objects.value('where', object);
    return Number.isNaN(at) ? NONE : at;
  }

  private isWithin(place: number): boolean {
    return place === NONE ? this.place === 0 : this.within[place] === 1;
  }

  private counts(level: Level, keyOf: (row: number) => string): Map<string, { row: number; counts: Counts }> {
    const { references } = this.tables;
    const found = new Map<string, { row: number; counts: Counts }>();
    for (const row of this.inside.references.get(level.row)!) {
      const key = keyOf(row);
      const one = found.get(key) ?? { row, counts: Object.fromEntries(COUNTS.map((c) => [c, 0])) as Counts };
      for (const c of COUNTS) one.counts[c] += references.value(c, row);
      found.set(key, one);
    }
    return found;
  }

  private uses(level: Level, keyOf: (row: number) => string, placeOf: (row: number) => PlaceIx): Reference[] {
    const { references } = this.tables;
    return [...this.counts(level, keyOf).values()]
      .map(({ row, counts }) => ({
        ...useOf(level, counts),
        place: placeOf(row),
        object: references.value('object', row),
      }))
      .sort((a, b) => b.misses - a.misses || b.accesses - a.accesses);
  }

  /** References in the place, most misses first. */
  references(level: Level): Reference[] {
    return this.uses(level, String, (row) => this.tables.references.value('reference', row));
  }

  /** Accesses of the place's references to each array, most misses first. */
  arrays(level: Level): Reference[] {
    const object = (row: number): number => this.tables.references.value('object', row);
    return this.uses(level, (row) => String(object(row)), (row) => this.allocatedAt(object(row)));
  }

  /** All of the place's references as one. */
  total(level: Level): Use | null {
    const all = this.counts(level, () => '').get('');
    return all ? useOf(level, all.counts) : null;
  }

  /** Evictors of cache lines of references in the place (of one of them, if it is given), most lines first. */
  evictors(level: Level, of?: Reference): Evictor[] {
    const { evictors } = this.tables;
    const found = new Map<string, { place: PlaceIx; object: number; blocks: number; taken: number }>();
    let left = 0;
    for (const row of this.inside.evictors.get(level.row)!) {
      if (of && (of.place !== evictors.value('victim', row) || of.object !== evictors.value('victim_object', row))) continue;
      const place = evictors.value('evictor', row);
      const object = evictors.value('evictor_object', row);
      const blocks = evictors.value('blocks', row) || 0;
      const key = `${place} ${object}`;
      const one = found.get(key) ?? { place, object, blocks: 0, taken: 0 };
      one.blocks += blocks;
      one.taken += evictors.value('invalidated', row) || 0;
      left += blocks;
      found.set(key, one);
    }
    return [...found.values()]
      .map((e) => ({ ...e, share: percent(e.blocks, left), isInside: this.isWithin(e.place) }))
      .sort((a, b) => b.blocks - a.blocks || a.place - b.place || a.object - b.object);
  }
}

/** Share of a level's misses of the references on a source line. */
export interface LineMisses {
  readonly place: PlaceIx; // of the reference that misses most there
  readonly shares: readonly { readonly level: string; readonly share: number }[]; // percent, as levels are ordered
}

const onLines = new WeakMap<Model, ReadonlyMap<string, LineMisses>>();

function collectLines(model: Model, memory: Memory): Map<string, LineMisses> {
  const { file, lineFirst } = model.places;
  const found = new Map<string, { place: PlaceIx; most: number; shares: { level: string; share: number }[] }>();
  for (const level of memory.levels)
    for (const r of memory.references(level)) {
      if (r.place === NONE || file[r.place] === NONE || !(lineFirst[r.place] > 0)) continue;
      const key = `${file[r.place]}:${lineFirst[r.place]}`;
      const line = found.get(key) ?? { place: r.place, most: 0, shares: [] };
      const last = line.shares.at(-1);
      if (last?.level === level.name) last.share += r.share || 0;
      else line.shares.push({ level: level.name, share: r.share || 0 });
      if (r.share > line.most) [line.place, line.most] = [r.place, r.share];
      found.set(key, line);
    }
  return found;
}

/** null: no simulated reference is there, or they are still on their way. */
export function missesOnLine(model: Model, file: number, line: number): LineMisses | null {
  if (!Memory.isThere(model)) return null;
  let lines = onLines.get(model);
  if (!lines) {
    const memory = Memory.of(model, 0);
    if (!memory) return null;
    onLines.set(model, (lines = collectLines(model, memory)));
  }
  return lines.get(`${file}:${line}`) ?? null;
}

const MOST_OF = 50; // percent

/** Why a reference misses, as text, derived from its counts. */
export function reasons(r: Use): string[] {
  const why: string[] = [];
  if (r.cold > MOST_OF) why.push('most are first uses of a cache line');
  else if (r.conflict > MOST_OF) why.push('most are conflicts, which a fully associative level of this size would not have');
  else if (r.evictions > 0) why.push('most are reloads of evicted lines');
  if (r.spatial < MOST_OF) why.push(`${r.spatial.toFixed(1)}% of the bytes of evicted lines had been used`);
  return why;
}
