/**
 * Follows the ledger: a snapshot, then the events after it.
 *
 * The pages of the snapshot are of different positions, and the events after the first page follow. So the model is the state of the
 * ledger at one position only when it contains the position of the last page: before, it must not be projected.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { subscribeEvents } from '../../../lib/ledger-client/event-subscription.ts';
import { assertSameEpoch, eachPage, requirePosition } from '../../../lib/ledger-client/positions.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Allocation, Event, Position } from '../../../proto/generated/ipledger.ts';
import type { ProjectorLedgerClient } from './ledger-client.ts';
import { type ModelSnapshot, UnknownEvent } from './ledger-model.ts';

/** Receives the state of the ledger. Its methods are called in order and synchronously. */
export interface LedgerSubscriber {
  /** Replaces all earlier state: at the start, and after events were missed. */
  onSnapshot(snapshot: ModelSnapshot, ledger: string): void;
  /** Events of complete commands. */
  onEvents(events: readonly Event[]): void;
  /** Called after each reply, keepalives included. @param position of which the model is the state; undefined: of no single one yet */
  onReply(position: Position | undefined): void;
}

export interface FollowOptions {
  readonly allocator: ProjectorLedgerClient;
  readonly subscriber: LedgerSubscriber;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The allocator serves another ledger than before, whose rows have another owner. */
export class OtherLedger extends Error {
  override readonly name = 'OtherLedger';
}

/** From this number of failures in a row, they are logged as warnings. */
const warnAfterFailures = 3;

/** Follows the ledger until the signal is aborted. @throws UnknownEvent, OtherLedger, for which a retry does not help */
export async function followLedger({ allocator, subscriber, log, signal }: FollowOptions): Promise<void> {
  let current: Position | undefined;
  let known: string | undefined;
  let consistentSeq = 0;

  const start = async (): Promise<Position> => {
    const { snapshot, ledger, first, lastSeq } = await takeSnapshot(allocator, signal);
    if (known !== undefined && ledger !== known)
      throw new OtherLedger(
        `the allocator serves ledger ${ledger}, and served ${known} before: start this program again`,
      );
    known = ledger;
    consistentSeq = lastSeq;
    subscriber.onSnapshot(snapshot, ledger);
    log.info({ seq: first.seq, allocations: snapshot.allocations.length }, 'ledger: snapshot taken');
    return first;
  };
  await subscribeEvents({
    position: async () => (current ??= await start()),
    watch: (after) => allocator.watch(requirePosition(after), signal),
    apply: ({ events, position, head }) => {
      assertSameEpoch(requirePosition(current), head);
      subscriber.onEvents(events);
      current = position;
      subscriber.onReply(position.seq >= consistentSeq ? position : undefined);
    },
    onFailure: (thrown, failures) => {
      if (thrown instanceof UnknownEvent || thrown instanceof OtherLedger) throw thrown;
      const error = IpledgerError.from(thrown);
      if (error.code === 'POSITION_GONE') current = undefined;
      const level = failures < warnAfterFailures ? 'info' : 'warn';
      log[level]({ code: error.code, reason: error.message, failures }, 'ledger: interrupted, reconnecting');
    },
    signal,
  });
}

interface TakenSnapshot {
  readonly snapshot: ModelSnapshot;
  readonly ledger: string;
  /** The position of the first page. */
  readonly first: Position;
  /** The position of the last page. */
  readonly lastSeq: number;
}

async function takeSnapshot(allocator: ProjectorLedgerClient, signal: AbortSignal): Promise<TakenSnapshot> {
  const { ledger } = await allocator.status(signal);
  const allocations = new Map<number, Allocation>();
  let lastSeq = 0;
  const first = await eachPage(
    (token) => allocator.listAllocations(token, signal),
    (page) => {
      lastSeq = Math.max(lastSeq, requirePosition(page.position).seq);
      for (const allocation of page.allocations) allocations.set(allocation.seq, allocation);
    },
  );
  const { subnets, position } = await allocator.listSubnets(signal);
  lastSeq = Math.max(lastSeq, requirePosition(position).seq);
  return { snapshot: { subnets, allocations: [...allocations.values()] }, ledger, first, lastSeq };
}
