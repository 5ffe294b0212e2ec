/** Reads the state of the ledger from the allocator. */
import { readAll } from '../../../lib/ledger-client/pages.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { listAllocations } from '../../clients/list-allocations.ts';
import { listBindings } from '../../clients/list-bindings.ts';
import { type LedgerClient, type LedgerTarget, openAllocatorClient } from '../../clients/ledger-client.ts';
import type { LedgerState } from './check-input.ts';

/** A connection, and the endpoints of all replicas. */
export interface LedgerEndpoints {
  readonly allocator: LedgerClient;
  /** Of each replica. */
  readonly endpoints: readonly LedgerTarget[];
  readonly signal: AbortSignal;
}

/** The current state. Its parts are read one after another, so they may be inconsistent while the ledger changes. */
export async function readLedger({ allocator, endpoints, signal }: LedgerEndpoints): Promise<LedgerState> {
  const { allocations } = await listAllocations(allocator, {});
  const bindings = await listBindings(allocator);
  const readReservations = (pageToken: string) => allocator.call(IpamService.listReservations, { pageToken });
  const reservations = await readAll(readReservations, ({ records }) => records);
  const { pools } = await allocator.call(SubnetsService.listPools, {});
  const { position, subnets } = await allocator.call(SubnetsService.listSubnets, {});
  const { freeze, cannotWrite: obstacle, ledger: id, storage } = await allocator.call(LedgerService.getStatus, {});
  const fences = await Promise.all(endpoints.map((endpoint) => readFenced(endpoint, signal)));
  const fenced = (name: string): string[] => [...new Set(fences.flatMap((each) => each.get(name) ?? []))].toSorted();
  const withFences = subnets.map((each) => ({ ...each, fenced: fenced(each.name) }));
  return { id, position, freeze, obstacle, storage, allocations, subnets: withFences, bindings, pools, reservations };
}

/** Fenced addresses by subnet. Only the replica that tried to write the key has the fence. Empty for a replica that does not answer. */
async function readFenced(endpoint: LedgerTarget, signal: AbortSignal): Promise<Map<string, readonly string[]>> {
  using replica = openAllocatorClient(endpoint, signal);
  try {
    const { subnets } = await replica.call(SubnetsService.listSubnets, {});
    return new Map(subnets.map(({ name, fenced: addresses }) => [name, addresses]));
  } catch {
    signal.throwIfAborted();
    return new Map();
  }
}
