/**
 * Who has each address, by the documented meaning of the events; shares no code with the ledger's
 * fold. It also checks what no event may do.
 */
import type {
  AddressAllocated,
  AddressTransferred,
  ClaimsDropped,
  Sequenced,
} from '../../../ledger/domain/events/event.ts';
import { networkOf } from '../../../ledger/domain/state/network.ts';
import type { StoredEvent } from '../../../ledger/log/chain/chain.ts';

export interface Container {
  readonly sandbox: string;
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  readonly bootId: string;
  readonly alloc: number;
  readonly at: number;
}

interface Entry {
  holder: Period | undefined;
  containers: readonly Container[];
  reservedFor: string | undefined;
  isQuarantined: boolean;
  releasedAt: number | undefined;
  /** The last period that ended. */
  last: Period | undefined;
}

/**
 * The time in which a NIC of a Pod has its addresses: from event `seq` on, until before event
 * `end`.
 */
export interface Period {
  readonly seq: number;
  readonly subnet: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly nic: string;
  readonly at: number;
  /** "pod/namespace/name/provider", as reservations name it. */
  readonly owner: string;
  readonly network: string;
  /** Whether it is a virtual machine, which is on two nodes while it migrates. */
  readonly isMachine: boolean;
  readonly addresses: readonly string[];
  readonly mac: string;
  end: number;
}

/** All of them, by the event of their begin. */
export type AllocationPeriods = ReadonlyMap<number, Period>;

const placeOf = (...parts: readonly (string | number)[]): string => parts.join(' ');

type Granted = Sequenced<AddressAllocated | AddressTransferred>;

export class AddressBook {
  readonly periods = new Map<number, Period>();
  readonly #entries = new Map<string, Entry>();
  readonly #cooldowns = new Map<string, number>();
  /**
   * Whether a Pod has requested these addresses for a NIC: it may get them in their cooldown. The
   * cause of a list of addresses is that of a pool. Without pools, each such Pod has a list.
   */
  isRequested: (uid: string, nic: string, addresses: readonly string[]) => boolean = () => true;
  readonly #limits = new Map<string, number>();
  readonly #everBound = new Set<string>();
  readonly #fail: (what: string) => void;

  /** @param fail called with what an event must not do */
  constructor(fail: (what: string) => void) {
    this.#fail = fail;
  }

  get(subnet: string, address: string): Readonly<Entry> | undefined {
    return this.#entries.get(`${subnet}/${address}`);
  }

  /** Whether a container was ever bound to an allocation, on this node in this boot. */
  wasBound(alloc: number, sandbox: string, node: string, bootId: string): boolean {
    return this.#everBound.has(placeOf(alloc, sandbox, node, bootId));
  }

  /** The periods that have not ended. */
  get held(): Period[] {
    return [...this.periods.values()].filter(({ end }) => end === Infinity);
  }

