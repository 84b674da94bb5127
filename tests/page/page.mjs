// SPDX-License-Identifier: BSD-3-Clause
// page.mjs FOLDER - drives the databases of page.sh as a user would. TAP on standard output.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const folder = process.argv[2];
const address = (name) => pathToFileURL(`${folder}/${name}`).href;

let count = 0;
let failures = 0;
function check(ok, what, got) {
  console.log(`${ok ? 'ok' : 'not ok'} ${++count} - ${what}`);
  if (ok) return;
  failures++;
  if (got !== undefined)
    console.log(String(typeof got === 'string' ? got : JSON.stringify(got, null, 1)).replace(/^/gm, '# '));
}
function same(got, want, what) {
  const text = (x) => (typeof x === 'string' ? x : JSON.stringify(x));
  check(text(got) === text(want), what, `got\n${text(got)}\nwanted\n${text(want)}`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
context.setDefaultTimeout(20000);

/* Opens a page for a database; errors in it are collected in page.troubles. */
async function open(name, hash = '#v2/tree', options = {}) {
  const page = await (options.context ?? context).newPage();
  page.troubles = [];
  page.requests = [];
  page.on('console', (m) => m.type() === 'error' && page.troubles.push(m.text()));
  page.on('pageerror', (e) => page.troubles.push(e.message));
  page.on('request', (r) => page.requests.push(r.url()));
  await page.goto(address(name) + hash);
  if (!options.fails) await page.waitForSelector('html[data-ready]');
  await settle(page);
  return page;
}
/* Waits two frames, and until animated rows and requested blocks are present and drawn. */
const settle = (page) =>
  page.evaluate(
    () =>
      new Promise((r) => {
        let looks = 0;
        let quiet = 0;
        const isQuiet = () =>
          !document.querySelector('html[data-reading], :is(#table, #calls) .row:not(:has(.label))') || looks++ > 400;
        const look = () => {
          quiet = isQuiet() ? quiet + 1 : 0;
          if (quiet === 2) r();
          else requestAnimationFrame(() => setTimeout(look, 20));
        };
        requestAnimationFrame(look);
      }),
  );
async function act(page, action) {
  await action();
  await settle(page);
}

/** The table as text: a row a line, indented as in the tree, with the texts of its cells. */
const table = (page) =>
  page.$$eval('#table .row', (rows) =>
    rows
      .sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row))
      .map(
        (r) =>
          `${'  '.repeat(Number(r.getAttribute('aria-level') ?? 1) - 1)}${[...r.querySelectorAll('.name .label, .name .badge')].map((x) => x.textContent).join(' ')} | ${[
            ...r.querySelectorAll('.metric'),
          ]
            .map((c) =>
              [...c.children]
                .map((x) => x.textContent)
                .map((t) => t.replace(/[\u2007\u2008]+$/, '')) // spaces as wide as digits
                .filter(Boolean)
                .join(' '),
            )
            .join(' | ')}`,
      ),
  );
const names = async (page) => (await table(page)).map((r) => r.split(' | ')[0]);
const row = (page, text) => page.locator('#table .row', { hasText: text }).first();
const selected = (page) => page.$$eval('#table .row.selected .label', (x) => x.map((e) => e.textContent).join());
const selectedPath = (page) => page.textContent('.path .crumb.on');
const linked = (page) => page.$$eval('#table .row.linked', (x) => x.length);
const marked = (page) =>
  page.$$eval('#source .line.marked, #source .line.within', (x) =>
    x.map((e) => Number(e.dataset.line)).sort((a, b) => a - b),
  );
const sourceLine = (page, n) => page.locator(`#source .line[data-line="${n}"]`);
const hash = (page) => page.evaluate(() => location.hash);
const unpackedBeside = (page) => page.evaluate(() => performance.getEntriesByName('hpcview-worker').length);
/** A tool of the table that is in its menu. */
const tool = async (page, text) => {
  await page.click('.menu summary');
  await page.click(`.menu-tools >> text=${text}`);
  if (await page.isVisible('.menu-tools')) await page.click('.menu summary');
};
const shot = (page, name) => page.screenshot({ path: `${folder}/${name}.png` });

// ---- first impression ----
{
  const page = await open('db-heat/index.html');
  same(await page.title(), 'heat conduction, 20 steps — hpcview', 'the title');
  same(
    await table(page),
    [
      'heat | 10.5 100.0% | 123 100.0% | 0.0117',
      '  heat | 10.3 99.0% | 123 100.0% | 0.0119',
      '    heat.f90 | 9.9 95.2% | 115 94.0% | 0.0116',
      '      cg | 9.9 95.2% | 115 94.0% | 0.0116',
      '        loop 56–67 | 9.9 95.1% | 115 94.0% | 0.0116',
      '          spmv | 6.8 65.2% | 97 79.1% | 0.0142',
      '            loop 14–20 | 6.8 65.2% | 97 79.1% | 0.0142',
      '              loop 16–18 vector 1 of 2 | 6.3 59.8% | 91 74.3% | 0.0146',
      '                line 17 | 6.0 57.5% | 91 74.3% | 0.0152',
      '                line 16 | 0.24 2.3% |  | ',
      '              loop 16–18 remainder 2 of 2 | 0.35 3.4% | 5 4.2% | 0.0145',
      '              line 19 | 0.16 1.5% | 0.7 0.6% | 0.0044',
      '              line 14 | 0.05 0.5% |  | ',
      '          dot | 0.8 8.0% | 4 3.3% | 0.0048',
      '          dot | 0.8 7.3% | 4 2.9% | 0.0047',
      '          loop 63 vector | 0.57 5.4% | 4 3.6% | 0.0077',
      '          axpy | 0.48 4.6% | 3 2.4% | 0.0062',
      '          axpy | 0.47 4.5% | 3 2.7% | 0.0070',
      '        line 55 | 0.01 0.1% |  | ',
      '    mesh.c | 0.31 2.9% | 6 5.0% | 0.0198',
      '    driver.c | 0.09 0.9% | 1.3 1.1% | 0.0141',
      '  libc.so.6 | 0.10 1.0% |  | ',
    ],
    'the hot path is open; values, shares, blanks',
  );
  same(
    await row(page, 'heat').locator('.metric').first().getAttribute('title'),
    '10,452,000,000 ns, 100.0%, 2,613 samples, ± 0.4 s',
    'the root to the last digit: 2,613 samples x 4,000,000 ns, and what they are worth',
  );
  same(await selected(page), 'line 17', 'the end of the hot path is selected');
  same(await marked(page), [17], 'its line is marked in the source');
  same(
    await sourceLine(page, 17)
      .innerText()
      .then((t) => t.replace(/\s+/g, ' ').trim()),
    '6.4 60.8% ×2 17 s = s + a(k) * x(col(k))',
    'the source line with its cost over both places',
  );
  await act(page, () => page.click('[role=tab]:text-is("Files")'));
  same(
    await page.$$eval('.file', (f) => f.map((x) => x.innerText.replace(/\s+/g, ' ').trim())),
    ['heat.f90 9.9 95.2%', 'mesh.c 0.31 2.9%', 'driver.c 0.09 0.9%', 'code without source lines 0.10 1.0%'],
    'the files with their cost, and the rest of it',
  );
  await act(page, () => page.click('[role=tab]:text-is("Source")'));
  same(await page.getAttribute('#table', 'role'), 'treegrid', 'the tree is a treegrid');
  same(
    await row(page, 'cg').evaluate((r) => [
      r.getAttribute('aria-level'),
      r.getAttribute('aria-expanded'),
      r.getAttribute('aria-rowindex'),
    ]),
    ['4', 'true', '5'],
    'rows tell level, state and number',
  );
  same(
    await page.$$eval('[role=columnheader]', (c) => c.map((x) => x.getAttribute('aria-sort'))),
    ['none', 'descending', 'none', 'none'],
    'heads tell the order',
  );
  check(
    (await page.getAttribute('[role=columnheader]:nth-child(2)', 'title')).includes('one sample every 4,000,000'),
    'a head tells event and period',
  );
  check(
    page.requests.every((r) => r.startsWith('file://') || r.startsWith('data:')),
    'nothing but files is asked for',
    page.requests,
  );
  same(page.troubles, [], 'no complaint of the browser');
  await shot(page, 'tree-1440');
  await page.setViewportSize({ width: 1024, height: 768 });
  await settle(page);
  await shot(page, 'tree-1024');
  await page.close();
}

