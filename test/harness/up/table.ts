/** What runs where, for people. */
import { relative } from 'node:path';
import { table } from '../../../cli/table.ts';
import { root } from '../paths.ts';
import type { Row } from './start.ts';

/** A line each, as kubectl prints it. */
export const tableOf = (rows: readonly Row[]): string =>
  table(
    ['PART', 'WHERE', 'PID', 'STATE', 'LOG'],
    rows.map(({ name, where, pid, started, log }) => [
      name,
      where,
      String(pid),
      started ? 'started' : 'ran already',
      relative(root, log),
    ]),
  );
