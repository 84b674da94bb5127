// SPDX-License-Identifier: BSD-3-Clause
// The table as it is shown, as CSV: every row, the shown columns, plain numbers.

import { Kind, type Model } from '../model/data';
import type { Column } from './columns';
import { enclosing, kindName, lineRange } from './labels';
import type { Table } from './rows';

const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** Text that a spreadsheet would take for a formula stays text. */
const safe = (text: string): string => quoted(/^[=+\-@\t]/.test(text) ? `'${text}` : text);

export const csvText = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(safe).join(',')}\n`).join('');

export function tableCsv(model: Model, table: Table, columns: readonly Column[]): string {
  const head = ['depth', 'kind', 'name', 'where', 'procedure', 'instances'];
  const names = columns.map((c) => `${c.metric.name}${c.exclusive ? ' (E)' : ''}`);
  const lines = [[...head, ...names].map(safe).join(',')];
  for (let row = 0; row < table.count; row++) {
    const place = table.place(row);
    const text = [
      String(table.depth(row)),
      kindName(model.places.kind[place]),
      safe(table.label(row).text),
      safe(lineRange(model, place)),
      safe(enclosing(model, place, [Kind.Procedure]) ?? ''),
      String(table.instances(row)),
    ];
    const values = columns.map((c) => table.value(row, c)).map((v) => (Number.isNaN(v) ? '' : String(v)));
    lines.push([...text, ...values].join(','));
  }
  return `${lines.join('\n')}\n`;
}
