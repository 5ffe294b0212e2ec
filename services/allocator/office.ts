/** A replica's life: stand by, following the log with a warm state, until elected; write until the term ends; stand by again. */
import { pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Term } from './ledger/election.ts';
import { Follower } from './ledger/follower.ts';
import type { Replica } from './ledger/replica.ts';
import type { EventVersion } from './ledger/upcast.ts';
import { type Append, Writer } from './ledger/writer.ts';

/** After so long without a request, a writer looks at the ledger by itself. */
const lookMs = 5_000;

/** Who answers here: one of them, or for a moment, between standing by and writing, neither. */
export interface Office {
  /** While we are the writer. */
  writer: Writer | undefined;
  /** While we stand by. */
  follower: Follower | undefined;
}

export interface KeepUpOptions {
  readonly replica: Replica;
  readonly office: Office;
  readonly newId: () => string;
  /** Resolves once we are the writer. */
  readonly elect: (signal: AbortSignal) => Promise<Term>;
  /** The newest schema version that all live replicas can read. */
  readonly eventVersion: () => EventVersion;
  readonly onWriter: (writing: boolean) => void;
  /** Told of each append that was tried. */
  readonly onAppend?: (append: Append) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Goes on until the signal is aborted. @throws IpledgerError LEDGER_DAMAGED: a human must look. */
export async function keepUp(options: KeepUpOptions): Promise<void> {
  while (!options.signal.aborted) {
    const term = await standBy(options);
    if (!term) return;
    try {
      await serveTerm(options, term);
    } finally {
      options.office.writer = undefined;
      options.onWriter(false);
      await term.resign().catch(() => undefined);
    }
  }
}

/** Follows the log until elected; undefined when the signal was aborted first. */
async function standBy({ replica, office, elect, log, signal }: KeepUpOptions): Promise<Term | undefined> {
  const elected = new AbortController();
  const unfit = new AbortController();
  const follower = new Follower(replica, log);
  const following = follower.run(AbortSignal.any([signal, elected.signal]));
  office.follower = follower;
  try {
    return await Promise.race([elect(AbortSignal.any([signal, unfit.signal])), following.then(() => undefined)]);
  } catch (error) {
    unfit.abort(); // who can't follow must not be elected either
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    elected.abort();
    // The state belongs to one of them at a time.
    await following.finally(() => (office.follower = undefined));
  }
}

/**
 * The first command of the term is our own: its proof has the writer read whatever the log has beyond the state, so that
 * everything acknowledged before is in it when the first caller's command is decided.
 */
async function serveTerm(options: KeepUpOptions, term: Term): Promise<void> {
  const { replica, office, newId, eventVersion, onWriter, onAppend, log, signal } = options;
  const writing = AbortSignal.any([signal, term.signal]);
  const writer = new Writer({ replica, newId, term: term.revision, eventVersion, log, ...(onAppend && { onAppend }) });
  const working = writer.run(writing);
  try {
    const ledger = newId();
    const asked = { actor: 'allocator', signal: writing, answer: () => undefined };
    const created = writer.submit({ ...asked, command: (now) => ({ type: 'CreateLedger', now, ledger }) });
    const begun = await Promise.race([created.then(() => true), working.then(() => false)]);
    if (!begun) return;
    office.writer = writer;
    onWriter(true);
    log.info({ ledger: replica.head.ledger, seq: replica.head.seq, term: String(term.revision) }, 'writing');
    void lookWhenIdle(writer, writing);
    await working;
  } catch (error) {
    // That the writer ended is told to whoever asked it; why it did, it tells itself.
    if (IpledgerError.from(error).code === 'NOT_WRITER') await working;
    // Of anything but an outage the state may have suffered: only a new process is sure of what it knows.
    if (IpledgerError.from(error).kind !== 'transient') throw error;
    log.warn({ err: error }, 'the term ended before it began');
  }
}

/**
 * Each answer is proven by a look at the head, and so it is noticed when the ledger was rewound. But a backup of etcd may hold the
 * writer's own lease: a writer that is asked nothing would go on renewing that, and notice nothing.
 */
async function lookWhenIdle(writer: Writer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { turns } = writer;
    await pause(lookMs, signal);
    // What is wrong, the writer tells itself.
    if (writer.turns === turns)
      await writer.submit({ actor: 'allocator', signal, answer: () => undefined }).catch(() => undefined);
  }
}
