// SPDX-License-Identifier: BSD-3-Clause
// screenshots.mjs FOLDER DATABASE... - a picture of each view of each database, in light, dark and on 360 pixels.

import { pathToFileURL } from 'node:url';

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const [folder, ...databases] = process.argv.slice(2);
const VIEWS = ['summary', 'tree', 'calls', 'time', 'memory', 'data'];
const LOOKS = [
  ['light', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
  ['dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }],
  ['360', { viewport: { width: 360, height: 740 }, colorScheme: 'light' }],
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
let failures = 0;
for (const [look, options] of LOOKS) {
  const context = await browser.newContext(options);
  for (const database of databases)
    for (const view of VIEWS) {
      const page = await context.newPage();
      const complain = (text) => {
        failures++;
        console.error(`${database} ${view} ${look}: ${text}`);
      };
      page.on('pageerror', (e) => complain(e.message));
      await page.goto(`${pathToFileURL(`${folder}/${database}/index.html`).href}#v2/${view}`);
      await page.waitForSelector('html[data-ready]').catch(() => complain('it did not open'));
      await page.waitForTimeout(500); // texts and tables come later
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) complain('it is wider than the window');
      await page.screenshot({ path: `${folder}/${database.replace('db-', '')}-${view === 'tree' ? 'code' : view}-${look}.png` });
      await page.close();
    }
  await context.close();
}
await browser.close();
console.log(`${databases.length * VIEWS.length * LOOKS.length} pictures in ${folder}`);
process.exitCode = failures ? 1 : 0;
