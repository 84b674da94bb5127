// SPDX-License-Identifier: BSD-3-Clause
// agree.mjs FOLDER - compares the tables of FOLDER/db in a browser with the output of hpcview print in
// FOLDER/LEVEL.csv.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const folder = process.argv[2];

let count = 0;
let failures = 0;
function check(ok, what, why) {
  console.log(`${ok ? 'ok' : 'not ok'} ${++count} - ${what}`);
  if (ok) return;
  failures++;
  if (why) console.log(why.replace(/^/gm, '# '));
}

function csv(level) {
  const rows = [];
  for (const line of readFileSync(`${folder}/${level}.csv`, 'utf8').trim().split('\n'))
    rows.push(
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) =>
        m[1] !== undefined ? m[1].replace(/""/g, '"') : m[2],
      ),
    );
  const head = rows.shift();
  return rows.map((r) => Object.fromEntries(head.map((h, i) => [h, r[i]])));
}

/* Values summed by name, as sorted text: print separates rows by module and procedure that the page combines. */
function sums(rows) {
  const byName = new Map();
  for (const [name, value] of rows) byName.set(name, (byName.get(name) ?? 0) + Number(value));
  return [...byName]
    .map(([n, v]) => `${v} ${n}`)
    .sort()
    .join('\n');
}

const base = (path) => path.slice(path.lastIndexOf('/') + 1);
const EVENT = 'perf::TASK-CLOCK';

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 12000 } }); // all rows at once
page.setDefaultTimeout(20000);

/** Name and every digit of a column's value, of each row. */
async function table(hash, column = 0) {
  await page.goto('about:blank');
  await page.goto(pathToFileURL(`${folder}/db/index.html`).href + hash);
  await page.waitForSelector('html[data-ready]');
  return page.$$eval(
    '#table .row',
    (rows, c) =>
      rows
        .map((r) => [
          r.querySelector('.label').dataset.name ?? r.querySelector('.label').textContent,
          r.querySelectorAll('.metric .value').length
            ? (r.querySelectorAll('.metric')[c].querySelector('.value')?.textContent ?? '').replace(/,/g, '')
            : '',
        ])
        .filter((r) => r[1] !== ''),
    column,
  );
}

function compare(level, shown, printed) {
  const got = sums(shown);
  const want = sums(printed);
  check(got !== '' && got === want, `${level}: the page and print agree`, `page\n${got}\nprint\n${want}`);
}

const [root] = await table('#v1/tree?exact=1');
const printed = csv('program')[0][EVENT];
check(root[1] === printed, 'the root of the page is the root of print', `${root[1]} and ${printed}`);
const info = readFileSync(`${folder}/info.txt`, 'utf8');
const period = Number(/^ +period +(\d+)/m.exec(info)?.[1]);
const samples = Number(/^ +samples +(\d+)/m.exec(info)?.[1]);
check(
  samples > 20 && Number(root[1]) === samples * period,
  'and is samples x period to the last digit',
  `${root[1]}, ${samples} x ${period}`,
);

for (const level of ['module', 'procedure', 'file'])
  compare(
    level,
    await table(`#v1/${level}?exact=1&fuse=0`),
    csv(level).map((r) => [level === 'file' ? r.file || r.name : r.name, r[EVENT]]),
  );
const line = (r) => (Number(r.line) > 0 ? `${base(r.file)}:${r.line}` : 'no line known');
compare(
  'line',
  await table('#v1/line?exact=1'),
  csv('line').map((r) => [line(r), r[EVENT]]),
);
compare(
  'line, each place',
  await table('#v1/line?exact=1&fuse=0'),
  csv('line').map((r) => [line(r), r[EVENT]]),
);
const loops = (rows) =>
  rows.map(([name, value]) => [
    name
      .replace(/^loop at /, '')
      .replace(/–\d+$/, '')
      .replace(/^loop$/, 'no line known'),
    value,
  ]);
compare(
  'loop, exclusive',
  loops(await table('#v2/loop?exact=1&columns=0i,0e', 1)),
  csv('loop')
    .filter((r) => r[`${EVENT} (E)`] !== '')
    .map((r) => [line(r), r[`${EVENT} (E)`]]),
);

await page.keyboard.press('a');
await page.waitForSelector('dialog[open]');
const about = await page.textContent('dialog');
check(/compilation of the program.*(GNU C\+\+.*-O3|clang)/s.test(about), 'who compiled it, and how, is said', about);

// Code without source: the page starts at the end of the hot path, and shows its instructions.
await page.goto('about:blank');
await page.setViewportSize({ width: 1500, height: 1000 });
await page.goto(`${pathToFileURL(`${folder}/bare.db/index.html`).href}#v2/tree`);
await page.waitForSelector('html[data-ready]');
const end = (await page.textContent('#table .row[aria-selected="true"]')).trim();
check(end.includes('no line known'), 'the hot path of a stripped program ends where no line is known', end);
const costly = await page.waitForSelector('.insn-scroll .costs[aria-selected="true"]').catch(() => null);
check(costly !== null, 'its costly instructions are marked and in sight');

await browser.close();
console.log(`1..${count}`);
process.exitCode = failures ? 1 : 0;
