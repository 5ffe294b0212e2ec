/** What can be read from a state. Pure, and bounded by what is asked for. */
import { canonicalAddress, type Family, parseAddress } from './address.ts';
import type { AddressPart } from './address-part.ts';
import type { Allocation, Binding, Claim } from './claim.ts';
import { bindingsOf } from './decide/bind.ts';
import { isInPool } from './decide/pick.ts';
import { familyOf, type Seq } from './event.ts';
import { contains, formatRanges, type Interval, minus, size, union } from './interval.ts';
import { claimKey, type ClaimName } from './journal.ts';
import type { ConfiguredPool } from './pool.ts';
import { Refused } from './refusal.ts';
import { claimOf, type ConfiguredSubnet, heldBy, podKey, type State } from './state.ts';

/** An allocation with the containers that use it. */
export interface BoundAllocation extends Allocation {
  readonly bindings: readonly Binding[];
}

export type AddressStateName =
  'fresh' | 'allocated' | 'bound' | 'held' | 'cooling' | 'idle' | 'reserved' | 'quarantined' | 'excluded';

/** All that is known of one address. Times in milliseconds since 1970. */
export interface AddressRecord {
  readonly subnet: string;
  readonly address: string;
  readonly state: AddressStateName;
  readonly claim: Claim | undefined;
  /** When a cooling or held address can be given again. */
  readonly availableAt: number | undefined;
  /** The pool that it belongs to; '' for none. */
  readonly pool: string;
}

/** Counts of one family of a subnet or a pool. As Kube-OVN has it, what is reserved is in use: nobody else gets it. */
export interface Counts {
  readonly family: Family;
  readonly total: bigint;
  readonly inUse: bigint;
  readonly available: bigint;
  readonly resting: bigint;
  readonly reserved: bigint;
}

/** The same, and which addresses they are; as text. */
export interface Usage extends Counts {
  readonly inUseRange: string;
  readonly availableRange: string;
  readonly reservedRange: string;
}

/** What the allocation looks like now, with its bindings. */
export const withBindings = (state: State, allocation: Allocation): BoundAllocation => ({
  ...allocation,
  bindings: bindingsOf(state, allocation),
});

/** What one Pod uid holds, oldest first. */
export function allocationsOfPod(state: State, namespace: string, pod: string, uid: string): BoundAllocation[] {
  return heldBy(state, namespace, pod)
    .filter((allocation) => allocation.uid === uid)
    .map((allocation) => withBindings(state, allocation));
}

/** What is known of one address. @throws Refused SUBNET_UNKNOWN, ADDRESS_UNKNOWN, INVALID_REQUEST */
export function addressRecord(state: State, subnet: string, text: string, now: number): AddressRecord {
  const address = canonicalAddress(text);
  if (!address) throw new Refused('INVALID_REQUEST', `failed to parse IP ${text}: it is no address`);
  const configured = state.subnets.get(subnet);
  const claim = claimOf(state, subnet, address);
  if (!configured && !claim) throw new Refused('SUBNET_UNKNOWN', `no subnet ${subnet} is configured`);
  const space = configured?.spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address));
  const value = (parseAddress(address) as { value: bigint }).value;
  if (!claim && !isHost(state, subnet, address))
    throw new Refused(
      'ADDRESS_UNKNOWN',
      `${address} is no host address of subnet ${subnet}, and nothing is kept of it`,
    );
  const usable = space !== undefined && contains(space.subnetFamily.usable, value);
  const pool = space?.partOf(value)?.pool ?? poolOf(state, subnet, address);
  return { subnet, address, claim, pool, ...standing(claim, usable, configured, now) };
}

/** Whether a canonical address is a host address of a subnet in force. */
export function isHost(state: State, subnet: string, address: string): boolean {
  const spaces = state.subnets.get(subnet)?.spaces ?? [];
  const hosts = spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address))?.subnetFamily.hosts;
  const { value } = parseAddress(address) as { value: bigint };
  return hosts !== undefined && value >= hosts.first && value <= hosts.last;
}

/** Of an address that is not given: an excluded one may be part of a pool all the same. */
const poolOf = (state: State, subnet: string, address: string): string =>
  [...state.pools.values()].find(({ name, spec }) => spec.subnet === subnet && isInPool(state, name, address))?.name ??
  '';

function standing(
  claim: Claim | undefined,
  usable: boolean,
  configured: ConfiguredSubnet | undefined,
  now: number,
): Pick<AddressRecord, 'state' | 'availableAt'> {
  if (claim?.allocation) return { state: claim.bindings.length > 0 ? 'bound' : 'allocated', availableAt: undefined };
  if (claim?.quarantine) return { state: 'quarantined', availableAt: undefined };
  if (claim?.reservation) return { state: 'reserved', availableAt: undefined };
  const rest = configured?.subnet.spec;
  if (claim && claim.bindings.length > 0)
    return { state: 'held', availableAt: claim.lastAt + (rest?.bindingTimeoutMs ?? 0) };
  if (!usable) return { state: 'excluded', availableAt: undefined };
  if (!claim) return { state: 'fresh', availableAt: undefined };
  const availableAt = claim.lastAt + (rest?.cooldownMs ?? 0);
  return availableAt > now ? { state: 'cooling', availableAt } : { state: 'idle', availableAt: undefined };
}

