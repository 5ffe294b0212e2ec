/**
 * A Pod on an OVN network: its allocation, its binding, and both in OVN and in the switch of its
 * node.
 */
import type { Allocation, SandboxBinding } from '../../../proto/generated/ipledger.ts';
import type { NodeInterface, NodeSwitch } from '../node-switch.ts';
import type { LogicalPort, Northbound } from '../northbound.ts';

const attachment = { namespace: 'default', pod: 'web', provider: 'net.default.ovn', ordinal: 0 };
const binding = {
  containerId: 'c0ffeec0ffeec0ffee',
  interface: 'net1',
  node: 'node-1',
  bootId: 'boot-1',
  at: '2026-01-31T08:00:01.000Z',
};

export const allocation: Allocation = {
  seq: 7,
  attachment,
  podUid: 'uid-web',
  node: 'node-1',
  subnet: 'net',
  addresses: [
    { address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' },
    { address: 'fd00::2', cidr: 'fd00::/64', gateway: 'fd00::1' },
  ],
  mac: '02:00:00:00:00:0a',
  interface: 'net1',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '2026-01-31T08:00:00.000Z',
  bindings: [binding],
  network: 'switch/net',
};

export const sandboxBinding: SandboxBinding = {
  attachment,
  subnet: 'net',
  addresses: ['10.0.0.2', 'fd00::2'],
  binding,
  allocationSeq: 7,
};

/** A current Subnet. */
export const subnetOf = (name: string, provider: string) => ({
  name,
  spec: { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1', excludeIps: [], provider, protocol: 'IPv4' },
});

export const portName = 'web.default.net.default.ovn';

/** The port of the Pod, with some fields replaced. */
export const portWith = (fields: Partial<LogicalPort> = {}): LogicalPort => ({
  name: portName,
  switch: 'net',
  isOurs: true,
  type: '',
  addresses: ['02:00:00:00:00:0a 10.0.0.2 fd00::2'],
  requestedChassis: 'node-1',
  isUp: true,
  ...fields,
});

/** OVN with these ports and the switch of the Subnet. */
export const northboundWith = (...ports: LogicalPort[]): Northbound => ({
  switches: [{ name: 'net', isOurs: true }],
  ports,
});

export const nodeInterface: NodeInterface = {
  name: 'c0ffeec0_net1_h',
  port: portName,
  containerId: binding.containerId,
  pod: 'default/web',
};

/** The switch of node-1 with these interfaces. */
export const nodeSwitchWith = (...interfaces: NodeInterface[]): NodeSwitch => ({
  nodeNames: new Set(['node-1', 'host-1']),
  interfaces,
});
