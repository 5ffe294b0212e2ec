/** The rate of Allocate while a read model and a follower receive each event on the same cores. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../../../lib/grpc/client.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { root } from '../../../harness/paths.ts';
import { type Server, startServer } from '../../../harness/processes/server.ts';
import type { Run } from '../../../harness/run.ts';
import { startReadModel } from '../../../harness/services.ts';
import { type Alternated, alternate } from '../../measurement.ts';
import { type AllocateEnvironment, openConnection } from './allocate-environment.ts';
import { runCallers } from './load.ts';

const timeoutMs = 10_000;
const pollMs = 50;

/**
 * Measures rounds with the followers, beside rounds in which they are suspended. The followers
 * catch up before each round.
 */
export async function measureBeside(
  { run, allocator, ours, acknowledged }: AllocateEnvironment,
  rounds: number,
  load: { readonly callers: number; readonly count: number },
): Promise<Alternated> {
  const readModel = await startReadModel(run, { allocator });
  const follower = await startFollower(run, allocator.endpoint);
  const model = openConnection(run, readModel.endpoint);
  const untilCaughtUp = async (): Promise<void> => {
    const { position } = await call(ours, LedgerService.getStatus, {}, { timeoutMs });
    for (;;) {
      const page = await call(model, LedgerService.history, { node: 'none', pageSize: 1 }, { timeoutMs });
      if ((page.position?.seq ?? 0) >= (position?.seq ?? 0)) return;
      await sleep(pollMs, undefined, { signal: run.signal });
    }
  };
  const followers: readonly Server[] = [readModel, follower];
  const alternated = await alternate(
    rounds,
    async () => {
      await untilCaughtUp();
      return runCallers(ours, acknowledged, load);
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
  return alternated;
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
