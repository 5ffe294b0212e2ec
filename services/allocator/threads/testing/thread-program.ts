/** Test support: a thread program whose tasks misbehave, for worker-threads.int.spec.ts. */
import { isMainThread } from 'node:worker_threads';
import { getPriority } from 'node:os';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { Task } from '../task.ts';
import { runTaskOfThread } from '../worker-threads.ts';

/** Sends the numbers up to the requested one. Stores in shared memory how many it has sent. */
export const counts: Task<{ readonly to: number; readonly sent: Int32Array }, number> = {
  name: 'counts',
  async run(_tools, { to, sent }, send) {
    for (let number = 1; number <= to; number++) {
      Atomics.store(sent, 0, number);
      Atomics.notify(sent, 0);
      await send(number);
    }
  },
};

/**
 * Never returns to its event loop. Counts in the first place of the shared memory while it runs.
 */
export const loops: Task<Int32Array, never> = {
  name: 'loops',
  run(_tools, turns) {
    for (;;) Atomics.add(turns, 0, 1);
  },
};

export const fillsMemory: Task<undefined, never> = {
  name: 'fills-memory',
  run() {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => index + 0.5));
  },
};

export const fails: Task<undefined, never> = {
  name: 'fails',
  run: () => Promise.reject(new IpledgerError('POSITION_GONE', 'event 7 is sealed')),
};

export const priority: Task<undefined, number> = {
  name: 'priority',
  run: (_tools, _request, send) => send(getPriority()),
};

if (!isMainThread) await runTaskOfThread([counts, loops, fillsMemory, fails, priority]);
