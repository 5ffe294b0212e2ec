/** All groups of rows, in the order in which they run. */
import type { BenchGroup, BenchOptions } from './bench-row.ts';
import { addRows } from './rows/add/add-rows.ts';
import { agentRows } from './rows/agents/agents-rows.ts';
import { allocateRows } from './rows/allocate/allocate-rows.ts';
import { attackRows } from './rows/attack.ts';
import { commandLineRows } from './rows/command-line.ts';
import { consoleRows } from './rows/console.ts';
import { historyGrowthRows } from './rows/history/history-growth.ts';
import { historyRows } from './rows/history/history-rows.ts';
import { podBurstRows } from './rows/pods/pod-rows.ts';
import { podPopulationRows } from './rows/pods/population-rows.ts';
import { sealRows } from './rows/seal/seal-rows.ts';
import { startRows } from './rows/start/start-rows.ts';

export const benchGroups: readonly BenchGroup[] = [
  allocateRows,
  addRows,
  podBurstRows,
  podPopulationRows,
  commandLineRows,
  historyRows,
  historyGrowthRows,
  startRows,
  sealRows,
  attackRows,
  agentRows,
  consoleRows,
];

/** The names of all rows. */
export const rowNames = (size: BenchOptions['size']): string[] =>
  benchGroups.flatMap(({ rows, longRows = [] }) => [...rows, ...(size === 'long' ? longRows : [])]);

/** The rows of `ROW=scale`: what grows with the cluster, its Pods and its history. */
const scaleRows = ['agents', 'watcher-100k', 'pause', 'seal', 'growth'];
const longScaleRows = ['agents-5000', 'watcher-100k', 'pause-1m', 'seal-1m', 'live-1m', 'growth'];

/** Returns the rows that the list ROW selects: names of rows, or `scale` for several. */
export function selectRows(list: string, size: BenchOptions['size']): string[] {
  const scale = size === 'long' ? longScaleRows : scaleRows;
  return list.split(',').flatMap((name) => (name === 'scale' ? scale : [name]));
}
