/** The present allocations, by Pod and by the name of their IP object. */
import {
  attachmentOf,
  type AttachmentName,
  compareInNameOrder,
  distinctIpObjectName,
  fullIpObjectName,
  fullNameOfDistinct,
  hasSpaceForHash,
  ipObjectName,
  ipReservationReason,
  isFirstInNameOrder,
  podsOfFullName,
} from '../../../lib/kubernetes/ip-object-name.ts';
import { addTo, removeFrom } from '../../../lib/maps.ts';
import { AllocationIndex } from '../ledger/allocation-index.ts';
import {
  podKeyOf,
  podNameOf,
  type LedgerEvent,
  type HeldAllocation,
  type AppliedPool,
  type AppliedSubnet,
  type ReservedAddress,
} from '../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../ledger/ledger-subscriber.ts';

export interface AffectedObjects {
  /** The names of Pods, "namespace/name". */
  readonly pods: ReadonlySet<string>;
  /** The names of IP objects. */
  readonly ips: ReadonlySet<string>;
  /** The Subnets whose counts changed. */
  readonly subnets: ReadonlySet<string>;
  /** The IPPools of Subnets whose counts changed. */
  readonly pools: ReadonlySet<string>;
}

export class AllocationView implements LedgerSubscriber {
  readonly #onAffected: (affected: AffectedObjects) => void;
  readonly #byPod = new AllocationIndex(podNameOf);
  /** The few allocations whose IP object has a shortened name. */
  readonly #byShortName = new AllocationIndex((each) => ({ namespace: '', name: ipObjectName(each) }));
  /** The few allocations whose distinct name does not begin with their full name. */
  readonly #byDistinctName = new AllocationIndex((each) => ({ namespace: '', name: distinctIpObjectName(each) }));
  /** The attachments with an address reserved by users' IP objects, by object name. */
  readonly #reserved = new Map<string, AttachmentName>();
  readonly #subnets = new Map<string, AppliedSubnet>();
  readonly #pools = new Map<string, AppliedPool>();
  readonly #poolsOfSubnet = new Map<string, Set<string>>();
  #seq = 0;

  constructor(onAffected: (affected: AffectedObjects) => void) {
    this.#onAffected = onAffected;
  }

  /** The last event that the view includes. */
  get seq(): number {
    return this.#seq;
  }

  /** Returns the allocations of all Pods with this name, in order of their attachments. */
  allocationsOfPod(pod: string): HeldAllocation[] {
    return this.#byPod
      .of(pod)
      .toSorted((a, b) => (a.provider === b.provider ? a.ordinal - b.ordinal : a.provider < b.provider ? -1 : 1));
  }

  /** Returns the name of the IP object that shows an allocation. */
  ipNameOf(allocation: HeldAllocation): string {
    const name = ipObjectName(allocation);
    if (isFirstInNameOrder(allocation) && !this.#reserved.has(name)) return name;
    return this.#hasName(name, allocation) ? name : distinctIpObjectName(allocation);
  }

  /** Returns the allocation of this IP object, the older of two with the same attachment. */
  allocationOfIp(name: string): HeldAllocation | undefined {
    const found = [...this.#sharing(name), ...this.#withDistinctName(name)];
    return found.filter((each) => this.ipNameOf(each) === name).sort((a, b) => a.seq - b.seq)[0];
  }

  /** Whether an allocation has a shared name: the first in order, unless a user reserved it. */
  #hasName(name: string, allocation: HeldAllocation): boolean {
    const reserved = this.#reserved.get(name);
    if (reserved) return compareInNameOrder(reserved, allocation) === 0;
    return this.#sharing(name).every((other) => compareInNameOrder(allocation, other) <= 0);
  }

  /** Returns the allocations with this `ipObjectName`. */
  #sharing(name: string): HeldAllocation[] {
    return [...this.#byShortName.of(name), ...this.#ofFullName(name)];
  }

  #withDistinctName(name: string): HeldAllocation[] {
    const found = [...this.#byDistinctName.of(name), ...this.#ofFullName(fullNameOfDistinct(name) ?? '')];
    return found.filter((each) => distinctIpObjectName(each) === name);
  }

  #ofFullName(name: string): HeldAllocation[] {
    return [...podsOfFullName(name)].flatMap((pod) =>
      this.#byPod.of(pod).filter((each) => fullIpObjectName(each) === name),
    );
  }

