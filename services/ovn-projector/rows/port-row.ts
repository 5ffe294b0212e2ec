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
  return {
    table: 'Logical_Switch_Port',
    name: logicalPortName(allocation),
    parent: subnet,
    hasDhcp: true,
    columns: {
      type: '',
      addresses: new Set([lanAddress]),
      port_security: new Set(isSecured ? [lanAddress] : []),
      options: chassisOptions(allocation),
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

/**
 * The nodes of the containers in the order of their bindings; without a container the Node of the Pod. A virtual machine that migrates has
 * two. OVN delivers to the first, the source, and opens the port on the other when the machine announces itself there by RARP: without
 * that, both would get its packets.
 */
function chassisOptions({ bindings, node }: PortAllocation): ReadonlyMap<string, string> {
  const nodes = new Set(bindings.size === 0 ? [node] : bindings.values());
  const chassis = [...nodes].filter((each) => each !== '').join(',');
  if (chassis === '') return new Map();
  const strategy = [['activation-strategy', 'rarp']] as const;
  return new Map([['requested-chassis', chassis], ...(nodes.size > 1 ? strategy : [])]);
}
