/**
 * `make console`: starts the console on a generated history of two weeks, until Ctrl-C. It is open:
 * without sign-in, read-only, on this machine. Variables: EVENTS, PODS.
 */
import { once } from 'node:events';
import { startConsole } from '../test/harness/console.ts';
import { startEtcd } from '../test/harness/etcd.ts';
import { printProgress, showElapsed } from '../test/harness/progress.ts';
import { openRun } from '../test/harness/run.ts';
import { startAllocator, startReadModel } from '../test/harness/services.ts';
import { buildHistory } from '../test/history/build-history.ts';

const events = Number(process.env['EVENTS'] || 20_000);
const livePods = Number(process.env['PODS'] || 500);
const twoWeeksMs = 14 * 24 * 3_600_000;

const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
const run = openRun();
try {
  const etcd = await startEtcd(run);
  const building = showElapsed(`writing a history of ${events} events`);
  await buildHistory({ etcd, events, livePods, spanMs: twoWeeksMs, signal: run.signal });
  building.end();
  const allocator = await startAllocator(run, { etcd });
  const readModel = await startReadModel(run, { allocator });
  const { url } = await startConsole(run, { allocator, readModel });
  printProgress(`the console is at ${url}; Ctrl-C ends it. The command line: IPLEDGER_ENDPOINT=${allocator.endpoint}`);
  const alive = setInterval(() => undefined, 60_000); // a listener for signals keeps no process alive
  await interrupted;
  clearInterval(alive);
} finally {
  await run.end();
}
