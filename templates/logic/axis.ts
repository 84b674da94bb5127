// SPDX-License-Identifier: BSD-3-Clause
// Axes of charts: which numbers stand on them, and how far along a value is.

export interface Axis {
  readonly isLog: boolean;
  readonly ticks: readonly number[];
  /** 0 at the beginning, 1 at the end; outside of that for values that do not fit. */
  at(value: number): number;
}

/** A step of 1, 2 or 5 times a power of ten that goes about `most` times into `range`. */
export function niceStep(range: number, most: number): number {
  if (!(range > 0)) return 1;
  const rough = range / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough * 0.999) ?? 10;
  return step * power;
}

/** From 0 (or below, if there are such values) to a round number. */
export function linearAxis(values: Iterable<number>, most = 5): Axis {
  let low = 0;
  let high = 0;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high && v < Infinity) high = v;
  }
  const step = niceStep(high - low, most);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  return {
    isLog: false,
    ticks: Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12))),
    at: (value) => (value / step - first) / (last - first),
  };
}

/** By powers of ten; `values` are above 0. */
export function logAxis(values: Iterable<number>): Axis {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  if (!(low > 0) || high === Infinity) return linearAxis([]);
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9));
  const every = Math.ceil((last - first) / 6);
  const ticks: number[] = [];
  for (let p = first; p <= last; p += every) ticks.push(Number(`1e${p}`));
  return { isLog: true, ticks, at: (value) => (Math.log10(value) - first) / (last - first) };
}

/** Logarithmic where the values ask for it: all above 0, and over more than two powers of ten. */
export function axisOf(values: readonly number[]): Axis {
  const known = values.filter((v) => Number.isFinite(v));
  const low = Math.min(...known);
  return low > 0 && Math.max(...known) > 100 * low ? logAxis(known) : linearAxis(known);
}
