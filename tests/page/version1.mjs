// SPDX-License-Identifier: BSD-3-Clause
// version1.mjs FROM TO - a database as version 1 had it, made of one of version 3 (doc/formats/database.md, History).

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';

const [from, to] = process.argv.slice(2);
cpSync(from, to, { recursive: true });

const page = readFileSync(`${to}/index.html`, 'utf8');
const [whole, text] = /<script type="application\/json" id="hpcview-head">(.*?)<\/script>/s.exec(page);
const { blocks, runs, trees, tables, planes, ...head } = JSON.parse(text);
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
const parts = [bytes.subarray(0, 2 * n)]; // kind and role; then come columns with all their planes but for `same`
let at = 2 * n;
planes.forEach((stored, column) => {
  const isLast = column === planes.length - 1;
  const all = column === planes.length - 2 ? 8 : 4;
  if (!isLast) parts.push(bytes.subarray(at, at + stored * n), Buffer.alloc((all - stored) * n));
  at += stored * n;
});
const without = Buffer.concat([...parts, bytes.subarray(at)]);
writeFileSync(
  `${to}/data/places.js`,
  script.replace(base64, () => deflateSync(without).toString('base64')),
);
