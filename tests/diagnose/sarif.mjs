// SPDX-License-Identifier: BSD-3-Clause
// usage: sarif.mjs FINDINGS.json FINDINGS.sarif: what hpcview diagnose writes, against the rules of SARIF 2.1.0's schema for what is in it.
import { readFileSync } from 'node:fs';

const wrong = [];
const expect = (holds, what) => holds || wrong.push(what);
const keys = (object, allowed, required, where) => {
  for (const key of Object.keys(object)) expect(allowed.includes(key), `${where}: ${key} is no property there`);
  for (const key of required) expect(key in object, `${where}: ${key} is missing`);
};
const [json, sarif] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));

expect(Array.isArray(json.findings) && json.findings.length > 0, 'json: findings');
expect(Array.isArray(json.search) && json.search.length > 0, 'json: search');
const weights = json.findings.map((f) => f.severity * f.confidence);
expect(weights.every((w, i) => i === 0 || w <= weights[i - 1]), 'json: the worst first');

const message = (m, where) => {
  keys(m, ['text'], ['text'], where);
  expect(typeof m.text === 'string' && m.text.length > 0, `${where}: text`);
};
keys(sarif, ['$schema', 'version', 'runs'], ['version', 'runs'], 'log');
expect(sarif.version === '2.1.0', 'version');
for (const run of sarif.runs) {
  keys(run, ['tool', 'columnKind', 'results'], ['tool'], 'run');
  expect(['utf16CodeUnits', 'unicodeCodePoints'].includes(run.columnKind), 'columnKind');
  const { driver } = run.tool;
  keys(driver, ['name', 'version', 'rules'], ['name'], 'driver');
  expect(new Set(driver.rules.map((r) => r.id)).size === driver.rules.length, 'rules are unique');
  for (const rule of driver.rules) {
    keys(rule, ['id', 'name', 'shortDescription', 'fullDescription', 'help'], ['id'], 'rule');
    for (const key of ['shortDescription', 'fullDescription', 'help']) if (rule[key]) message(rule[key], key);
  }
  expect(run.results.length === json.findings.length, 'as many results as findings');
  for (const result of run.results) {
    keys(result, ['ruleId', 'ruleIndex', 'level', 'message', 'locations', 'rank', 'properties'], ['message'], 'result');
    expect(driver.rules[result.ruleIndex]?.id === result.ruleId, 'ruleIndex leads to ruleId');
    expect(['none', 'note', 'warning', 'error'].includes(result.level), 'level');
    expect(result.rank >= 0 && result.rank <= 100, 'rank');
    message(result.message, 'message');
    for (const location of result.locations) {
      keys(location, ['physicalLocation', 'logicalLocations'], [], 'location');
      const at = location.physicalLocation;
      if (!at) continue;
      keys(at, ['artifactLocation', 'region'], ['artifactLocation'], 'physicalLocation');
      expect(/^[^ "<>\\^`{|}]+$/.test(at.artifactLocation.uri), 'uri');
      if (at.region) expect(Number.isInteger(at.region.startLine) && at.region.startLine >= 1, 'startLine');
    }
  }
}
for (const what of wrong) console.error(what);
process.exit(wrong.length ? 1 : 0);
