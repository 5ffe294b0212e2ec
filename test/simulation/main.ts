/**
 * `make sim`: runs seeds of the simulation, one after the other, in JOBS processes. A seed that
 * fails is run again with fewer commands and faults, and the rest is printed.
 *
 *   SEEDS=n    the number of seeds; FROM=n the first one
 *   SEED=n     one seed: shortened if it fails
 *   ONLY=ids   with SEED: only these items of its plan, with the complete history
 *   HALF=name  one simulation only
 *   FIRST=1    end with the first failure, without shortening it
 *   SIM_LOG=level  also the lines that programs log
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { tiedCommand } from '../harness/processes/parent-death.ts';
import type { Outcome, Simulation } from './plan.ts';
import { shrink } from './shrink.ts';
import { simulations } from './simulations.ts';

const { SEEDS: seeds = '1000', FROM: from = '1', SEED: seed = '', ONLY: only = '', HALF: half = '' } = process.env;
const endsWithFirst = process.env['FIRST'] === '1';
const { JOBS: jobs = String(availableParallelism()), SIM_PART: part = '' } = process.env;
const chosen = simulations.filter(({ name }) => name.includes(half));
const maxPrintedFailures = 3;

if (chosen.length === 0)
  throw new Error(
    `no simulation has "${half}" in its name: HALF is ${simulations.map(({ name }) => name).join(' or ')}`,
  );
for (const [name, value] of Object.entries({ SEEDS: seeds, FROM: from, SEED: seed || '1', JOBS: jobs }))
  if (!/^[1-9][0-9]*$/.test(value)) throw new Error(`${name} is "${value}": set a positive number`);

interface Totals {
  runs: number;
  failed: number;
  virtualMs: number;
  steps: number;
  events: number;
}

if (seed !== '') process.exitCode = (await runOne(Number(seed))) ? 0 : 1;
else if (part !== '') await runPart(Number(part));
else process.exitCode = (await runAll()) ? 0 : 1;

/** Runs one seed, and prints why it fails. */
async function runOne(number: number): Promise<boolean> {
  let isGood = true;
  for (const simulation of chosen) {
    const ids = only === '' ? undefined : new Set(only.split(','));
    const outcome = ids
      ? await simulation.run(number, { only: ids, keepsHistory: true })
      : ((await shrink(simulation, number))?.outcome ?? (await simulation.run(number)));
    if (ids || outcome.violation !== undefined) console.log(outcome.history.join('\n'));
    console.log(`${simulation.name}, seed ${number}: ${outcome.violation ?? 'all invariants hold'}`);
    console.log(
      `trace ${outcome.traceHash.toString(16)}, ${outcome.steps} steps, ${Math.round(outcome.virtualMs)} ms of virtual time`,
    );
    isGood &&= outcome.violation === undefined;
  }
  return isGood;
}

/** Runs the seeds of one process, and prints its totals for the parent. */
async function runPart(index: number): Promise<void> {
  const totals: Totals = { runs: 0, failed: 0, virtualMs: 0, steps: 0, events: 0 };
  for (let number = Number(from) + index; number < Number(from) + Number(seeds); number += Number(jobs))
    for (const simulation of chosen) {
      const outcome = await simulation.run(number);
      add(totals, outcome);
      if (outcome.violation === undefined) continue;
      totals.failed++;
      if (endsWithFirst) {
        console.log(`${simulation.name}, seed ${number}: ${outcome.violation}`);
        return void process.send?.(totals);
      }
      if (totals.failed <= maxPrintedFailures) await report(simulation, number);
      else console.log(`${simulation.name}, seed ${number}: ${outcome.violation}`);
    }
  process.send?.(totals);
}

function add(totals: Totals, { virtualMs, steps, events }: Outcome): void {
  totals.runs++;
  totals.virtualMs += virtualMs;
  totals.steps += steps;
  totals.events += events;
}

async function report(simulation: Simulation, number: number): Promise<void> {
  const found = await shrink(simulation, number);
  if (!found)
    return console.log(`${simulation.name}, seed ${number} does not repeat: the simulation is not deterministic`);
  const ids = [...found.only].join(',');
  console.log(`${found.outcome.history.join('\n')}\n${simulation.name}, seed ${number}: ${found.outcome.violation}`);
  console.log(`again: make sim SEED=${number} HALF=${simulation.name} ONLY=${ids === '' ? 'nothing' : ids}`);
}

async function runAll(): Promise<boolean> {
  const startedAt = performance.now();
  const parts = await Promise.all(Array.from({ length: Number(jobs) }, (_, index) => runInProcess(index)));
  const sum = (pick: (each: Totals) => number): number => parts.reduce((total, each) => total + pick(each), 0);
  const [runs, failed] = [sum((each) => each.runs), sum((each) => each.failed)];
  const hours = sum((each) => each.virtualMs) / 3_600_000;
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `${runs} runs, ${failed} failed; ${hours.toFixed(1)} hours of virtual time, ${sum((each) => each.steps)} steps, ${sum((each) => each.events)} events, in ${seconds.toFixed(0)} s`,
  );
  return failed === 0 && runs > 0;
}

function runInProcess(index: number): Promise<Totals> {
  return new Promise((resolve, reject) => {
    const [execPath, execArgv] = tiedCommand(process.execPath, ['--max-semi-space-size=64']);
    const child = fork(import.meta.filename, {
      execPath,
      execArgv: [...execArgv],
      env: { ...process.env, SIM_PART: String(index), JOBS: jobs },
    });
    child.on('message', (totals) => resolve(totals as Totals));
    child.on('exit', (code) => reject(new Error(`process ${index} ended with status ${code}`)));
  });
}
