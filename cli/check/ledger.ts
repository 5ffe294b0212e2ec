/** The ledger's word, by gRPC. */
import { IpamService, type SandboxBinding, SubnetsService } from '../../proto/ipledger.ts';
import { everyAllocation } from '../allocations.ts';
import { type Allocator, openAllocator } from '../allocator.ts';
import { Failure } from '../failure.ts';
import type { LedgerPicture } from './picture.ts';

/** Whom to ask. */
export interface Asked {
  readonly allocator: Allocator;
  /** Of each of its replicas, "host:port". */
  readonly endpoints: readonly string[];
  readonly signal: AbortSignal;
}

const pageSize = 1_000;
const pagesMost = 10_000;

/** Everything that is held and in force. Its parts are read one after the other: while the ledger moves they need not fit. */
export async function readLedger({ allocator, endpoints, signal }: Asked): Promise<LedgerPicture> {
  const { allocations } = await everyAllocation(allocator, {});
  const bindings = await everyBinding(allocator);
  const { position, subnets } = await allocator.ask(SubnetsService.listSubnets, {});
  const fences = await Promise.all(endpoints.map((endpoint) => fencedBy(endpoint, signal)));
  const fenced = (name: string): string[] => [...new Set(fences.flatMap((each) => each.get(name) ?? []))].toSorted();
  return { position, allocations, subnets: subnets.map((each) => ({ ...each, fenced: fenced(each.name) })), bindings };
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
  const bindings: SandboxBinding[] = [];
  let pageToken = '';
  for (let page = 0; page < pagesMost; page++) {
    const reply = await allocator.ask(IpamService.listBindings, { pageSize, pageToken });
    for (const binding of reply.bindings) bindings.push(binding);
    if (reply.nextPageToken === '') return bindings;
    pageToken = reply.nextPageToken;
  }
  throw new Failure('refused', `more than ${pagesMost} pages of bindings`);
}
