/** Queries of a state. Their time depends on the size of the answer, unless noted otherwise. */
import { canonicalAddress, type Family, parseAddress, familyOf } from '../addresses/address.ts';
import type { AddressPool } from '../state/address-pools/address-pool.ts';
import { type Allocation, type Binding, type Claim, claimKey, type ClaimName } from '../state/claim.ts';
import { groupOf } from '../state/claims.ts';
import type { Seq } from '../values/ledger.ts';
import { contains, formatRanges, type Interval, difference, countAddresses, union } from '../addresses/interval.ts';
import { type ConfiguredPool, isInPool } from '../state/pool.ts';
import { defaultCooldownTimes, isNever } from '../commands/command.ts';
import { Refused } from '../commands/refusal.ts';
import { bindingsOf, claimOf, type ConfiguredSubnet, allocationsOfPodName, type State } from '../state/state.ts';

/** An allocation with the containers that use it. */
export interface BoundAllocation extends Allocation {
  readonly bindings: readonly Binding[];
}

export type AddressStateName =
  'fresh' | 'allocated' | 'bound' | 'held' | 'cooldown' | 'idle' | 'reserved' | 'quarantined' | 'excluded';

/** One address: its state and its claim. Times are milliseconds since 1970. */
export interface AddressRecord {
  readonly subnet: string;
  readonly address: string;
  readonly state: AddressStateName;
  readonly claim: Claim | undefined;
  /** When a cooling or held address becomes free. Undefined without a binding timeout. */
  readonly availableAt: number | undefined;
  /** The pool of the address; '' for none. */
  readonly pool: string;
}

/** Counts of one family of a subnet or a pool. Reserved addresses are in use, as in Kube-OVN. */
export interface Counts {
  readonly family: Family;
  readonly total: bigint;
  readonly inUse: bigint;
  readonly available: bigint;
  /** Released addresses, and quarantined ones. */
  readonly coolingDown: bigint;
  readonly reserved: bigint;
  /** Released addresses on which a container may still answer: a part of `coolingDown`. */
  readonly held: bigint;
  /** Quarantined addresses that no Pod holds: a part of `coolingDown`. */
  readonly quarantined: bigint;
}

/** Counts with the ranges of the addresses, as text. */
export interface Usage extends Counts {
  readonly inUseRange: string;
  readonly availableRange: string;
  readonly reservedRange: string;
  readonly quarantinedRange: string;
}

export const withBindings = (state: State, allocation: Allocation): BoundAllocation => ({
  ...allocation,
  bindings: bindingsOf(state, allocation),
});

/** The allocations of a Pod uid, oldest first. */
export function allocationsOfPod(state: State, namespace: string, pod: string, uid: string): BoundAllocation[] {
  return allocationsOfPodName(state, namespace, pod)
    .filter((allocation) => allocation.uid === uid)
    .map((allocation) => withBindings(state, allocation));
}

/** The record of an address in any spelling. @throws Refused, also ADDRESS_UNKNOWN */
export function addressRecord(state: State, subnet: string, text: string, now: number): AddressRecord {
  const address = canonicalAddress(text);
  if (!address) throw new Refused('INVALID_REQUEST', `failed to parse IP ${text}: write one address without a mask`);
  const configured = state.subnets.get(subnet);
  const claim = claimOf(state, subnet, address);
  if (!configured && !claim) throw new Refused('SUBNET_UNKNOWN', `no subnet ${subnet} is configured`);
  const space = configured?.spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address));
  const value = (parseAddress(address) as { value: bigint }).value;
  if (!claim && !isHost(state, subnet, address))
    throw new Refused(
      'ADDRESS_UNKNOWN',
      `${address} is not a host address of subnet ${subnet}, and the ledger has no claim of it`,
    );
  const usable = space !== undefined && contains(space.subnetFamily.usable, value);
  const pool = space ? space.poolNameAt(value) : poolOf(state, subnet, address);
  return { subnet, address, claim, pool, ...stateOf(claim, usable, configured, now) };
}

/** Whether a canonical address is a host address of a subnet in force. */
export function isHost(state: State, subnet: string, address: string): boolean {
  const spaces = state.subnets.get(subnet)?.spaces ?? [];
  const hosts = spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address))?.subnetFamily.hosts;
  const { value } = parseAddress(address) as { value: bigint };
  return hosts !== undefined && value >= hosts.first && value <= hosts.last;
}

