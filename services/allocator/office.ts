/** A replica's life: stand by, following the log with a warm state, until elected; write until the term ends; stand by again. */
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Term } from './ledger/election.ts';
import type { Replica } from './ledger/replica.ts';
import { Writer } from './ledger/writer.ts';

/** Who is in office here. */
export interface Office {
  /** While we are the writer. */
  writer: Writer | undefined;
}

export interface KeepUpOptions {
  readonly replica: Replica;
  readonly office: Office;
  readonly newId: () => string;
  /** Resolves once we are the writer. */
  readonly elect: (signal: AbortSignal) => Promise<Term>;
  readonly onWriter: (writing: boolean) => void;
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
async function standBy({ replica, elect, log, signal }: KeepUpOptions): Promise<Term | undefined> {
  const elected = new AbortController();
  const unfit = new AbortController();
  const following = followLog(replica, AbortSignal.any([signal, elected.signal]), log);
  try {
    return await Promise.race([elect(AbortSignal.any([signal, unfit.signal])), following.then(() => undefined)]);
  } catch (error) {
    unfit.abort(); // who can't follow must not be elected either
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    elected.abort();
    await following;
  }
}

async function followLog(replica: Replica, signal: AbortSignal, log: Logger): Promise<void> {
  const bell = replica.ledger.bell(signal)[Symbol.asyncIterator]();
  while (!(await bell.next()).done) {
    try {
      await replica.catchUp(signal);
    } catch (error) {
      if (signal.aborted) return;
      const reason = IpledgerError.from(error);
      if (reason.kind === 'damaged') throw reason;
      log.warn({ reason: reason.message }, 'the log cannot be read');
    }
  }
}

/**
 * The first command of the term is our own: its proof has the writer read whatever the log has beyond the state, so that
 * everything acknowledged before is in it when the first caller's command is decided.
 */
async function serveTerm({ replica, office, newId, onWriter, log, signal }: KeepUpOptions, term: Term): Promise<void> {
  const writing = AbortSignal.any([signal, term.signal]);
  const writer = new Writer({ replica, newId, term: term.revision, log });
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
    await working;
  } catch (error) {
    // Of anything but an outage the state may have suffered: only a new process is sure of what it knows.
    if (IpledgerError.from(error).kind !== 'transient') throw error;
    log.warn({ err: error }, 'the term ended before it began');
  }
}
