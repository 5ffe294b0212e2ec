/** The present allocations of the ledger, by Pod and by name of the IP object. It reports which objects an event affects. */
import { fullIpObjectName, ipObjectName, podsOfFullName } from '../../../lib/kubernetes/ip-object-name.ts';
import { keyOf } from '../../../lib/kubernetes/client/informer.ts';
import { AllocationIndex } from '../ledger/allocation-index.ts';
import type { LedgerEvent, HeldAllocation, AppliedPool, AppliedSubnet } from '../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../ledger/ledger-follower.ts';

export interface AffectedObjects {
  /** "namespace/name" */
  readonly pods: ReadonlySet<string>;
  /** Names of IP objects. */
  readonly ips: ReadonlySet<string>;
  /** Subnets whose counts changed. */
  readonly subnets: ReadonlySet<string>;
  /** IPPools of Subnets whose counts changed. */
  readonly pools: ReadonlySet<string>;
}

export class AllocationView implements LedgerSubscriber {
  readonly #onAffected: (affected: AffectedObjects) => void;
  readonly #byPod = new AllocationIndex(podKeyOf);
  /** The few allocations whose IP object has a shortened name. The Pod of all others follows from the name. */
  readonly #byShortName = new AllocationIndex(ipObjectName);
  readonly #subnets = new Map<string, AppliedSubnet>();
  readonly #pools = new Map<string, AppliedPool>();
  #seq = 0;

  constructor(onAffected: (affected: AffectedObjects) => void) {
    this.#onAffected = onAffected;
  }

  /** The last event that the view contains. */
  get seq(): number {
    return this.#seq;
  }

  /** The allocations of all Pods with this name, in order of their attachments. */
  allocationsOfPod(pod: string): HeldAllocation[] {
    return this.#byPod
      .of(pod)
      .toSorted((a, b) => (a.provider === b.provider ? a.ordinal - b.ordinal : a.provider < b.provider ? -1 : 1));
  }

  /** The allocation that the IP object of this name shows: the older one, if two have the same object name. */
  allocationOfIp(name: string): HeldAllocation | undefined {
    const found = [...this.#byShortName.of(name)];
    for (const pod of podsOfFullName(name))
      for (const each of this.#byPod.of(pod)) if (fullIpObjectName(each) === name) found.push(each);
    return found.length > 1 ? found.sort((a, b) => a.seq - b.seq)[0] : found[0];
  }

  /** The allocation of an address. It reads all allocations: call it for rare events only. */
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

  /** All objects of the view. */
  all(): AffectedObjects {
    return {
      pods: new Set(this.#byPod.keys()),
      ips: new Set(Array.from(this.#byPod.values(), ipObjectName)),
      subnets: new Set(this.#subnets.keys()),
      pools: new Set(this.#pools.keys()),
    };
  }

  onSnapshot({ seq, allocations, subnets, pools }: LedgerSnapshot): void {
    const before = this.all();
    for (const index of [this.#byPod, this.#byShortName, this.#subnets, this.#pools]) index.clear();
    for (const allocation of allocations) this.#put(allocation);
    for (const subnet of subnets) this.#subnets.set(subnet.name, subnet);
    for (const pool of pools) this.#pools.set(pool.name, pool);
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
      ips.add(ipObjectName(allocation));
    };
    for (const event of events) {
      if (event.kind === 'allocated') addAffected(this.#put(event.allocation));
      else if (event.kind === 'released') addAffected(this.#remove(event));
      else if (event.kind === 'bound') addAffected(this.#bind(event));
      else if (event.kind === 'subnet-configured') this.#subnets.set(event.subnet.name, event.subnet);
      else if (event.kind === 'subnet-retired') this.#subnets.delete(event.subnet);
      else if (event.kind === 'pool-configured') this.#pools.set(event.pool.name, event.pool);
      else if (event.kind === 'pool-retired') this.#pools.delete(event.pool);
      const subnet = subnetOf(event);
      if (subnet !== undefined) subnets.add(subnet);
    }
    this.#seq = seq;
    const affectedPools = [...this.#pools.values()].filter(({ spec }) => subnets.has(spec.subnet));
    this.#onAffected({ pods, ips, subnets, pools: new Set(affectedPools.map(({ name }) => name)) });
  }

  #put(allocation: HeldAllocation): HeldAllocation {
    this.#byPod.put(allocation);
    if (isShortened(allocation)) this.#byShortName.put(allocation);
    return allocation;
  }

  #remove({ seq, ...released }: Extract<LedgerEvent, { kind: 'released' }>): HeldAllocation | undefined {
    const allocation = this.#byPod.remove(podKeyOf(released), seq);
    if (allocation && isShortened(allocation)) this.#byShortName.remove(ipObjectName(allocation), seq);
    return allocation;
  }

  #bind({ seq, node, interface: name, ...bound }: Extract<LedgerEvent, { kind: 'bound' }>): HeldAllocation | undefined {
    const allocation = this.#byPod.of(podKeyOf(bound)).find((each) => each.seq === seq);
    return allocation && this.#put({ ...allocation, node, interface: name });
  }
}

function podKeyOf({ namespace, pod }: Pick<HeldAllocation, 'namespace' | 'pod'>): string {
  return keyOf({ namespace, name: pod });
}

const isShortened = (allocation: HeldAllocation): boolean => ipObjectName(allocation) !== fullIpObjectName(allocation);

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