// ---- the front page ----
{
  const page = await open('db-heat/index.html', '');
  await page.waitForSelector('.hot-text'); // source texts come after the numbers
  same(await hash(page), '#v2/summary', 'a database opens with its summary');
  const text = (await page.innerText('#summary')).replace(/[ \n]+/g, ' ');
  for (const part of [
    'heat 20 node7 AMD EPYC 7763',
    '10.5 s CPU time 12.50 s from start to end 1 thread 2,613 samples 2 modules 99.0% with source lines',
    'heat 99.0%',
    '63.2% ±4 loop at heat.f90:16–18', // both copies
    '17: s = s + a(k) * x(col(k))',
    '60.8% ±4 s = s + a(k) * x(col(k)) heat.f90:17 in spmv ×2',
    '95.2% ±4 cg in heat',
    'libc.so.6 has no line table',
    'Only time',
  ])
    check(part === 'Only time' ? !text.includes(part) : text.includes(part), `it says ${part}`, text);
  await shot(page, 'summary-1440');
  await act(page, () => page.click('.hot-item >> nth=0'));
  same(
    [await selected(page), await marked(page)],
    ['loop 16–18', [16, 17, 18]],
    'a hot loop leads to its row and its lines',
  );
  await act(page, () => page.goBack());
  check(await page.isVisible('#summary'), 'back to the summary');
  await act(page, () => page.click('.where-part >> nth=1'));
  same(await selected(page), 'libc.so.6', 'a part of the bar leads to its module');
  await act(page, () => page.keyboard.press('s'));
  await act(page, () => page.click('#summary >> text=all 11'));
  same((await names(page)).length, 13, 'all lines, of which five were listed; and code without a line');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- twelve questions of users: each answer takes at most three clicks ----
{
  /* Opens a database and clicks (or types, after a '='); then the text in `where` must match `answer` on the screen. */
  const asks = async (question, name, steps, where, answer, look = async () => {}) => {
    const page = await open(`${name}/index.html`, '');
    await page.waitForSelector('#summary .card');
    for (const step of steps)
      await act(page, async () => {
        if (!step.startsWith('=')) return page.locator(step).first().click();
        await page.keyboard.type(step.slice(1));
        await page.keyboard.press('Enter');
      });
    await page.waitForTimeout(300); // tables come later
    const text = (await page.innerText(where)).replace(/[ \n]+/g, ' ');
    const clicks = steps.filter((step) => !step.startsWith('=')).length;
    check(clicks <= 3 && answer.test(text), `in ${clicks} clicks: ${question}`, text);
    await look(page);
    same(page.troubles, [], 'without a complaint of the browser');
    await page.close();
  };
  const summary = '#summary';
  const view = (name) => `.views >> text=${name}`;
  await asks('1. which own code has most time?', 'db-facts', [], '.headline', /^77% of the run is spent in cg\./);
  await asks('and in a program without call paths?', 'db-heat', [], '.headline', /^63% of the run is spent in loop at heat\.f90:16–18 in spmv/);
  await asks('2. how well is the work shared?', 'db-facts', ['.headline-link'], '.selection', /4 threads, imbalance 78%/);
  await asks('and which has most?', 'db-facts', ['.headline-link', '.thread-bars'], '.slot-time', /the most, process 1 thread 0, is 78% over the mean/);
  await asks('3. from where is it reached?', 'db-facts', ['.headline-link'], '.selection', /Called from 90\.0% main/);
  await asks('4. at which barrier is most lost, and for whom?', 'db-waits', [view('Time')], '.slot-time', /heat\.f90:17 OpenMP.*Who waits for whom/);
  await asks('5. what happened between two times?', 'db-waits', [view('Time'), 'text=As a table'], '.slot-time', /Phase begins.*Arrived.*Waited.*heat\.f90:17/);
  await asks('6. is the other build faster, beyond noise?', 'db-runs', [], '.headline', /^new takes 35\.2% more than old: 2\.7 s instead of 2\.0 s, ± 0\.1 s\.$/);
  await asks('and what explains it?', 'db-runs', [], summary, /COSTS MORE.*\+45\.0% \+0\.90 s fresh\(\);/);
  await asks('7. which array misses most?', 'db-memory', [], summary, /MISSES x 80\.0%/);
  await asks('where, and what evicts it?', 'db-memory', [view('Memory')], '.slot-memory', /x at heat\.f90:17, 80\.0%.*evicted by heap 1 at heat\.f90:30/);
  await asks('8. which Python function costs most?', 'db-python', [], '.headline', /^70% of the run is spent in neighbours\./);
  await asks('and who calls it?', 'db-python', ['.headline-link'], '.selection', /grid\.py.*Called from 70\.0% relax/);
  await asks('9. what limits the hottest loop, and what could be gained?', 'db-facts', [], summary, /FINDINGS.*51%.*Indirect loads bound the loop/);
  await asks('10. which procedures have most self time?', 'db-heat', [view('Code'), '.table-tools .tab:text-is("Procedures")'], '#table', /cg.*mesh_assemble.*main/);
  await asks('and how much has source?', 'db-heat', [], summary, /99\.0% with source lines/);
  await asks(
    '11. a new ratio column, sorted',
    'db-heat',
    [view('Code'), 'text=Columns…', '.formula', '=PER_MISS = TIME / L2_MISS'],
    'dialog',
    /PER_MISS/,
    async (page) => {
      await act(page, () => page.keyboard.press('Escape'));
      same(await page.$$eval('#table [role=columnheader][aria-sort=descending]', (x) => x.map((e) => /PER.MISS/.test(e.innerText))), [true], 'the table is sorted by it');
    },
  );
  await asks('12. a link to one loop, and a print', 'db-heat', ['.headline-link'], '.path .crumb.on', /loop at heat\.f90:16–18/, async (page) => {
    const linked = await open('db-heat/index.html', await hash(page));
    same(await selectedPath(linked), await selectedPath(page), 'the address is the link');
    await linked.close();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    check(/HOT LOOPS WITH THEIR SOURCE.*x\(col\(k\)\)/s.test(await page.innerText('#app')), 'the print has the loop and its source');
  });
}

// ---- heads are over their columns, and cells in them, whatever is resized ----
{
  const page = await open('db-facts/index.html', '#v2/tree');
  await act(page, () => page.keyboard.press('*'));
  const strays = () =>
    page.evaluate(() => {
      const lefts = (of) => [...of.querySelectorAll('.metric')].map((x) => Math.round(x.getBoundingClientRect().left)).join();
      const heads = lefts(document.querySelector('#table .grid-head'));
      return [...document.querySelectorAll('#table .row')].map(lefts).filter((row) => row !== heads);
    });
  for (const width of [1440, 1000, 1300, 800]) {
    await page.setViewportSize({ width, height: 800 });
    await settle(page);
    same(await strays(), [], `heads are over their columns at ${width} pixels`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  const drag = async (selector, dx) => {
    const { x, y, width, height } = await page.locator(selector).first().boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + dx, y + height / 2, { steps: 3 });
    await page.mouse.up();
    await settle(page);
  };
  await drag('.splitter.split', -120);
  same(await strays(), [], 'also when the splitter was dragged');
  await drag('#table .handle', 60);
  same(await strays(), [], 'or the edge of the names');
  await act(page, () => page.keyboard.press('l'));
  same(await strays(), [], 'or the layout changed');
  await page.evaluate(() => localStorage.clear());
  await page.close();
}

// ---- deep trees: depth never moves a number ----
{
  const page = await open('db-deep/index.html', '#v2/calls');
  await page.waitForSelector('#calls .row');
  for (const key of ['Home', '*', 'End']) await act(page, () => page.keyboard.press(key));
  const seen = await page.$$eval('#calls .row', (rows) => ({
    deepest: Math.max(...rows.map((r) => Number(r.getAttribute('aria-level')))),
    names: [...new Set(rows.map((r) => Math.round(r.querySelector('.name').getBoundingClientRect().width)))].length,
  }));
  check(seen.deepest > 60 && seen.names === 1, 'names are as wide at every depth', seen);
  check((await page.$$('#calls .depth')).length > 0, 'where rows are no longer indented their depth is a number');
  await page.close();
}

// ---- tables next to the places: words are not broken ----
{
  const page = await open('db-facts/index.html', '#v2/data?panes=,source,card,tree-calls,barriers,memory,table-findings');
  await page.setViewportSize({ width: 360, height: 700 });
  await page.waitForSelector('.facts-pane tbody tr');
  const cells = await page.$$eval('.facts-pane td:not(.n)', (t) =>
    t.filter((x) => x.innerText.length > 20).map((x) => [x.innerText.slice(0, 20), Math.round(x.getBoundingClientRect().width)]),
  );
  check(cells.length > 0 && cells.every(([, width]) => width > 70), 'a text is broken at words, not at letters', cells);
  await page.close();
}

// ---- tables and trees that other folders bring ----
{
  const page = await open('db-facts/index.html', '');
  const cards = await page.$$eval('.card h2', (h) => h.map((x) => x.textContent));
  check(cards.includes('Findings'), 'findings stand on the front page', cards);
  await page.waitForSelector('.card:has(h2:text-is("Findings")) .hot-item');
  const first = (await page.innerText('.card:has(h2:text-is("Findings")) .hot-item >> nth=0')).replace(/\s+/g, ' ');
  same(
    first,
    '51% Indirect loads bound the loop loop at heat.f90:16–18 x(col(k)): its address comes from a load',
    'the worst first',
  );
  await act(page, () => page.click('.card:has(h2:text-is("Findings")) .hot-item >> nth=1'));
  const found = () => page.$$eval('.selection .finding', (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim()));
  same([await selected(page), await found()], ['axpy', ['9.0% Called <b>twice</b> once would do']], 'a finding leads to its place, whose card has it');
  await act(page, () => page.click('.selection-links >> text=Findings').catch(() => page.keyboard.press('d')));
  await act(page, () => page.click('#tab-table-findings'));
  await page.waitForSelector('.facts-pane tbody tr');
  const tableRows = () => page.$$eval('.facts-pane tbody tr', (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim()));
  same((await tableRows()).length, 2, 'the view Data has the whole table');
  await act(page, () => page.check('.facts-head input[type=checkbox]'));
  same(await tableRows(), ['axpy Called <b>twice</b> 0.09 once would do'], 'or its rows about what is selected');
  check((await hash(page)).includes('about=1'), 'the address says so');
  await act(page, () => page.uncheck('.facts-head input[type=checkbox]'));
  await act(page, () => page.fill('.facts-head .filter', 'INDIRECT'));
  same(await page.innerText('.facts-head .muted'), '1 row', 'a table is filtered by any text');
  await act(page, () => page.fill('.facts-head .filter', ''));
  const byName = async () => {
    await act(page, () => page.click('.facts-pane th:nth-child(2) .head-sort'));
    return page.$$eval('.facts-pane tbody td:nth-child(2)', (t) => t.map((x) => x.innerText));
  };
  const down = await byName();
  same(await byName(), [...down].reverse(), 'and sorted by any column, up and down');
  await act(page, () => page.click('#tab-search'));
  const steps = () => page.$$eval('.search-step', (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim()));
  same(
    await steps(),
    [
      '− CPUBound the program true 99.0% of 1% experiment 1',
      '− HotLoop loop at heat.f90:16–18 true 51.0% of 1% experiment 2',
      'Division loop at heat.f90:16–18 false experiment 3',
      'PageFaults the program not measurable experiment 2 needs perf::PAGE-FAULTS',
      '+ Parallel the program false experiment 1',
    ],
    'the search is a tree; what led to nothing is closed',
  );
  await act(page, () => page.click('.search-step:has-text("Parallel") .step-knob'));
  same((await steps()).at(-1), 'Locks the program pruned experiment 2 3 places in it', 'until it is opened');
  await act(page, () => page.click('.search-step:has-text("HotLoop") .crumb'));
  same(await page.$$eval('#table .row:has(.finding-mark) .label', (r) => r.map((x) => x.textContent)), ['loop 16–18', 'axpy'], 'what was found at a place is marked at its row');
  await act(page, () => page.click('#table .finding-mark'));
  same((await found()).map((x) => x.slice(0, 28)), ['51% Indirect loads bound the'], 'and the mark leads to it');
  check((await page.$('.line[data-line="16"] .finding-mark')) !== null, 'so is its line in the source');
  await act(page, () => page.keyboard.press('8'));
  await page.waitForSelector('.icicle-canvas[aria-label*="4 scopes of the Calls"]'); // a tree of calls has its picture
  const box = await page.locator('.icicle-canvas').boundingBox();
  await act(page, () => page.mouse.click(box.x + 20, box.y + 18 + 9));
  same(await selectedPath(page), 'main', 'a click on a box selects what it stands for');
  await page.mouse.move(box.x + 30, box.y + 2 * 18 + 9);
  await settle(page);
  check(
    (await page.textContent('.tip')).includes('9,000,000,000 ns'),
    'a tip has its number in that tree',
    await page.textContent('.tip'),
  );
  await act(page, () => page.keyboard.press('8'));
  await page.waitForSelector('#calls .row');
  await act(page, () => tool(page, 'Expand'));
  const rows = (grid) => page.$$eval(`${grid} .row`, (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim()));
  same(
    await rows('#calls'),
    ['◆ heat 10.0 100.0%', 'ƒ main 10.0 100.0%', 'ƒ cg 9.0 90.0%', 'ƒ mesh_assemble 1.0 10.0%'],
    'the tree of calls, top-down',
  );
  await act(page, () => page.click('#calls .row:has-text("mesh_assemble")'));
  same(await selectedPath(page), 'mesh_assemble', 'what is selected there is selected everywhere');
  await act(page, () => page.click('#calls .row:has-text("main")'));
  same(
    (await page.innerText('.selection .numbers dd >> nth=0')).replace(/\s+/g, ' '),
    '10.0 s ± 0.4, 100.0% of the run',
    'a call has its numbers on the card, with what it calls',
  );
  await act(page, () => page.click('#calls .row:has-text("mesh_assemble")'));
  await act(page, () => page.click('[role=tab]:text-is("Callers")'));
  await page.waitForSelector('.callers-tree .row');
  same(
    await rows('.callers-tree'),
    ['ƒ mesh_assemble 1.0 100.0%', 'ƒ cg 1.0 100.0%', 'ƒ main 1.0 100.0%'],
    'its callers, with their shares',
  );
  await act(page, () => page.click('[role=tab]:text-is("Selection")'));
  await act(page, () => page.click('#calls .row:has-text("cg")'));
  same(
    await page.$$eval('.slot-inspect .parts li', (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim())),
    ['90.0% main', '10.0% mesh_assemble'],
    'who calls a procedure, and whom it calls',
  );
  await act(page, () => page.click('#calls .row:has-text("cg") .twisty'));
  const shared = await open('db-facts/index.html', await hash(page));
  await shared.waitForSelector('#calls .row:has-text("%")'); // its numbers come after its name
  const rowsOf = (p) => p.$$eval('#calls .row', (r) => r.map((x) => `${x.innerText} ${x.ariaSelected} ${x.ariaExpanded}`));
  same(await rowsOf(shared), await rowsOf(page), 'who follows the address sees the same rows open and selected');
  same((await rowsOf(shared)).length, 3, 'and what was closed is closed');
  await shared.close();
  await act(page, () => tool(page, 'Fold recursion'));
  check((await hash(page)).includes('fold=1'), 'recursion is folded, in the address too');
  same((await rows('#calls')).length, 3, 'and the table is there again, its hot path open');
  await act(page, () => page.fill('#filter', 'mesh_a'));
  same((await rows('#calls')).length, 4, 'the filter keeps the way to what it finds');
  await act(page, () => page.fill('#filter', 'main'));
  check((await rows('#calls'))[1].startsWith('ƒ main'), 'and finds procedures by name');
  await act(page, () => page.fill('#filter', ''));
  await shot(page, 'facts-1440');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- a range of time ----
{
  const page = await open('db-waits/index.html', '#v2/time');
  const canvas = await page.waitForSelector('.timeline-canvas');
  same(await page.$$eval('.timeline .card', (c) => c.length), 0, 'the whole run is not a range');
  const box = await canvas.boundingBox();
  const at = (part) => [box.x + 90 + part * (box.width - 90), box.y + 25];
  await page.mouse.move(...at(0.1));
  await page.mouse.down();
  await page.mouse.move(...at(0.4));
  await page.mouse.up();
  const words = () => page.$eval('.timeline', (t) => t.innerText.replace(/\s+/g, ' '));
  const card = await words();
  check(/From 19\d ns to 76\d ns: the threads work .*% of the time and wait .*%, in 1 recorded episode/.test(card), 'dragging selects a range, with its work and waiting', card);
  check(/100\.0% barrier heat\.f90:17 OpenMP waited .*, thread 1 most often last.*HOT PLACES HERE/i.test(card), 'with its barriers, who came last, and the hot places', card);
  await page.mouse.click(...at(0.7));
  same(await page.$$eval('.timeline .card', (c) => c.length), 0, 'a click ends it');
  await canvas.focus();
  await page.keyboard.press('+');
  same(await page.$$eval('.timeline .card', (c) => c.length), 2, 'the part in sight is a range, too');
  await page.keyboard.press('Escape');
  same(await page.$$eval('.timeline .card', (c) => c.length), 0, 'Esc shows the whole run');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- a simulated memory ----
{
  const page = await open('db-memory/index.html', '');
  await page.waitForSelector('.where[aria-label=Misses] .where-part');
  same(
    await page.$$eval('.where[aria-label=Misses] .where-part', (b) => b.map((x) => x.textContent)),
    ['x 80.0%', 'heap 1 20.0%'],
    'the front page has the misses by array',
  );
  await act(page, () => page.click('.where[aria-label=Misses] .where-part >> nth=0'));
  same(await page.isVisible('.memory-level'), true, 'and leads to the memory pane');
  await act(page, () => page.evaluate(() => (location.hash = '#v2/tree?place=0')));
  await act(page, () => page.keyboard.press('n'));
  await page.waitForSelector('.memory-level');
  const texts = (selector) => page.$$eval(selector, (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim()));
  same(
    await texts('.memory-level'),
    ['L1 750 misses of 2,100 accesses, 35.7%', 'TLB 2 misses of 1,000 accesses, 0.2%'],
    'each level, caches before TLBs',
  );
  same(
    (await texts('.memory-why'))[0],
    "Most misses here: x at heat.f90:17, 80.0% of the level's misses, 60.0% of its accesses; most are reloads of evicted lines; 12.5% of the bytes of evicted lines had been used; 75.0% of its lines are evicted by heap 1 at heat.f90:30.",
    'which reference misses, why, and who threw its data out',
  );
  const tables = () => page.$$eval('.facts-pane tbody', (t) => t.map((b) => [...b.rows].map((r) => r.innerText.replace(/\s+/g, ' ').trim())));
  same(
    (await tables()).slice(0, 2),
    [
      ['heat.f90:17 x 600 80.0 60.0', 'heat.f90:17 heap 1 125 16.7 12.5', 'heat.f90:30 heap 1 25 3.3 25.0'],
      ['x 600 80.0 60.0', 'heap 1 heat.f90:55 150 20.0 13.6'],
    ],
    'three columns of references and arrays at first',
  );
  await act(page, () => page.click('.facts-pane >> text=All columns'));
  same(
    (await tables()).slice(0, 3),
    [
      ['heat.f90:17 x 600 80.0 60.0 8.3 25.0 12.5 heat.f90:30 heap 1 75.0%', 'heat.f90:17 heap 1 125 16.7 12.5 100.0 0.0 100.0 heat.f90:30 heap 1 100.0%', 'heat.f90:30 heap 1 25 3.3 25.0 100.0 100.0'],
      ['heat.f90:30 heap 1 575 79.3', 'heat.f90:17 x 150 20.7'],
      ['x 600 80.0 60.0 8.3 25.0 12.5', 'heap 1 heat.f90:55 150 20.0 13.6 100.0 7.9 100.0'],
    ],
    'references, evictors and arrays of the level',
  );
  await shot(page, 'memory-1440');
  await act(page, () => page.click('.facts-pane tbody .crumb:text-is("heat.f90:17") >> nth=0'));
  same(await selectedPath(page), 'heat.f90:17', 'a reference leads to its line');
  await act(page, () => page.keyboard.press('n'));
  same((await tables())[0].length, 2, 'where its own references are left');
  await act(page, () => page.keyboard.press('t'));
  await page.setViewportSize({ width: 1024, height: 700 });
  await settle(page);
  const mark = await page.locator('.line[data-line="17"] .misses-mark').boundingBox();
  const sight = await page.locator('#source').boundingBox();
  check(mark.x + mark.width <= sight.x + sight.width, 'its mark stays in sight beside a long line', [mark, sight]);
  await page.setViewportSize({ width: 1440, height: 900 });
  await settle(page);
  await act(page, () => page.keyboard.press('n'));
  await act(page, () => page.click('.facts-pane tbody .crumb:text-is("heat.f90:30") >> nth=0'));
  same(await selectedPath(page), 'heat.f90:30', 'and its evictor to the line that threw its blocks out');
  await act(page, () => page.keyboard.press('n'));
  same(await texts('.memory-level'), ['L1 25 misses of 100 accesses, 25.0%; 3.3% of the level\'s'], 'only what that did is there');
  await act(page, () => page.keyboard.press('t'));
  await act(page, () => row(page, 'driver.c').click());
  await act(page, () => page.keyboard.press('n'));
  check((await page.innerText('.facts-pane')).startsWith('No reference of the simulated memory is in driver.c'), 'and nothing where there is nothing', await page.innerText('.facts-pane'));
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- charts ----
{
  const page = await open('db-facts/index.html', '#v2/procedure?place=0&panes=loops,source,threads');
  check((await hash(page)).startsWith('#v2/time'), 'an address from before the views leads to the one that has its pane', await hash(page));
  await page.waitForSelector('.slot-time svg');
  const bars = () =>
    page.$$eval('.slot-time svg g > title', (t) => t.map((x) => x.textContent.replace(/\s+/g, ' ').trim()));
  same(
    await bars(),
    ['process 0 thread 0: 3.00 s', 'process 0 thread 1: 2.00 s', 'process 1 thread 0: 4.00 s', 'process 1 thread 1: 1.00 s'],
    'what each thread of each process spent',
  );
  check((await page.textContent('.slot-time .picture-tools')).includes('60% over the mean'), 'and who has most');
  await act(page, () => page.click('.slot-time >> text=Sorted'));
  same((await bars())[0], 'process 1 thread 0: 4.00 s', 'sorted');
  await act(page, () => page.click('.slot-time >> text=Histogram'));
  check(
    (await bars()).every((b) => /^1 thread from|^0 threads from/.test(b)),
    'how many spent how much',
    await bars(),
  );
  await act(page, () => page.keyboard.press('4'));
  await act(page, () => row(page, 'cg').click());
  await act(page, () => page.keyboard.press('w'));
  await act(page, () => page.click('.slot-time >> text=By process'));
  same((await bars())[3], 'process 1 thread 1: 0.00 s', 'of what is selected; a thread without a row spent nothing');
  await act(page, () => page.click('.slot-time >> text=Numbers'));
  same(
    await page.$$eval('.chart-table tbody tr', (r) => r.map((x) => x.innerText.replace(/\s+/g, ' ').trim())),
    ['0 0 heat 3.000 133.3%', '0 1 heat 2.000 88.9%', '1 0 heat 4.000 177.8%', '1 1 heat 0.000 0.0%'],
    'the same as a table',
  );
  await act(page, () => page.click('.slot-time .picture-tools >> text=Picture'));
  for (const kind of ['SVG', 'PNG']) {
    const saved = page.waitForEvent('download');
    await page.click(`.slot-time .picture-tools >> text=${kind}`);
    const file = await saved;
    const start = readFileSync(await file.path())
      .subarray(0, 4)
      .toString('latin1');
    same(
      [file.suggestedFilename(), start],
      [`threads.${kind.toLowerCase()}`, kind === 'SVG' ? '<svg' : '\x89PNG'],
      `saved as ${kind}`,
    );
  }
  await act(page, () => page.keyboard.press('4'));
  same((await page.$$('.slot-picture .dot')).length, 10, 'a dot for each loop that has both metrics');
  await act(page, () => page.locator('.slot-picture .dot').last().dispatchEvent('click'));
  check((await selectedPath(page)).startsWith('loop at heat.f90'), 'a click on it selects the loop');
  same(page.troubles, [], 'no complaint of the browser');
  await shot(page, 'charts-1440');
  await page.close();
}

// ---- the table's columns next to the source ----
{
  const page = await open('db-heat/index.html', '#v2/tree?source=1:17&panes=,source,');
  const cells = (n) => sourceLine(page, n).locator('.line-more').allTextContents();
  same(await cells(17), [], 'a line shows one metric');
  await act(page, () => page.click('.source-tools button:text-is("Columns")'));
  same(await page.$$eval('.source-head-column', (x) => x.map((e) => e.textContent)), ['L2 misses M misses', 'Misses per ns misses/ns'], 'its further heads');
  const numbers = (await cells(17)).map((x) => x.trim());
  same(numbers, ['96', '0.0151'], 'the table has more columns: the line shows them too');
  same((await cells(3)).join(''), '', 'a line without cost has empty ones');
  check((await hash(page)).includes('beside=1'), 'the address says so');
  const [head, cell] = await page.$$eval('.source-head-column:first-child, .line[data-line="17"] .line-more', (x) =>
    x.map((e) => Math.round(e.getBoundingClientRect().right)),
  );
  same(head, cell, 'a head stands above its numbers');
  await page.focus('#source');
  await act(page, () => page.keyboard.press('m'));
  same(await cells(17), [], 'and back by the key m');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- inlined calls in place, heads that stay ----
{
  const page = await open('db-heat/index.html');
  const lines = () =>
    page.$$eval('#source .line', (all) =>
      all
        .sort((a, b) => a.offsetTop - b.offsetTop)
        .map((l) => `${l.classList.contains('extra') ? '+' : ''}${l.querySelector('.line-number').textContent}`),
    );
  await act(page, () => row(page, 'spmv').locator('.detail').click()); // to its call
  same(await marked(page), [57], 'the call of spmv');
  check((await sourceLine(page, 57).innerText()).includes('⤷ spmv 65.2%'), 'says what was inlined there');
  await page.focus('#source');
  await act(page, () => page.keyboard.press('ArrowRight'));
  const opened = await lines();
  const from = opened.indexOf('57');
  same(
    opened.slice(from, from + 7),
    ['57', '+', '+14', '+16', '+17', '+19', '58'],
    'it opens in place: its own lines that cost something',
  );
  check((await page.textContent('.extra:has-text("17")')).includes('s = s + a(k) * x(col(k))'), 'with their text');
  await act(page, () => page.click('.extra:has(.line-number:text-is("17")) .line-text'));
  same(await marked(page), [17], 'a click there leads to it');
  await act(page, () => page.goBack());
  await page.focus('#source');
  await act(page, () => page.keyboard.press('ArrowLeft'));
  check(!(await lines()).some((l) => l.startsWith('+')), 'and it closes');
  await act(page, () => page.setViewportSize({ width: 1440, height: 520 })); // the selection remains visible
  await act(page, () => page.$eval('#source', (s) => (s.scrollTop = 19 * 60)));
  await settle(page);
  const heads = await page.$$eval('.source-heads .line', (l) => l.map((x) => Number(x.dataset.line)));
  same(heads.slice(-1), [56], 'the head of the loop that one reads in stays in sight');
  check(heads[0] < 56, 'and that of its procedure', heads);
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- flatten ----
{
  const page = await open('db-heat/index.html', '#v2/tree?place=0');
  for (const key of ['-', '-', '-']) await act(page, () => page.keyboard.press(key));
  same(await names(page), ['cg', 'mesh_assemble', 'main', '__memset_avx2_unaligned_erms', 'random_r'], 'procedures');
  check((await hash(page)).includes('flatten=3'), 'in the address');
  await act(page, () => tool(page, 'Unflatten'));
  same((await names(page))[0], 'heat.f90', 'and back by a level');
  await page.close();
}

// ---- on paper ----
{
  const paper = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' });
  const page = await open('db-facts/index.html', '', { context: paper });
  await page.waitForSelector('.hot-text');
  await act(page, () => page.keyboard.press('t'));
  const pdf = await page.pdf({ path: `${folder}/report.pdf`, format: 'A4', printBackground: true });
  const pages = pdf.toString('latin1').match(/\/Type ?\/Page\b/g)?.length ?? 0;
  check(pages >= 1 && pages <= 4, 'a report of a few pages, from the workspace too', pages);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  const text = (await page.innerText('#app')).replace(/\s+/g, ' ');
  for (const part of [
    'HOT LOOPS WITH THEIR SOURCE',
    's = s + a(k) * x(col(k))',
    'Indirect loads bound the loop',
    'AMD EPYC',
    'perf::TASK-CLOCK',
  ])
    check(text.includes(part), `it has ${part}`, text);
  same(
    await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]),
    ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'],
    'black on white, from a dark screen',
  );
  check(!(await page.isVisible('#table')), 'without the tools of the screen');
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  check((await page.isVisible('#table')) && !(await page.isVisible('#summary')), 'and all is as it was');
  same(page.troubles, [], 'no complaint of the browser');
  await paper.close();
}

// ---- two runs ----
{
  const page = await open('db-runs/index.html', '');
  await page.waitForSelector('text=fresh();');
  const card = async (title) =>
    (
      await page.$$eval(`.card:has(h2:text-is("${title}")) .hot-item`, (x) =>
        x.map((e) => e.innerText.replace(/\s+/g, ' ').trim()),
      )
    ).join('\n');
  same(
    await card('Costs more'),
    '+45.0% +0.90 s fresh(); x.c:3 in f\n+30.0% +0.60 s slower(); x.c:2 in f',
    'what got worse, as a share of the run before; what is new too',
  );
  same(await card('Costs less'), '−40.0% −0.80 s gone(); x.c:5 in f', 'what got better');
  same(await page.$$eval('.where-bar', (b) => b.length), 2, 'a bar for each run');
  const strip = await page.$$eval('.facts-line:has(.run-name)', (l) => l.map((x) => x.innerText.replace(/\s+/g, ' ').trim().slice(0, 18)));
  same(strip, ['old 2.00 s CPU tim', 'new 2.7 s CPU time'], 'each run has its facts');
  await shot(page, 'runs-1440');
  await act(page, () => page.selectOption('#compare', 'old'));
  await act(page, () => page.keyboard.press('2'));
  same(
    await table(page),
    [
      'x.c:3 |  | 0.90 33.3% | +0.90 +45.0%',
      'x.c:2 | 0.40 20.0% | 1.00 37.0% | +0.60 +30.0%',
      'x.c:4 | 0.80 40.0% | 0.80 29.7% | +<0.01 +0.2%',
      'x.c:5 | 0.80 40.0% |  | −0.80 −40.0%',
    ],
    'a comparison: base, the other, their difference',
  );
  same(
    await page.$$eval('#table .row .metric:last-child', (b) => b.map((x) => x.className.replace(/.*barred /, 'bar '))),
    ['bar worse', 'bar worse', 'bar same', 'bar better'],
    'worse, better, and within the noise',
  );
  check((await hash(page)).includes('base=old'), 'it is in the address');
  await shot(page, 'compare-1440');
  await act(page, () => page.selectOption('#compare', ''));
  same((await table(page))[0].split(' | ').length, 3, 'and ends');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- for everyone: axe in light and dark, forced colours, a phone, the keyboard ----
{
  const axe = readFileSync(process.env.AXE, 'utf8');
  const views = [
    ['the summary', ''],
    ['the tree', '#v2/tree'],
    ['other panes', '#v2/tree?panes=tree-calls,files,table-findings&place=5'],
    ['calls', '#v2/calls?panes=tree-calls,source,callers-tree&place=5'],
    ['calls of a procedure', '#v2/calls?fold=1&panes=tree-calls,source,calls&place=5'],
    ['lines and copies', '#v2/line?panes=icicle,source,callers&place=15'],
    ['charts', '#v2/tree?panes=loops,source,threads&place=5'],
    ['the search and its graph', '#v2/tree?panes=icicle,source,search&place=5'],
    ['memory', '#v2/tree?panes=icicle,source,memory&place=5', '', 'db-memory'],
    ['phases', '#v2/tree?panes=icicle,source,barriers&place=17&source=1:17', '', 'db-waits'],
    ['instructions and numbers', '#v2/tree?panes=icicle,instructions,why&place=17&source=1:17', '', 'db-waits'],
    ['the table of findings', '#v2/data?panes=,source,card,tree-calls,barriers,memory,table-findings&place=5'],
    ['no barriers', '#v2/time', '', 'db-heat'],
    ['two runs', '', '', 'db-runs'],
    ['a comparison', '#v2/line?base=old&columns=0i,1i,1-0i&place=4&beside=1', '', 'db-runs'],
    ['help', '#v2/tree', '?'],
    ['about', '#v2/tree', 'a'],
    ['columns', '#v2/tree', 'Columns…'],
  ];
  // one look with all rules; in the other scheme only colours can be others
  const look = async ([what, where, key, database = 'db-facts']) => {
    const page = await open(`${database}/index.html`, where);
    if (key) await act(page, () => (key.length === 1 ? page.keyboard.press(key) : page.click(`text=${key}`)));
    await page.evaluate(axe);
    for (const colorScheme of key ? ['dark'] : ['light', 'dark']) { // dialogs consist of the same parts
      await act(page, () => page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }));
      const options = { resultTypes: ['violations'], preload: false };
      if (colorScheme === 'dark' && !key) options.runOnly = ['color-contrast'];
      const found = await page.evaluate(
        async (o) =>
          (await window.axe.run(document, o)).violations.map(
            (v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 100)).join('; ')}`,
          ),
        options,
      );
      same(found, [], `axe finds nothing in ${what}, ${colorScheme}`);
      if (colorScheme === 'light') {
        const sizes = await page.$$eval('body *', (all) => [
          ...new Set(all.filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => getComputedStyle(e).fontSize)),
        ]);
        same(sizes.filter((size) => !['22px', '17px', '15px', '13px', '12px', '11px'].includes(size)), [], `all text of ${what} has a size of the scale`);
      }
      await shot(page, `${what.replaceAll(' ', '-')}-${colorScheme}`);
    }
    await page.close();
  };
  const astray = await open('db-facts/index.html', '#v2/calls?panes=tree-calls,source,callers-tree&place=5');
  same(
    await astray.textContent('.callers-tree'),
    'loop at driver.c:10–14 is on no call path.',
    'an address of a place without callers says so',
  );
  await astray.close();
  const left = [...views];
  const worker = async () => {
    while (left.length) await look(left.shift());
  };
  await Promise.all([worker(), worker()]); // at the same time: it is a third of this test
  const forced = await browser.newContext({ viewport: { width: 1440, height: 900 }, forcedColors: 'active' });
  const page = await open('db-heat/index.html', '#v2/tree', { context: forced });
  same(
    await page.$eval('#table .row.selected', (r) => getComputedStyle(r).outlineStyle),
    'solid',
    'with forced colours the selection has an outline',
  );
  same(
    await page.$eval('#table .metric.barred .cell-bar', (b) => getComputedStyle(b).borderBottomWidth),
    '2px',
    'and bars are lines',
  );
  await shot(page, 'forced-1440');
  await forced.close();
  const phone = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const small = await open('db-heat/index.html', '#v2/tree', { context: phone });
  const fits = () => small.evaluate(() => document.documentElement.scrollWidth <= 360);
  const sees = async () => [await fits(), await small.isVisible('#table'), await small.isVisible('#source')];
  same(await sees(), [true, true, false], 'a phone shows the table');
  await act(small, () => small.click('.part-tabs >> text=Source'));
  await small.waitForSelector('.line[data-line="17"]');
  same(await sees(), [true, false, true], 'or the source');
  const code = await small.locator('.line[data-line="17"] .line-text').boundingBox();
  check(code.x < 120, 'with room for it', code.x);
  await shot(small, 'phone-360');
  await phone.close();
  const keys = await open('db-heat/index.html', '');
  for (const key of ['t', '2', '>', 'g', 'z', 'Escape', 's']) await act(keys, () => keys.keyboard.press(key));
  check(await keys.isVisible('#summary'), 'keys lead through all of it');
  await act(keys, () => keys.keyboard.press('t'));
  await act(keys, () => keys.locator('.sort[data-column="1i"]').focus());
  await act(keys, () => keys.keyboard.press('Enter'));
  same(
    await keys.evaluate(() => [document.activeElement.dataset.column, document.activeElement.tabIndex]),
    ['1i', 0],
    'heads are in the tab order, and keep the focus when they sort',
  );
  same(keys.troubles, [], 'no complaint of the browser');
  await keys.close();
}

// ---- metrics typed in the page ----
{
  const page = await open('db-heat/index.html', '#v2/line');
  await act(page, () => page.click('text=Columns…'));
  await act(page, () => page.fill('.formula', 'PER_MISS = TIME / L2_MISS +'));
  await act(page, () => page.keyboard.press('Enter'));
  check(
    (await page.textContent('dialog [role=alert]')).includes(
      "PER_MISS: character 17 of the formula: missing operand after '+'",
    ),
    'what is wrong with a formula is said',
    await page.textContent('dialog [role=alert]'),
  );
  await act(page, () => page.fill('.formula', 'PER_MISS = TIME / L2_MISS'));
  await act(page, () => page.keyboard.press('Enter'));
  await act(page, () => page.keyboard.press('Escape'));
  check(
    (await table(page)).includes('heat.f90:17 ×2 | 6.4 60.8% | 96 78.5% | 0.0151 | 66.04'),
    'a typed metric is a column, over sums',
    await table(page),
  );
  same((await names(page))[0], 'heat.f90:19', 'and what the table is sorted by');
  const other = await open('db-heat/index.html', await hash(page));
  same((await table(other))[0], (await table(page))[0], 'and goes with the link');
  await act(other, () => other.click('.sort[data-column="t0i"]'));
  check((await names(other))[0] !== 'heat.f90:19', 'and sorts');
  await other.close();
  await page.close();
}

// ---- opening, closing, sorting ----
{
  const page = await open('db-heat/index.html');
  await act(page, () => tool(page, 'Collapse'));
  same(await names(page), ['heat', '  heat', '  libc.so.6'], 'collapse');
  await act(page, () => row(page, 'libc.so.6').locator('.twisty').click());
  same(
    await names(page),
    ['heat', '  heat', '  libc.so.6', '    no source file known'],
    'a click on the triangle opens a row',
  );
  await act(page, () => row(page, 'libc.so.6').dblclick());
  same(await names(page), ['heat', '  heat', '  libc.so.6'], 'a double click closes it');
  await act(page, () => row(page, 'libc.so.6').click());
  await act(page, () => page.keyboard.press('ArrowUp'));
  await act(page, () => page.keyboard.press('ArrowRight'));
  same(
    await names(page),
    ['heat', '  heat', '    heat.f90', '    mesh.c', '    driver.c', '  libc.so.6'],
    'the right arrow opens',
  );
  await act(page, () => page.keyboard.press('ArrowRight'));
  same(await selected(page), 'heat.f90', 'and goes in');
  await act(page, () => page.keyboard.press('ArrowLeft'));
  await act(page, () => page.keyboard.press('ArrowLeft'));
  same([await selected(page), (await names(page)).length], ['heat', 3], 'the left arrow goes out and closes');
  await act(page, () => page.keyboard.press('Home'));
  await act(page, () => page.keyboard.press('h'));
  same(await selected(page), 'line 17', 'h follows the hot path');
  await act(page, () => tool(page, 'Collapse'));
  await act(page, () => row(page, 'heat').click());
  await act(page, () => page.keyboard.press('*'));
  same(await page.getAttribute('#table', 'aria-rowcount'), '48', '* opens everything');
  await act(page, () => tool(page, 'Collapse'));
  await act(page, () => page.keyboard.press('End'));
  await act(page, () => page.keyboard.press('ArrowUp'));
  await act(page, () => page.keyboard.press(' '));
  same((await names(page)).length, 6, 'the space bar opens');
  await act(page, () => page.click('.sort[data-column="1i"]'));
  same((await names(page)).slice(2, 5), ['    heat.f90', '    mesh.c', '    driver.c'], 'sorted by misses');
  await act(page, () => page.click('.sort[data-column="1i"]'));
  same(
    await names(page),
    ['heat', '  heat', '    driver.c', '    mesh.c', '    heat.f90', '  libc.so.6'],
    'again: the smallest first, blanks still last',
  );
  await act(page, () => page.click('.sort[data-column="name"]'));
  same((await names(page)).slice(2, 5), ['    driver.c', '    heat.f90', '    mesh.c'], 'in source order');
  await act(page, () => page.keyboard.press('>'));
  await act(page, () => page.keyboard.press('r'));
  same(
    await page.$$eval('[role=columnheader]', (c) => c.map((x) => x.getAttribute('aria-sort')[0]).join('')),
    'nann',
    'sorted without a mouse',
  );
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- links in both directions ----
{
  const page = await open('db-heat/index.html');
  await page.setViewportSize({ width: 1440, height: 1300 });
  await act(page, () => row(page, 'loop 14').click());
  same(await marked(page), [14, 15, 16, 17, 18, 19, 20], 'a loop marks its lines');
  await act(page, () => sourceLine(page, 30).locator('.line-text').click());
  same(
    [await selected(page), await marked(page), await linked(page)],
    ['line 30', [30], 1],
    'a source line marks its row and opens the way to it',
  );
  same(await page.textContent('.instances'), 'line 30: place 1 of 2', 'and says how many there are');
  await act(page, () => page.keyboard.press(']'));
  same(
    [await page.textContent('.instances'), await linked(page)],
    ['line 30: place 2 of 2', 2],
    'the next place; all that are open are marked',
  );
  await act(page, () => sourceLine(page, 30).locator('.line-text').click());
  same(await page.textContent('.instances'), 'line 30: place 1 of 2', 'another click on the line goes round');
  await act(page, () => tool(page, 'Collapse'));
  await act(page, () => page.click('.source-tools >> text=All'));
  same(
    [await linked(page), (await names(page)).filter((n) => n.endsWith('line 30')).length],
    [2, 2],
    'all places at once',
  );
  await act(page, () => page.click('text=Lines'));
  same([await selected(page), await linked(page)], ['heat.f90:30', 1], 'the flat table marks the line too');
  await act(page, () => page.click('text=Loops'));
  same(await selected(page), 'loop at heat.f90:29–31', 'and the loop around it');
  await act(page, () => page.click('.table-tools >> text=Tree'));
  await act(page, () => sourceLine(page, 22).locator('.line-text').click());
  same(await page.textContent('.source-tools .muted'), 'line 22: no samples', 'a line without samples says so');
  await act(page, () => row(page, 'spmv').locator('.detail').click());
  same(await marked(page), [57], 'the grey text of an inlined call leads to the call');
  await act(page, () => page.click('[role=tab]:text-is("Files")'));
  await act(page, () => page.click('.file:has-text("driver.c")'));
  check((await page.textContent('#source-title')).includes('driver.c'), 'a file of the list is shown');
  await act(page, () => page.click('[role=tab]:text-is("Files")'));
  await act(page, () => page.click('.file:has-text("mesh.c")'));
  check(
    (await page.textContent('.source-frame .empty')).includes('not found when the database was built'),
    'a file without text says why',
  );
  await act(page, () => page.click('.crumb >> nth=2'));
  check((await page.textContent('#source-title')).includes('heat.f90'), 'the path at the foot leads up');
  await page.focus('#source');
  await act(page, () => page.keyboard.press('Home'));
  await act(page, () => page.keyboard.press('ArrowDown'));
  same(await marked(page), [2], 'arrow keys in the source');
  await act(page, () => page.keyboard.press('h'));
  same(await marked(page), [17], 'the hottest line');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- flat tables ----
{
  const page = await open('db-heat/index.html', '#v1/line');
  same(
    (await table(page)).slice(0, 4),
    [
      'heat.f90:17 ×2 | 6.4 60.8% | 96 78.5% | 0.0151',
      'heat.f90:30 ×2 | 1.6 15.3% | 8 6.2% | 0.0047',
      'heat.f90:40 ×2 | 1.0 9.1% | 6 5.1% | 0.0066',
      'heat.f90:63 | 0.57 5.4% | 4 3.6% | 0.0077',
    ],
    'lines; a ratio over places is the ratio of the sums',
  );
  same(
    await row(page, 'heat.f90:17').locator('.snippet').textContent(),
    's = s + a(k) * x(col(k))',
    'lines show their text',
  );
  await act(page, () => tool(page, 'One row per source construct'));
  same(
    (await names(page)).slice(0, 4),
    ['heat.f90:17', 'heat.f90:30', 'heat.f90:30', 'heat.f90:63'],
    'each place in its own row',
  );
  await act(page, () => tool(page, 'One row per source construct'));
  await shot(page, 'lines-1440');
  await act(page, () => page.keyboard.press('3'));
  same((await table(page))[0], 'loop at heat.f90:56–67 | 9.9 95.1% | 115 94.0% | 0.0116', 'loops');
  same((await names(page))[2], 'loop at heat.f90:16–18 vector remainder ×2', 'a row for both instances of a loop');
  await act(page, () => page.click('[role=tab]:text-is("Procedures")'));
  same(await names(page), ['cg', 'mesh_assemble', 'main', '__memset_avx2_unaligned_erms', 'random_r'], 'procedures');
  await act(page, () => page.click('[role=tab]:has-text("Inlined")'));
  same(
    (await table(page)).map((r) => r.split(' | ').slice(0, 2).join(' | ')),
    ['spmv | 6.8 65.2%', 'dot ×2 | 1.6 15.3%', 'axpy ×2 | 1.0 9.1%', 'shuffle | 0.06 0.5%'],
    'inlined procedures over all calls',
  );
  await act(page, () => page.click('[role=tab]:has-text("Modules")'));
  same(await names(page), ['heat', 'libc.so.6'], 'modules');
  await act(page, () => page.click('[role=tab]:text-is("By file")'));
  same(await names(page), ['heat.f90', 'mesh.c', 'no source file known', 'driver.c'], 'files');
  await act(page, () => page.click('[role=tab]:has-text("Lines")'));
  await act(page, () => page.keyboard.press('/'));
  await act(page, () => page.keyboard.type('driver'));
  same(await names(page), ['driver.c:11', 'driver.c:25'], 'the filter, by file');
  await act(page, () => page.fill('#filter', 'heat.f90:16'));
  same(await names(page), ['heat.f90:16'], 'by file:line');
  await act(page, () => page.fill('#filter', 'zzz'));
  check(
    (await page.textContent('.grid-frame .empty')).includes('Nothing here contains “zzz”'),
    'an empty table says why',
  );
  await act(page, () => page.keyboard.press('Escape'));
  same((await names(page)).length, 13, 'Escape clears the filter');
  await act(page, () => page.keyboard.press('ArrowDown'));
  await act(page, () => page.keyboard.press('Enter'));
  check(await page.$eval('.table .tab.on', (t) => t.textContent === 'Tree'), 'Enter shows a row in the tree');
  await act(page, () => page.fill('#filter', 'axpy'));
  same(
    await names(page),
    [
      'heat',
      '  heat',
      '    heat.f90',
      '      cg',
      '        loop 56–67',
      '          axpy',
      '          axpy',
    ],
    'the tree filtered: matches and the way to them',
  );
  for (const [filter, want] of [
    ['?xp*', 'heat,  heat,    heat.f90,      cg,        loop 56–67,          axpy,          axpy'],
    ['/^axpy$/ file:heat*', 'heat,  heat,    heat.f90,      cg,        loop 56–67,          axpy,          axpy'],
    ['axpy file:mesh.c', ''],
    ['module:libc*', 'heat,  libc.so.6'],
  ]) {
    await act(page, () => page.fill('#filter', filter));
    same((await names(page)).join(), want, `the tree filtered by ${filter}`);
  }
  const link = await open('db-heat/index.html', await hash(page));
  same(await names(link), ['heat', '  libc.so.6'], 'the filter goes with the link');
  await link.close();
  await act(page, () => page.fill('#filter', '/(a+)+$/'));
  check(
    (await page.textContent('.grid-frame .empty')).includes('repeats a group, which the filter does not do'),
    'an expression that is refused says why',
  );
  same(await page.getAttribute('#filter', 'aria-invalid'), 'true', 'and so does its box');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- finding text in the source ----
{
  const page = await open('db-heat/index.html');
  const box = '.source-find input';
  const state = async () => [
    await page.textContent('.source-find [role=status]'),
    await page.$$eval('#source mark', (m) => m.length > 0),
    await page.$$eval('#source mark.at', (m) => m.map((x) => `${x.closest('.line').dataset.line} ${x.textContent}`).join()),
  ];
  await page.focus('#source');
  await act(page, () => page.keyboard.press('/'));
  await act(page, () => page.keyboard.type('End DO'));
  same(await state(), ['1 of 5', true, '18 end,18  ,18 do'], 'typing goes to the nearest below the marked line');
  same(await marked(page), [17], 'which stays marked');
  await act(page, () => page.keyboard.press('Enter'));
  same(await state(), ['2 of 5', true, '20 end,20  ,20 do'], 'Enter: the next');
  await act(page, () => page.keyboard.press('Shift+Enter'));
  await act(page, () => page.keyboard.press('Shift+Enter'));
  same([await state(), await marked(page)], [['5 of 5', true, '66 end,66  ,66 do'], [66]], 'Shift+Enter: the one before, round the end; its line is selected');
  await act(page, () => page.click('.source-find >> text=›'));
  same(await state(), ['1 of 5', true, '18 end,18  ,18 do'], 'and by the buttons');
  await act(page, () => page.fill(box, 'no such text'));
  same(await state(), ['not found', false, ''], 'what is not there');
  await act(page, () => page.focus(box));
  await act(page, () => page.keyboard.press('Escape'));
  same(
    [await page.isVisible('.source-find'), await page.evaluate(() => document.activeElement.id)],
    [false, 'source'],
    'Escape closes it',
  );
  await act(page, () => page.keyboard.press('Control+f'));
  await act(page, () => page.fill(box, 's'));
  await act(page, () => page.screenshot({ path: `${folder}/find-1440.png` }));
  same([await page.isVisible('.source-find'), await page.inputValue('#filter')], [true, ''], 'Ctrl+F opens it too');
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
}

// ---- the address ----
{
  const page = await open('db-heat/index.html');
  await act(page, () => page.click('text=Loops'));
  await act(page, () => page.click('.sort[data-column="1i"]'));
  await act(page, () => page.click('#table .row >> nth=2'));
  const link = await hash(page);
  const before = await table(page);
  const other = await open('db-heat/index.html', link);
  same(
    [await table(other), await selected(other), await marked(other)],
    [before, await selected(page), await marked(page)],
    'a link shows the same to others',
  );
  await other.close();
  await act(page, () => page.click('[role=tab]:text-is("Procedures")'));
  await act(page, () => page.goBack());
  same([await hash(page), await table(page)], [link, before], 'the back button');
  await act(page, () => page.goForward());
  check((await names(page)).includes('cg'), 'and forward');
  const odd = await open('db-heat/index.html', '#v1/tree?place=99999999&source=77:1&sort=9i-');
  same([(await names(odd)).length, odd.troubles], [3, []], 'a link to what is not there opens');
  await odd.close();
  await act(page, () => page.click('text=Columns…'));
  await act(page, () => page.click('.dialog input[data-column="0e"]'));
  await act(page, () => page.selectOption('.dialog label:has-text("Numbers") select', 'exact'));
  await act(page, () => page.keyboard.press('Escape'));
  same(
    (await table(page))[0],
    'cg | 9,948,000,000 95.2% | 115,303,459 94.0% | 0.011590617108966627 | 9,948,000,000 95.2%',
    'columns chosen, exact numbers',
  );
  check(/columns=0i,1i,2i,0e&exact=1/.test(await hash(page)), 'both in the address', await hash(page));
  const forms = await open('db-heat/index.html', '#v2/tree?numbers=si&percent=parent');
  same(
    (await table(forms)).slice(4, 8),
    [
      '        loop 56–67 | 9.9 s 99.9% | 115 M 100.0% | 0.0116',
      '          spmv | 6.8 s 68.6% | 97 M 84.1% | 0.0142',
      '            loop 14–20 | 6.8 s 100.0% | 97 M 100.0% | 0.0142',
      '              loop 16–18 vector 1 of 2 | 6.3 s 91.8% | 91 M 94.0% | 0.0146',
    ],
    'each number in its own scale, percent of the row above',
  );
  same(
    await forms.$$eval('.head-bottom', (x) => x.map((e) => e.textContent.replace('▼', ''))),
    ['', '% of parent', 'misses · % of parent', 'misses/ns'],
    'the heads say so',
  );
  await act(forms, () => forms.click('text=Columns…'));
  await act(forms, () => forms.selectOption('.dialog label:has-text("Numbers") select', 'scientific'));
  await act(forms, () => forms.selectOption('.dialog label:has-text("Percent of") select', 'total'));
  await act(forms, () => forms.keyboard.press('Escape'));
  same((await table(forms))[5], '          spmv | 6.8e9 65.2% | 9.7e7 79.1% | 1.424e-2', 'scientific, of the total');
  check(/\?numbers=scientific&(?!percent)/.test(await hash(forms)), 'in the address', await hash(forms));
  await forms.close();
  await page.close();
}

// ---- dialogs ----
{
  const page = await open('db-heat/index.html');
  await act(page, () => page.keyboard.press('?'));
  check((await page.textContent('dialog')).includes('Inclusive'), 'help');
  await shot(page, 'help-1440');
  await act(page, () => page.keyboard.press('Escape'));
  check(!(await page.$eval('dialog', (d) => d.open)), 'Escape closes it');
  await act(page, () => page.keyboard.press('a'));
  const about = await page.textContent('dialog');
  check(
    [
      'heat 20',
      'node7',
      'AMD EPYC',
      'perf::TASK-CLOCK',
      '4,000,000',
      '2,613',
      '10,452,000,000',
      '= L2_MISS / TIME',
      'libc.so.6 has no line table',
    ].every((x) => about.includes(x)),
    'about: run, host, events, periods, samples, warnings',
    about,
  );
  check(!about.includes('/home/someone'), 'without the folder of the program');
  await shot(page, 'about-1440');
  await page.close();
}

// ---- hostile names ----
{
  const page = await open('db-hostile/index.html');
  await act(page, () => page.click('.tab:text-is("Procedures")'));
  await act(page, () => page.keyboard.press('a'));
  await act(page, () => page.keyboard.press('Escape'));
  await act(page, () => page.click('text=Columns…'));
  await act(page, () => page.keyboard.press('Escape'));
  await act(page, () => page.click('.tab:text-is("Tree")'));
  await act(page, () => page.keyboard.press('Home'));
  await act(page, () => page.keyboard.press('*'));
  same(
    await page.evaluate(() => [
      window.hacked,
      document.images.length,
      document.querySelectorAll('svg').length,
      document.querySelectorAll('[onerror],[onload]').length,
    ]),
    [null, 0, 0, 0],
    'no name became markup',
  );
  const whole = (labels) => labels.map((l) => l.dataset.name ?? l.textContent); // template arguments are folded
  const all = (await page.$$eval('#table .label', whole)).join('\n');
  check(
    all.includes('</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">') &&
      all.includes('"onerror="window.hacked=1'),
    'names are shown as they are',
    all,
  );
  check(
    all.includes('bad\ufffd utf8 \\u0001 \\u202e \\u061c right-to-left'),
    'bytes that are no text, and characters that turn text round, are shown as such',
    all,
  );
  const source = await page.textContent('#source');
  check(
    source.includes('// <script>window.hacked=1</script>') && source.includes('\ufffd\ufffd latin \ufffd'),
    'the source too',
    source,
  );
  await act(page, () => row(page, 'line 4000000000').click());
  check(
    (await page.textContent('.source-tools')).includes('beyond the end of this text'),
    'a line that is not in the text is told as such',
  );
  const refused = await page.evaluate(() => {
    try {
      document.body.innerHTML = '<img src=x>';
      return 'taken';
    } catch {
      return 'refused';
    }
  });
  same(refused, 'refused', 'the browser itself refuses text as markup');
  await shot(page, 'hostile-1440');
  await page.close();
}

// ---- no measured values ----
{
  const page = await open('db-unmeasured/index.html');
  same(await table(page), ['nothing | '], 'a program without samples');
  await act(page, () => page.click('[role=tab]:text-is("Files")'));
  check((await page.textContent('.files-body')).includes('no debug information'), 'the file pane says why it is empty');
  await act(page, () => page.keyboard.press('h'));
  await act(page, () => page.keyboard.press('*'));
  same(page.troubles, [], 'no complaint of the browser');
  await page.close();
  const empty = await open('db-empty/index.html');
  check((await empty.textContent('.grid-frame .empty')).includes('nothing was measured'), 'not even a program');
  for (const key of ['h', '*', 'ArrowDown', 'c', ']', 's', 'a', 'Escape', '2'])
    await act(empty, () => empty.keyboard.press(key));
  same(empty.troubles, [], 'no complaint of the browser');
  await empty.close();
}

// ---- one file; a later version; a database without its data; dark ----
{
  const single = await open('db-single.html');
  same(
    [(await names(single)).length, await marked(single), single.troubles, single.requests.length],
    [22, [17], [], 1],
    'a single file is the whole database',
  );
  await single.close();
  const newer = await open('db-newer/index.html', '', { fails: true });
  await newer.waitForSelector('[role=alert]');
  check(
    (await newer.textContent('[role=alert]')).includes('this database has format 99'.slice(1)),
    'a later version says so',
    await newer.textContent('[role=alert]'),
  );
  await newer.close();
  const torn = await open('db-torn/index.html', '', { fails: true });
  await torn.waitForSelector('[role=alert]');
  check(
    /[Dd]ata\/[a-z]+(-0)?\.js cannot be read; copy the whole folder/.test(await torn.textContent('[role=alert]')),
    'a page without its data says so',
    await torn.textContent('[role=alert]'),
  );
  await torn.close();
  const textless = await open('db-textless/index.html');
  check(
    (await textless.textContent('.source-frame .empty')).includes('source-0.js cannot be read'),
    'a source text that was not copied along is missed where it would be shown',
  );
  same((await names(textless)).length, 22, 'and nowhere else');
  await textless.close();
  const old = await open('db-version1/index.html', '#v1/loop?sort=1i-&place=15&source=1:16-18');
  same(
    [(await names(old)).slice(0, 3), await marked(old), old.troubles],
    [
      ['loop at heat.f90:56–67', 'loop at heat.f90:14–20', 'loop at heat.f90:16–18 vector remainder ×2'],
      [16, 17, 18],
      [],
    ],
    'a database and an address of version 1',
  );
  await old.close();
  const blind = await open('db-blind/index.html');
  same((await table(blind))[0], 'heat | 10.5 100.0% |  | 0.0117', 'a metric that was not copied along is blank');
  check(
    (await blind.textContent('.grid-head')).includes('cannot be read') &&
      (await blind.getAttribute('[role=columnheader]:nth-child(3)', 'title')).includes('metric-1.js cannot be read'),
    'and its head says which file is missing',
    await blind.textContent('.grid-head'),
  );
  await blind.close();
  const dark = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' });
  const page = await open('db-heat/index.html', '', { context: dark });
  check(
    await page.evaluate(() => getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'),
    'a dark scheme',
  );
  await shot(page, 'dark-1440');
  await dark.close();
}

// ---- large ----
{
  const start = Date.now();
  const page = await open('db-large/index.html');
  console.log(`# large database: first view after ${Date.now() - start} ms`);
  const first = await table(page);
  check(first.length > 5, 'a large database opens');
  same(await unpackedBeside(page), 1, 'its blocks are unpacked beside the page');
  for (const [what, Worker] of [
    ['forbids workers', `class { constructor() { throw new Error('no') } }`],
    ['stops them', `class { constructor() { setTimeout(() => this.onerror(), 0) } postMessage() {} terminate() {} }`],
  ]) {
    const alone = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await alone.addInitScript(`window.Worker = ${Worker}`);
    const without = await open('db-large/index.html', '#v2/tree', { context: alone });
    same([await unpackedBeside(without), ...(await table(without))], [0, ...first], `the same where the browser ${what}`);
    await alone.close();
  }
  await act(page, () => tool(page, 'Collapse'));
  await act(page, () => page.keyboard.press('Home'));
  await act(page, () => page.click('#table .row >> nth=0'));
  const opening = Date.now();
  await act(page, () => tool(page, 'Expand'));
  console.log(`# expanding it: ${Date.now() - opening} ms`);
  const rows = Number(await page.getAttribute('#table', 'aria-rowcount')) - 1;
  check(rows > 50000, 'all its rows open at once', rows);
  check((await page.$$('#table .row')).length < 120, 'of which only those in sight are made');
  await act(page, () => page.$eval('#table', (t) => (t.scrollTop = t.scrollHeight)));
  await settle(page);
  check(
    (await page.$$eval('#table .row', (r) => Math.max(...r.map((x) => Number(x.dataset.row))))) === rows - 1,
    'the last row can be scrolled to',
  );
  await act(page, () => page.focus('#table'));
  await act(page, () => page.keyboard.press('End'));
  same(await page.$eval('#table .row.selected', (r) => Number(r.dataset.row)), rows - 1, 'or reached by End');
  await act(page, () => page.$eval('#table', (t) => (t.scrollTop = 0)));
  await act(page, () => page.click('#table .row >> nth=1 >> .twisty'));
  check((await page.$eval('#table', (t) => t.scrollTop)) === 0, 'closing a row does not move what one looks at');
  await act(page, () => page.keyboard.press('End'));
  const typing = Date.now();
  await act(page, () => page.fill('#filter', 'Kernel<42>'));
  console.log(`# filtering it: ${Date.now() - typing} ms`);
  check(
    (await names(page)).some((n) => n.includes('Kernel<42>')),
    'filtered',
  );
  await act(page, () => page.fill('#filter', ''));
  const flat = Date.now();
  await act(page, () => page.click('.tab:has-text("Lines")'));
  console.log(`# lines of it: ${Date.now() - flat} ms`);
  check((await names(page)).length > 20, 'all lines');
  same(page.troubles, [], 'no complaint of the browser');
  await shot(page, 'large-1440');
  await page.close();
}

await browser.close();
console.log(`1..${count}`);
process.exitCode = failures ? 1 : 0;
