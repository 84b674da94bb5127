// SPDX-License-Identifier: BSD-3-Clause
// Runs side by side: which metrics belong to which run, and what they are to be compared with.

import { type Metric, type MetricIx, type Model, NONE, type Run } from '../model/data';
import { type Column, type ColumnId, columnId, type Columns } from './columns';

const isMeasured = (m: Metric): boolean => m.formula === '';

/** "base.TIME" is TIME of the run "base". Databases of version 1 do not name their runs; there it is the part before the first dot. */
function split(model: Model, metric: Metric): { run: string; name: string } | null {
  if (!isMeasured(metric)) return null;
  const dot = metric.name.indexOf('.');
  const run = model.runs[metric.run]?.name ?? (dot > 0 && model.version < 2 ? metric.name.slice(0, dot) : null);
  if (run === null) return null;
  return { run, name: metric.name.startsWith(`${run}.`) ? metric.name.slice(run.length + 1) : metric.name };
}

/** The runs that can be compared, in the order of their metrics; empty if there is only one. */
export function runsOf(model: Model): string[] {
  const runs = new Map<string, Set<string>>(); // by run, its measured metrics
  for (const metric of model.metrics) {
    const parts = split(model, metric);
    if (parts) runs.set(parts.run, (runs.get(parts.run) ?? new Set()).add(`${parts.name} ${metric.event}`));
  }
  const all = [...runs];
  const shared = all.filter(([run, names]) =>
    all.some(([other, theirs]) => other !== run && [...names].some((n) => theirs.has(n))),
  );
  return shared.map(([run]) => run);
}

export const runOf = (model: Model, metric: MetricIx): string => split(model, model.metrics[metric])?.run ?? '';

/** The same measurement in another run; NONE. */
export function counterpart(model: Model, metric: MetricIx, run: string): MetricIx {
  const parts = split(model, model.metrics[metric]);
  if (!parts) return NONE;
  return model.metrics.findIndex((m) => {
    const theirs = split(model, m);
    return theirs?.run === run && theirs.name === parts.name && m.event === model.metrics[metric].event;
  });
}

/** The columns of a comparison with `base`: the base's, then of each other run its own and the difference. */
export function comparedColumns(model: Model, base: string, shown: readonly ColumnId[]): ColumnId[] {
  const wanted = model.metrics
    .map((_, i) => i)
    .filter((i) => runOf(model, i) === base && model.metrics[i].display)
    .flatMap((i) => {
      const others = model.metrics
        .map((_, k) => k)
        .filter((k) => k !== i && runOf(model, k) !== base && counterpart(model, k, base) === i);
      return [columnId(i, false), ...others.flatMap((k) => [columnId(k, false), `${k}-${i}i`])];
    });
  return wanted.length ? wanted : [...shown];
}

/** The differences of all other runs from the base of the first difference; none if runs are not compared. */
export function allDifferences(columns: Columns): Column[] {
  const first = firstDifference(columns);
  if (!first) return [];
  const { of, base } = first.difference!;
  const others = runsOf(columns.model).map((run) => counterpart(columns.model, base.index, run)).filter((i) => i >= 0 && i !== base.index && i !== of.index);
  return [first, ...others.map((i) => columns.get(`${i}-${base.index}i`)).filter((c) => c !== null)];
}

/** The first difference of two runs: the criterion of a comparison. */
export function firstDifference(columns: Columns): Column | null {
  const { model } = columns;
  for (let i = 0; i < model.metrics.length; i++) {
    const column = columns.of(i);
    if (column.difference) return column;
  }
  const [base] = runsOf(model);
  if (base === undefined) return null;
  for (let i = 0; i < model.metrics.length; i++) {
    const other = runOf(model, i) === base ? NONE : counterpart(model, i, base);
    if (other >= 0) return columns.get(`${i}-${other}i`);
  }
  return null;
}

/** Something that is not the same in all runs. */
export interface Difference {
  readonly what: string;
  readonly values: readonly string[]; // by run, as far as they differ; "": nothing
  readonly whole: readonly string[]; // by run, all of it
}

/** Words of the lists that are not in all of them. */
function ownWords(lists: readonly (readonly string[])[]): string[] {
  const sets = lists.map((words) => new Set(words));
  return lists.map((words) => {
    const own = words.filter((w) => sets.some((set) => !set.has(w)));
    return (own.length > MANY_WORDS ? own.filter((w) => !IMPLIED.test(w)) : own).join(' ');
  });
}

/** For -march=native gcc notes a hundred words. */
const MANY_WORDS = 20;
const IMPLIED = /^(-m(?!arch=|tune=|cpu=)|--param=)/;

const BUILT = /^built /;

/** A property of a run as text: how a module was compiled, a variable of the environment. */
export const factName = (name: string): string => name.replace(BUILT, 'compilation of ').replace(/^env:/, '');

/** Differences in the runs' properties, the most important first. */
export function differences(model: Model): Difference[] {
  const { runs, processes } = model;
  const found: Difference[] = [];
  const compare = (what: string, whole: readonly string[], values = whole): void => {
    if (new Set(values).size > 1) found.push({ what, values, whole });
  };
  const fact = (what: string, of: (run: Run) => unknown): void => compare(what, runs.map((run) => String(of(run) ?? '')));
  const words = (what: string, of: (run: Run) => readonly string[]): void => {
    const lists = runs.map(of);
    compare(what, lists.map((l) => l.join(' ')), ownWords(lists));
  };
  fact('command', (r) => r.command);
  const facts = new Map(runs.map((r) => [r, new Map(r.facts)]));
  for (const name of new Set(runs.flatMap((r) => r.facts.map((f) => f[0])))) {
    const value = (r: Run): string | undefined => facts.get(r)!.get(name);
    if (!BUILT.test(name)) fact(factName(name), value);
    else if (runs.every((r) => value(r) !== undefined)) words(factName(name), (r) => value(r)!.split(' '));
  }
  fact('machine', (r) => r.machine);
  fact('host', (r) => processes[r.root]?.host);
  fact('kernel', (r) => processes[r.root]?.kernel);
  fact('events', (r) => r.asked);
  fact('number of processes', (r) => r.processes);
  fact('number of threads', (r) => processes[r.root]?.threads);
  words('load modules', (r) => [...r.modules].sort());
  return found;
}
