/**
 * `make soak-nodes`: hours of a small cluster in real time, on two nodes with kubelet and
 * containerd, under faults. It exits with 1 if a program grows, or if something is left after all
 * Pods are deleted.
 *
 *   MINUTES=180   real time
 *   FOLDER=path   of nodes.csv (default: .cache/soak)
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectConsistency } from '../e2e/support/consistency.ts';
import { cacheFolder } from '../harness/paths.ts';
import { formatDuration, printProgress } from '../harness/progress.ts';
import { probeNodeSupport } from '../harness/node/node-support.ts';
import type { Server } from '../harness/processes/server.ts';
import { openRun } from '../harness/run.ts';
import { expectNodesMatchLedger } from '../node/node-consistency.ts';
import { startNodeEnvironment } from '../node/node-environment.ts';
import { listSandboxes } from '../node/sandboxes.ts';
import { judgeSamples, type Sample } from './judgement.ts';
import { NodeLife } from './node-life.ts';
import { formatReport } from './report.ts';
import { readProcess } from './samples.ts';

const turnMs = 60_000;
const sampleMs = 5_000;
/** The turns that the judgement takes for an hour: a series needs six of them. */
const turnsPerPeriod = 10;

const minutes = Number(process.env['MINUTES'] || 180);
const folder = process.env['FOLDER'] || join(cacheFolder, 'soak');
const support = await probeNodeSupport();
if (!support.isAvailable) throw new Error(`this machine cannot run nodes: ${support.reason}`);
mkdirSync(folder, { recursive: true });
const file = join(folder, 'nodes.csv');
writeFileSync(file, 'seconds,period,pods,subject,life,quantity,value\n');

const startedAt = performance.now();
const elapsedMs = (): number => performance.now() - startedAt;
const note = (what: string): void => printProgress(`${formatDuration(elapsedMs())}: ${what}`);
const samples: Sample[] = [];
/** The programs that `startAgain` starts. */
const starting = new Set<Server>();
const run = openRun();
try {
  const environment = await startNodeEnvironment(run);
  const { stack, a, b } = environment;
  const life = new NodeLife(environment);
  await life.start();
  note('the workloads run');
  let turn = 0;
  const sampling = setInterval(() => {
    startAgain(stack.scheduler);
    startAgain(stack.cluster.controllerManager);
    for (const { name, pid, isAlive } of [stack.allocator, stack.watcher, a.agent, b.agent]) {
      const read = isAlive ? readProcess(pid) : undefined;
      for (const [quantity, value] of Object.entries(read ?? {}))
        record({
          hour: Math.floor(turn / turnsPerPeriod),
          pods: life.created,
          subject: name,
          life: pid,
          quantity,
          value,
        });
    }
  }, sampleMs);
  for (; elapsedMs() < minutes * 60_000; turn++) {
    const turnStartedAt = performance.now();
    const fault = await life.liveOneTurn(turn);
    await expectConsistency(stack);
    await expectNodesMatchLedger(environment);
    note(`turn ${turn + 1}: ${life.created} Pods created${fault === undefined ? '' : `; ${fault}`}`);
    await sleep(Math.max(0, turnStartedAt + turnMs - performance.now()));
  }
  clearInterval(sampling);
  await life.end();
  await expectConsistency(stack);
  await expectNodesMatchLedger(environment);
  const leftovers = [a, b].flatMap(listSandboxes).map(({ pod }) => `the sandbox of ${pod} exists`);
  const judgement = judgeSamples(samples);
  console.log(`\n${formatReport(judgement, leftovers)}`);
  const leaks = judgement.verdicts.filter(({ isLeak }) => isLeak).length;
  console.log(
    `${turn} turns: ${life.created} Pods on two nodes in ${formatDuration(elapsedMs())}. ${leaks} leaks. ${file}`,
  );
  if (leaks > 0 || leftovers.length > 0) process.exitCode = 1;
} finally {
  await run.end();
}

/**
 * Starts a program of Kubernetes that ended by itself, as a kubelet does: after a kill of the API
 * server kube-scheduler may find that its cache is wrong, and ends.
 */
function startAgain(program: Server | undefined): void {
  if (!program || program.isAlive || starting.has(program)) return;
  starting.add(program);
  note(`${program.name} ended by itself, and is started again`);
  void program
    .start()
    .catch((error: unknown) => note(String(error)))
    .finally(() => starting.delete(program));
}

function record(sample: Sample): void {
  samples.push(sample);
  const { hour, pods, subject, life, quantity, value } = sample;
  appendFileSync(file, `${[(elapsedMs() / 1_000).toFixed(1), hour, pods, subject, life, quantity, value].join()}\n`);
}
