// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them. A column has one scale, taken from its total, so that its cells can be compared at a
// glance.

import { type Metric } from '../model/data';

export interface Scale {
  readonly divisor: number;
  readonly decimals: number; // -1: four significant digits
  readonly unit: string; // as shown in the column's head: "s", "G cycles", ""
}

const TIME: { readonly [unit: string]: number } = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, seconds: 1 };
const TIME_STEPS = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
] as const;
const SI_STEPS = [
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

export function scaleFor(metric: Metric, total: number): Scale {
  const size = Math.abs(total);
  const seconds = Object.hasOwn(TIME, metric.unit) ? TIME[metric.unit] : undefined;
  if ((seconds !== undefined && metric.formula === '') || (seconds !== undefined && size > 0)) {
    for (const [step, unit] of TIME_STEPS)
      if (size * seconds >= step * 0.9995) return { divisor: step / seconds, decimals: unit === 'ns' ? 0 : 3, unit };
    return { divisor: 1, decimals: -1, unit: metric.unit };
  }
  if (metric.formula !== '' && size < 10000) return { divisor: 1, decimals: -1, unit: metric.unit };
  if (size >= 100000)
    for (const [step, prefix] of SI_STEPS)
      if (size >= step) return { divisor: step, decimals: 3, unit: `${prefix} ${metric.unit}`.trim() };
  return { divisor: 1, decimals: Number.isInteger(size) ? 0 : 3, unit: metric.unit };
}

const NANOSECONDS = { unit: 'ns', formula: '' } as Metric;

/** Of durations in nanoseconds. */
export const timeScale = (most: number): Scale => scaleFor(NANOSECONDS, most);

/** A duration in a sentence: "12.1 s". */
export function timeText(ns: number): string {
  const { divisor, unit } = timeScale(ns);
  return `${Number((ns / divisor).toPrecision(3))} ${unit}`;
}

/** The total's scale, unless all displayed values are so small in comparison that they would all be "<0.001". */
export function scaleAmong(metric: Metric, total: number, largest: number): Scale {
  return scaleFor(metric, Math.abs(largest) < Math.abs(total) * 0.01 ? largest : total);
}

function withSeparators(digits: string): string {
  const [whole, fraction] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** The decimals a value deserves: the last digit is of the size of its error (two standard deviations); NaN: all. */
function decimalsFor(scale: Scale, error: number): number {
  if (!(error > 0)) return scale.decimals;
  return Math.max(0, Math.min(scale.decimals, -Math.floor(Math.log10(error / scale.divisor))));
}

/** "" for missing. With an error, digits that mean nothing are left out; figure spaces keep the points in line. */
export function formatScaled(value: number, scale: Scale, error = NaN): string {
  if (Number.isNaN(value)) return '';
  const x = value / scale.divisor;
  if (scale.decimals < 0) return significant(x);
  const decimals = decimalsFor(scale, error);
  const text = x.toFixed(decimals);
  const padding = '\u2007'.repeat(scale.decimals - decimals) + (decimals === 0 && scale.decimals > 0 ? '\u2008' : '');
  if (value !== 0 && Number(text) === 0) {
    const least = decimals === scale.decimals ? 10 ** -scale.decimals : 10 ** -decimals;
    return `${x < 0 ? '>−' : '<'}${least.toFixed(decimals)}${padding}`;
  }
  return `${withSeparators(text).replace('-', '−')}${padding}`;
}

/** As short as may be: for sentences. */
export const formatShort = (value: number, scale: Scale, error = NaN): string =>
  formatScaled(value, scale, error).replace(/[\u2007\u2008]+$/, '');

export const formatSigned = (text: string, value: number): string => (value > 0 && text !== '' ? `+${text}` : text);

function significant(x: number): string {
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text =
    size >= 1e6 || size < 1e-4
      ? x.toExponential(3)
      : withSeparators(
          size >= 1000
            ? x.toFixed(1)
            : Number(x.toPrecision(4)).toFixed(size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4),
        );
  return text.replace('-', '−').replace('e−', 'e-');
}

/** How numbers are written: one scale a column, each with its own prefix, as powers of ten, or with every digit. */
export const FORMS = ['scaled', 'si', 'scientific', 'exact'] as const;
export type Form = (typeof FORMS)[number];

/** The unit that belongs in the head of a column whose numbers are written so. */
export const unitIn = (form: Form, metric: Metric, scale: Scale): string =>
  form === 'scaled' ? scale.unit : form === 'si' && Object.hasOwn(TIME, metric.unit) ? '' : metric.unit;

/** "" for missing. */
export function formatAs(form: Form, value: number, metric: Metric, scale: Scale, error: number): string {
  if (Number.isNaN(value)) return '';
  if (form === 'exact') return formatExact(value);
  if (form === 'scaled') return formatScaled(value, scale, error);
  if (value === 0) return '0';
  return form === 'si' ? prefixed(value, metric, error) : scientific(value, error);
}

function prefixed(value: number, metric: Metric, error: number): string {
  const scale = scaleFor(metric, value);
  const isTime = Object.hasOwn(TIME, metric.unit);
  const prefix = isTime ? scale.unit : scale.unit.slice(0, scale.unit.length - metric.unit.length);
  return `${formatShort(value, scale, error)} ${prefix}`.trim();
}

/** As many digits as the error leaves, four at the most. */
function scientific(value: number, error: number): string {
  const known = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(error));
  const text = value.toExponential(error > 0 ? Math.max(0, Math.min(3, known)) : 3);
  return text.replace(/^-/, '−').replace('e+', 'e');
}

/** Every digit. */
export function formatExact(value: number): string {
  if (Number.isNaN(value)) return '';
  const text = Math.abs(value) < 1e21 ? String(value) : value.toExponential();
  return (text.includes('e') ? text : withSeparators(text)).replace(/^-/, '−');
}

/** Share of the total, one decimal, without the sign; "" if there is none. */
export function formatPercent(value: number, total: number): string {
  if (Number.isNaN(value) || !(total !== 0) || Number.isNaN(total)) return '';
  const percent = (value / total) * 100;
  const text = percent.toFixed(1);
  if (value !== 0 && Number(text) === 0) return '<0.1';
  return text.replace('-', '−');
}

/** 0 to 1, for bars and heat. */
export function share(value: number, total: number): number {
  const part = value / total;
  return part > 0 ? Math.min(part, 1) : 0;
}

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${withSeparators(String(n))} ${n === 1 ? one : many}`;
