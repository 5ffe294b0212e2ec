/** What is left after all Pods are deleted: nothing may be. */
import { openSnapshotReader } from '../e2e/support/system-snapshot.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { FaultEnvironment } from '../faults/fault-environment.ts';
import { runCheckCommand } from '../faults/invariants.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { listFiles } from './samples.ts';

/** A binding of a short life waits two minutes for the next container of its Pod. */
const patienceMs = 6 * 60_000;
/** The record that the folder of binding files is complete stays as long as its agent. */
const folderRecord = 'complete@';

/**
 * Waits until nothing is left, and `verify` and `check` report nothing.
 * @returns one sentence for each thing that stays
 */
export async function findLeftovers(environment: FaultEnvironment): Promise<string[]> {
  const found: string[] = [];
  for (const look of [listLeftovers, runVerify, runCheck])
    await eventually(async () => {
      const left = await look(environment);
      if (left.length > 0) throw new Error(left.join('\n'));
    }, patienceMs).catch((error: unknown) => found.push(...(error as Error).message.split('\n')));
  return found;
}

async function listLeftovers({ stack, kubernetes, run }: FaultEnvironment): Promise<string[]> {
  const reader = openSnapshotReader(stack, run.signal);
  const { allocations, claims, pods, ips } = await reader.read().finally(() => reader.close());
  const namesOf = (kind: string, objects: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
    objects.map(({ metadata }) => `${kind} ${metadata.name} exists`);
  const files = stack.agents.flatMap(({ name, bindings, pendingDels }) =>
    [bindings, pendingDels]
      .flatMap(listFiles)
      .filter((file) => !file.startsWith(folderRecord))
      .map((file) => `${name} has the file ${file}`),
  );
  // A MAC is held by an allocation, by a binding, and by a quarantine
  const held = [...claims].filter(
    ([, { alloc, bindings, ...others }]) =>
      alloc !== undefined || bindings.length > 0 || 'quarantine' in others || 'reservation' in others,
  );
  return [
    ...allocations.map(({ podUid, subnet }) => `the ledger has an allocation of ${subnet} for the Pod uid ${podUid}`),
    ...held.map(([name, claim]) => `etcd has the claim ${name}: ${JSON.stringify(claim)}`),
    ...namesOf('Pod', pods),
    ...namesOf('IP object', ips),
    ...namesOf('IPAMClaim', await kubernetes.list('IPAMClaim')),
    ...files,
  ];
}

async function runVerify({ stack: { allocator, tls } }: FaultEnvironment): Promise<string[]> {
  const { code, stdout, stderr } = await runIpledger(['verify'], { allocator, ...(tls && { tls }) });
  return code === 0 ? [] : [`ipledger verify exits with ${code}: ${stdout}${stderr}`];
}

async function runCheck(environment: FaultEnvironment): Promise<string[]> {
  const { code, stdout, stderr } = await runCheckCommand(environment);
  return code === 0 ? [] : [`ipledger check exits with ${code}: ${stdout}${stderr}`];
}
