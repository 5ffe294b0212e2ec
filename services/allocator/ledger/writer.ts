/**
 * The whole life of a command, in order:
 *   1 queue (bounded)
 *   2 savepoint, decide, evolve into the batch
 *   3 cut the batch where the transaction is full
 *   4 append it; or, when it holds no event, one linearizable look at the head
 *   5 answer all, each with the position at which its answer is true
 * One transaction is in flight at a time; what queues meanwhile goes into the next. Every answer, repeats and refusals
 * included, waits for step 4. When the head has moved, or an append's outcome is unknown, the batch is undone, the log's tail
 * is read and everything is decided anew against what is true by then: an append is never sent again, and since every
 * command is idempotent, one whose lost append did happen finds its work done.
 */
import { backoffMs, pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Command } from '../domain/command.ts';
import { decide } from '../domain/decide.ts';
import type { AllocationRefused, Event } from '../domain/event.ts';
import { Refused } from '../domain/refusal.ts';
import type { State } from '../domain/state.ts';
import { BatchBuilder } from './batch.ts';
import type { Head } from './chain.ts';
import type { Appended, Revision } from './ledger.ts';
import type { Replica } from './replica.ts';

const mostQueued = 20_000;
/** Not more than a transaction could hold, so that what is decided is seldom undone for want of room. */
const mostInBatch = 128;
const mostRefusals = 10_000;
const firstRetryMs = 50;
const mostRetryMs = 1_000;

/** An answer, and the place in the ledger at which it is true. */
export interface Proven<Answer> {
  readonly answer: Answer;
  readonly head: Head;
}

/** What is asked of the writer: a command built for a moment, or (command: undefined) a question. */
export interface Ask<Answer> {
  /** The command at the ledger's time (milliseconds since 1970); absent for a question. */
  readonly command?: (now: number) => Command;
  /** The answer, from the state with the command's events in it. May throw Refused. */
  readonly answer: (state: State, events: readonly Event[], now: number) => Answer;
  /** The authenticated identity. */
  readonly actor: string;
  /** The caller is gone or its time is up: not decided any more. */
  readonly signal: AbortSignal;
}

export interface WriterOptions {
  readonly replica: Replica;
  /** ULIDs. */
  readonly newId: () => string;
  /** Create revision of the writer key that makes us the writer; undefined where there is no election. */
  readonly term: Revision | undefined;
  readonly log: Logger;
}

interface Queued {
  readonly ask: Ask<unknown>;
  readonly resolve: (proven: Proven<unknown>) => void;
  readonly reject: (error: IpledgerError) => void;
}

/** Decided and waiting for its proof. */
interface Decided {
  readonly queued: Queued;
  readonly settle: () => void;
}

