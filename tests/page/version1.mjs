// version1.mjs FROM TO - a database as version 1 had it, made of one of version 2 (doc/formats/database.md, History).

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';

const [from, to] = process.argv.slice(2);
cpSync(from, to, { recursive: true });

const page = readFileSync(`${to}/index.html`, 'utf8');
const [whole, text] = /<script type="application\/json" id="hpcview-head">(.*?)<\/script>/s.exec(page);
const { blocks, runs, trees, tables, ...head } = JSON.parse(text);
head.version = 1;
head.metrics = head.metrics.map(({ run, ...metric }, i) => {
  const [chunk, offset, bytes, scale] = trees[0].values[i];
  return { ...metric, chunk, offset, bytes, scale };
});
const old = whole.replace(text, () => JSON.stringify(head).replaceAll('<', '\\u003c'));
writeFileSync(
  `${to}/index.html`,
  page.replace(whole, () => old),
);

const n = head.places;
const script = readFileSync(`${to}/data/places.js`, 'utf8');
const base64 = /"([A-Za-z0-9+/=]{20,})"/.exec(script)[1];
const bytes = inflateSync(Buffer.from(base64, 'base64'));
const columns = 2 * n + 10 * 4 * n + 8 * n; // up to `address`; then comes `same`
const without = Buffer.concat([bytes.subarray(0, columns), bytes.subarray(columns + 4 * n)]);
writeFileSync(
  `${to}/data/places.js`,
  script.replace(base64, () => deflateSync(without).toString('base64')),
);
