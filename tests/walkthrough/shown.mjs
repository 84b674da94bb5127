// SPDX-License-Identifier: BSD-3-Clause
// shown.mjs PLAYWRIGHT CHROMIUM PAGE - prints what the page's tab of the toy table says.
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, file] = process.argv;
const { chromium } = await import(pathToFileURL(playwright).href);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(pathToFileURL(file).href);
await page.getByText('Workspace', { exact: true }).click();
await page.getByRole('tab', { name: 'More' }).click(); // tables of no room that the page knows
await page.getByRole('tab', { name: 'Colours' }).click();
const pane = page.locator('section.pane:visible', { hasText: 'red' });
console.log('Colours', (await pane.first().innerText()).replace(/\s+/g, ' '));
await browser.close();
