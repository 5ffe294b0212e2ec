/** Connects Pods to logical ports by ovs-vsctl. */
import { expect } from 'chai';
import { createNamespace, inNamespace, ip, type Namespace } from '../network/network-namespaces.ts';
import type { Run } from '../run.ts';
import { type OvnNode, overlayMtu } from './ovn-node.ts';
import { ovnProgram } from './ovn-programs.ts';

export interface PodPort {
  /** The name of the logical port, at most 13 characters. */
  readonly name: string;
  readonly mac: string;
  readonly address: string;
}

/**
 * Creates a Pod's namespace with a link to a logical port, and resolves when OVN has installed the
 * port on the node.
 */
export async function attachPod(run: Run, node: OvnNode, { name, mac, address }: PodPort): Promise<Namespace> {
  const pod = await createNamespace(run, `pod-${name}`);
  const [inner, outer] = ['net1', hostLink(name)];
  const peer = ['type', 'veth', 'peer', 'name', inner, 'address', mac, 'mtu', String(overlayMtu), 'netns', pod.name];
  await ip(node.namespace, ['link', 'add', outer, 'mtu', String(overlayMtu), ...peer]);
  await ip(node.namespace, ['link', 'set', outer, 'up']);
  // A userspace switch does not complete the checksums that the kernel leaves open: ping passes,
  // and TCP does not
  const off = await inNamespace(pod, [ovnProgram('ethtool'), '-K', inner, 'tx', 'off']);
  expect(off.code, off.stderr).to.equal(0);
  await node.vsctl(['add-port', 'br-int', outer, '--', 'set', 'interface', outer, `external_ids:iface-id=${name}`]);
  await node.vsctl(['wait-until', 'interface', outer, 'external_ids:ovn-installed=true']);
  await ip(pod, ['addr', 'add', `${address}/24`, 'dev', inner]);
  await ip(pod, ['link', 'set', inner, 'up']);
  return pod;
}

/** Removes the link of a logical port from the switch of its node. */
export async function detachPod(node: OvnNode, { name }: Pick<PodPort, 'name'>): Promise<void> {
  await node.vsctl(['del-port', 'br-int', hostLink(name)]);
}

const hostLink = (port: string): string => `${port}_h`;
