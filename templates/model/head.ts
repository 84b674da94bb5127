// SPDX-License-Identifier: BSD-3-Clause
// The head: JSON in the page, which names everything else. Its version is checked before anything else is believed.

import type { Metric, Process, Run, SourceFile, TableColumn, TableInfo, TreeInfo } from './data';
import { DatabaseError, type PlacesInfo } from './decode';

/** The newest format this page reads, the one it comes with; HTMLGEN_VERSION in htmlgen/format/format.h. */
export const VERSION = 3;

/** Where a metric's values lie in a tree. */
export interface MetricBlock {
  readonly chunk: number;
  readonly offset: number;
  readonly bytes: number;
  readonly scale: number; // 0: the values are doubles; else multiples of it
}

export interface Head {
  readonly title: string;
  readonly generator: string;
  readonly version: number;
  readonly placeCount: number;
  readonly stringCount: number;
  readonly planes: readonly number[]; // of each wide column of the places; the last one is not in version 1
  readonly runs: readonly Run[];
  readonly metrics: readonly (Metric & MetricBlock)[];
  readonly trees: readonly (TreeInfo & { readonly values: readonly MetricBlock[] })[]; // without the scope tree
  readonly tables: readonly TableInfo[];
  readonly files: readonly SourceFile[];
  readonly processes: readonly Process[];
  readonly warnings: readonly string[];
}

type Json = { readonly [key: string]: unknown };

const damaged = (key: string, promised: string): DatabaseError =>
  new DatabaseError(`the database is damaged: "${key}" of its head is not ${promised}`);

const isObject = (x: unknown): x is Json => typeof x === 'object' && x !== null;

/** A list of objects or of lists; where it may be missing, an empty one. */
function list<T = Json>(of: Json, key: string, mayMiss = false): readonly T[] {
  const all = of[key] ?? (mayMiss ? [] : undefined);
  if (!Array.isArray(all) || !all.every(isObject)) throw damaged(key, 'a list of them');
  return all as T[];
}

function texts(of: Json, key: string): readonly string[] {
  const all = of[key] ?? [];
  if (!Array.isArray(all)) throw damaged(key, 'a list of texts');
  return all.map(String);
}

/** How many there are of something. */
function size(of: Json, key: string): number {
  const n = of[key];
  if (!(Number.isInteger(n) && (n as number) >= 0 && (n as number) < 2 ** 32)) throw damaged(key, 'a number of things');
  return n as number;
}

export function readHead(text: string): Head {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new DatabaseError('the database is damaged: its head is not JSON');
  }
  if (!isObject(json) || json['format'] !== 'hpcview-database') throw new DatabaseError('this is not an hpcview database');
  const version = Number(json['version']);
  if (!(version >= 1)) throw new DatabaseError('the database is damaged: it has no format version');
  if (version > VERSION)
    throw new DatabaseError(
      `this database has format ${version} (${String(json['generator'])}); this page reads formats up to ${VERSION}. ` +
        'Build the database again, or take index.html and data/ from the same database.',
    );
  return {
    title: String(json['title']),
    generator: String(json['generator']),
    version,
    placeCount: size(json, 'places'),
    stringCount: size(json, 'strings'),
    planes: readPlanes(json, version),
    runs: list(json, 'runs', true).map(readRun),
    metrics: list(json, 'metrics').map((m, i) => readMetric(m, scopeValues(json, m, i))),
    trees: list(json, 'trees', true).slice(1).map(readTree),
    tables: list(json, 'tables', true).map(readTable),
    files: list<unknown[]>(json, 'files').map(readFile),
    processes: list(json, 'processes').map(readProcess),
    warnings: merged(texts(json, 'warnings')),
  };
}

export const placesInfo = (head: Head): PlacesInfo => ({
  count: head.placeCount,
  strings: head.stringCount,
  files: head.files.length,
  planes: head.planes,
});

const NO_DEBUG = /^no debug information in (.+): ([\d.]+)% of (.+) shown by function only$/;

/** Modules without debug information in one sentence for each metric. */
function merged(warnings: readonly string[]): string[] {
  const modules = new Map<string, { names: string[]; percent: number }>();
  const others = warnings.filter((text) => {
    const [, name, percent, metric] = NO_DEBUG.exec(text) ?? [];
    if (metric === undefined) return true;
    const known = modules.get(metric) ?? { names: [], percent: 0 };
    known.names.push(name);
    known.percent += Number(percent);
    modules.set(metric, known);
    return false;
  });
  const sentences = [...modules].map(
    ([metric, { names, percent }]) =>
      `no debug information in ${names.join(', ')}: ${percent.toFixed(1)}% of ${metric} shown by function only`,
  );
  return [...sentences, ...others];
}