/** Searches all pools, because a Subnet that is not in force has no spaces. */
const poolOf = (state: State, subnet: string, address: string): string =>
  [...state.pools.values()].find(({ name, spec }) => spec.subnet === subnet && isInPool(state, name, address))?.name ??
  '';

function stateOf(
  claim: Claim | undefined,
  usable: boolean,
  configured: ConfiguredSubnet | undefined,
  now: number,
): Pick<AddressRecord, 'state' | 'availableAt'> {
  if (claim?.allocation) return { state: claim.bindings.length > 0 ? 'bound' : 'allocated', availableAt: undefined };
  if (claim?.quarantine) return { state: 'quarantined', availableAt: undefined };
  if (claim?.reservation) return { state: 'reserved', availableAt: undefined };
  const times = configured?.subnet.spec ?? defaultCooldownTimes;
  if (claim && claim.bindings.length > 0) {
    const availableAt = claim.lastAt + times.bindingTimeoutMs;
    return { state: 'held', availableAt: isNever(availableAt) ? undefined : availableAt };
  }
  if (!usable) return { state: 'excluded', availableAt: undefined };
  if (!claim) return { state: 'fresh', availableAt: undefined };
  const availableAt = claim.lastAt + times.cooldownMs;
  return availableAt > now ? { state: 'cooldown', availableAt } : { state: 'idle', availableAt: undefined };
}

/** Adds up the free addresses of all pools at `now`. Only a pool's Pods may get them. */
const countFree = ({ subnet }: ConfiguredSubnet, pools: readonly AddressPool[], now: number): bigint =>
  pools.reduce((sum, pool) => sum + pool.countFree(now, subnet.spec), 0n);

/** The addresses of each family of a subnet, with its pools, that can be allocated at `now`. */
export const freeOf = (configured: ConfiguredSubnet, now: number): bigint[] =>
  configured.spaces.map(({ pools }) => countFree(configured, pools, now));

/** Like `freeOf`, of one pool. None while its subnet is retired. */
export function freeOfPool(state: State, { name, spec }: ConfiguredPool, now: number): bigint[] {
  const configured = state.subnets.get(spec.subnet);
  if (!configured) return [];
  return configured.spaces.map((space) => space.pool(name)?.countFree(now, configured.subnet.spec) ?? 0n);
}

/** Counts and ranges of each family of a subnet. Takes time with the number of ranges. */
export const usageOf = ({ spaces }: ConfiguredSubnet): Usage[] =>
  spaces.map(({ subnetFamily: { family, usable }, pools }) => familyUsage(family, usable, pools));

/** The counts of each family of a subnet, in constant time. */
export const countsOf = ({ spaces }: ConfiguredSubnet): Counts[] =>
  spaces.map(({ subnetFamily: { family, usable }, pools }) => familyCounts(family, usable, pools));

/**
 * The usage of a pool for each family of its subnet; none if the subnet is not configured. An
 * excluded address that a Pod holds counts as in use and in the total, but never as available.
 */
export const usageOfPool = (state: State, { name, spec }: ConfiguredPool): Usage[] =>
  (state.subnets.get(spec.subnet)?.spaces ?? []).map((space) => {
    const pool = space.pool(name);
    return pool ? poolUsage(pool) : familyUsage(space.subnetFamily.family, [], []);
  });

function poolUsage(pool: AddressPool): Usage {
  const excluded = pool.excludedInUseRanges;
  const usage = familyUsage(pool.family, pool.usable, [pool], excluded);
  return { ...usage, total: usage.total + countAddresses(excluded), inUse: usage.inUse + countAddresses(excluded) };
}

/** @param excluded addresses in use that are not among the usable ones */
function familyUsage(
  family: Family,
  usable: readonly Interval[],
  pools: readonly AddressPool[],
  excluded: readonly Interval[] = [],
): Usage {
  const ranges = (of: (pool: AddressPool) => readonly Interval[]): readonly Interval[] => {
    const [only, ...more] = pools;
    return only && more.length === 0 ? of(only) : union(pools.flatMap(of));
  };
  const reserved = ranges((pool) => pool.reservedRanges);
  const taken = union([...ranges((pool) => pool.inUseRanges), ...reserved, ...excluded]);
  return {
    ...familyCounts(family, usable, pools),
    inUseRange: formatRanges(family, taken),
    availableRange: formatRanges(family, difference(usable, taken)),
    reservedRange: formatRanges(family, reserved),
    quarantinedRange: formatRanges(
      family,
      ranges((pool) => pool.quarantinedRanges),
    ),
  };
}

