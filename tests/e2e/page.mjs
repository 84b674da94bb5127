// SPDX-License-Identifier: BSD-3-Clause
// page.mjs DB - what the page shows of a database, as "kind name value" lines with every digit: the root, and the table of lines. For page.sh, which
// compares it with hpcview print.
import { pathToFileURL } from 'node:url';

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const page = await (await browser.newContext({ viewport: { width: 1440, height: 4000 } })).newPage();
let troubles = 0;
page.on('pageerror', (e) => (troubles++, console.error(e.message)));
page.on('console', (m) => m.type() === 'error' && (troubles++, console.error(m.text())));

async function show(view) {
  await page.goto('about:blank');
  await page.goto(`${pathToFileURL(`${process.argv[2]}/index.html`).href}#v1/${view}?exact=1`);
  await page.waitForSelector('html[data-ready]');
  await page.waitForSelector('#table .row');
  return page.$$eval('#table .row', (rows) =>
    rows
      .sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row))
      .map((r) => [r.querySelector('.name .label').textContent, r.querySelector('.metric').title || r.querySelector('.metric').textContent]));
}

// "1,234 ns, 5%" is 1234
const digits = (text) => text.replace(/,(?=\d)/g, '').match(/^\d+/)?.[0] ?? '';
const [root] = await show('tree');
console.log(`root ${digits(root[1])}`);
for (const [name, value] of (await show('line')).slice(0, 20)) console.log(`line ${name.replace(/ .*/, '')} ${digits(value)}`);
if (process.argv[3]) await page.goto(`${pathToFileURL(`${process.argv[2]}/index.html`).href}`).then(() => page.setViewportSize({ width: 1440, height: 900 })).then(() => page.waitForSelector('html[data-ready]')).then(() => page.screenshot({ path: process.argv[3] }));
await browser.close();
process.exitCode = troubles ? 1 : 0;
