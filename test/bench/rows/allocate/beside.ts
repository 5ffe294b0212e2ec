/** The rate of Allocate while a read model and a follower receive each event on the same cores. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../../../lib/grpc/client.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { root } from '../../../harness/paths.ts';
import { printProgress } from '../../../harness/progress.ts';
import { type Server, startServer } from '../../../harness/processes/server.ts';
import type { Run } from '../../../harness/run.ts';
import { startReadModel } from '../../../harness/services.ts';
import { type Alternated, alternate, measureTime, median } from '../../measurement.ts';
import { type AllocateEnvironment, openConnection } from './allocate-environment.ts';
import { runCallers } from './load.ts';

const timeoutMs = 10_000;
const pollMs = 50;

/**
 * Measures rounds with the followers, beside rounds in which they are suspended. The followers
 * catch up before each round, and after each of ours: one that follows no more would cost nothing.
 */
export async function measureBeside(
  { run, allocator, ours, acknowledged }: AllocateEnvironment,
  rounds: number,
  load: { readonly callers: number; readonly count: number },
): Promise<Alternated> {
  const readModel = await startReadModel(run, { allocator });
  const follower = await startFollower(run, allocator.endpoint);
  const model = openConnection(run, readModel.endpoint);
  const seqOfModel = async (): Promise<number> => {
    const page = await call(model, LedgerService.history, { node: 'none', pageSize: 1 }, { timeoutMs });
    return page.position?.seq ?? 0;
  };
  const untilCaughtUp = async (): Promise<void> => {
    const { position } = await call(ours, LedgerService.getStatus, {}, { timeoutMs });
    const last = position?.seq ?? 0;
    for (const seq of [seqOfModel, () => seqOf(follower)])
      while ((await seq()) < last) await sleep(pollMs, undefined, { signal: run.signal });
  };
  const lags: number[] = [];
  const followers: readonly Server[] = [readModel, follower];
  const alternated = await alternate(
    rounds,
    async () => {
      await untilCaughtUp();
      const rate = await runCallers(ours, acknowledged, load);
      lags.push((await measureTime(untilCaughtUp)).ms);
      return rate;
    },
    async () => {
      await untilCaughtUp();
      for (const server of followers) server.freeze();
      try {
        return await runCallers(ours, acknowledged, load);
      } finally {
        for (const server of followers) server.resume();
      }
    },
  );
  for (const server of followers) await server.kill();
  printProgress(`  the followers had all events ${Math.round(median(lags))} ms after the last reply`);
  return alternated;
}

/** Reads the number of the follower's last event from its log. Its last answer is a poll old. */
function seqOf(follower: Server): Promise<number> {
  process.kill(follower.pid, 'SIGUSR2');
  return Promise.resolve(Number(/(\d+)\n$/.exec(readFileSync(follower.log, 'utf8'))?.[1] ?? 0));
}

/** Starts a follower of all events. Resolves when it has received the first ones. */
function startFollower(run: Run, endpoint: string): Promise<Server> {
  const name = 'event-follower';
  const log = join(run.folder, `${name}.log`);
  return startServer(run, {
    name,
    program: process.execPath,
    args: [join(root, 'test', 'bench', 'rows', 'allocate', 'event-follower.ts')],
    env: { FOLLOWER_ENDPOINT: endpoint },
    ready: () =>
      readFileSync(log, 'utf8').includes('following')
        ? Promise.resolve()
        : Promise.reject(new Error('it follows not yet')),
    readyWithinMs: 60_000,
  });
}
