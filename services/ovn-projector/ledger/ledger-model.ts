/** The OVN Subnets and allocations of the ledger, from a snapshot and later events. Pure. */
import { addTo, removeFrom } from '../../../lib/maps.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { isOvnProvider } from '../../../lib/kubernetes/served-network.ts';
import { UnknownEvent } from '../../../lib/ledger-client/follow-ledger.ts';
import { logicalPortName } from '../../../lib/ovn/names.ts';
import { applyEventTable, type EventTable } from '../../../proto/event-table.ts';
import type { Allocation, AssignedAddress, Attachment, Event, SubnetSpec } from '../../../proto/generated/ipledger.ts';
import type { LedgerSubnet, PortAllocation } from '../rows/row-sources.ts';

export interface ModelSnapshot {
  readonly subnets: readonly { readonly name: string; readonly spec?: SubnetSpec }[];
  readonly allocations: readonly Allocation[];
}

/** The changes that an event made. */
export interface ModelChange {
  /** Whether a Subnet changed. */
  readonly hasSubnets: boolean;
  /** Names of ports that changed. */
  readonly ports: readonly string[];
}

const nothing: ModelChange = { hasSubnets: false, ports: [] };
const portsChanged = (...ports: readonly (string | undefined)[]): ModelChange => ({
  hasSubnets: false,
  ports: ports.filter((port) => port !== undefined),
});

export class LedgerModel {
  readonly subnets = new Map<string, LedgerSubnet>();
  /** The allocations by the name of their port. */
  readonly allocations = new Map<string, PortAllocation>();
  readonly #portBySeq = new Map<number, string>();
  readonly #portsOfPod = new Map<string, Set<string>>();

  /** Replaces the model. */
  load({ subnets, allocations }: ModelSnapshot): void {
    for (const index of [this.subnets, this.allocations, this.#portBySeq, this.#portsOfPod]) index.clear();
    for (const { name, spec } of subnets) if (spec) this.#configureSubnet(name, spec);
    for (const allocation of allocations)
      this.#put(allocationOf(allocation.seq, allocation.subnet, listed(allocation)));
  }

  /** Applies an event. Idempotent: events name their allocation. @throws UnknownEvent */
  apply(event: Event): ModelChange {
    const change = applyEventTable(this.#table, event);
    if (change) return change;
    throw new UnknownEvent(event, 'ovn-projector');
  }

  /** Returns the names of the ports of a Pod, by its namespace and its uid in the ledger. */
  portsOf(namespace: string, uid: string): ReadonlySet<string> {
    return this.#portsOfPod.get(`${namespace}/${uid}`) ?? new Set();
  }

  readonly #table: EventTable<ModelChange> = {
    subnetConfigured: ({ spec }, { subnet }) => {
      if (spec) this.#configureSubnet(subnet, spec);
      return { ...nothing, hasSubnets: true };
    },
    subnetRetired: (_, { subnet }) => ({ ...nothing, hasSubnets: this.subnets.delete(subnet) }),
    addressAllocated: (data, { seq, subnet }) => portsChanged(this.#put(allocationOf(seq, subnet, data))),
    addressTransferred: (data, { seq, subnet }) =>
      portsChanged(this.#drop(data.alloc), this.#put(allocationOf(seq, subnet, data))),
    addressReleased: ({ alloc }) => portsChanged(this.#drop(alloc)),
    addressBound: ({ alloc, ...binding }) =>
      portsChanged(this.#rebind(this.#portBySeq.get(alloc), (all) => all.set(containerOf(binding), binding.node))),
    addressUnbound: ({ attachment, ...binding }) =>
      portsChanged(
        this.#rebind(attachment && logicalPortName(attachment), (all) => void all.delete(containerOf(binding))),
      ),
    poolConfigured: () => nothing,
    poolRetired: () => nothing,
    addressReserved: () => nothing,
    reservationCancelled: () => nothing,
    addressQuarantined: () => nothing,
    quarantineLifted: () => nothing,
    ledgerCreated: () => nothing,
    allocationRefused: () => nothing,
    claimsDropped: () => nothing,
    segmentSealed: () => nothing,
    historyDropped: () => nothing,
    ledgerRestored: () => nothing,
    keyRotated: () => nothing,
  };

  #configureSubnet(name: string, { provider, cidrBlock, gateway }: SubnetSpec): void {
    if (isOvnProvider(provider))
      this.subnets.set(name, { name, cidrs: partsOf(cidrBlock), gateways: partsOf(gateway) });
    else this.subnets.delete(name);
  }

  /** Returns the name of the port; undefined for a NIC of another network. */
  #put(allocation: PortAllocation): string | undefined {
    if (!isOvnProvider(allocation.provider)) return undefined;
    const name = logicalPortName(allocation);
    this.#forget(name);
    this.allocations.set(name, allocation);
    this.#portBySeq.set(allocation.seq, name);
    addTo(this.#portsOfPod, `${allocation.namespace}/${allocation.uid}`, name);
    return name;
  }

  #drop(seq: number): string | undefined {
    const name = this.#portBySeq.get(seq);
    if (name !== undefined) this.#forget(name);
    return name;
  }

  #forget(name: string): void {
    const allocation = this.allocations.get(name);
    if (!allocation) return;
    this.allocations.delete(name);
    this.#portBySeq.delete(allocation.seq);
    removeFrom(this.#portsOfPod, `${allocation.namespace}/${allocation.uid}`, name);
  }

  #rebind(name: string | undefined, change: (bindings: Map<string, string>) => void): string | undefined {
    const allocation = name === undefined ? undefined : this.allocations.get(name);
    if (name === undefined || !allocation) return undefined;
    const bindings = new Map(allocation.bindings);
    change(bindings);
    this.allocations.set(name, { ...allocation, bindings });
    return name;
  }
}

interface AllocationData {
  readonly attachment?: Attachment;
  readonly uid: string;
  readonly node: string;
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  readonly bindings?: PortAllocation['bindings'];
}

function allocationOf(
  seq: number,
  subnet: string,
  { attachment, uid, node, addresses, mac, bindings = new Map() }: AllocationData,
): PortAllocation {
  if (!attachment) throw new IpledgerError('BUG', `allocation ${seq} has no attachment`);
  const { namespace, pod, provider, ordinal } = attachment;
  const texts = addresses.map(({ address }) => address);
  return { seq, namespace, pod, uid, provider, ordinal, subnet, addresses: texts, mac, node, bindings };
}

/** Omits bindings older than the allocation: they belong to the Pod that had the address. */
function listed({ podUid: uid, at, bindings, ...rest }: Allocation): AllocationData {
  const current = bindings.filter((binding) => Date.parse(binding.at) >= Date.parse(at));
  return { ...rest, uid, bindings: new Map(current.map((binding) => [containerOf(binding), binding.node])) };
}

const containerOf = (binding: { readonly containerId: string; readonly interface: string }): string =>
  `${binding.containerId}/${binding.interface}`;

const partsOf = (text: string): string[] => text.split(',').filter((part) => part !== '');
