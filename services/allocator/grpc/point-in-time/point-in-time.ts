/**
 * Past states of the ledger, each computed by folding the log in a thread. A fold needs the memory
 * of a second state and much CPU, so only two run at the same time, for different callers. Further
 * requests are rejected instead of queued, so that the replica can serve all other calls.
 */
import { pause } from '../../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import {
  initialStateAtHead,
  fold,
  type FoldOptions,
  type StateAtHead,
  type FoldEnd,
} from '../../../../ledger/log/reader/fold.ts';
import type { Replica } from '../../../../ledger/log/reader/replica.ts';
import type { Task, TaskRunner, TaskTools } from '../../threads/task.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { anonymous } from '../../../../lib/grpc/server/authorization.ts';
import { readInstant } from '../../../../lib/grpc/server/read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';

const maxConcurrent = 2;
const silenceMs = 5_000;
/** The tolerance for a caller's clock that is ahead of ledger time. */
const maxAheadMs = 60_000;

export class PointInTimeReader {
  readonly #replica: Replica;
  readonly #threads: TaskRunner;
  /** The callers of the running queries. */
  readonly #running: string[] = [];

  constructor({ replica, threads }: Pick<AllocatorContext, 'replica' | 'threads'>) {
    this.#replica = replica;
    this.#threads = threads;
  }

  /**
   * Runs a fold or a verification, and yields its replies. Yields undefined after each 5 s of
   * silence, because clients treat a longer silence as a broken stream.
   * @throws IpledgerError OVERLOADED if two are running, or one of this caller; errors of the task
   */
  async *run<Request, Reply>(
    task: Task<Request, Reply>,
    request: Request,
    { actor, signal }: Pick<CallContext, 'actor' | 'signal'>,
  ): AsyncGenerator<Reply | undefined> {
    if (this.#running.includes(actor) && actor !== anonymous)
      throw new IpledgerError(
        'OVERLOADED',
        `this replica already runs a query of a past state or a verification for ${actor}, and that is the limit of a caller: try again later, or call another replica`,
      );
    if (this.#running.length >= maxConcurrent)
      throw new IpledgerError(
        'OVERLOADED',
        `this replica already runs ${maxConcurrent} queries of past states or verifications, and that is the limit: try again later, or call another replica`,
      );
    this.#running.push(actor);
    const replies = this.#threads.run(task, request, signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = replies.next();
        yield* silencesUntilSettled(next);
        const reply = await next;
        if (reply.done === true) return;
        yield reply.value;
      }
    } finally {
      this.#running.splice(this.#running.indexOf(actor), 1);
      await replies.return?.();
    }
  }

  /**
   * Reads a PointInTime message.
   * @throws IpledgerError INVALID_REQUEST if it is invalid or in the future.
   */
  readPointInTime(name: string, point: api.PointInTime | undefined): FoldEnd {
    const at = readInstant(`${name}.at`, point?.at ?? '');
    const seq = point?.seq ?? 0;
    if (at !== undefined && seq > 0) throw new IpledgerError('INVALID_REQUEST', `${name}: set seq or at, not both`);
    if (seq > 0) return { seq };
    if (at === undefined) return 'end';
    const now = this.#replica.clock.read();
    if (at > Math.max(now.at, now.clock) + maxAheadMs)
      throw new IpledgerError('INVALID_REQUEST', `${name}: ${new Date(at).toISOString()} is in the future`);
    return { at };
  }
}

/** Converts the replies of `PointInTimeReader.run` to Buffers. Silence becomes an empty reply. */
export async function* encodedReplies(replies: AsyncIterable<Uint8Array | undefined>): AsyncGenerator<Buffer> {
  for await (const bytes of replies)
    yield bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0);
}

/**
 * Folds the log up to a point in time, starting at the nearest state in the archive.
 * @throws IpledgerError as fold.
 */
export async function foldTo({ ledger, archived }: TaskTools, to: FoldEnd, options: FoldOptions): Promise<StateAtHead> {
  const start = archived ? await archived.ledger.lastEndState(to, options.signal) : initialStateAtHead();
  return fold(ledger, start, to, options);
}

async function* silencesUntilSettled(work: Promise<unknown>): AsyncGenerator<undefined> {
  const settled = new AbortController();
  const end = (): void => settled.abort();
  work.then(end, end);
  for (;;) {
    await pause(silenceMs, settled.signal);
    if (settled.signal.aborted) return;
    yield undefined;
  }
}
