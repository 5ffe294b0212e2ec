/**
 * Compares the sandboxes and NICs of running nodes with allocations, bindings and Pods. Each
 * difference is one sentence.
 */
import { isIPv4 } from 'node:net';
import type { Allocation } from '../../proto/generated/ipledger.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { KubeObject } from '../harness/kubernetes/kubernetes-client.ts';
import { type SystemSnapshot, readSystemSnapshot } from '../e2e/support/system-snapshot.ts';
import type { Namespace } from '../harness/network/network-namespaces.ts';
import type { Node } from '../harness/node/node.ts';
import { listLinks, listUnusedNamespaces, type Sandbox, listSandboxes } from './sandboxes.ts';
import type { NodeEnvironment } from './node-environment.ts';

/** The time until nodes and ledger agree. A kubelet cleans up missed changes once per minute. */
const timeoutMs = 180_000;

/** The links of a node itself. Any other link is left over. */
const ownLinks = ['lo', 'eth0', 'eth1'];
const podInterface = 'eth0';

/**
 * Waits until all nodes match the ledger.
 * @throws Error with each difference after the timeout
 */
export async function expectNodesMatchLedger({ a, b, stack }: NodeEnvironment): Promise<void> {
  await eventually(async () => {
    const nodes = [a, b].filter(({ kubelet }) => kubelet.isAlive);
    const snapshot = await readSystemSnapshot(stack, AbortSignal.timeout(60_000));
    const found = (await Promise.all(nodes.map((node) => differences(node, snapshot)))).flat();
    if (found.length > 0) throw new Error(`the nodes do not match the ledger:\n  - ${found.join('\n  - ')}`);
  }, timeoutMs);
}

async function differences(node: Node, snapshot: SystemSnapshot): Promise<string[]> {
  const sandboxes = listSandboxes(node);
  const links = await Promise.all(sandboxes.map((sandbox) => listLinks(sandbox.network)));
  return [
    ...sandboxes.flatMap((sandbox, index) => nicOf(sandbox, links[index]?.get(podInterface), snapshot)),
    ...podsWithout(node, sandboxes, snapshot),
    ...bindings(node, sandboxes, snapshot),
    ...(await leftovers(node, sandboxes)),
  ];
}

const describeSandbox = ({ node, containerId, pod }: Sandbox): string =>
  `sandbox ${containerId.slice(0, 12)} of Pod ${pod} on ${node.name}`;

/** Checks that each sandbox belongs to a Pod with an allocation, which its NIC has exactly. */
function nicOf(sandbox: Sandbox, addresses: readonly string[] | undefined, { allocations }: SystemSnapshot): string[] {
  const held = allocations.find((each) => each.podUid === sandbox.uid && each.attachment?.ordinal === 0);
  if (!held) return [`${describeSandbox(sandbox)} exists, but its Pod (uid ${sandbox.uid}) has no allocation`];
  const expected = addressesOf(held).join(', ');
  const has = (addresses ?? []).join(', ');
  return has === expected
    ? []
    : [`${describeSandbox(sandbox)} has "${has}" at ${podInterface}, but its Pod has ${expected}`];
}

function addressesOf({ addresses }: Allocation): string[] {
  return addresses.map(({ address, cidr }) => `${address}/${cidr.split('/')[1] ?? (isIPv4(address) ? '32' : '128')}`);
}

/** Checks that each running Pod of a node has one sandbox and shows its own address. */
function podsWithout(node: Node, sandboxes: readonly Sandbox[], { allocations, pods }: SystemSnapshot): string[] {
  const here = pods.filter(({ spec, status }) => spec?.['nodeName'] === node.name && status?.['phase'] === 'Running');
  return here.flatMap((pod) => {
    const own = sandboxes.filter(({ uid }) => uid === pod.metadata.uid);
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    if (own.length !== 1) return [`Pod ${name} runs on ${node.name} with ${own.length} sandboxes`];
    const held = allocations.find(({ podUid }) => podUid === pod.metadata.uid)?.addresses.map(({ address }) => address);
    const shown = shownAddresses(pod);
    return held?.join() === shown.join() ? [] : [`Pod ${name} shows ${shown.join()}, but has ${held?.join()}`];
  });
}

function shownAddresses({ status }: KubeObject): string[] {
  return ((status?.['podIPs'] ?? []) as { ip: string }[]).map(({ ip }) => ip);
}

/**
 * Checks that the ledger has bindings for exactly the sandboxes of the node. Bindings of released
 * addresses count.
 */
function bindings(node: Node, sandboxes: readonly Sandbox[], { claims }: SystemSnapshot): string[] {
  const bound = new Set(
    [...claims.values()].flatMap((claim) =>
      claim.bindings.flatMap(({ node: where, containerId }) => (where === node.name ? [containerId] : [])),
    ),
  );
  const known = new Set(sandboxes.map(({ containerId }) => containerId));
  return [
    ...sandboxes.flatMap((each) =>
      bound.has(each.containerId) ? [] : [`${describeSandbox(each)} exists without a binding`],
    ),
    ...[...bound]
      .filter((id) => !known.has(id))
      .map((id) => `container ${id.slice(0, 12)} is bound on ${node.name}, but does not exist`),
  ];
}

/**
 * Checks that no link is left over on the node, nor in a network namespace without a sandbox. An
 * empty namespace stays if containerd is killed before its first ADD.
 */
async function leftovers(node: Node, sandboxes: readonly Sandbox[]): Promise<string[]> {
  const linksOf = async (network: Namespace): Promise<string[]> => [...(await listLinks(network)).keys()];
  const links = (await linksOf(node.machine.network)).filter((link) => !ownLinks.includes(link));
  const unused = await Promise.all(
    listUnusedNamespaces(node, sandboxes).map(async (network) => ({
      name: network.name,
      links: (await linksOf(network)).filter((link) => link !== 'lo'),
    })),
  );
  return [
    ...links.map((link) => `link ${link} was left on ${node.name}`),
    ...unused
      .filter(({ links: own }) => own.length > 0)
      .map(({ name, links: own }) => `network namespace ${name} of no sandbox on ${node.name} has ${own.join(', ')}`),
  ];
}
