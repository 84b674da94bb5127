// SPDX-License-Identifier: BSD-3-Clause
// Unit tests in TAP, as the C ones (tests/tap.h).

let count = 0;
let failures = 0;
process.exitCode = 1; // tests that wait for nothing end before done()

function result(ok: boolean, what: string): void {
  console.log(`${ok ? 'ok' : 'not ok'} ${++count} - ${what}`);
  if (!ok) failures++;
}

const lines = (text: string): string =>
  text
    .split('\n')
    .map((l) => `#   ${l}`)
    .join('\n');

export const textOf = (x: unknown): string =>
  typeof x === 'string'
    ? x
    : (JSON.stringify(x, (_, v: unknown) => (typeof v === 'number' && !Number.isFinite(v) ? String(v) : v)) ?? 'undefined');

export function equal(got: unknown, wanted: unknown, what: string): void {
  const ok = textOf(got) === textOf(wanted);
  result(ok, what);
  if (!ok) console.log(`# got\n${lines(textOf(got))}\n# wanted\n${lines(textOf(wanted))}`);
}

export function throws(action: () => unknown, part: string, what: string): void {
  try {
    action();
    result(false, `${what}: nothing was thrown`);
  } catch (error) {
    equal(error instanceof Error && error.message.includes(part) ? part : String(error), part, what);
  }
}

export function done(): void {
  console.log(`1..${count}`);
  process.exitCode = 0;
}
