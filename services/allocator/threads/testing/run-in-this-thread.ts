/** Test support: runs tasks in this thread, for specs whose ledger is in its memory. */
import { MessageChannel } from 'node:worker_threads';
import { receiveReplies, sendReplies, type Task, type TaskRunner, type TaskTools } from '../task.ts';

export const runInThisThread = (tools: TaskTools): TaskRunner => ({
  async *run<Request, Reply>(task: Task<Request, Reply>, request: Request, signal: AbortSignal) {
    const { port1, port2 } = new MessageChannel();
    const ended = new AbortController();
    const { promise: never } = Promise.withResolvers<never>();
    const sent = sendReplies(port2, task as Task<Request, unknown>, { tools, request, signal: ended.signal });
    try {
      yield* receiveReplies<Reply>(port1, never, signal);
    } finally {
      ended.abort();
      await sent;
      port1.close();
    }
  },
});