function familyCounts(family: Family, usable: readonly Interval[], pools: readonly AddressPool[]): Counts {
  const sum = (count: (pool: AddressPool) => number): bigint =>
    BigInt(pools.reduce((total, pool) => total + count(pool), 0));
  const total = countAddresses(usable);
  const reserved = sum((pool) => pool.reserved);
  const inUse = sum((pool) => pool.inUse) + reserved;
  return {
    family,
    total,
    inUse,
    available: total - inUse,
    coolingDown: sum((pool) => pool.released.count + pool.quarantined),
    reserved,
    held: sum((pool) => pool.held),
    quarantined: sum((pool) => pool.quarantined),
  };
}

/** An absent field matches all reservations. */
export interface ReservationFilter {
  readonly subnet?: string;
  readonly reservedFor?: string;
}

/**
 * Reads one page of the reserved addresses after `after`, in the order of their texts
 * ("subnet/address"). Each call reads all reservations, and keeps at most two pages of them in
 * memory.
 */
export function listReservations(
  state: State,
  { subnet, reservedFor }: ReservationFilter,
  page: { readonly after: string; readonly size: number },
): { readonly names: readonly ClaimName[]; readonly next: string } {
  let first: ClaimName[] = [];
  let end: string | undefined;
  const cut = (): void => {
    first = first.toSorted((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1)).slice(0, page.size + 1);
    if (first.length > page.size) end = claimKey(first.at(-1) as ClaimName);
  };
  const owners = reservedFor === undefined ? state.reservations.values() : [state.reservations.get(reservedFor) ?? []];
  for (const names of owners)
    for (const name of names) {
      if (subnet !== undefined && name.subnet !== subnet) continue;
      const key = claimKey(name);
      if (key <= page.after || (end !== undefined && key >= end)) continue;
      if (first.push(name) > 2 * page.size) cut();
    }
  cut();
  const names = first.slice(0, page.size);
  const last = names.at(-1);
  return { names, next: first.length > page.size && last ? claimKey(last) : '' };
}

/** An absent field matches all allocations. */
export interface AllocationFilter {
  readonly subnet?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly node?: string;
}

/**
 * The number of allocations that are read for a page. An allocation with routes counts once more
 * for each eight routes. If few allocations match, the page is short, and another page follows.
 * Reading and encoding a page blocks the process: a page of 1,000 took 15 ms, and each Attach
 * waited for four pages.
 */
export const maxClaimsPerPage = 250;

/** A page, and the number of allocations that were read for it. */
export interface AllocationPage {
  readonly allocations: BoundAllocation[];
  readonly nextAfterSeq: Seq | undefined;
  readonly read: number;
}

/** Reads one page of the allocations in force after `afterSeq`, oldest first. */
export function listAllocations(
  state: State,
  filter: AllocationFilter,
  page: { readonly afterSeq: Seq; readonly size: number },
): AllocationPage {
  const allocations: BoundAllocation[] = [];
  let [read, last] = [0, page.afterSeq];
  for (const allocation of candidatesFor(state, filter, page.afterSeq)) {
    if (allocations.length === page.size || read >= maxClaimsPerPage) return { allocations, nextAfterSeq: last, read };
    if (matches(allocation, filter)) allocations.push(withBindings(state, allocation));
    read += 1 + (allocation.routes.length >> 3);
    last = allocation.seq;
  }
  return { allocations, nextAfterSeq: undefined, read };
}

/** The allocations after `seq`, oldest first, from the smallest index that contains all matches. */
function candidatesFor(state: State, { namespace, pod, node }: AllocationFilter, after: Seq): Iterable<Allocation> {
  if (namespace !== undefined && pod !== undefined)
    return allocationsOfPodName(state, namespace, pod).filter(({ seq }) => seq > after);
  const groups = [
    ...(node === undefined ? [] : [groupOf.node(node)]),
    ...(namespace === undefined ? [] : [groupOf.namespace(namespace)]),
  ];
  const [smallest = groupOf.all] = groups.toSorted((a, b) => state.pods.estimatedSize(a) - state.pods.estimatedSize(b));
  return state.pods.after(after, smallest);
}

const matches = ({ subnet, node, attachment }: Allocation, filter: AllocationFilter): boolean =>
  (filter.subnet === undefined || subnet === filter.subnet) &&
  (filter.namespace === undefined || attachment.namespace === filter.namespace) &&
  (filter.pod === undefined || attachment.pod === filter.pod) &&
  (filter.node === undefined || node === filter.node);
