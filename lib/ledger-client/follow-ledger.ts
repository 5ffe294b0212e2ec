/**
 * Follows the ledger: first a snapshot, then every later command, complete and in order.
 *
 * The pages of a snapshot have different positions, and the events after the first page follow. So
 * the program receives some events whose effect the snapshot already contains. Applying an event
 * twice must change nothing, which is possible because events name their allocation. Review notes:
 * docs/invariants.md, "A projection has one position".
 */
import { type Event, LedgerService, type Position, type WatchReply } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { describeFreeze } from '../ledger-text/freeze-text.ts';
import type { Logger } from '../process/log.ts';
import { type EventReply, subscribeEvents } from './event-subscription.ts';
import { type LedgerClient, requirePosition } from './ledger-client.ts';

export interface FollowOptions {
  readonly allocator: LedgerClient;
  /** Reads the complete state of the ledger: at the start, and if events were missed. */
  readonly takeSnapshot: () => Promise<SnapshotSummary>;
  /** Applies complete commands synchronously. Called for each reply, including keepalives. */
  readonly apply: (reply: EventReply) => void;
  /** A position that an earlier run has seen. The ledger must contain it. */
  readonly lastKnownPosition?: Position | undefined;
  /** Called at each attempt: with the reason if the ledger is frozen, else with undefined. */
  readonly onFrozen?: (reason: string | undefined) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface SnapshotSummary {
  /** The position of the first page. */
  readonly position: Position;
  /** The number of allocations, for the log. */
  readonly allocations: number;
}

/** Ends the follower, because a retry would not help. */
export class FatalLedgerError extends Error {
  override readonly name: string = 'FatalLedgerError';
}

/** Thrown for an unknown event type. Skipping the event would leave the state wrong. */
export class UnknownEvent extends FatalLedgerError {
  override readonly name = 'UnknownEvent';

  constructor({ seq, type }: Pick<Event, 'seq' | 'type'>, program: string) {
    super(
      `event ${seq} is of type ${type}, which this ${program} does not know: upgrade it to the allocator's version`,
    );
  }
}

/** The number of consecutive failures from which on they are logged as warnings. */
const warnAfterFailures = 3;

/**
 * Follows the ledger until the signal is aborted. If the ledger lacks a position that the program
 * has seen, it was rewound: nothing is applied until an operator has recovered it in a new epoch,
 * and has ended the freeze.
 * @throws FatalLedgerError
 */
export async function followLedger(options: FollowOptions): Promise<void> {
  const { allocator, takeSnapshot, apply, onFrozen, log, signal } = options;
  let { lastKnownPosition } = options;
  let current: Position | undefined;

  const start = async (): Promise<Position> => {
    if (lastKnownPosition) await assertNotRewound(allocator, lastKnownPosition, signal);
    await assertNotFrozen(allocator);
    const { position, allocations } = await takeSnapshot();
    // Only now: the ledger may be rewound between this check and the snapshot of a later attempt
    lastKnownPosition = undefined;
    log.info({ seq: position.seq, allocations }, 'ledger: snapshot taken');
    return position;
  };
  await subscribeEvents({
    position: async () => (current ??= await start()),
    watch: (after) => watchAfter(allocator, requirePosition(after), signal),
    apply: (reply) => {
      const [{ epoch: known }, { epoch }] = [requirePosition(current), reply.head];
      if (epoch !== known)
        throw new IpledgerError('POSITION_GONE', `the ledger is in epoch ${epoch}, and was in epoch ${known}`);
      apply(reply);
      current = reply.position;
      onFrozen?.(undefined);
    },
    onFailure: (thrown, failures) => {
      if (thrown instanceof FatalLedgerError) throw thrown;
      const error = IpledgerError.from(thrown);
      if (error.code === 'LEDGER_FROZEN') onFrozen?.(error.message);
      if (error.code === 'POSITION_GONE') current = lastKnownPosition = undefined;
      const level = failures < warnAfterFailures ? 'info' : 'warn';
      log[level]({ code: error.code, reason: error.message, failures }, 'ledger: interrupted, reconnecting');
    },
    signal,
  });
}

/**
 * Streams the events after a position.
 * @throws IpledgerError LEDGER_FROZEN if the ledger lacks the position; POSITION_GONE if it was
 * recovered without it
 */
const watchAfter = (allocator: LedgerClient, after: Position, signal: AbortSignal): AsyncIterable<WatchReply> =>
  allocator.stream(LedgerService.watch, { fromSeq: after.seq + 1, after }, signal);

/**
 * Refuses a snapshot of a frozen ledger. It may lack what Pods use, and a program without a known
 * position cannot see that. The ledger is complete at the end of a recovery, not when that begins
 * an epoch: until then, IP objects without an allocation are the evidence of a run that is
 * repeated.
 * @throws IpledgerError LEDGER_FROZEN
 */
async function assertNotFrozen(allocator: LedgerClient): Promise<void> {
  const { freeze } = await allocator.call(LedgerService.getStatus, {});
  if (freeze)
    throw new IpledgerError(
      'LEDGER_FROZEN',
      `the ledger is frozen, because etcd was restored from a backup: ${describeFreeze(freeze)}. Run ipledger recover`,
    );
}

/** @throws IpledgerError LEDGER_FROZEN; POSITION_GONE if the ledger was recovered since */
async function assertNotRewound(allocator: LedgerClient, known: Position, signal: AbortSignal): Promise<void> {
  for await (const _ of watchAfter(allocator, known, signal)) return;
}
