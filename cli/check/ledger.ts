/** The ledger's word, by gRPC. */
import {
  type AddressRecord,
  IpamService,
  LedgerService,
  type SandboxBinding,
  SubnetsService,
} from '../../proto/ipledger.ts';
import { everyAllocation } from '../allocations.ts';
import { type Allocator, openAllocator } from '../allocator.ts';
import { everyPage } from '../pages.ts';
import type { LedgerPicture } from './picture.ts';

/** Whom to ask. */
export interface Asked {
  readonly allocator: Allocator;
  /** Of each of its replicas, "host:port". */
  readonly endpoints: readonly string[];
  readonly signal: AbortSignal;
}

const pageSize = 1_000;

/** Everything that is held and in force. Its parts are read one after the other: while the ledger moves they need not fit. */
export async function readLedger({ allocator, endpoints, signal }: Asked): Promise<LedgerPicture> {
  const { allocations } = await everyAllocation(allocator, {});
  const bindings = await everyBinding(allocator);
  const reservations = await everyReservation(allocator);
  const { pools } = await allocator.ask(SubnetsService.listPools, {});
  const { position, subnets } = await allocator.ask(SubnetsService.listSubnets, {});
  const { freeze } = await allocator.ask(LedgerService.getStatus, {});
  const fences = await Promise.all(endpoints.map((endpoint) => fencedBy(endpoint, signal)));
  const fenced = (name: string): string[] => [...new Set(fences.flatMap((each) => each.get(name) ?? []))].toSorted();
  const withFences = subnets.map((each) => ({ ...each, fenced: fenced(each.name) }));
  return { position, freeze, allocations, subnets: withFences, bindings, pools, reservations };
}

/** By subnet. Only the replica that would have written an address's key knows that it is fenced; one that is away knows nothing. */
async function fencedBy(endpoint: string, signal: AbortSignal): Promise<Map<string, readonly string[]>> {
  using replica = openAllocator(endpoint, signal);
  try {
    const { subnets } = await replica.ask(SubnetsService.listSubnets, {});
    return new Map(subnets.map(({ name, fenced }) => [name, fenced]));
  } catch {
    signal.throwIfAborted();
    return new Map();
  }
}

async function everyBinding(allocator: Allocator): Promise<SandboxBinding[]> {
  const all: SandboxBinding[] = [];
  const read = (pageToken: string) => allocator.ask(IpamService.listBindings, { pageSize, pageToken });
  for await (const { bindings } of everyPage(read)) for (const each of bindings) all.push(each);
  return all;
}

async function everyReservation(allocator: Allocator): Promise<AddressRecord[]> {
  const all: AddressRecord[] = [];
  const read = (pageToken: string) => allocator.ask(IpamService.listReservations, { pageSize, pageToken });
  for await (const { records } of everyPage(read)) for (const each of records) all.push(each);
  return all;
}
