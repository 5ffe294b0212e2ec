/**
 * Is what the ledger says really so? Sandboxes and NICs of the nodes that are on, against allocations, bindings and Pods.
 * Said in words, one sentence a disagreement.
 */
import { isIPv4 } from 'node:net';
import type { Allocation } from '../../proto/ipledger.ts';
import { eventually } from '../e2e/eventually.ts';
import type { KubeObject } from '../e2e/kubernetes.ts';
import { type Picture, takePicture } from '../e2e/picture.ts';
import type { Node } from '../harness/node/node.ts';
import { linksIn, networksOn, type Sandbox, sandboxesOn } from './sandboxes.ts';
import type { NodeScene } from './scene.ts';

/** A kubelet looks after what it missed once a minute. */
const patienceMs = 180_000;

/** What a node itself has; more is somebody's link that was left behind. */
const ownLinks = ['lo', 'eth0', 'eth1'];
const podInterface = 'eth0';

/**
 * Waits until all is as the ledger says.
 * @throws Error that lists every difference, when some are left after a while
 */
export async function expectReality({ a, b, stack }: NodeScene): Promise<void> {
  await eventually(async () => {
    const nodes = [a, b].filter(({ kubelet }) => kubelet.alive);
    const picture = await takePicture(stack, AbortSignal.timeout(60_000));
    const found = (await Promise.all(nodes.map((node) => differences(node, picture)))).flat();
    if (found.length > 0) throw new Error(`it is not as the ledger says:\n  - ${found.join('\n  - ')}`);
  }, patienceMs);
}

async function differences(node: Node, picture: Picture): Promise<string[]> {
  const sandboxes = sandboxesOn(node);
  const links = await Promise.all(sandboxes.map((sandbox) => linksIn(sandbox.network)));
  return [
    ...sandboxes.flatMap((sandbox, index) => nicOf(sandbox, links[index]?.get(podInterface), picture)),
    ...podsWithout(node, sandboxes, picture),
    ...bindings(node, sandboxes, picture),
    ...(await leftovers(node, sandboxes)),
  ];
}

const said = ({ node, containerId, pod }: Sandbox): string =>
  `sandbox ${containerId.slice(0, 12)} of Pod ${pod} on ${node.name}`;

/** Each sandbox is of a Pod that holds an address, and its NIC has exactly that. */
function nicOf(sandbox: Sandbox, addresses: readonly string[] | undefined, { allocations }: Picture): string[] {
  const held = allocations.find((each) => each.podUid === sandbox.uid && each.attachment?.ordinal === 0);
  if (!held) return [`${said(sandbox)} is there, and its Pod (uid ${sandbox.uid}) holds nothing`];
  const wanted = addressesOf(held).join(', ');
  const has = (addresses ?? []).join(', ');
  return has === wanted ? [] : [`${said(sandbox)} has "${has}" at ${podInterface}, and its Pod holds ${wanted}`];
}

function addressesOf({ addresses }: Allocation): string[] {
  return addresses.map(({ address, cidr }) => `${address}/${cidr.split('/')[1] ?? (isIPv4(address) ? '32' : '128')}`);
}

/** Each Pod that runs here has one sandbox, and shows its own address. */
function podsWithout(node: Node, sandboxes: readonly Sandbox[], { allocations, pods }: Picture): string[] {
  const here = pods.filter(({ spec, status }) => spec?.['nodeName'] === node.name && status?.['phase'] === 'Running');
  return here.flatMap((pod) => {
    const own = sandboxes.filter(({ uid }) => uid === pod.metadata.uid);
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    if (own.length !== 1) return [`Pod ${name} runs on ${node.name} with ${own.length} sandboxes`];
    const held = allocations.find(({ podUid }) => podUid === pod.metadata.uid)?.addresses.map(({ address }) => address);
    const shown = shownAddresses(pod);
    return held?.join() === shown.join() ? [] : [`Pod ${name} shows ${shown.join()}, and holds ${held?.join()}`];
  });
}

function shownAddresses({ status }: KubeObject): string[] {
  return ((status?.['podIPs'] ?? []) as { ip: string }[]).map(({ ip }) => ip);
}

/** The ledger knows of exactly the sandboxes that are here: bindings of addresses that were released count, too. */
function bindings(node: Node, sandboxes: readonly Sandbox[], { claims }: Picture): string[] {
  const bound = new Set(
    [...claims.values()].flatMap((claim) =>
      claim.bindings.flatMap(({ node: where, containerId }) => (where === node.name ? [containerId] : [])),
    ),
  );
  const known = new Set(sandboxes.map(({ containerId }) => containerId));
  return [
    ...sandboxes.flatMap((each) =>
      bound.has(each.containerId) ? [] : [`${said(each)} is there, and bound to nothing`],
    ),
    ...[...bound]
      .filter((id) => !known.has(id))
      .map((id) => `container ${id.slice(0, 12)} is bound on ${node.name}, and is not there`),
  ];
}

/** No link and no network namespace is left from anybody. */
async function leftovers(node: Node, sandboxes: readonly Sandbox[]): Promise<string[]> {
  const links = [...(await linksIn(node.machine.network)).keys()].filter((link) => !ownLinks.includes(link));
  const networks = networksOn(node).length - sandboxes.length;
  return [
    ...links.map((link) => `link ${link} was left on ${node.name}`),
    ...(networks === 0 ? [] : [`${networks} network namespaces of no sandbox were left on ${node.name}`]),
  ];
}