  /** "container/interface address", sorted. */
  get bound(): string[] {
    return [...this.#entries]
      .flatMap(([name, { containers }]) => containers.map(({ sandbox }) => `${sandbox} ${name}`))
      .toSorted();
  }

  /** "owner subnet/address", sorted. */
  get reserved(): string[] {
    return [...this.#entries]
      .flatMap(([name, { reservedFor }]) => (reservedFor === undefined ? [] : [`${reservedFor} ${name}`]))
      .toSorted();
  }

  get quarantined(): string[] {
    return [...this.#entries].flatMap(([name, { isQuarantined }]) => (isQuarantined ? [name] : [])).toSorted();
  }

  read({ sequenced: event }: StoredEvent): void {
    const { subnet, seq, at } = event;
    switch (event.type) {
      case 'SubnetConfigured':
        this.#cooldowns.set(subnet, event.data.spec.cooldownMs);
        this.#limits.set(subnet, event.data.spec.maxAddressesPerNamespace ?? Infinity);
        return;
      case 'AddressAllocated':
        this.#grant(event, event.data.supersedes);
        return;
      case 'AddressTransferred':
        this.#end(event.data.alloc, event.data.fromUid, seq, undefined);
        this.#grant(event, event.data.fromUid);
        return;
      case 'AddressReleased':
        this.#end(event.data.alloc, event.data.uid, seq, at);
        return;
      case 'AddressBound': {
        const { alloc, attachment, addresses, containerId, interface: name, node, bootId, uid } = event.data;
        if (this.periods.get(alloc)?.end !== Infinity || this.periods.get(alloc)?.uid !== uid)
          this.#fail(`event ${seq} binds uid ${uid} to allocation ${alloc}, which is not in force`);
        const { namespace, pod } = attachment;
        const added = { sandbox: `${containerId}/${name}`, namespace, pod, node, bootId, alloc, at };
        this.#everBound.add(placeOf(alloc, added.sandbox, node, bootId));
        for (const each of this.#all(subnet, addresses)) this.#bind(each, added);
        return;
      }
      case 'AddressUnbound': {
        const sandbox = `${event.data.containerId}/${event.data.interface}`;
        for (const each of this.#all(subnet, event.data.addresses))
          each.containers = each.containers.filter((container) => container.sandbox !== sandbox);
        return;
      }
      case 'AddressReserved':
        for (const each of this.#all(subnet, event.data.addresses)) each.reservedFor = event.data.reservedFor;
        return;
      case 'ReservationCancelled':
        for (const each of this.#all(subnet, event.data.addresses)) each.reservedFor = undefined;
        return;
      case 'AddressQuarantined':
        for (const each of this.#all(subnet, [event.data.address])) each.isQuarantined = true;
        return;
      case 'QuarantineLifted':
        for (const each of this.#all(subnet, [event.data.address])) each.isQuarantined = false;
        return;
      case 'ClaimsDropped':
        this.#drop(event);
        return;
      default:
    }
  }

  #bind(entry: Entry, added: Container): void {
    // A node that has started again has none of its earlier containers.
    const others = entry.containers.filter(
      ({ sandbox, node, bootId }) => sandbox !== added.sandbox && (node !== added.node || bootId === added.bootId),
    );
    entry.containers = [...others, added];
  }

  /** @param fromUid the earlier Pod of the name, whose containers may still answer */
  #grant(event: Granted, fromUid: string | undefined): void {
    const { seq, at, subnet, type } = event;
    const { attachment, uid, addresses: granted, mac, cause } = event.data;
    const { namespace, pod, provider, ordinal } = attachment;
    const addresses = granted.map(({ address }) => address);
    const period: Period = {
      seq,
      at,
      subnet,
      namespace,
      pod,
      uid,
      nic: `${provider}/${ordinal}`,
      owner: `pod/${namespace}/${pod}/${provider}`,
      network: networkOf(provider, subnet),
      isMachine: event.data.owner?.kind === 'VirtualMachineInstance',
      addresses,
      mac,
      end: Infinity,
    };
    for (const address of addresses) {
      const [entry] = this.#all(subnet, [address]);
      if (!entry) continue;
      if (entry.holder) this.#fail(`event ${seq} gives ${address} to uid ${uid}, and uid ${entry.holder.uid} has it`);
      if (entry.isQuarantined) this.#fail(`event ${seq} gives ${address} to uid ${uid}, and it is quarantined`);
      const idleMs = at - (entry.releasedAt ?? -Infinity);
      // A NIC may keep an address of the earlier Pod that it supersedes, and no other one
      const isOwn = entry.last?.uid === fromUid && entry.last?.owner === period.owner && entry.last.nic === period.nic;
      const isChosen = cause === 'dynamic' || (cause === 'pool' && !this.isRequested(uid, period.nic, addresses));
      const isNew = type === 'AddressAllocated' && !isOwn && isChosen;
      if (isNew && idleMs < (this.#cooldowns.get(subnet) ?? 0))
        this.#fail(`event ${seq} gives ${address} to uid ${uid}, ${idleMs} ms after its release`);
      entry.holder = period;
      entry.containers = fromUid
        ? entry.containers.filter((each) => each.namespace === namespace && each.pod === pod)
        : [];
      entry.releasedAt = undefined;
    }
    this.periods.set(seq, period);
    const limit = this.#limits.get(subnet) ?? Infinity;
    const held = this.held.filter((each) => each.subnet === subnet && each.namespace === namespace);
    const count = held.reduce((sum, each) => sum + each.addresses.length, 0);
    if (type === 'AddressAllocated' && count > limit)
      this.#fail(
        `event ${seq} gives namespace ${namespace} ${count} addresses of ${subnet}, and its limit is ${limit}`,
      );
  }

  #end(alloc: number, uid: string, seq: number, releasedAt: number | undefined): void {
    const period = this.periods.get(alloc);
    if (!period || period.end !== Infinity || period.uid !== uid)
      return this.#fail(`event ${seq} ends allocation ${alloc} of uid ${uid}, which is not in force`);
    period.end = seq;
    for (const entry of this.#all(period.subnet, period.addresses)) {
      entry.holder = undefined;
      entry.last = period;
      entry.releasedAt = releasedAt;
    }
  }

  #drop({ subnet, seq, at, data: { addresses } }: Sequenced<ClaimsDropped>): void {
    const cooldownMs = this.#cooldowns.get(subnet) ?? 0;
    for (const address of addresses) {
      const entry = this.#entries.get(`${subnet}/${address}`);
      if (entry?.holder || entry?.reservedFor !== undefined || entry?.isQuarantined || entry?.containers.length)
        this.#fail(`event ${seq} drops the claim of ${address}, which is in use`);
      if (at - (entry?.releasedAt ?? -Infinity) < cooldownMs)
        this.#fail(`event ${seq} drops the claim of ${address} in its cooldown`);
      this.#entries.delete(`${subnet}/${address}`);
    }
  }

  #all(subnet: string, addresses: readonly string[]): Entry[] {
    return addresses.map((address) => {
      const name = `${subnet}/${address}`;
      const known = this.#entries.get(name);
      if (known) return known;
      const made = {
        holder: undefined,
        containers: [],
        reservedFor: undefined,
        isQuarantined: false,
        releasedAt: undefined,
        last: undefined,
      };
      this.#entries.set(name, made);
      return made;
    });
  }
}
