/** Runs commands and queries of handlers: checks rate, role of this replica, and freshness. */
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';
import type { Consistency } from '../../../proto/generated/ipledger.ts';
import type { Command } from '../../../ledger/domain/commands/command.ts';
import type { Event } from '../../../ledger/domain/events/event.ts';
import type { Head } from '../../../ledger/log/chain/chain.ts';
import type { State } from '../../../ledger/domain/state/state.ts';
import type { StateRead } from '../../../ledger/log/reader/follower.ts';
import type { ProvenAnswer } from '../../../ledger/log/pending-request.ts';
import { type AllocatorContext, notWriter } from './allocator-context.ts';
import type { CallKind } from './rate-limiter.ts';
import { isReader } from './reader-limits.ts';

/** How fresh an answer must be, as some requests specify. */
export interface Freshness {
  /** The event that the answer must include. */
  readonly minSeq: number;
  readonly consistency: Consistency;
}
const linearizable: Freshness = { minSeq: 0, consistency: 'CONSISTENCY_LINEARIZABLE' };

/** The longest wait until this replica has applied the required event. */
const maxWaitMs = 5_000;
/** The pause while the replica changes its role, and answers no query for some milliseconds. */
const retryIntervalMs = 20;

/**
 * Decides a command. Resolves with its answer when the events are committed.
 * @throws IpledgerError the refusal, or why the command could not be decided; RATE_LIMITED;
 * LEDGER_NOT_WRITABLE while etcd is nearly full; NOT_WRITER if another replica is the writer and
 * the command was not executed.
 */
export function submitCommand<Answer>(
  allocator: AllocatorContext,
  context: CallContext,
  build: (now: number, head: Head) => Command,
  answer: (state: State, events: readonly Event[], now: number) => Answer,
): Promise<ProvenAnswer<Answer>> {
  const { actor, span } = context;
  const signal = context.caller ?? context.signal;
  const writer = allocator.writer();
  if (!writer) return Promise.reject(notWriter(allocator));
  let written = 0;
  const counted: typeof answer = (state, events, now) => {
    written = events.length;
    return answer(state, events, now);
  };
  const expiresAt = deadlineOf(context);
  const send = () => writer.submit({ command: build, answer: counted, actor, signal, expiresAt, span });
  const submit = () => allocator.space?.wait(expiresAt)?.then(send) ?? send();
  return withinRate(allocator, context, { kind: 'command', costOf: () => written }, submit);
}

/** The deadline of a call on the clock of performance.now(); undefined for none. */
function deadlineOf(context: CallContext): number | undefined {
  const remainingMs = context.remainingMs?.();
  return remainingMs === undefined ? undefined : performance.now() + remainingMs;
}

interface Charge<Answer> {
  readonly kind: CallKind;
  readonly costOf?: (answer: ProvenAnswer<Answer>) => number;
}

/** @throws IpledgerError RATE_LIMITED */
function withinRate<Answer>(
  { rateLimiter }: AllocatorContext,
  context: CallContext,
  { kind, costOf }: Charge<Answer>,
  run: () => Promise<ProvenAnswer<Answer>>,
): Promise<ProvenAnswer<Answer>> {
  return rateLimiter ? rateLimiter.admit(context, kind, run, costOf) : run();
}

/**
 * Reads the state, linearizably unless `freshness` permits less.
 *
 * The writer's state is ahead of what is committed. So a query to the writer goes through its
 * queue, and its answer is proven with its batch: by the transaction of that batch, or by a read of
 * the head. A standby answers queries itself.
 * @throws IpledgerError what `read` throws, or why it could not read; UNAVAILABLE if this replica
 * does not reach the required freshness within 5 s.
 */
export async function runQuery<Answer>(
  allocator: AllocatorContext,
  context: CallContext,
  read: StateRead<Answer>,
  freshness: Freshness = linearizable,
): Promise<ProvenAnswer<Answer>> {
  return withinRate(allocator, context, { kind: 'query' }, () => answerQuery(allocator, context, read, freshness));
}

/**
 * Reads a page of a list, and charges the caller for the claims that were read.
 * @throws IpledgerError as runQuery
 */
export async function runList<Page extends { readonly read: number }>(
  allocator: AllocatorContext,
  context: CallContext,
  read: StateRead<Page>,
  freshness: Freshness,
): Promise<ProvenAnswer<Page>> {
  // A read by a viewer or user waits for the position before its turn: it delays none of its lists.
  if (isReader(context.actor)) await untilApplied(allocator, context, freshness.minSeq);
  const charge = { kind: 'list', costOf: ({ answer }: ProvenAnswer<Page>) => answer.read } as const;
  return withinRate(allocator, context, charge, () => answerQuery(allocator, context, read, freshness));
}

/** Waits until this replica has applied an event. */
async function untilApplied(
  { replica, positionWaits }: AllocatorContext,
  { actor, signal }: CallContext,
  seq: number,
): Promise<void> {
  if (replica.head.seq < seq) await positionWaits.until(seq, actor, timeoutSignal(maxWaitMs, signal));
}

async function answerQuery<Answer>(
  allocator: AllocatorContext,
  context: CallContext,
  read: StateRead<Answer>,
  { minSeq, consistency }: Freshness,
): Promise<ProvenAnswer<Answer>> {
  const { actor, signal } = context;
  const until = performance.now() + maxWaitMs;
  await untilApplied(allocator, context, minSeq);
  for (;;) {
    const writer = allocator.writer();
    const follower = allocator.follower();
    const isOver = signal.aborted || performance.now() >= until;
    try {
      if (writer) return await writer.submit({ answer: (state, _events, at) => read(state, at), actor, signal });
      if (follower)
        return consistency === 'CONSISTENCY_LOCAL'
          ? follower.readLocal(read)
          : await follower.readLinearizable(read, { until, signal });
    } catch (error) {
      if (IpledgerError.from(error).code !== 'NOT_WRITER' || isOver) throw error;
    }
    if (isOver)
      throw new IpledgerError('UNAVAILABLE', 'this replica is changing its role or stopping: call another replica');
    await pause(retryIntervalMs, signal);
  }
}
