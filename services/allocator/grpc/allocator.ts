/** What the services work on: this replica, and whoever answers for it now. */
import { pause, within } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Consistency } from '../../../proto/ipledger.ts';
import type { Event } from '../domain/event.ts';
import type { Command } from '../domain/command.ts';
import type { State } from '../domain/state.ts';
import type { SignerKey } from '../checkpoint/key.ts';
import type { Proven } from '../ledger/ask.ts';
import type { Brake } from '../ledger/ledger.ts';
import type { Follower, Read } from '../ledger/follower.ts';
import type { Replica } from '../ledger/replica.ts';
import type { Writer } from '../ledger/writer.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { RateLimiter, Work } from './rate-limit.ts';

export interface Allocator {
  readonly replica: Replica;
  /** undefined while another replica is the writer, or nobody is yet. */
  readonly writer: () => Writer | undefined;
  /** While this replica stands by. Between standing by and writing there is neither, for a moment. */
  readonly follower: () => Follower | undefined;
  /** Where the writer is, when that is another replica and known. */
  readonly writerAddress: () => string | undefined;
  readonly brake: Brake;
  /** What checkpoints are signed with, where this replica has a key. */
  readonly signer: () => SignerKey | undefined;
  /** What each caller may send. Absent: as much as it likes. */
  readonly rates?: RateLimiter;
}

/** How fresh an answer must be, as some requests may say. */
export interface Freshness {
  /** The answer holds this event. */
  readonly minSeq: number;
  readonly consistency: Consistency;
}

const now: Freshness = { minSeq: 0, consistency: 'CONSISTENCY_LINEARIZABLE' };

/** How long a read waits until this replica knows the ledger far enough. */
const mostWaitMs = 5_000;
/** Between standing by and writing nobody answers here, for some milliseconds. */
const lookAgainMs = 20;

/**
 * Has a command decided, and gives the answer once it is proven.
 * @throws IpledgerError the refusal, or why it could not be decided; RATE_LIMITED; NOT_WRITER when nothing came of it because another replica
 *   is the writer.
 */
export async function command<Answer>(
  allocator: Allocator,
  context: CallContext,
  build: (now: number) => Command,
  answer: (state: State, events: readonly Event[], now: number) => Answer,
): Promise<Proven<Answer>> {
  const { actor, signal } = context;
  const writer = writerOf(allocator);
  return admitted(allocator, context, 'command', () => writer.submit({ command: build, answer, actor, signal }));
}

/** @throws IpledgerError RATE_LIMITED */
function admitted<Answer>(
  { rates }: Allocator,
  context: CallContext,
  work: Work,
  todo: () => Promise<Answer>,
): Promise<Answer> {
  return rates ? rates.admit(context, work, todo) : todo();
}

/** @throws IpledgerError NOT_WRITER, which says where the writer is. */
export function writerOf({ writer, writerAddress }: Allocator): Writer {
  const here = writer();
  if (here) return here;
  const elsewhere = writerAddress();
  throw new IpledgerError(
    'NOT_WRITER',
    elsewhere === undefined
      ? 'no allocator is the writer at this moment: try again'
      : `this allocator stands by; the writer is at ${elsewhere}`,
  );
}

/**
 * Reads, as of one instant between request and reply unless less will do.
 *
 * The writer's state is ahead of what is committed, so every question to it goes through its queue, also one that would do with
 * less: the answer is proven with the batch that it is in, by the batch's own transaction or by one look at the head for all of
 * them. A standby answers by itself.
 * @throws IpledgerError what `read` refuses, or why it could not be read; UNAVAILABLE when this replica has not come far enough
 *   within 5 s.
 */
export async function question<Answer>(
  allocator: Allocator,
  context: CallContext,
  read: Read<Answer>,
  freshness: Freshness = now,
): Promise<Proven<Answer>> {
  return admitted(allocator, context, 'question', () => answered(allocator, context, read, freshness));
}

async function answered<Answer>(
  allocator: Allocator,
  { actor, signal }: CallContext,
  read: Read<Answer>,
  { minSeq, consistency }: Freshness,
): Promise<Proven<Answer>> {
  const until = performance.now() + mostWaitMs;
  if (allocator.replica.head.seq < minSeq) await reached(allocator.replica, minSeq, within(mostWaitMs, signal));
  for (;;) {
    const writer = allocator.writer();
    const follower = allocator.follower();
    const isOver = signal.aborted || performance.now() >= until;
    try {
      if (writer) return await writer.submit({ answer: (state, _events, at) => read(state, at), actor, signal });
      if (follower)
        return consistency === 'CONSISTENCY_LOCAL' ? follower.tell(read) : await follower.ask(read, { until, signal });
    } catch (error) {
      if (IpledgerError.from(error).code !== 'NOT_WRITER' || isOver) throw error;
    }
    if (isOver)
      throw new IpledgerError('UNAVAILABLE', 'this replica is about to become the writer, or to stop: ask another');
    await pause(lookAgainMs, signal);
  }
}

/** Waits until this replica knows an event. @throws IpledgerError UNAVAILABLE when the signal came first. */
export async function reached(replica: Replica, seq: number, signal: AbortSignal): Promise<void> {
  await replica.reached(seq, signal);
  if (replica.head.seq >= seq) return;
  throw new IpledgerError(
    'UNAVAILABLE',
    `this replica knows the ledger up to event ${replica.head.seq}, and event ${seq}, which was asked for, did not come in time: ask another`,
  );
}