/** How many rows the target of a table's column has; undefined: unknown here. */
export function rowsOf(head: Head, to: string): number | undefined {
  const counts = new Map([
    ['place', head.placeCount],
    ['process', head.processes.length],
    ['metric', head.metrics.length],
    ['file', head.files.length],
    ['run', head.runs.length],
  ]);
  return counts.get(to) ?? head.tables.find((t) => t.name === to)?.rows;
}

/** Before version 3 all planes of a column are there. */
function readPlanes(json: Json, version: number): readonly number[] {
  const all = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 4];
  if (version < 3) return version === 1 ? all.slice(0, -1) : all;
  const planes = json['planes'];
  const fits = (n: unknown, i: number): boolean => Number.isInteger(n) && (n as number) >= 0 && (n as number) <= all[i];
  if (!Array.isArray(planes) || planes.length !== all.length || !planes.every(fits))
    throw damaged('planes', 'how many each column of the places has');
  return planes as number[];
}

/** In version 1 a metric says itself where its values are. */
function scopeValues(json: Json, metric: Json, i: number): unknown[] {
  const scopes = list(json, 'trees', true)[0];
  if (scopes) return valuesOf(scopes)[i] ?? [];
  return [metric['chunk'], metric['offset'], metric['bytes'], metric['scale']];
}

/** Where a tree has its metrics' values: of each a chunk, an offset, a length and a scale. */
function valuesOf(tree: Json): readonly unknown[][] {
  const all = list<unknown[]>(tree, 'values');
  if (!all.every(Array.isArray)) throw damaged('values', 'a list of lists');
  return all;
}

function readBlock(values: unknown[]): MetricBlock {
  const [chunk, offset, bytes, scale] = values.map(Number);
  if (![chunk, offset, bytes, scale].every((n) => n >= 0)) throw damaged('values', 'a place in a block');
  return { chunk, offset, bytes, scale };
}

function readTree(t: Json): TreeInfo & { readonly values: readonly MetricBlock[] } {
  return {
    name: String(t['name']),
    title: String(t['title']),
    nodes: size(t, 'nodes'),
    values: valuesOf(t).map(readBlock),
  };
}

function readTable(t: Json): TableInfo {
  return {
    name: String(t['name']),
    title: String(t['title'] ?? t['name']),
    description: String(t['description'] ?? ''),
    rows: size(t, 'rows'),
    strings: size(t, 'strings'),
    block: String(t['block']),
    columns: list(t, 'columns').map((c) => ({
      name: String(c['name']),
      title: String(c['title'] ?? c['name']),
      unit: String(c['unit'] ?? ''),
      description: String(c['description'] ?? ''),
      type: String(c['type']) as TableColumn['type'],
      to: String(c['to'] ?? ''),
    })),
  };
}

function readRun(r: Json): Run {
  return {
    name: String(r['name']),
    machine: String(r['machine']),
    command: String(r['command']),
    asked: String(r['asked']),
    modules: texts(r, 'modules'),
    facts: list<unknown[]>(r, 'facts', true).map(([name, value]) => [String(name), String(value)]),
    firstProcess: Number(r['first_process']),
    processes: Number(r['processes']),
    root: Number(r['root'] ?? r['first_process']),
  };
}

function readMetric(m: Json, values: unknown[]): Metric & MetricBlock {
  return {
    name: String(m['name']),
    displayName: String(m['display_name']) || String(m['name']),
    unit: String(m['unit']),
    description: String(m['description']),
    formula: String(m['formula']),
    event: String(m['event']),
    period: Number(m['period']),
    percent: m['percent'] === true,
    display: m['display'] === true,
    sortBy: m['sort_by'] === true,
    estimated: m['estimated'] === true,
    hasExclusive: m['has_exclusive'] === true,
    summed: m['summed'] === true,
    run: Number(m['run'] ?? -1),
    ...readBlock(values),
  };
}

function readFile(f: unknown[]): SourceFile {
  return {
    name: String(f[0]),
    state: String(f[1]) as SourceFile['state'],
    chunk: Number(f[2] ?? -1),
    offset: Number(f[3] ?? 0),
    bytes: Number(f[4] ?? 0),
  };
}

function readProcess(p: Json): Process {
  return {
    source: String(p['source']),
    host: String(p['host']),
    command: String(p['command']),
    machine: String(p['machine']),
    kernel: String(p['kernel']),
    sampler: String(p['sampler']),
    startMs: Number(p['start_ms']),
    seconds: p['seconds'] === null ? null : Number(p['seconds']),
    threads: Number(p['threads']),
    rank: Number(p['rank']),
    exitStatus: Number(p['exit_status']),
    complete: p['complete'] === true,
  };
}
