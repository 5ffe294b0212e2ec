/**
 * The rows to write to the northbound database. A change of any Subnet computes the rows of all
 * Subnets; ports of allocations are computed one by one.
 */
import { logicalPortName } from '../../../lib/ovn/names.ts';
import { type DesiredContainer, type DesiredOptions, type DesiredPort, rowKey, ownerIds } from './desired-row.ts';
import type { LedgerSubnet, PortAllocation } from './row-sources.ts';
import type { Problem } from './problem.ts';
import { overlayDefaults, subnetRows, type SubnetSettings, type Vlan } from './subnet-rows.ts';

/** The inputs of the rows. The maps may change between calls. */
export interface RowInputs {
  /** Id of the ledger. */
  readonly ledger: string;
  readonly subnets: ReadonlyMap<string, LedgerSubnet>;
  /** The allocations by the name of their port. */
  readonly allocations: ReadonlyMap<string, PortAllocation>;
  readonly settings: ReadonlyMap<string, SubnetSettings>;
  readonly vlans: ReadonlyMap<string, Vlan>;
  readonly providerNetworks: ReadonlyMap<string, unknown>;
  /** Whether the Pod of an allocation requests port security. */
  readonly isSecured: (allocation: PortAllocation) => boolean;
}

export class DesiredRows {
  readonly #inputs: RowInputs;
  #containers: ReadonlyMap<string, DesiredContainer> = new Map();
  /** Ports of routers, and switch ports that are not NICs. */
  #connections: ReadonlyMap<string, DesiredPort> = new Map();
  readonly #ports = new Map<string, DesiredPort>();
  #dhcpOptions: ReadonlyMap<string, DesiredOptions> = new Map();
  #subnetProblems: readonly Problem[] = [];
  readonly #portProblems = new Map<string, Problem>();

  constructor(inputs: RowInputs) {
    this.#inputs = inputs;
    this.recomputeAll();
  }

  /** Switches and routers, by `rowKey`. */
  get containers(): ReadonlyMap<string, DesiredContainer> {
    return this.#containers;
  }

  /** Ports of routers, and switch ports that are not NICs, by `rowKey`. */
  get connections(): ReadonlyMap<string, DesiredPort> {
    return this.#connections;
  }

  /** The DHCP options of Subnets, by name. */
  get dhcpOptions(): ReadonlyMap<string, DesiredOptions> {
    return this.#dhcpOptions;
  }

  /** The ports of NICs, by name. */
  get ports(): ReadonlyMap<string, DesiredPort> {
    return this.#ports;
  }

  recomputeAll(): void {
    this.recomputeSubnets();
    this.#ports.clear();
    this.#portProblems.clear();
    for (const name of this.#inputs.allocations.keys()) this.recomputePort(name);
  }

  /** Computes the rows of all Subnets again, and the ports that depend on their changes. */
  recomputeSubnets(): void {
    const { subnets, allocations } = this.#inputs;
    const before = this.#subnetKeys();
    const containers = new Map<string, DesiredContainer>();
    const connections = new Map<string, DesiredPort>();
    const dhcpOptions = new Map<string, DesiredOptions>();
    const problems: Problem[] = [];
    for (const subnet of [...subnets.values()].sort(byName)) {
      const { settings, ...context } = this.#inputs;
      const rows = subnetRows(subnet, { ...context, settings: settings.get(subnet.name) ?? overlayDefaults });
      problems.push(...rows.problems);
      for (const container of rows.containers) containers.set(rowKey(container), container);
      for (const options of rows.dhcp) dhcpOptions.set(options.name, options);
      const taken = rows.ports.find((port) => connections.has(rowKey(port)));
      if (taken) problems.push(nameInUse(`Subnet ${subnet.name}`, taken.name));
      else for (const port of rows.ports) connections.set(rowKey(port), port);
    }
    this.#containers = containers;
    this.#connections = connections;
    this.#dhcpOptions = dhcpOptions;
    this.#subnetProblems = problems;
    const after = this.#subnetKeys();
    const changed = new Set([...before, ...after].filter((key) => !before.has(key) || !after.has(key)));
    if (changed.size === 0) return;
    for (const [name, { subnet }] of allocations)
      if (changed.has(`Logical_Switch/${subnet}`) || changed.has(`Logical_Switch_Port/${name}`))
        this.recomputePort(name);
  }

  #subnetKeys(): ReadonlySet<string> {
    return new Set([...this.#containers.keys(), ...this.#connections.keys()]);
  }

  /** Computes the port of one allocation again. Deletes it if the allocation has ended. */
  recomputePort(name: string): void {
    const allocation = this.#inputs.allocations.get(name);
    const problem = allocation && this.#portProblem(allocation);
    if (problem) this.#portProblems.set(name, problem);
    else this.#portProblems.delete(name);
    if (!allocation || problem) this.#ports.delete(name);
    else {
      const { ledger, isSecured } = this.#inputs;
      this.#ports.set(name, portRow(allocation, { ledger, isSecured: isSecured(allocation) }));
    }
  }

  /** Reasons why parts of the requested network are missing. */
  get problems(): readonly Problem[] {
    return [...this.#subnetProblems, ...this.#portProblems.values()];
  }

  #portProblem(allocation: PortAllocation): Problem | undefined {
    const { namespace, pod, provider, subnet, mac } = allocation;
    const subject = `the NIC of Pod ${namespace}/${pod} at ${provider}`;
    const name = logicalPortName(allocation);
    if (this.#connections.has(rowKey({ table: 'Logical_Switch_Port', name }))) return nameInUse(subject, name);
    if (!this.#inputs.subnets.has(subnet))
      return {
        kind: 'no-port',
        subject,
        message: `Subnet ${subnet} has no logical switch: its provider is no OVN network. Set the provider of the Subnet`,
      };
    if (mac === '')
      return {
        kind: 'no-port',
        subject,
        message: 'its allocation has no MAC. Delete the Pod, so that it gets a new one',
      };
    return undefined;
  }
}

const byName = (left: LedgerSubnet, right: LedgerSubnet): number => (left.name < right.name ? -1 : 1);

const nameInUse = (subject: string, name: string): Problem => ({
  kind: 'name-in-use',
  subject,
  message: `the port name ${name} is also that of another port of ipledger. Rename one of the two objects`,
});

interface PortContext {
  /** Id of the ledger. */
  readonly ledger: string;
  /** Whether OVN drops packets whose source address is not one of the port's. */
  readonly isSecured: boolean;
}

/**
 * Makes the port of a NIC. OVN delivers packets for its MAC and addresses, and answers ARP and
 * neighbour solicitations for them. `requested-chassis` lists the nodes of its containers: an OVS
 * port with the same `iface-id` on another node has no effect (ovn-nb(5)).
 */
function portRow(allocation: PortAllocation, { ledger, isSecured }: PortContext): DesiredPort {
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
 * Lists the nodes of the containers in the order of their bindings, or the Node of the Pod if there
 * are none. A virtual machine that migrates has two. OVN delivers to the first node, the source,
 * and opens the port on the second when the machine announces itself there by RARP. Without
 * `activation-strategy` both nodes would get its packets.
 */
function chassisOptions({ bindings, node }: PortAllocation): ReadonlyMap<string, string> {
  const nodes = new Set(bindings.size === 0 ? [node] : bindings.values());
  const chassis = [...nodes].filter((each) => each !== '').join(',');
  if (chassis === '') return new Map();
  const strategy = [['activation-strategy', 'rarp']] as const;
  return new Map([['requested-chassis', chassis], ...(nodes.size > 1 ? strategy : [])]);
}
