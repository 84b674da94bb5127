// page.mjs PLAYWRIGHT CHROMIUM PAGE - prints what the page's tab of phases says, and how wide its bars are.
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, file] = process.argv;
const { chromium } = await import(pathToFileURL(playwright).href);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(pathToFileURL(file).href);
await page.getByText('Workspace', { exact: true }).click();
await page.getByRole('tab', { name: 'Phases', exact: true }).first().click();
const pane = page.locator('section[aria-label="Barriers and phases"]');
await pane.getByText('Who waits for whom').waitFor();
const shares = () => pane.locator('.barrier-bar').evaluateAll((bars) =>
  bars.map((bar) => [...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0)));
console.log('said', (await pane.innerText()).replace(/\s+/g, ' '));
console.log('absolute', (await shares()).map((x) => (x > 99.9 ? 'whole' : 'part')).join(' '));
await pane.getByText('Show parts of each phase').click();
await pane.getByText('Show times').waitFor();
console.log('normalized', (await shares()).map((x) => (x > 99.9 ? 'whole' : 'part')).join(' '));
await browser.close();
