/**
 * `make fuzz`: mutated inputs for each place where bytes enter a program. It prints the inputs of
 * each target, adds an input that fails to the corpus, and exits with 1 then.
 *
 *   TIME=60       seconds for all targets together
 *   INPUTS=n      this many inputs for all targets together, in place of a time
 *   TARGET=text   only targets whose name has this text
 *   SEED=n        repeats the inputs of a run, with the same INPUTS or a longer TIME
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { addToCorpus } from './corpus.ts';
import { fuzzTargets } from './targets.ts';
import type { FuzzMessage, FuzzWork } from './worker.ts';

const { TIME = '60', INPUTS = '', TARGET = '', SEED = '' } = process.env;
const targets = fuzzTargets.filter(({ name }) => name.includes(TARGET));
const seed = SEED === '' ? Math.floor(Math.random() * 2 ** 32) : Number(SEED);
const inputsPerTarget = INPUTS === '' ? Infinity : Math.ceil(Number(INPUTS) / targets.length);
const msPerTarget = INPUTS === '' ? (Number(TIME) * 1_000) / targets.length : Infinity;
/** The time for one input after which a thread counts as hanging. */
const hangMs = 60_000;
const pollMs = 1_000;
const maxOldGenerationSizeMb = 1_024;

const failed = new Set<string>();
let total = 0;
const startedAt = performance.now();
console.log(`${targets.length} targets, SEED=${seed}`);
for (let remaining = targets; remaining.length > 0;) remaining = remaining.slice(await runThread(remaining));
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
console.log(`${total} inputs in ${seconds} s, ${failed.size} of ${targets.length} targets failed`);
process.exitCode = failed.size === 0 && targets.length > 0 ? 0 : 1;

function report(message: FuzzMessage): void {
  const { target } = message;
  if (message.kind === 'failed') return fail(target, message.message, message.input);
  const { inputs, outcomes, ms } = message;
  total += inputs;
  const rate = Math.round((inputs / ms) * 1_000);
  console.log(
    `${target.padEnd(32)} ${String(inputs).padStart(9)} inputs ${String(rate).padStart(7)}/s ${outcomes} outcomes`,
  );
}

function fail(target: string, why: string, input: Uint8Array): void {
  failed.add(target);
  addToCorpus({ name: target }, input);
  console.log(`${target.padEnd(32)} FAILED: ${why}\n  the corpus has the input: make fuzz TARGET=${target} INPUTS=1`);
}

/** Runs targets in a thread. Resolves to the number of ended targets: fewer after a hang. */
async function runThread(waiting: readonly { readonly name: string; readonly maxBytes: number }[]): Promise<number> {
  const progress = new Int32Array(new SharedArrayBuffer(12));
  const current = new Uint8Array(new SharedArrayBuffer(Math.max(...waiting.map(({ maxBytes }) => maxBytes))));
  const names = waiting.map(({ name }) => name);
  const workerData: FuzzWork = { targets: names, seed, msPerTarget, inputsPerTarget, progress, current };
  const worker = new Worker(join(import.meta.dirname, 'worker.ts'), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb },
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  const endAtCurrent = (why: string): void => {
    const index = progress[2] ?? 0;
    fail(names[index] ?? '', why, current.slice(0, progress[1]));
    resolve(index + 1);
  };
  const watchdog = watchProgress(progress, () => endAtCurrent(`one input took more than ${hangMs} ms: it hangs`));
  worker.on('message', report);
  worker.on('error', (error) => endAtCurrent(`the thread ended: ${String(error)}`));
  worker.on('exit', () => resolve(names.length));
  try {
    return await promise;
  } finally {
    clearInterval(watchdog);
    await worker.terminate();
  }
}

/** Calls `onHang` when no input ended for `hangMs`. */
function watchProgress(progress: Int32Array, onHang: () => void): NodeJS.Timeout {
  let [last, since] = [-1, performance.now()];
  return setInterval(() => {
    const count = Atomics.load(progress, 0);
    if (count !== last) [last, since] = [count, performance.now()];
    else if (performance.now() - since > hangMs) onHang();
  }, pollMs);
}
