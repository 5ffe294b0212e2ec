/**
 * Leadership of one replica. A standby follows the log until it is elected. It writes until its
 * term ends, and then stands by again.
 */
import { pause } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Term } from '../../../ledger/log/writer/election.ts';
import { Follower } from '../../../ledger/log/reader/follower.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import type { EventVersion } from '../../../ledger/domain/events/schema-version.ts';
import { type AppendStats, Writer } from '../../../ledger/log/writer/writer.ts';

/** A writer without requests reads the head of the log at this interval. */
const idleCheckMs = 5_000;

/** The role of this replica. Both are undefined for some milliseconds between the roles. */
export interface Leadership {
  /** Set while this replica is the writer. */
  writer: Writer | undefined;
  /** Set while this replica is a standby. */
  follower: Follower | undefined;
}

export interface LeadershipOptions {
  readonly replica: Replica;
  readonly leadership: Leadership;
  readonly newId: () => string;
  /** Resolves with the term when this replica is elected. */
  readonly elect: (signal: AbortSignal) => Promise<Term>;
  /** The newest schema version that all live replicas can read. */
  readonly eventVersion: () => EventVersion;
  readonly onLeadershipChange: (isWriter: boolean) => void;
  /** Called after each attempt to append. */
  readonly onAppend?: (append: AppendStats) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Runs until the signal is aborted. @throws LEDGER_DAMAGED: an operator must repair it. */
export async function runLeadership(options: LeadershipOptions): Promise<void> {
  while (!options.signal.aborted) {
    const term = await standBy(options);
    if (!term) return;
    try {
      await serveTerm(options, term);
    } finally {
      options.leadership.writer = undefined;
      options.onLeadershipChange(false);
      await term.resign().catch(() => undefined);
    }
  }
}

/** Follows the log until elected. Returns undefined when the signal is aborted first. */
async function standBy({ replica, leadership, elect, log, signal }: LeadershipOptions): Promise<Term | undefined> {
  const elected = new AbortController();
  const cannotFollow = new AbortController();
  const follower = new Follower(replica, log);
  const following = follower.run(AbortSignal.any([signal, elected.signal]));
  leadership.follower = follower;
  try {
    return await Promise.race([elect(AbortSignal.any([signal, cannotFollow.signal])), following.then(() => undefined)]);
  } catch (error) {
    cannotFollow.abort(); // a replica that cannot follow the log must not be elected
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    elected.abort();
    // The follower and the writer share the state: the follower must end first.
    await following.finally(() => (leadership.follower = undefined));
  }
}

/**
 * Writes until the term ends. The first command is CreateLedger by the allocator itself. Its proof
 * makes the writer read the log to its end, so the state contains every acknowledged event before
 * the first client's command is decided.
 */
async function serveTerm(options: LeadershipOptions, term: Term): Promise<void> {
  const { replica, leadership, newId, eventVersion, onLeadershipChange, onAppend, log, signal } = options;
  const writing = AbortSignal.any([signal, term.signal]);
  const writer = new Writer({ replica, newId, term: term.revision, eventVersion, log, ...(onAppend && { onAppend }) });
  const working = writer.run(writing);
  try {
    const ledger = newId();
    const request = { actor: 'allocator', signal: writing, answer: () => undefined };
    const created = writer.submit({ ...request, command: (now) => ({ type: 'CreateLedger', now, ledger }) });
    const hasBegun = await Promise.race([created.then(() => true), working.then(() => false)]);
    if (!hasBegun) return;
    leadership.writer = writer;
    onLeadershipChange(true);
    log.info(
      { ledger: replica.head.ledger, seq: replica.head.seq, term: String(term.revision) },
      'this replica is the writer now',
    );
    void checkHeadWhenIdle(writer, writing);
    await working;
  } catch (error) {
    // NOT_WRITER reports that the writer ended. `working` has the reason.
    if (IpledgerError.from(error).code === 'NOT_WRITER') await working;
    // After any error but an outage the state may be inconsistent: only a new process can rebuild
    // it.
    if (IpledgerError.from(error).kind !== 'transient') throw error;
    log.warn({ err: error }, 'the term ended before its first command was committed');
  }
}

/**
 * Each reply is proven by a read of the head, which detects a rewound ledger. A backup of etcd may
 * contain the lease of this writer: without requests, it would renew that lease and not detect the
 * restore.
 */
async function checkHeadWhenIdle(writer: Writer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { attemptedBatches } = writer;
    await pause(idleCheckMs, signal);
    // The writer itself logs the error and ends.
    if (writer.attemptedBatches === attemptedBatches)
      await writer.submit({ actor: 'allocator', signal, answer: () => undefined }).catch(() => undefined);
  }
}
