/**
 * The rows that read a long history: one etcd whose log has a million events (LONG=1: ten million;
 * EVENTS=n).
 */
import type { BenchGroup } from '../../bench-row.ts';
import { printProgress } from '../../../harness/progress.ts';
import { openHistoryEnvironment, readAndParse } from './history-environment.ts';
import { measureReadModel } from './read-model.ts';
import { measureStorageSize } from './storage-size.ts';
import { measureReplay, measureVerify } from './verify-and-replay.ts';
import { measureWhoHad } from './who-had.ts';

const eventCounts = { smoke: 6_000, normal: 1_000_000, long: 10_000_000 };
/** Queries in each round of who-had and index. */
const queryCounts = { smoke: 20, normal: 200, long: 200 };

export const historyRows: BenchGroup = {
  rows: ['storage', 'verify', 'who-had', 'replay', 'index'],
  async measure({ run, rounds, rows, size, record }) {
    const events = Number(process.env['EVENTS'] || eventCounts[size]);
    printProgress(`building a history of ${events} events in etcd:`);
    const environment = await openHistoryEnvironment(run, events);
    // The first of these reads compiles code and fills caches, which the floor of one row would do.
    await readAndParse(environment, 'all');
    if (rows.has('storage')) for (const each of await measureStorageSize(environment)) record(each);
    if (rows.has('verify')) for (const each of await measureVerify(environment, rounds)) record(each);
    const counts = { rounds, queries: queryCounts[size] };
    if (rows.has('who-had')) for (const each of await measureWhoHad(environment, counts)) record(each);
    if (rows.has('replay')) record(await measureReplay(environment));
    if (rows.has('index')) for (const each of await measureReadModel(environment, counts)) record(each);
  },
};
