/**
 * Heavy work whose cost grows with the ledger. A task runs in its own thread, so that no call waits
 * for it. It gets one request and sends replies; both can be copied between threads.
 */
import { type EventEmitter, once } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { Archived } from '../../../ledger/archive/open-archive.ts';
import type { Ledger } from '../../../ledger/log/store/ledger.ts';

/** The tools of a task. */
export interface TaskTools {
  readonly ledger: Ledger;
  /** The archive and the ledger that uses it (`ledger`); undefined without an archive. */
  readonly archived: Archived | undefined;
}

/** Sends a reply. Resolves when the receiver has taken enough of the earlier replies. */
export type SendReply<Reply> = (reply: Reply) => Promise<void>;

export interface Task<Request, Reply> {
  readonly name: string;
  run(tools: TaskTools, request: Request, send: SendReply<Reply>, signal: AbortSignal): Promise<void>;
}

export interface TaskRunner {
  /**
   * Yields the replies of a task. The task ends when the signal is aborted or the iteration ends.
   * @throws what the task throws; IpledgerError UNAVAILABLE if its thread ended, for example for
   * lack of memory
   */
  run<Request, Reply>(task: Task<Request, Reply>, request: Request, signal: AbortSignal): AsyncIterable<Reply>;
}

/** The replies that may be sent ahead, so that neither side waits for the other. */
const repliesAhead = 2;

type Sent =
  | { readonly reply: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }
  | { readonly end: true };

/**
 * Runs a task, and sends its replies through a port. Each message from the receiver requests one
 * more reply.
 */
export async function sendReplies<Request>(
  port: MessagePort,
  task: Task<Request, unknown>,
  { tools, request, signal }: { readonly tools: TaskTools; readonly request: Request; readonly signal: AbortSignal },
): Promise<void> {
  const flow = { credit: repliesAhead };
  port.on('message', () => void flow.credit++);
  const post = (sent: Sent): void => port.postMessage(sent);
  const send = async (reply: unknown): Promise<void> => {
    post({ reply });
    for (flow.credit--; flow.credit <= 0;) await once(port, 'message', { signal });
  };
  try {
    await task.run(tools, request, send, signal);
    post({ end: true });
  } catch (error) {
    const { code, message } = IpledgerError.from(error);
    post({ error: { code, message } });
  }
}

/**
 * Yields the replies from a port.
 * @throws IpledgerError of the task; what `failed` rejects with; AbortError
 */
export async function* receiveReplies<Reply>(
  port: MessagePort | Worker,
  failed: Promise<never>,
  signal: AbortSignal,
): AsyncGenerator<Reply> {
  const arrived: Sent[] = [];
  const emitter = port as EventEmitter;
  emitter.on('message', (sent: Sent) => void arrived.push(sent));
  for (;;) {
    const sent = arrived.shift();
    if (!sent) await Promise.race([once(emitter, 'message', { signal }), failed]);
    else if ('error' in sent) throw new IpledgerError(sent.error.code, sent.error.message);
    else if ('end' in sent) return;
    else {
      port.postMessage('next');
      yield sent.reply as Reply;
    }
  }
}
