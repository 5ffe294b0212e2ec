/** Delivers the ledger to parts of the pod-watcher: a snapshot, then each command's events. */
import type { EventReply } from '../../../lib/ledger-client/event-subscription.ts';
import type { SnapshotSummary } from '../../../lib/ledger-client/follow-ledger.ts';
import { type LedgerClient, requirePosition } from '../../../lib/ledger-client/ledger-client.ts';
import { readPages } from '../../../lib/ledger-client/pages.ts';
import { IpamService, type Position, SubnetsService } from '../../../proto/generated/ipledger.ts';
import {
  type LedgerEvent,
  ledgerEventsOf,
  type HeldAllocation,
  heldAllocationOf,
  type AppliedPool,
  type ReservedAddress,
  reservedAddressOf,
  sourceOf,
  type AppliedSubnet,
} from './ledger-events.ts';

export interface LedgerSnapshot {
  readonly seq: number;
  readonly allocations: readonly HeldAllocation[];
  readonly subnets: readonly AppliedSubnet[];
  readonly pools: readonly AppliedPool[];
  readonly reservations: readonly ReservedAddress[];
}

/** Receives the ledger's state in order and synchronously. It must be fast and must not throw. */
export interface LedgerSubscriber {
  /** Replaces all earlier state: at the start, and after events were missed. */
  onSnapshot(snapshot: LedgerSnapshot): void;
  /** Receives the events of one command; `seq` is the position after it. */
  onEvents(events: readonly LedgerEvent[], seq: number): void;
}

/** Delivers complete commands one by one. @throws UnknownEvent */
export function deliverCommands({ events }: EventReply, subscribers: readonly LedgerSubscriber[]): void {
  let command: LedgerEvent[] = [];
  for (const event of events) {
    command.push(...ledgerEventsOf(event));
    if (event.part < event.parts) continue;
    for (const subscriber of subscribers) subscriber.onEvents(command, event.seq);
    command = [];
  }
}

/** Reads a snapshot and delivers it. */
export async function deliverSnapshot(
  allocator: LedgerClient,
  subscribers: readonly LedgerSubscriber[],
  signal: AbortSignal,
): Promise<SnapshotSummary> {
  let first: Position | undefined;
  const held = new Map<number, HeldAllocation>();
  const readAllocations = (pageToken: string) => allocator.call(IpamService.listAllocations, { pageToken }, signal);
  for await (const page of readPages(readAllocations)) {
    first ??= requirePosition(page.position);
    for (const allocation of page.allocations) held.set(allocation.seq, heldAllocationOf(allocation));
  }
  const { subnets } = await allocator.call(SubnetsService.listSubnets, {}, signal);
  const { pools } = await allocator.call(SubnetsService.listPools, {}, signal);
  const readReservations = (pageToken: string) => allocator.call(IpamService.listReservations, { pageToken }, signal);
  const reservations = new Map<string, ReservedAddress>();
  for await (const { records } of readPages(readReservations))
    for (const each of records) reservations.set(`${each.subnet}/${each.address}`, reservedAddressOf(each));
  const position = requirePosition(first);
  const snapshot = {
    seq: position.seq,
    allocations: [...held.values()],
    subnets: subnets.flatMap(({ name, spec, source }) => (spec ? [{ name, spec, source: sourceOf(source) }] : [])),
    pools: pools.flatMap(({ name, spec, source }) => (spec ? [{ name, spec, source: sourceOf(source) }] : [])),
    reservations: [...reservations.values()],
  };
  for (const subscriber of subscribers) subscriber.onSnapshot(snapshot);
  return { position, allocations: snapshot.allocations.length };
}
