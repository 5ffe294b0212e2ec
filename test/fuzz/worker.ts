/**
 * Runs targets in a thread, one after the other. Shared memory has the current input, where the
 * main thread finds it if the thread hangs or runs out of memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { FailedInput, runTarget } from './run-target.ts';
import { fuzzTargets } from './targets.ts';

/** The work of a thread. */
export interface FuzzWork {
  readonly targets: readonly string[];
  readonly seed: number;
  /** The limits of a target: its time, or its number of inputs. */
  readonly msPerTarget: number;
  readonly inputsPerTarget: number;
  /** Three numbers: all inputs so far, the bytes of the current input, and the current target. */
  readonly progress: Int32Array;
  readonly current: Uint8Array;
}

export type FuzzMessage = { readonly target: string } & (
  | { readonly kind: 'done'; readonly inputs: number; readonly outcomes: number; readonly ms: number }
  | { readonly kind: 'failed'; readonly message: string; readonly input: Uint8Array }
);

/** The CPU time that one input may take on any machine. Almost all take microseconds. */
const maxCpuMs = 2_000;

const { targets, seed, msPerTarget, inputsPerTarget, progress, current } = workerData as FuzzWork;
const send = (message: FuzzMessage): void => parentPort?.postMessage(message, []);

for (const [index, target] of targets.entries()) {
  progress[2] = index;
  await fuzz(target);
}

async function fuzz(target: string): Promise<void> {
  const found = fuzzTargets.find(({ name }) => name === target);
  if (!found) throw new Error(`no target ${target}`);
  const from = performance.now();
  let before = process.threadCpuUsage();
  try {
    const { inputs, outcomes } = await runTarget(found, {
      seed,
      isDone: (count) => count >= inputsPerTarget || performance.now() >= from + msPerTarget,
      onInput: (input) => {
        current.set(input.subarray(0, current.length));
        progress[1] = input.length;
        before = process.threadCpuUsage();
      },
      onTried: (input) => {
        const { user, system } = process.threadCpuUsage(before);
        const cpuMs = Math.round((user + system) / 1_000);
        if (cpuMs > maxCpuMs)
          send({ target, kind: 'failed', message: `one input took ${cpuMs} ms of CPU time`, input });
        Atomics.add(progress, 0, 1);
      },
    });
    send({ target, kind: 'done', inputs, outcomes: outcomes.size, ms: performance.now() - from });
  } catch (error) {
    if (!(error instanceof FailedInput)) throw error;
    const { cause, input, message } = error;
    const stack = cause instanceof Error ? cause.stack : undefined;
    send({ target, kind: 'failed', message: [message, stack].filter(Boolean).join('\n'), input });
  }
}
