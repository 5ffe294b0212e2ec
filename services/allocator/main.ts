/**
 * The allocator: a replica of the ledger that serves the gRPC API, and writes the ledger while it
 * is the leader. The same file is the program of its threads. Program and thread load only the
 * modules that they need.
 */
import { isMainThread } from 'node:worker_threads';
import { runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';

if (isMainThread) {
  const [{ readOptions }, { startAllocator }] = await Promise.all([import('./options.ts'), import('./wiring.ts')]);
  const options = readOptions();
  const log = createLogger('allocator');
  await runProgram(log, (life) => startAllocator({ ...options, program: import.meta.filename }, log, life));
} else {
  const [{ runTaskOfThread }, { tasks }] = await Promise.all([
    import('./threads/worker-threads.ts'),
    import('./tasks.ts'),
  ]);
  await runTaskOfThread(tasks);
}
