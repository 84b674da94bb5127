// SPDX-License-Identifier: BSD-3-Clause
// shown.mjs PLAYWRIGHT CHROMIUM PAGE - prints what the page's view Data shows of the toy table.
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, file] = process.argv;
const { chromium } = await import(pathToFileURL(playwright).href);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(pathToFileURL(file).href);
await page.locator('.views').getByText('Data', { exact: true }).click();
await page.getByText('Colours', { exact: true }).first().click();
const pane = page.locator('section.pane:visible', { hasText: 'red' });
console.log('Colours', (await pane.first().innerText()).replace(/\s+/g, ' '));
await browser.close();
