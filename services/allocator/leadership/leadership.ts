/**
 * The leadership of one replica. A standby follows the log until it is elected. It writes until its
 * term ends, and is then a standby again.
 */
import { pause } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Term } from '../../../ledger/log/writer/election.ts';
import { Follower } from '../../../ledger/log/reader/follower.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import type { EventVersion } from '../../../ledger/domain/events/schema-version.ts';
import { type AppendStats, Writer } from '../../../ledger/log/writer/writer.ts';

/** The interval in which a writer without requests reads the head of the log. */
const idleCheckMs = 5_000;

/** The role of this replica. Both fields are undefined for some milliseconds between the roles. */
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
  /** Called when this replica is elected, before its first command. */
  readonly beforeTerm: (signal: AbortSignal) => Promise<void>;
  /** The newest schema version that all live replicas can read. */
  readonly eventVersion: () => EventVersion;
  readonly onLeadershipChange: (isWriter: boolean) => void;
  /** Called after each attempt to append. */
  readonly onAppend?: (append: AppendStats) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Runs until the signal is aborted. @throws LEDGER_DAMAGED, which an operator must repair */
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

/** Follows the log until elected. Returns undefined if the signal is aborted first. */
async function standBy({ replica, leadership, elect, log, signal }: LeadershipOptions): Promise<Term | undefined> {
  const elected = new AbortController();
  const cannotFollow = new AbortController();
  const follower = new Follower(replica, log);
  const following = follower.run(AbortSignal.any([signal, elected.signal]));
  leadership.follower = follower;
  try {
    return await Promise.race([elect(AbortSignal.any([signal, cannotFollow.signal])), following.then(() => undefined)]);
  } catch (error) {
    cannotFollow.abort(); // such a replica must not be elected
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    elected.abort();
    // The follower and the writer share the state, so the follower must end first.
    await following.finally(() => (leadership.follower = undefined));
  }
}

/**
 * Writes commands until the term ends. The first command is CreateLedger by the allocator itself.
 * To prove it, the writer reads the log to its end. So the state contains every acknowledged event
 * before the first command of a client is decided.
 */
async function serveTerm(options: LeadershipOptions, term: Term): Promise<void> {
  const { replica, leadership, newId, eventVersion, onLeadershipChange, onAppend, log, signal } = options;
  const writing = AbortSignal.any([signal, term.signal]);
  if (!(await prepareTerm(options, writing))) return;
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
    // NOT_WRITER only reports that the writer ended. `working` has the reason.
    if (IpledgerError.from(error).code === 'NOT_WRITER') await working;
    // After any error except an outage the state may be inconsistent. Only a new process can
    // rebuild it.
    if (IpledgerError.from(error).kind !== 'transient') throw error;
    log.warn({ err: error }, 'the term ended before its first command was committed');
  }
}

/** Returns whether the term can begin. @throws any error except an outage */
async function prepareTerm({ beforeTerm, log }: LeadershipOptions, writing: AbortSignal): Promise<boolean> {
  try {
    await beforeTerm(writing);
    return true;
  } catch (error) {
    if (writing.aborted) return false;
    if (IpledgerError.from(error).kind !== 'transient') throw error;
    log.warn({ err: error }, 'the term ended before its first command');
    return false;
  }
}

/**
 * Reads the head while there are no requests, in order to detect a rewound ledger. A backup of etcd
 * may contain the lease of this writer: without requests, the writer would renew that lease and not
 * notice the restore.
 */
async function checkHeadWhenIdle(writer: Writer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { attemptedBatches } = writer;
    await pause(idleCheckMs, signal);
    // The writer itself logs the error and stops.
    if (writer.attemptedBatches === attemptedBatches)
      await writer.submit({ actor: 'allocator', signal, answer: () => undefined }).catch(() => undefined);
  }
}
