/** Formats the table of running servers. */
import { relative } from 'node:path';
import { formatTextTable } from '../../cli/output/table.ts';
import { root } from '../../test/harness/paths.ts';
import type { ServerRow } from './start.ts';

/** Formats a line for each server, in the style of kubectl. */
export const formatServerTable = (rows: readonly ServerRow[]): string =>
  formatTextTable(
    ['PART', 'WHERE', 'PID', 'STATE', 'LOG'],
    rows.map(({ name, where, pid, wasStarted, log }) => [
      name,
      where,
      String(pid),
      wasStarted ? 'started' : 'ran already',
      relative(root, log),
    ]),
  );
