// Runs side by side: which metrics belong to which run, and what they are to be compared with.

import { type Metric, type MetricIx, type Model, NONE, type Run } from '../model/data';
import { type Column, type ColumnId, columnId, type Columns } from './columns';

const isMeasured = (m: Metric): boolean => m.formula === '';

/** "base.TIME" is TIME of the run "base". Databases of version 1 do not name their runs; there it is what stands before
 *  the first dot. */
function split(model: Model, metric: Metric): { run: string; name: string } | null {
  if (!isMeasured(metric)) return null;
  const dot = metric.name.indexOf('.');
  const run = model.runs[metric.run]?.name ?? (dot > 0 && model.version < 2 ? metric.name.slice(0, dot) : null);
  if (run === null) return null;
  return { run, name: metric.name.startsWith(`${run}.`) ? metric.name.slice(run.length + 1) : metric.name };
}

/** The runs that can be compared, in the order of their metrics; empty where there is but one. */
export function runsOf(model: Model): string[] {
  const runs = new Map<string, Set<string>>(); // by run, what was measured
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

/** The first difference of two runs: by what a comparison is judged. */
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

/** What differs between the runs, by what is known of them: words, the weightiest first. */
export function differing(model: Model): string[] {
  const { runs, processes } = model;
  const differs = (of: (run: Run) => unknown): boolean => new Set(runs.map(of)).size > 1;
  const facts: readonly (readonly [string, (run: Run) => unknown])[] = [
    ['the command', (r) => r.command],
    ['the machine', (r) => r.machine],
    ['the host', (r) => processes[r.root]?.host],
    ['the kernel', (r) => processes[r.root]?.kernel],
    ['the events', (r) => r.asked],
    ['the number of processes', (r) => r.processes],
    ['the number of threads', (r) => processes[r.root]?.threads],
    ['the load modules', (r) => [...r.modules].sort().join('\n')],
  ];
  return facts.filter(([, of]) => differs(of)).map(([word]) => word);
}
