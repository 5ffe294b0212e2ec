/** Reads the ledger again and again, and compares it with the cluster. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../../lib/grpc/calls.ts';
import { createLedgerClient, type LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { readAll } from '../../../lib/ledger-client/pages.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import type { Program } from '../kernel/program.ts';
import type { World } from '../kernel/world.ts';
import type { SimulatedCluster } from './cluster.ts';
import { type LedgerView, unrest } from './at-rest.ts';

export const lookMs = 5_000;

/**
 * Starts the observer. The result has what is not at rest at the last look, which began at `at`.
 */
export function observeRest(world: World, connect: (from: Program) => Connection, cluster: SimulatedCluster) {
  const observed: { at: number; unrest: readonly string[] } = { at: 0, unrest: ['the ledger is unknown'] };
  const main = async (): Promise<void> => {
    const client = createLedgerClient(connect(program), new AbortController().signal);
    for (;;) {
      await sleep(lookMs);
      const at = world.now;
      const view = await readLedger(client).catch(() => undefined);
      if (view) [observed.at, observed.unrest] = [at, unrest(cluster, view)];
    }
  };
  const program = world.machine('observer').start('observer', main);
  return observed;
}

async function readLedger(client: LedgerClient): Promise<LedgerView> {
  const allocations = await readAll(
    (pageToken) => client.call(IpamService.listAllocations, { pageToken }),
    (page) => page.allocations,
  );
  const bindings = await readAll(
    (pageToken) => client.call(IpamService.listBindings, { pageToken }),
    (page) => page.bindings,
  );
  return { allocations, bindings };
}