export class Writer {
  readonly #options: WriterOptions;
  #queue: Queued[] = [];
  #wake: () => void = () => undefined;
  #ended: IpledgerError | undefined;
  readonly #refusals = new Set<string>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Queues a command or a question.
   * @throws IpledgerError the refusal; OVERLOADED, NOT_WRITER, CANCELLED, UNAVAILABLE, BUG.
   */
  submit<Answer>(ask: Ask<Answer>): Promise<Proven<Answer>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      if (this.#queue.length >= mostQueued)
        return reject(new IpledgerError('OVERLOADED', `${mostQueued} requests are waiting already: try again later`));
      this.#queue.push({ ask, resolve: resolve as Queued['resolve'], reject });
      this.#wake();
    });
  }

  /**
   * Works until the signal is aborted or somebody else is the writer; then everything that waits is answered NOT_WRITER.
   * @throws IpledgerError LEDGER_DAMAGED when the log cannot be followed any more.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (let failures = 0; !signal.aborted;) {
        if (this.#queue.length === 0) await this.#rung(signal);
        if (signal.aborted) break;
        const outcome = await this.#turn(signal);
        if (outcome === 'deposed') break;
        failures = outcome === 'retry' ? failures + 1 : 0;
        if (failures > 0) await pause(backoffMs(failures - 1, firstRetryMs, mostRetryMs), signal);
      }
    } finally {
      this.#ended = new IpledgerError('NOT_WRITER', 'this allocator is not the writer (any more): ask again');
      for (const { reject } of this.#queue.splice(0)) reject(this.#ended);
    }
  }

  /** One batch, from the queue to its answers. */
  async #turn(signal: AbortSignal): Promise<'done' | 'retry' | 'deposed'> {
    const builder = new BatchBuilder(this.#options.replica);
    const decided = this.#decideQueued(builder);
    if (decided.length === 0) return 'done';
    const appended = await this.#prove(builder, signal);
    if (appended.kind === 'appended') {
      this.#options.replica.commit(builder.events, builder.head, appended.revision);
      for (const { settle } of decided) settle();
      return 'done';
    }
    builder.rollBack();
    if (appended.kind === 'rejected') {
      const error = new IpledgerError('BUG', `etcd turned the transaction down: ${appended.reason}`);
      for (const { queued } of decided) queued.reject(error);
      return 'done';
    }
    this.#queue.unshift(...decided.map(({ queued }) => queued));
    return this.#recover(appended, signal);
  }

  /** Takes commands from the queue into the batch, until it is full. */
  #decideQueued(builder: BatchBuilder): Decided[] {
    const decided: Decided[] = [];
    while (decided.length < mostInBatch) {
      const queued = this.#queue.shift();
      if (!queued) break;
      if (queued.ask.signal.aborted) {
        queued.reject(new IpledgerError('CANCELLED', 'the caller is gone, or its time is up'));
        continue;
      }
      const outcome = this.#decideOne(builder, queued);
      if (outcome === 'full') {
        this.#queue.unshift(queued);
        break;
      }
      if (outcome) decided.push({ queued, settle: outcome });
    }
    return decided;
  }

  /** What to do once the batch is proven; undefined when the command failed alone and is answered already. */
  #decideOne(builder: BatchBuilder, { ask, resolve, reject }: Queued): (() => void) | 'full' | undefined {
    const { replica, newId } = this.#options;
    const reading = replica.clock.read();
    try {
      const decision = ask.command
        ? decide(replica.state, ask.command(reading.at))
        : { kind: 'accepted' as const, events: [] };
      const stamp = { command: newId(), newId, reading, actor: ask.actor };
      if (decision.kind === 'refused') {
        const { code, message } = decision.refusal;
        const record = this.#news(decision.record);
        if (!builder.add(record, stamp)) return 'full';
        return () => {
          this.#rememberRefusals(record);
          reject(new IpledgerError(code, message));
        };
      }
      if (!builder.add(decision.events, stamp)) {
        if (builder.events.length > 0) return 'full';
        reject(
          new IpledgerError('INVALID_REQUEST', 'the request does not fit one transaction: ask for fewer attachments'),
        );
        return undefined;
      }
      const answer = ask.answer(replica.state, decision.events, reading.at);
      const { head } = builder;
      return () => resolve({ answer, head });
    } catch (error) {
      if (error instanceof Refused) return () => reject(new IpledgerError(error.refusal.code, error.refusal.message));
      this.#options.log.error({ err: error }, 'a command failed');
      reject(IpledgerError.from(error));
      return undefined;
    }
  }

  /** A refusal goes into the log once for each (Pod uid, reason), as long as we remember. */
  #news(record: AllocationRefused | undefined): readonly AllocationRefused[] {
    return record && !this.#refusals.has(refusalKey(record)) ? [record] : [];
  }

  #rememberRefusals(records: readonly AllocationRefused[]): void {
    for (const record of records) this.#refusals.add(refusalKey(record));
    for (const oldest of this.#refusals) {
      if (this.#refusals.size <= mostRefusals) return;
      this.#refusals.delete(oldest);
    }
  }

  /** A batch without events is true where the head is as known; one with events where its append succeeds. */
  async #prove(builder: BatchBuilder, signal: AbortSignal): Promise<Appended> {
    const { replica, term } = this.#options;
    if (builder.events.length > 0) return replica.ledger.append(builder.build(term));
    try {
      const { seq, hash } = await replica.ledger.head(signal);
      const same = seq === replica.head.seq && hash === replica.head.hash;
      return same ? { kind: 'appended', revision: 0n } : { kind: 'moved' };
    } catch (error) {
      return { kind: 'unknown', reason: IpledgerError.from(error).message };
    }
  }

  /** Learns what is true after an append that did not succeed, or may have. */
  async #recover(appended: Appended, signal: AbortSignal): Promise<'done' | 'retry' | 'deposed'> {
    const { replica, log } = this.#options;
    if (appended.kind === 'deposed') return 'deposed';
    if (appended.kind === 'fenced') {
      for (const { subnet, address } of appended.claims) {
        replica.state.fenced.add(`${subnet}/${address}`);
        log.error({ subnet, address }, 'fenced: the key of this address was changed by something else than ipledger');
      }
      return 'done';
    }
    if (appended.kind === 'unknown')
      log.warn({ reason: appended.reason }, 'the outcome of an append is unknown: reading the log');
    try {
      await replica.catchUp(signal);
      return appended.kind === 'unknown' ? 'retry' : 'done';
    } catch (error) {
      const reason = IpledgerError.from(error);
      if (reason.kind === 'damaged') throw reason;
      log.warn({ reason: reason.message }, 'the log cannot be read');
      this.#dropExpired();
      return 'retry';
    }
  }

  /** While etcd is away nobody waits longer than it wanted to. */
  #dropExpired(): void {
    const [expired, waiting] = [this.#queue.filter(isExpired), this.#queue.filter((queued) => !isExpired(queued))];
    this.#queue = waiting;
    for (const { reject } of expired) reject(new IpledgerError('UNAVAILABLE', 'etcd does not answer'));
  }

  #rung(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#wake = () => undefined;
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

const refusalKey = ({ data: { uid, reason } }: AllocationRefused): string => `${uid}/${reason}`;
const isExpired = ({ ask }: Queued): boolean => ask.signal.aborted;
