/** The logical switch port of an allocation. Pure. */
import { logicalPortName } from '../../../lib/ovn/names.ts';
import { type DesiredPort, ownerIds } from './desired-row.ts';
import type { PortAllocation } from './row-sources.ts';

export interface PortContext {
  /** Id of the ledger. */
  readonly ledger: string;
  /** Whether OVN drops packets with other source addresses than those of the port. */
  readonly isSecured: boolean;
}

/**
 * The port: OVN delivers to it, and answers ARP and neighbour solicitations for, its MAC and addresses. `requested-chassis` lists the
 * nodes of its containers: a port of the same `iface-id` on another node has no effect (ovn-nb(5)).
 */
export function portRow(allocation: PortAllocation, { ledger, isSecured }: PortContext): DesiredPort {
  const { namespace, pod, provider, subnet, addresses, mac } = allocation;
  const lanAddress = [mac, ...addresses].join(' ');
  const chassis = chassisOf(allocation);
  return {
    table: 'Logical_Switch_Port',
    name: logicalPortName(allocation),
    parent: subnet,
    columns: {
      type: '',
      addresses: new Set([lanAddress]),
      port_security: new Set(isSecured ? [lanAddress] : []),
      options: new Map(chassis === '' ? [] : [['requested-chassis', chassis]]),
      tag: undefined,
    },
    externalIds: new Map([
      ...ownerIds(ledger),
      ['pod', pod],
      ['namespace', namespace],
      ['provider', provider === '' ? 'ovn' : provider],
      ['ls', subnet],
    ]),
  };
}

/** The nodes of the containers, of which a virtual machine that migrates has two; without a container the Node of the Pod. */
function chassisOf({ bindings, node }: PortAllocation): string {
  const nodes = new Set(bindings.values());
  return nodes.size === 0 ? node : [...nodes].sort().join(',');
}
