// SPDX-License-Identifier: BSD-3-Clause
// firefox.mjs FIREFOX FOLDER - the databases of page.sh in Firefox, driven through Marionette (its own remote protocol:
// "LENGTH:JSON" over TCP). Firefox has other rules for file:// than Chromium, so that both have to be seen.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [firefox, folder] = process.argv.slice(2);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let count = 0;
let failures = 0;
function same(got, want, what) {
  const ok = JSON.stringify(got) === JSON.stringify(want);
  console.log(`${ok ? 'ok' : 'not ok'} ${++count} - firefox: ${what}`);
  if (ok) return;
  failures++;
  console.log(`# got    ${JSON.stringify(got)}\n# wanted ${JSON.stringify(want)}`);
}

/** Port 0: Firefox takes a free one and writes it into its profile. */
async function portOf(profile) {
  for (let i = 0; i < 300; i++) {
    try {
      const port = Number(readFileSync(join(profile, 'MarionetteActivePort'), 'utf8'));
      if (port > 0) return port;
    } catch {
      /* not ready yet */
    }
    await sleep(100);
  }
  throw new Error('Firefox did not start within 30 seconds');
}

class Marionette {
  #bytes = Buffer.alloc(0);
  #waiting = new Map();
  #last = 0;

  constructor(socket) {
    this.socket = socket;
    socket.on('data', (part) => this.#take(part));
  }

  #take(part) {
    this.#bytes = Buffer.concat([this.#bytes, part]);
    for (;;) {
      const colon = this.#bytes.indexOf(':');
      const length = Number(this.#bytes.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || this.#bytes.length < colon + 1 + length) return;
      const message = JSON.parse(this.#bytes.subarray(colon + 1, colon + 1 + length).toString());
      this.#bytes = this.#bytes.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue; // the greeting
      const { resolve, reject } = this.#waiting.get(message[1]);
      if (message[2]) reject(new Error(message[2].message));
      else resolve(message[3]);
    }
  }

  send(name, parameters = {}) {
    const id = ++this.#last;
    const text = JSON.stringify([0, id, name, parameters]);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  /** The value of an expression in the page. */
  async value(expression) {
    return (await this.send('WebDriver:ExecuteScript', { script: `return ${expression}`, args: [] })).value;
  }

  /* The same, repeated until the result is truthy. */
  async wait(expression) {
    for (let i = 0; i < 150; i++) {
      const value = await this.value(expression);
      if (value) return value;
      await sleep(100);
    }
    return null;
  }
}

const profile = mkdtempSync(join(tmpdir(), 'hpcview-firefox-'));
writeFileSync(
  join(profile, 'user.js'),
  'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n',
);
const process_ = spawn(firefox, ['--headless', '--no-remote', '--marionette', '--profile', profile], {
  stdio: 'ignore',
  env: { ...process.env, HOME: profile },
});
try {
  const port = await portOf(profile);
  const browser = new Marionette(
    await new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket));
      socket.on('error', reject);
    }),
  );
  await browser.send('WebDriver:NewSession');
  const open = async (name) => {
    await browser.send('WebDriver:Navigate', { url: `${pathToFileURL(join(folder, name)).href}#v2/tree` });
    return browser.wait(`document.documentElement.dataset.ready`);
  };
  for (const name of ['db-heat/index.html', 'db-single.html']) {
    same(await open(name), 'yes', `${name} opens`);
    same(await browser.wait(`document.querySelectorAll('#table .row').length === 22`), true, 'its rows');
    same(
      await browser.value(`document.querySelector('#table .metric[role=gridcell]').title`),
      '10,452,000,000 ns, 100.0%, 2,613 samples, ± 0.4 s',
      'its total',
    );
    same(
      await browser.wait(`document.querySelector('#source .line.marked .line-text')?.textContent.trim()`),
      's = s + a(k) * x(col(k))',
      'its source',
    );
    await browser.value(`document.querySelectorAll('.table .tab')[1].click()`);
    same(await browser.wait(`location.hash.startsWith('#v2/line')`), true, 'the address follows');
    await browser.value(`history.back()`);
    same(await browser.wait(`location.hash.startsWith('#v2/tree')`), true, 'the back button');
  }
  same(await open('db-hostile/index.html'), 'yes', 'hostile names open');
  same(
    await browser.value(`[window.hacked ?? null, document.images.length, document.querySelectorAll('svg').length]`),
    [null, 0, 0],
    'no name became markup',
  );
  same(await open('db-large/index.html'), 'yes', 'a large database opens');
  same(await browser.value(`performance.getEntriesByName('hpcview-worker').length`), 1, 'its blocks are unpacked by a worker');
  console.log(
    `# firefox: first view of the large database after ${Math.round(await browser.value(`performance.getEntriesByName('hpcview-shown')[0].startTime`))} ms`,
  );
  await browser.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => undefined);
} catch (error) {
  console.log(`not ok ${++count} - firefox: ${error.message}`);
  failures++;
} finally {
  process_.kill();
  await sleep(300);
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
console.log(`1..${count}`);
process.exit(failures ? 1 : 0);
