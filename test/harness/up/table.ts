/** What runs where, for people. */
import { relative } from 'node:path';
import Table from 'cli-table3';
import { root } from '../paths.ts';
import type { Row } from './start.ts';

export function tableOf(rows: readonly Row[]): string {
  const table = new Table({ head: ['', 'where', 'pid', '', 'log'], style: { head: [], border: [], compact: true } });
  for (const { name, where, pid, started, log } of rows)
    table.push([name, where, pid, started ? 'started' : 'ran already', relative(root, log)]);
  return table.toString();
}