  /** Returns the allocation of an address. Reads all allocations, so it is for rare events only. */
  allocationAt({ subnet, address }: { readonly subnet: string; readonly address: string }): HeldAllocation | undefined {
    for (const each of this.#byPod.values())
      if (each.subnet === subnet && each.addresses.some((assigned) => assigned.address === address)) return each;
    return undefined;
  }

  subnet(name: string): AppliedSubnet | undefined {
    return this.#subnets.get(name);
  }

  pool(name: string): AppliedPool | undefined {
    return this.#pools.get(name);
  }

  /** Returns all objects of the view. */
  all(): AffectedObjects {
    return {
      pods: new Set(this.#byPod.keys()),
      ips: new Set(Array.from(this.#byPod.values(), (each) => this.ipNameOf(each))),
      subnets: new Set(this.#subnets.keys()),
      pools: new Set(this.#pools.keys()),
    };
  }

  onSnapshot({ seq, allocations, subnets, pools, reservations }: LedgerSnapshot): void {
    const before = this.all();
    const allocationIndexes = [this.#byPod, this.#byShortName, this.#byDistinctName];
    for (const index of allocationIndexes) index.clear();
    for (const index of [this.#reserved, this.#subnets, this.#pools, this.#poolsOfSubnet]) index.clear();
    for (const allocation of allocations) this.#put(allocation);
    for (const reserved of reservations) this.#reserve(reserved);
    for (const subnet of subnets) this.#subnets.set(subnet.name, subnet);
    for (const pool of pools) this.#setPool(pool.name, pool);
    this.#seq = seq;
    const after = this.all();
    this.#onAffected({
      pods: new Set([...before.pods, ...after.pods]),
      ips: new Set([...before.ips, ...after.ips]),
      subnets: new Set([...before.subnets, ...after.subnets]),
      pools: new Set([...before.pools, ...after.pools]),
    });
  }

  onEvents(events: readonly LedgerEvent[], seq: number): void {
    const [pods, ips, subnets] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const addAffected = (allocation: HeldAllocation | undefined): void => {
      if (!allocation) return;
      pods.add(podKeyOf(allocation));
      for (const name of this.#namesAround(ipObjectName(allocation), allocation)) ips.add(name);
    };
    for (const event of events) {
      if (event.kind === 'allocated') addAffected(this.#put(event.allocation));
      else if (event.kind === 'released') addAffected(this.#remove(event));
      else if (event.kind === 'bound') addAffected(this.#bind(event));
      else if (event.kind === 'reserved')
        for (const name of this.#namesAround(this.#reserve(event.reserved))) ips.add(name);
      else if (event.kind === 'unreserved') for (const name of this.#namesAround(this.#unreserve(event))) ips.add(name);
      else if (event.kind === 'subnet-configured') this.#subnets.set(event.subnet.name, event.subnet);
      else if (event.kind === 'subnet-retired') this.#subnets.delete(event.subnet);
      else if (event.kind === 'pool-configured') this.#setPool(event.pool.name, event.pool);
      else if (event.kind === 'pool-retired') this.#setPool(event.pool, undefined);
      const subnet = subnetOf(event);
      if (subnet !== undefined) subnets.add(subnet);
    }
    this.#seq = seq;
    const pools = new Set([...subnets].flatMap((subnet) => [...(this.#poolsOfSubnet.get(subnet) ?? [])]));
    this.#onAffected({ pods, ips, subnets, pools });
  }

  #setPool(name: string, pool: AppliedPool | undefined): void {
    const before = this.#pools.get(name);
    if (before) removeFrom(this.#poolsOfSubnet, before.spec.subnet, name);
    if (!pool) return void this.#pools.delete(name);
    this.#pools.set(name, pool);
    addTo(this.#poolsOfSubnet, pool.spec.subnet, name);
  }

  /** Returns the IP objects that a change at a name may affect: all that share the name. */
  #namesAround(name: string | undefined, changed?: HeldAllocation): string[] {
    if (name === undefined) return [];
    const others = this.#sharing(name).filter((each) => !changed || compareInNameOrder(each, changed) !== 0);
    if (others.length === 0 && !this.#reserved.has(name)) return [name];
    return [name, ...[...others, ...(changed ? [changed] : [])].map(distinctIpObjectName)];
  }

  /** Returns the name of the IP object that reserves the address. */
  #reserve({ reason, reservedFor }: ReservedAddress): string | undefined {
    const attached = reason.startsWith(ipReservationReason) ? attachmentOf(reservedFor) : undefined;
    if (!attached) return undefined;
    this.#reserved.set(ipObjectName(attached), attached);
    return ipObjectName(attached);
  }

  #unreserve({ reservedFor }: Pick<ReservedAddress, 'reservedFor'>): string | undefined {
    const attached = attachmentOf(reservedFor);
    const name = attached && ipObjectName(attached);
    const known = name === undefined ? undefined : this.#reserved.get(name);
    if (name === undefined || !attached || !known || compareInNameOrder(known, attached) !== 0) return undefined;
    this.#reserved.delete(name);
    return name;
  }

  #put(allocation: HeldAllocation): HeldAllocation {
    this.#byPod.put(allocation);
    for (const index of this.#indexesOfName(allocation)) index.put(allocation);
    return allocation;
  }

  #remove({ seq, ...released }: Extract<LedgerEvent, { kind: 'released' }>): HeldAllocation | undefined {
    const allocation = this.#byPod.remove(podKeyOf(released), seq);
    if (!allocation) return undefined;
    const [byDistinctName, byShortName] = this.#indexesOfName(allocation);
    byDistinctName?.remove(distinctIpObjectName(allocation), seq);
    byShortName?.remove(ipObjectName(allocation), seq);
    return allocation;
  }

  /** Returns the indexes for an allocation's name. Nearly all names contain their Pods. */
  #indexesOfName(allocation: HeldAllocation): readonly AllocationIndex[] {
    const fullName = fullIpObjectName(allocation);
    if (hasSpaceForHash(fullName)) return [];
    const isShortened = ipObjectName(allocation) !== fullName;
    return isShortened ? [this.#byDistinctName, this.#byShortName] : [this.#byDistinctName];
  }

  #bind(event: Extract<LedgerEvent, { kind: 'bound' }>): HeldAllocation | undefined {
    const bound = this.#byPod.bound(event);
    return bound && this.#put(bound);
  }
}

function subnetOf(event: LedgerEvent): string | undefined {
  switch (event.kind) {
    case 'allocated':
      return event.allocation.subnet;
    case 'released':
    case 'subnet-retired':
      return event.subnet;
    case 'subnet-configured':
      return event.subnet.name;
    case 'pool-configured':
      return event.pool.spec.subnet;
    case 'reserved':
      return event.reserved.subnet;
    case 'pool-retired':
    case 'unreserved':
    case 'quarantined':
    case 'unquarantined':
      return event.subnet;
    case 'bound':
    case 'unbound':
      return undefined;
  }
}
