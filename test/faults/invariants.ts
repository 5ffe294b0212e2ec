/**
 * Checks the invariants after a fault by three programs that share no code: `expectConsistency`
 * compares etcd, the ledger and the Kubernetes API; `ipledger check` is the operator's tool;
 * `checkLog` reads the log from its first event.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expectConsistency } from '../e2e/support/consistency.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import type { ChurnedPod } from './pod-churn.ts';
import { testSize } from './test-size.ts';
import type { FaultEnvironment } from './fault-environment.ts';
import { checkLog, type LogReport, type AllocationPeriod } from './log-checker.ts';

/** The interval between two reads of the log, which may be long. */
const logPollMs = 500;

/** Runs `ipledger check`. Returns its output and exit status. */
export function runCheckCommand({ stack }: FaultEnvironment, ...args: string[]) {
  const { allocator, cluster, tls } = stack;
  return runIpledger(['check', ...args], { allocator, kubeconfig: cluster.kubeconfig, ...(tls && { tls }) });
}

/**
 * Waits until all three checks pass.
 * @param lives all Pods of the test
 * @returns the report on the log
 * @throws Error with each violation
 */
export async function expectInvariants(
  environment: FaultEnvironment,
  lives: readonly ChurnedPod[],
): Promise<LogReport> {
  const report = await eventually(async () => {
    const current = await checkLog(environment.stack.etcd);
    const found = [...current.violations, ...findUnfinished(current, lives)];
    if (found.length === 0) return current;
    await sleep(logPollMs);
    throw new Error(`the log differs from what happened:\n  - ${found.join('\n  - ')}`);
  }, testSize.patienceMs);
  await expectConsistency(environment.stack, testSize.patienceMs);
  await eventually(async () => {
    const { code, stdout, stderr } = await runCheckCommand(environment);
    if (code !== 0) throw new Error(`ipledger check exits with ${code}:\n${stdout}${stderr}`);
  }, testSize.patienceMs);
  const broken = lives.flatMap((life) => findWrongAddresses(life, report));
  if (broken.length > 0)
    throw new Error(`Pods got addresses that the log does not have:\n  - ${broken.join('\n  - ')}`);
  return report;
}

/** Finds allocations that the log lacks for a running Pod, or still has for a deleted Pod. */
function findUnfinished({ allocationPeriods, openBindings }: LogReport, lives: readonly ChurnedPod[]): string[] {
  const byUid = Map.groupBy(allocationPeriods, ({ uid }) => uid);
  const sandboxes = lives.flatMap((life) => life.sandboxes).map(({ containerId }) => `${containerId}/net1`);
  const found = lives.flatMap(({ name, uid, networks, fate }) => {
    const held = (byUid.get(uid) ?? []).filter(({ end }) => end === undefined);
    const expected = fate === 'lives' ? networks.length : 0;
    return held.length === expected
      ? []
      : [`Pod ${name} (uid ${uid}, ${fate}) holds ${formatPeriods(held)}, expected ${expected} networks`];
  });
  for (const container of openBindings)
    if (!sandboxes.includes(container)) found.push(`${container} is gone, and bound still`);
  for (const container of sandboxes)
    if (!openBindings.includes(container)) found.push(`${container} runs without a binding`);
  return found;
}

/**
 * Finds addresses that a Pod got from an annotation or a plugin and that the log does not have, and
 * the reverse.
 */
function findWrongAddresses(
  { name, uid, networks, reportedAddresses }: ChurnedPod,
  { allocationPeriods }: LogReport,
): string[] {
  const own = allocationPeriods.filter((period) => period.uid === uid);
  const found =
    own.length > networks.length ? [`Pod ${name} (uid ${uid}) has the allocations ${formatPeriods(own)}`] : [];
  for (const [network, addresses] of reportedAddresses) {
    const given = own.filter(({ subnet }) => subnet === network).map((period) => period.addresses.join(','));
    if ([...addresses].join(' then ') !== given.join(' then '))
      found.push(
        `Pod ${name} (uid ${uid}) got ${[...addresses].join(' then ')} of ${network}, the log has ${given.join(' then ')}`,
      );
  }
  return found;
}

const formatPeriods = (periods: readonly AllocationPeriod[]): string =>
  periods.map(({ seq, addresses }) => `${addresses.join(',')} (event ${seq})`).join(' and ') || 'nothing';
