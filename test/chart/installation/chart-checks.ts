/**
 * The checks of the chart's steps: addresses, traffic between Pods, the ledger, and a load of Pods.
 */
import { expect } from 'chai';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { canPing, listLinks, listSandboxes, type Sandbox } from '../../node/sandboxes.ts';
import type { ChartEnvironment } from './chart-environment.ts';
import { addressesOf, nic } from './ledger-pods.ts';
import { type PodLoad, startPodLoad } from './pod-load.ts';

const limitMs = 180_000;

/** Finds the sandbox of a Pod. @throws Error if the worker has none */
export function findSandbox(worker: Worker, pod: string): Sandbox {
  const found = listSandboxes(worker).find((sandbox) => sandbox.pod === `default/${pod}`);
  if (!found) throw new Error(`Pod ${pod} has no sandbox on ${worker.name}`);
  return found;
}

/** Waits until a Pod runs. Returns the addresses that the ledger has for it, joined by a comma. */
export const waitForAddress = ({ kubernetes }: ChartEnvironment, pod: string): Promise<string> =>
  eventually(async () => {
    const object = await kubernetes.get('Pod', pod);
    expect(object.status?.['phase'], pod).to.equal('Running');
    const address = addressesOf(object);
    if (address === undefined) throw new Error(`Pod ${pod} has no address`);
    return address;
  }, limitMs);

/**
 * Checks that the Pods reach each other on the network of the ledger. For IPv6 the agent writes
 * sysctls in the sandbox.
 */
export async function expectToPing(pods: readonly { readonly worker: Worker; readonly pod: string }[]): Promise<void> {
  const sandboxes = pods.map(({ worker, pod }) => findSandbox(worker, pod));
  const links = await Promise.all(sandboxes.map(({ network }) => listLinks(network)));
  for (const [index, sandbox] of sandboxes.entries())
    for (const [other, link] of links.entries()) {
      if (other === index) continue;
      const addresses = link.get(nic) ?? [];
      expect(addresses, `addresses of ${pods[other]?.pod}`).to.not.have.length(0);
      for (const address of addresses)
        // IPv6 first detects duplicates
        await eventually(async () => {
          const isReached = await canPing(sandbox, address.replace(/\/.*/, ''));
          expect(isReached, `${sandbox.pod} pings ${address}`).to.equal(true);
        });
    }
}

/**
 * Checks that ledger, Kubernetes and the log agree. A command is repeated if it finds an allocator
 * in its restart.
 */
export async function expectClean({ ipledger }: ChartEnvironment): Promise<void> {
  for (const command of [['check', '--keys'], ['verify']])
    await eventually(async () => {
      const { code, stdout, stderr } = await ipledger(command);
      expect(code, `ipledger ${command.join(' ')}: ${stdout}${stderr}`).to.equal(0);
    }, limitMs);
}

/** Creates and deletes Pods on these nodes while `work` runs. */
export async function underLoad(
  { kubernetes }: ChartEnvironment,
  nodes: readonly Worker[],
  work: (load: PodLoad) => Promise<void>,
): Promise<void> {
  const load = startPodLoad({ kubernetes, nodes: nodes.map(({ name }) => name), slots: 4 });
  try {
    await load.waitFor(4);
    await work(load);
    await load.waitFor(4);
  } catch (error) {
    await load.stop().catch(() => undefined);
    throw error;
  }
  await load.stop();
  const seconds = (load.slowestMs / 1_000).toFixed(1);
  console.log(`      ${load.readyPods} Pods of the load became ready, each within ${seconds} s`);
}
