/**
 * Runs targets in a thread. The input that is tried is in shared memory, where the main thread
 * finds it if the thread hangs or runs out of memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { FailedInput, runTarget } from './run-target.ts';
import { fuzzTargets } from './targets.ts';

/** What the main thread starts a thread with. */
export interface FuzzWork {
  readonly target: string;
  readonly seed: number;
  /** The run ends after this time, or after this number of inputs. */
  readonly ms: number;
  readonly inputs: number;
  /** Two numbers: the inputs so far, and the bytes of the current one. */
  readonly progress: Int32Array;
  readonly current: Uint8Array;
}

export type FuzzMessage =
  | { readonly kind: 'done'; readonly inputs: number; readonly outcomes: number }
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string; readonly input: Uint8Array }
  | { readonly kind: 'slow'; readonly cpuMs: number; readonly input: Uint8Array };

/** The CPU time that one input may take on any machine. Almost all take microseconds. */
const maxCpuMs = 2_000;

const { target: name, seed, ms, inputs: maxInputs, progress, current } = workerData as FuzzWork;
const target = fuzzTargets.find((each) => each.name === name);
if (!target) throw new Error(`no target ${name}`);
const send = (message: FuzzMessage): void => parentPort?.postMessage(message, []);

const until = performance.now() + ms;
let before = process.threadCpuUsage();
try {
  const { inputs, outcomes } = await runTarget(target, {
    seed,
    isDone: (count) => count >= maxInputs || performance.now() >= until,
    onInput: (input) => {
      current.set(input.subarray(0, current.length));
      progress[1] = input.length;
      before = process.threadCpuUsage();
    },
    onTried: () => {
      const { user, system } = process.threadCpuUsage(before);
      if (user + system > maxCpuMs * 1_000)
        send({ kind: 'slow', cpuMs: (user + system) / 1_000, input: current.slice(0, progress[1]) });
      Atomics.add(progress, 0, 1);
    },
  });
  send({ kind: 'done', inputs, outcomes: outcomes.size });
} catch (error) {
  if (!(error instanceof FailedInput)) throw error;
  const { cause, input, message } = error;
  send({ kind: 'failed', message, input, stack: cause instanceof Error ? (cause.stack ?? '') : String(cause) });
}
