// SPDX-License-Identifier: BSD-3-Clause
// webkit.mjs MINIBROWSER FOLDER - the databases of webkit.sh in WebKit, driven through WebKitWebDriver (WebDriver over
// HTTP) on a display that Xvfb makes. WebKit is the third engine, and the one of Safari.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';

const [browser, folder] = process.argv.slice(2);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let count = 0;
let failures = 0;
function same(got, want, what) {
  const ok = JSON.stringify(got) === JSON.stringify(want);
  console.log(`${ok ? 'ok' : 'not ok'} ${++count} - webkit: ${what}`);
  if (ok) return;
  failures++;
  console.log(`# got    ${JSON.stringify(got)}\n# wanted ${JSON.stringify(want)}`);
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Xvfb chooses a free display and writes its number to descriptor 3. */
async function display() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise((resolve, reject) => {
    server.stdio[3].once('data', (text) => resolve(String(text).trim()));
    server.once('error', reject);
    server.once('exit', () => reject(new Error('Xvfb ended')));
  });
  return { server, number };
}

class Driver {
  constructor(port) {
    this.base = `http://127.0.0.1:${port}`;
  }

  async send(method, path, body) {
    const answer = await fetch(`${this.base}${path}`, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  }

  async begin() {
    for (let i = 0; ; i++)
      try {
        await this.send('GET', '/status');
        break;
      } catch (error) {
        if (i === 100) throw error;
        await sleep(100);
      }
    const options = { binary: browser, args: ['--automation'] };
    const made = await this.send('POST', '/session', {
      capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
    });
    this.session = `/session/${made.sessionId}`;
  }

  go = (url) => this.send('POST', `${this.session}/url`, { url });
  value = (expression) =>
    this.send('POST', `${this.session}/execute/sync`, { script: `return ${expression}`, args: [] });

  async wait(expression) {
    for (let i = 0; i < 150; i++) {
      const value = await this.value(expression);
      if (value) return value;
      await sleep(100);
    }
    return null;
  }
}

const { server, number } = await display();
const port = await freePort();
const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
  stdio: 'ignore',
  env: {
    ...process.env,
    DISPLAY: `:${number}`,
    GDK_BACKEND: 'x11',
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    LIBGL_ALWAYS_SOFTWARE: '1',
  },
});
const page = new Driver(port);
const open = async (name) => {
  const [file, hash] = name.split('#');
  await page.go('about:blank');
  await page.go(`${pathToFileURL(`${folder}/${file}`).href}#${hash}`);
  return page.wait(`document.documentElement.dataset.ready`);
};
const text = (selector) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.textContent.replace(/[\\s\\u2007\\u2008]+/g, ' ').trim())`;
try {
  await page.begin();
  for (const name of ['db-facts/index.html#v2/summary', 'db-single.html#v2/summary']) {
    same(await open(name), 'yes', `${name} opens from disk`);
    same((await page.value(text('.facts-line b')))[0].startsWith('heat'), true, 'its front page');
  }
  await open('db-facts/index.html#v2/tree');
  same(
    await page.wait(`${text('#source .line.marked .line-text')}[0]`),
    's = s + a(k) * x(col(k))',
    'the hot path is open, and its source',
  );
  await page.value(`document.querySelectorAll('.table .tab')[1].click()`);
  same(await page.wait(`location.hash.startsWith('#v2/line')`), true, 'the address follows');
  same(await page.wait(`document.querySelector('#table[role="grid"] .row .label')?.textContent`), 'heat.f90:17', 'lines');
  await page.value(`history.back()`);
  same(await page.wait(`location.hash.startsWith('#v2/tree')`), true, 'the back button');
  await open('db-facts/index.html#v2/procedure?place=0&panes=loops,source,threads');
  same(await page.wait(`document.querySelectorAll('.slot-time svg rect').length > 4`), true, 'charts');
  await open('db-facts/index.html#v2/procedure?place=0&panes=loops,source,card');
  same(await page.wait(`document.querySelectorAll('.slot-picture .dot').length > 4`), true, 'both of them');
  await page.value(`document.querySelector('.button[title^="Choose columns"]').click()`);
  same(await page.wait(`document.querySelector('dialog').open`), true, 'a dialog');
  same(await open('db-hostile/index.html#v2/tree'), 'yes', 'hostile names open');
  same(
    await page.value(`[window.hacked ?? null, document.images.length, document.querySelectorAll('svg').length]`),
    [null, 0, 0],
    'no name became markup',
  );
  same(await open('db-large/index.html#v2/tree'), 'yes', 'a large database opens');
  same(await page.value(`performance.getEntriesByName('hpcview-worker').length`), 1, 'its blocks are unpacked by a worker');
  const shot = await page.send('GET', `${page.session}/screenshot`);
  same(Buffer.from(shot, 'base64').subarray(1, 4).toString(), 'PNG', 'it can be seen');
  await page.send('DELETE', page.session);
} catch (error) {
  console.log(`not ok ${++count} - webkit: ${error.message}`);
  failures++;
} finally {
  for (const one of [driver, server]) {
    const ended = new Promise((resolve) => one.once('exit', resolve));
    one.kill();
    await ended;
  }
}
console.log(`1..${count}`);
process.exit(failures ? 1 : 0);
