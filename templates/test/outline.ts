// SPDX-License-Identifier: BSD-3-Clause
// Models from drawings. One place a line, depth by indentation:
//
//     program prog
//       module a.out
//         file x.c
//           proc main 3-20 @x.c
//             loop 5-9 @x.c
//               line 6 @x.c = 10 4        values of the metrics; . is missing
//
// A scope's values are sums over the lines in it, as the C side makes them.

import { Kind, type Metric, type Model, NONE, type Values } from '../model/data';
import { sameByName } from '../model/decode';

const KINDS: { readonly [word: string]: Kind } = {
  program: Kind.Program,
  module: Kind.Module,
  file: Kind.File,
  proc: Kind.Procedure,
  inline: Kind.Inline,
  loop: Kind.Loop,
  line: Kind.Line,
};

const add = (a: number, b: number): number => (Number.isNaN(b) ? a : Number.isNaN(a) ? b : a + b);

export function metric(name: string, more: Partial<Metric> = {}): Metric {
  return {
    name,
    displayName: name,
    unit: '',
    description: '',
    formula: '',
    event: name,
    period: 1,
    percent: true,
    display: true,
    sortBy: false,
    estimated: false,
    hasExclusive: true,
    summed: !more.formula,
    run: NONE,
    ...more,
  };
}

export function model(drawing: string, metrics: readonly Metric[] = [metric('A'), metric('B')]): Model {
  const rows = drawing
    .split('\n')
    .filter((l) => l.trim() !== '')
    .map((l) => ({ indent: l.search(/\S/), words: l.trim() }));
  const n = rows.length;
  const strings: string[] = [''];
  const files: string[] = [];
  const intern = (list: string[], text: string): number =>
    list.includes(text) ? list.indexOf(text) : list.push(text) - 1;
  const u32 = (): Uint32Array => new Uint32Array(n);
  const places = {
    count: n,
    kind: new Uint8Array(n),
    role: new Uint8Array(n),
    irreducible: new Uint8Array(n),
    onLine: new Uint8Array(n),
    parent: new Int32Array(n).fill(NONE),
    name: u32(),
    fullName: u32(),
    file: new Int32Array(n).fill(NONE),
    lineFirst: u32(),
    lineLast: u32(),
    callFile: new Int32Array(n).fill(NONE),
    callLine: u32(),
    instance: u32(),
    instances: u32(),
    addressLow: u32(),
    addressHigh: u32(),
    strings,
  };
  const values = metrics.map(() => ({
    inclusive: new Float64Array(n).fill(NaN),
    exclusive: new Float64Array(n).fill(NaN),
  }));
  const open: { indent: number; place: number }[] = [];
  rows.forEach(({ indent, words }, i) => {
    while (open.length && open[open.length - 1].indent >= indent) open.pop();
    places.parent[i] = open.length ? open[open.length - 1].place : NONE;
    open.push({ indent, place: i });
    const [left, right] = words.split(' = ');
    const match =
      /^(\w+)(?: (?!\d+(?:-\d+)?(?: |$)|@|<)(\S+))?(?: (\d+)(?:-(\d+))?)?(?: @(\S+))?(?: <(\S+):(\d+))?(?: #(\d+)\/(\d+))?$/.exec(
        left.trim(),
      );
    if (!match) throw new Error(`drawing: ${left}`);
    places.kind[i] = KINDS[match[1]];
    places.name[i] = places.fullName[i] = intern(strings, match[2] ?? '');
    places.lineFirst[i] = Number(match[3] ?? 0);
    places.lineLast[i] = Number(match[4] ?? match[3] ?? 0);
    if (match[5]) places.file[i] = intern(files, match[5]);
    else if (places.kind[i] === Kind.File && match[2]) places.file[i] = intern(files, match[2]);
    if (match[6]) places.callFile[i] = intern(files, match[6]);
    places.callLine[i] = Number(match[7] ?? 0);
    places.instance[i] = Number(match[8] ?? 0);
    places.instances[i] = Number(match[9] ?? 0);
    (right ?? '')
      .trim()
      .split(/\s+/)
      .forEach((v, m) => {
        if (v === '' || v === '.' || !values[m]) return;
        values[m].inclusive[i] = values[m].exclusive[i] = Number(v);
      });
  });
  for (const v of values)
    for (let i = n - 1; i > 0; i--) {
      const up = places.parent[i];
      v.inclusive[up] = add(v.inclusive[up], v.inclusive[i]);
      if (places.kind[i] === Kind.Line) v.exclusive[up] = add(v.exclusive[up], v.exclusive[i]);
    }
  const stored: Values = {
    of: (m, exclusive) => (exclusive && metrics[m].hasExclusive ? values[m].exclusive : values[m].inclusive),
    failure: () => undefined,
  };
  return {
    title: 'drawn',
    generator: 'test',
    version: 1,
    places: { ...places, same: sameByName(places) },
    runs: [],
    metrics,
    values: stored,
    trees: [],
    treeNodes: { of: () => null, failure: () => undefined },
    treeValues: [],
    tables: [],
    tableRows: { of: () => null, failure: () => undefined },
    processes: [],
    warnings: [],
    files: files.map((name) => ({ name, state: 'text' as const, chunk: 0, offset: 0, bytes: 0 })),
  };
}
