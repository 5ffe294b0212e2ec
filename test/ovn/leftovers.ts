/** Finds ports, links and rows that belong to no container of the given Pods. */
import type { Node } from '../harness/node/node.ts';
import type { AttachedPod, OvnEnvironment } from './ovn-environment.ts';

/**
 * Describes each leftover of both nodes and of the northbound database. A port of an existing Pod
 * without a container is no leftover.
 */
export async function collectLeftovers(
  { a, b }: Pick<OvnEnvironment, 'a' | 'b'>,
  pods: readonly AttachedPod[],
): Promise<string[]> {
  return (await Promise.all([a, b].map((node) => leftoversOf(node, pods)))).flat();
}

async function leftoversOf(node: Node, pods: readonly AttachedPod[]): Promise<string[]> {
  const known = new Set(pods.filter((pod) => pod.node === node).map(({ containerId }) => containerId));
  const query = ['--bare', '--columns=name', 'find', 'interface', 'external_ids:vendor=ipledger'];
  const [ports = '', links] = await Promise.all([node.ovn?.vsctl(query), node.machine.run(['ls', '/sys/class/net'])]);
  const isKnown = (name: string): boolean => [...known].some((id) => id.startsWith(name.replace(/_.*/, '')));
  const found = ports.split('\n').filter((name) => name !== '' && !isKnown(name));
  const veths = links.stdout.split('\n').filter((name) => name.endsWith('_h') && !isKnown(name));
  return [
    ...found.map((name) => `${node.name}: OVS port ${name}`),
    ...veths.map((name) => `${node.name}: link ${name}`),
  ];
}
