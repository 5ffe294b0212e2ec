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
/** A thread that tries one input for so long hangs. */
const hangMs = 60_000;
const pollMs = 1_000;
const maxOldGenerationSizeMb = 1_024;

const failed: string[] = [];
let total = 0;
const startedAt = performance.now();
console.log(`${targets.length} targets, SEED=${seed}`);
for (const { name, maxBytes } of targets) {
  const from = performance.now();
  const { inputs, outcomes, failure } = await fuzz(name, maxBytes);
  total += inputs;
  const rate = Math.round((inputs / (performance.now() - from)) * 1_000);
  console.log(`${name.padEnd(32)} ${String(inputs).padStart(9)} inputs ${String(rate).padStart(7)}/s ${outcomes}`);
  if (failure !== undefined) {
    failed.push(name);
    console.log(`  ${failure}\n  it is in the corpus now: make fuzz TARGET=${name} INPUTS=1 replays it`);
  }
}
const seconds = (performance.now() - startedAt) / 1_000;
console.log(`${total} inputs in ${seconds.toFixed(0)} s, ${failed.length} of ${targets.length} targets failed`);
process.exitCode = failed.length === 0 && targets.length > 0 ? 0 : 1;

interface FuzzResult {
  readonly inputs: number;
  readonly outcomes: string;
  readonly failure?: string;
}

async function fuzz(target: string, maxBytes: number): Promise<FuzzResult> {
  const progress = new Int32Array(new SharedArrayBuffer(8));
  const current = new Uint8Array(new SharedArrayBuffer(maxBytes + 1));
  const limit = INPUTS === '' ? Infinity : Math.ceil(Number(INPUTS) / targets.length);
  const ms = INPUTS === '' ? (Number(TIME) * 1_000) / targets.length : Infinity;
  const workerData: FuzzWork = { target, seed, ms, inputs: limit, progress, current };
  const worker = new Worker(join(import.meta.dirname, 'worker.ts'), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb },
  });
  const { promise, resolve } = Promise.withResolvers<FuzzResult>();
  const fail = (why: string, input: Uint8Array = current.slice(0, progress[1])): void => {
    addToCorpus({ name: target }, input);
    resolve({ inputs: progress[0] ?? 0, outcomes: 'FAILED', failure: why });
  };
  worker.on('message', (message: FuzzMessage) => {
    if (message.kind === 'done') resolve({ inputs: message.inputs, outcomes: `${message.outcomes} outcomes` });
    else if (message.kind === 'failed') fail(`${message.message}\n  ${message.stack}`, message.input);
    else fail(`one input took ${Math.round(message.cpuMs)} ms of CPU time`, message.input);
  });
  worker.on('error', (error) => fail(`the thread ended: ${String(error)}`));
  const watchdog = watchProgress(progress, () => fail(`one input took more than ${hangMs} ms: it hangs`));
  const result = await promise;
  clearInterval(watchdog);
  await worker.terminate();
  return result;
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
