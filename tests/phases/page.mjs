// SPDX-License-Identifier: BSD-3-Clause
// page.mjs PLAYWRIGHT CHROMIUM PAGE [PICTURE] - prints what the page's view Time shows of phases: its columns, the loops of its phases, the
// phases of a loop, the time line as a picture and as a table.
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, file, picture] = process.argv;
const { chromium } = await import(pathToFileURL(playwright).href);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1500, height: 1700 } });
page.on('pageerror', (error) => console.log('error', error.message));
await page.goto(pathToFileURL(file).href);
await page.locator('.views').getByText('Time', { exact: true }).click();
const pane = page.locator('section[aria-label="Barriers and phases"]');
await pane.getByText('Who waits for whom').waitFor();

const heights = async () => {
  const all = await pane.locator('.stack-bars').evaluateAll((stacks) =>
    stacks.map((stack) => [...stack.children].reduce((sum, part) => sum + parseFloat(part.style.height), 0)));
  return all.map((x) => (x > 199 ? 'whole' : 'part')).join(' ');
};
const said = async () => (await pane.innerText()).replace(/\s+/g, ' ');
console.log('runs', (await pane.locator('.stack-name').allInnerTexts()).join(' '));
console.log('absolute', await heights());
await pane.getByText('Show shares of the total').click();
await pane.getByText('Show times').waitFor();
console.log('normalized', await heights());
console.log('segments', await pane.locator('.stack').first().locator('.stack-part').count());
console.log('said', await said());

// the time line: waiting has its colour on the canvas
const coloured = await pane.locator('.timeline-canvas').evaluate((canvas) => {
  const wanted = getComputedStyle(document.documentElement).getPropertyValue('--part-0').trim().match(/\w\w/g).map((x) => parseInt(x, 16));
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) n += wanted.every((x, k) => Math.abs(data[i + k] - x) < 3) ? 1 : 0;
  return n;
});
console.log('timeline', coloured > 20 ? 'coloured' : `not coloured: ${coloured}`);
if (picture) await page.screenshot({ path: picture });
await pane.getByText('As a table').click();
console.log('table', (await pane.locator('.timeline').innerText()).replace(/\s+/g, ' '));
await pane.getByText('As a picture').click();

// to a loop, and back to its phases
const loop = pane.locator('.facts', { hasText: 'Hottest loops' }).first().locator('tbody tr').first().locator('td').last().locator('button').first();
if (await loop.count()) {
  const name = await loop.innerText();
  await loop.click();
  await page.locator('.views').getByText('Time', { exact: true }).click();
  await pane.getByText('Phases of the selected place').waitFor();
  console.log('back', name, (await pane.innerText()).replace(/\s+/g, ' '));
}
await browser.close();
