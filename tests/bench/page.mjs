// SPDX-License-Identifier: BSD-3-Clause
// page.mjs DATABASE... - seconds of the page's main thread for what a user does; medians of ROUNDS.

import { readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const rounds = Number(process.env.ROUNDS);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});

async function measure(database, view) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpu = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const of = (name) => metrics.find((m) => m.name === name).value;
    return of('TaskDuration') - of('DevToolsCommandDuration'); // excluding the cost of the query
  };
  const settle = async () => {
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0))));
    await page.waitForTimeout(100);
  };
  const times = {};
  const timed = async (what, act) => {
    const before = await cpu();
    await act();
    await settle();
    times[what] = (await cpu()) - before;
  };
  await page.goto(pathToFileURL(`${database}/index.html`).href + `#v2/${view}`);
  await page.waitForSelector('html[data-ready]', { timeout: 120000 });
  times['first view'] = await cpu();
  if (view !== 'summary') {
    await page.waitForTimeout(2000); // the work after the first view
    await page.keyboard.press('ArrowDown');
    await settle();
    await timed('key', () => page.keyboard.press('ArrowDown'));
    await page.keyboard.press('>');
    await settle();
    await timed('sort', () => page.keyboard.press('r'));
    await timed('10 frames', () =>
      page.$eval('#table', async (table) => {
        for (let i = 0; i < 10; i++) {
          table.scrollTop += 400;
          await new Promise((r) => requestAnimationFrame(r));
        }
      }),
    );
  }
  if (view === 'tree') {
    await page.keyboard.press('Home');
    await settle();
    await timed('open all', () => page.keyboard.press('*'));
  }
  await devtools.send('HeapProfiler.collectGarbage'); // live memory, excluding garbage
  const heap = await devtools.send('Runtime.getHeapUsage');
  times['heap MB'] = (heap.usedSize + (heap.backingStorageSize ?? 0)) / 1e6;
  await context.close();
  return times;
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
const columns = ['first view', 'key', 'sort', '10 frames', 'open all', 'heap MB'];
const row = (cells) => console.log(cells.map((c, i) => (i < 2 ? c.padEnd(12) : c.padStart(10))).join(' '));
row(['places', 'view', 'MB', ...columns]);
for (const database of process.argv.slice(2)) {
  const size = readdirSync(database, { recursive: true }).reduce((n, f) => n + statSync(`${database}/${f}`).size, 0);
  for (const view of ['summary', 'tree', 'line']) {
    const all = [];
    for (let i = 0; i < rounds; i++) all.push(await measure(database, view));
    const cells = columns.map((c) =>
      c in all[0] ? median(all.map((t) => t[c])).toFixed(c === 'heap MB' ? 0 : 3) : '',
    );
    row([basename(database), view, (size / 1e6).toFixed(1), ...cells]);
  }
}
await browser.close();
