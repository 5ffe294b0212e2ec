/**
 * Follows the ledger: first a snapshot, then every command after it, complete and in order.
 *
 * The pages of the snapshot are of different positions, and the events after the first page follow. So subscribers receive some
 * events whose effect the snapshot contains. Applying an event twice must change nothing: events name their allocation.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { type EventBatch, subscribeEvents } from '../../../lib/ledger-client/event-subscription.ts';
import { assertSameEpoch, eachPage, requirePosition } from '../../../lib/ledger-client/positions.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Position } from '../../../proto/generated/ipledger.ts';
import type { WatcherLedgerClient } from './ledger-client.ts';
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
  UnknownEvent,
} from './ledger-events.ts';

export interface LedgerSnapshot {
  readonly seq: number;
  readonly allocations: readonly HeldAllocation[];
  readonly subnets: readonly AppliedSubnet[];
  readonly pools: readonly AppliedPool[];
  readonly reservations: readonly ReservedAddress[];
}

/** Receives the state of the ledger. Its methods are called in order and synchronously; they must be fast and must not throw. */
export interface LedgerSubscriber {
  /** Replaces all earlier state: at the start, and after events were missed. */
  onSnapshot(snapshot: LedgerSnapshot): void;
  /** The events of one command; `seq` is the position after it. */
  onEvents(events: readonly LedgerEvent[], seq: number): void;
}

export interface LedgerFollowerOptions {
  readonly allocator: Pick<WatcherLedgerClient, 'list' | 'listPools' | 'listReservations' | 'listSubnets' | 'watch'>;
  readonly subscribers: readonly LedgerSubscriber[];
  /** Called for each reply, keepalives included. */
  readonly onReply?: () => void;
  /** A position of an earlier run. The ledger must contain it. */
  readonly lastKnownPosition?: Position | undefined;
  /** Called with each position reached. */
  readonly onPosition?: (position: Position) => void;
  /** Called with the reason while the ledger is frozen, at each attempt; with undefined when it is not. */
  readonly onFrozen?: (reason: string | undefined) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** From this number of failures in a row, they are logged as warnings. */
const warnAfterFailures = 3;

/**
 * Follows the ledger until the signal is aborted. If the ledger lacks a position that the watcher has seen, it was rewound: the
 * watcher applies nothing until an operator has recovered it, which starts a new epoch.
 * @throws UnknownEvent, for which a retry does not help
 */
export async function followLedger(options: LedgerFollowerOptions): Promise<void> {
  const { allocator, subscribers, onReply, onPosition, onFrozen, log, signal } = options;
  let { lastKnownPosition } = options;
  let current: Position | undefined;

  const start = async (): Promise<Position> => {
    if (lastKnownPosition) await assertNotRewound(allocator, lastKnownPosition, signal);
    lastKnownPosition = undefined;
    const { snapshot, position } = await takeSnapshot(allocator, signal);
    for (const subscriber of subscribers) subscriber.onSnapshot(snapshot);
    log.info({ seq: position.seq, allocations: snapshot.allocations.length }, 'ledger: snapshot taken');
    return position;
  };
  const followFrom = (position: Position): void => {
    current = position;
    onFrozen?.(undefined);
    onPosition?.(position);
    onReply?.();
  };
  await subscribeEvents({
    position: async () => (current ??= await start()),
    watch: () => allocator.watch(requirePosition(current), signal),
    apply: (batch) => {
      assertSameEpoch(requirePosition(current), batch.head);
      applyCommands(batch, subscribers);
      followFrom(batch.position);
    },
    onFailure: (thrown, breaks) => {
      if (thrown instanceof UnknownEvent) throw thrown;
      const error = IpledgerError.from(thrown);
      if (error.code === 'LEDGER_FROZEN') onFrozen?.(error.message);
      if (error.code === 'POSITION_GONE') current = lastKnownPosition = undefined;
      const level = breaks < warnAfterFailures ? 'info' : 'warn';
      log[level]({ code: error.code, reason: error.message, breaks }, 'ledger: interrupted, reconnecting');
    },
    signal,
  });
}

/** @throws IpledgerError LEDGER_FROZEN; POSITION_GONE when an operator has recovered it since, and a new snapshot may follow */
async function assertNotRewound(
  allocator: LedgerFollowerOptions['allocator'],
  known: Position,
  signal: AbortSignal,
): Promise<void> {
  const firstReply = new AbortController();
  try {
    for await (const _ of allocator.watch(known, AbortSignal.any([signal, firstReply.signal]))) return;
  } finally {
    firstReply.abort();
  }
}

/** A reply contains complete commands. */
function applyCommands({ events }: EventBatch, subscribers: readonly LedgerSubscriber[]): void {
  let command: LedgerEvent[] = [];
  for (const event of events) {
    command.push(...ledgerEventsOf(event));
    if (event.part < event.parts) continue;
    for (const subscriber of subscribers) subscriber.onEvents(command, event.seq);
    command = [];
  }
}

async function takeSnapshot(
  allocator: LedgerFollowerOptions['allocator'],
  signal: AbortSignal,
): Promise<{ snapshot: LedgerSnapshot; position: Position }> {
  const held = new Map<number, HeldAllocation>();
  const position = await eachPage(
    (token) => allocator.list(token, signal),
    ({ allocations }) => {
      for (const allocation of allocations) held.set(allocation.seq, heldAllocationOf(allocation));
    },
  );
  const { subnets } = await allocator.listSubnets(signal);
  const { pools } = await allocator.listPools(signal);
  const reservations = new Map<string, ReservedAddress>();
  await eachPage(
    (token) => allocator.listReservations(token, signal),
    ({ records }) => {
      for (const record of records) reservations.set(`${record.subnet}/${record.address}`, reservedAddressOf(record));
    },
  );
  const snapshot = {
    seq: position.seq,
    allocations: [...held.values()],
    subnets: subnets.flatMap(({ name, spec, source }) => (spec ? [{ name, spec, source: sourceOf(source) }] : [])),
    pools: pools.flatMap(({ name, spec, source }) => (spec ? [{ name, spec, source: sourceOf(source) }] : [])),
    reservations: [...reservations.values()],
  };
  return { snapshot, position };
}
