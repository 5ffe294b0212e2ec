/** The input of `check`: the state of the ledger, the cluster, OVN and the node's switch. */
import {
  type AddressRecord,
  type Allocation,
  type Freeze,
  type Pool,
  type Position,
  type SandboxBinding,
  type StorageUse,
  type Subnet,
  type WriteObstacle,
  IpamService,
  LedgerService,
  SubnetsService,
} from '../../proto/generated/ipledger.ts';
import type { ClusterState } from '../cluster/cluster-state.ts';
import type { NodeSwitch } from '../ovn/node-switch.ts';
import type { Northbound } from '../ovn/northbound.ts';
import { readAll } from '../../lib/ledger-client/pages.ts';
import { listAllocations, listBindings } from '../clients/list-allocations.ts';
import { type LedgerClient, type LedgerTarget, openAllocatorClient } from '../clients/ledger-client.ts';

export interface LedgerState {
  /** Id of the ledger. */
  readonly id: string;
  readonly position: Position | undefined;
  /** The freeze; absent unless the ledger is frozen. */
  readonly freeze?: Freeze | undefined;
  /** Why nothing can be written to it. */
  readonly obstacle?: WriteObstacle | undefined;
  readonly storage?: StorageUse | undefined;
  readonly allocations: readonly Allocation[];
  /** Current subnets. */
  readonly subnets: readonly Subnet[];
  /** Containers that may answer on an address, which may be released. */
  readonly bindings: readonly SandboxBinding[];
  /** Current pools. */
  readonly pools: readonly Pool[];
  /** The record of each reserved address. */
  readonly reservations: readonly AddressRecord[];
}

export interface CheckInput {
  readonly ledger: LedgerState;
  readonly cluster: ClusterState;
  /** The northbound database; absent without `--ovn-nb`. */
  readonly northbound?: Northbound | undefined;
  /** The switch of the node; absent without `--ovs-db`. */
  readonly nodeSwitch?: NodeSwitch | undefined;
}

/** A connection, and the endpoints of all replicas. */
export interface LedgerEndpoints {
  readonly allocator: LedgerClient;
  /** The endpoint of each replica. */
  readonly endpoints: readonly LedgerTarget[];
  readonly signal: AbortSignal;
}

/** The current state, read part by part: it may be inconsistent while the ledger changes. */
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

/** Fenced addresses by subnet. Only the replica that tried to write the key has the fence. */
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