/** Counts and ranges of a subnet, one a family. Takes time with the number of ranges. */
export const usageOf = ({ spaces }: ConfiguredSubnet): Usage[] =>
  spaces.map(({ subnetFamily: { family, usable }, parts }) => familyUsage(family, usable, parts));

/** The counts alone, in flat time. */
export const countsOf = ({ spaces }: ConfiguredSubnet): Counts[] =>
  spaces.map(({ subnetFamily: { family, usable }, parts }) => familyCounts(family, usable, parts));

/**
 * The usage of a pool, one for each family of its subnet; none while that is not configured. An address that a Pod holds is in use
 * and part of the total also when the subnet excludes it; it is never available.
 */
export const usageOfPool = (state: State, { name, spec }: ConfiguredPool): Usage[] =>
  (state.subnets.get(spec.subnet)?.spaces ?? []).map((space) => {
    const part = space.part(name);
    return part ? poolUsage(part) : familyUsage(space.subnetFamily.family, [], []);
  });

function poolUsage(part: AddressPart): Usage {
  const excluded = part.excludedInUseRanges;
  const usage = familyUsage(part.family, part.usable, [part], excluded);
  return { ...usage, total: usage.total + size(excluded), inUse: usage.inUse + size(excluded) };
}

/** @param excluded is in use beside the usable. */
function familyUsage(
  family: Family,
  usable: readonly Interval[],
  parts: readonly AddressPart[],
  excluded: readonly Interval[] = [],
): Usage {
  const ranges = (of: (part: AddressPart) => readonly Interval[]): readonly Interval[] => {
    const [only, ...more] = parts;
    return only && more.length === 0 ? of(only) : union(parts.flatMap(of));
  };
  const reserved = ranges((part) => part.reservedRanges);
  const taken = union([...ranges((part) => part.inUseRanges), ...reserved]);
  return {
    ...familyCounts(family, usable, parts),
    inUseRange: formatRanges(family, excluded.length > 0 ? union([...taken, ...excluded]) : taken),
    availableRange: formatRanges(family, minus(usable, taken)),
    reservedRange: formatRanges(family, reserved),
  };
}

function familyCounts(family: Family, usable: readonly Interval[], parts: readonly AddressPart[]): Counts {
  const sum = (count: (part: AddressPart) => number): bigint =>
    BigInt(parts.reduce((total, part) => total + count(part), 0));
  const total = size(usable);
  const reserved = sum((part) => part.reserved);
  const inUse = sum((part) => part.inUse) + reserved;
  return {
    family,
    total,
    inUse,
    available: total - inUse,
    resting: sum((part) => part.released.count + part.quarantined),
    reserved,
  };
}

/** What is reserved; an absent field matches all. */
export interface ReservationFilter {
  readonly subnet?: string;
  readonly reservedFor?: string;
}

/** One page of the reserved addresses ("subnet/address"), in the order of these texts, after one of them. */
export function listReservations(
  state: State,
  { subnet, reservedFor }: ReservationFilter,
  page: { readonly after: string; readonly size: number },
): { readonly names: readonly ClaimName[]; readonly next: string } {
  const matching =
    reservedFor === undefined ? [...state.reservations.values()] : [state.reservations.get(reservedFor) ?? []];
  const names = matching
    .flat()
    .filter((name) => (subnet === undefined || name.subnet === subnet) && claimKey(name) > page.after)
    .toSorted((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1));
  const told = names.slice(0, page.size);
  const last = told.at(-1);
  return { names: told, next: names.length > page.size && last ? claimKey(last) : '' };
}

/** Which allocations; an absent field matches all. */
export interface AllocationFilter {
  readonly subnet?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly node?: string;
}

/** One page of the allocations in force, in the order in which they were given. */
export function listAllocations(
  state: State,
  filter: AllocationFilter,
  page: { readonly afterSeq: Seq; readonly size: number },
): { readonly allocations: BoundAllocation[]; readonly nextAfterSeq: Seq | undefined } {
  const matching: Allocation[] = [];
  for (const held of podsMatching(state, filter))
    for (const allocation of held.values())
      if (
        allocation.seq > page.afterSeq &&
        (filter.subnet === undefined || allocation.subnet === filter.subnet) &&
        (filter.namespace === undefined || allocation.attachment.namespace === filter.namespace) &&
        (filter.node === undefined || allocation.node === filter.node)
      )
        matching.push(allocation);
  const ordered = matching.toSorted((a, b) => a.seq - b.seq);
  const allocations = ordered.slice(0, page.size).map((allocation) => withBindings(state, allocation));
  return { allocations, nextAfterSeq: ordered.length > page.size ? allocations.at(-1)?.seq : undefined };
}

function* podsMatching(state: State, { namespace, pod }: AllocationFilter): Iterable<Map<string, Allocation>> {
  if (namespace !== undefined && pod !== undefined) {
    const held = state.pods.get(podKey(namespace, pod));
    if (held) yield held;
  } else for (const [key, held] of state.pods) if (pod === undefined || key.endsWith(`/${pod}`)) yield held;
}
