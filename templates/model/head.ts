// The head: JSON in the page, which names everything else. Its version is checked before anything else is believed.

import type { Metric, Process, Run, SourceFile, TableColumn, TableInfo, TreeInfo } from './data';
import { DatabaseError } from './decode';

/** The newest format this page reads, the one it comes with; HTMLGEN_VERSION in htmlgen/htmlgen_int.h. */
export const VERSION = 2;

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
  readonly runs: readonly Run[];
  readonly metrics: readonly (Metric & MetricBlock)[];
  readonly trees: readonly (TreeInfo & { readonly values: readonly MetricBlock[] })[]; // without the scope tree
  readonly tables: readonly TableInfo[];
  readonly files: readonly SourceFile[];
  readonly processes: readonly Process[];
  readonly warnings: readonly string[];
}

type Json = { readonly [key: string]: unknown };

export function readHead(text: string): Head {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new DatabaseError('the database is damaged: its head is not JSON');
  }
  if (json['format'] !== 'hpcview-database') throw new DatabaseError('this is not an hpcview database');
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
    placeCount: Number(json['places']),
    stringCount: Number(json['strings']),
    runs: ((json['runs'] ?? []) as Json[]).map(readRun),
    metrics: (json['metrics'] as Json[]).map((m, i) => readMetric(m, scopeValues(json, m, i))),
    trees: ((json['trees'] ?? []) as Json[]).slice(1).map(readTree),
    tables: ((json['tables'] ?? []) as Json[]).map(readTable),
    files: (json['files'] as unknown[][]).map(readFile),
    processes: (json['processes'] as Json[]).map(readProcess),
    warnings: (json['warnings'] as unknown[]).map(String),
  };
}

/** In version 1 a metric says itself where its values are. */
function scopeValues(json: Json, metric: Json, i: number): unknown[] {
  const scopes = (json['trees'] as Json[] | undefined)?.[0];
  if (scopes) return (scopes['values'] as unknown[][])[i];
  return [metric['chunk'], metric['offset'], metric['bytes'], metric['scale']];
}

function readBlock(values: unknown[]): MetricBlock {
  const [chunk, offset, bytes, scale] = values.map(Number);
  return { chunk, offset, bytes, scale };
}

function readTree(t: Json): TreeInfo & { readonly values: readonly MetricBlock[] } {
  return {
    name: String(t['name']),
    title: String(t['title']),
    nodes: Number(t['nodes']),
    values: (t['values'] as unknown[][]).map(readBlock),
  };
}

function readTable(t: Json): TableInfo {
  return {
    name: String(t['name']),
    title: String(t['title'] ?? t['name']),
    description: String(t['description'] ?? ''),
    rows: Number(t['rows']),
    strings: Number(t['strings']),
    block: String(t['block']),
    columns: (t['columns'] as Json[]).map((c) => ({
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
    modules: ((r['modules'] ?? []) as unknown[]).map(String),
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
