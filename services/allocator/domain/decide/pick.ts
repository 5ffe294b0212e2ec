/** Which address? The one asked for if it can be given, or the best free one. */
import type { RestTimes } from '../address-part.ts';
import type { AddressSpace } from '../address-space.ts';
import { type Address, formatAddress, parseAddress } from '../address.ts';
import type { Allocation, Claim } from '../claim.ts';
import type { IpFamily } from '../command.ts';
import { type AssignedAddress, familyOf } from '../event.ts';
import { contains } from '../interval.ts';
import { claimKey } from '../journal.ts';
import { claimInForce, otherClaims } from '../on-network.ts';
import { rangesOf } from '../pool.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../state.ts';
import { isOf, spacesFor } from './family.ts';
import { isFenced, refuseFenced } from './fence.ts';
import { isFreeAtHome, isFreeOn, refuseByHomes, refuseNoGateway, restTimes } from './network-rules.ts';
import { answering, explainFull, instant, outOfPool, outOfRange } from './reasons.ts';
import { mayKeep, refuseAddressOfForeignPool, refuseOverQuota, type Tenant } from './tenancy.ts';

/** Of a long list only the first reasons are told: the refusal becomes an event, and events are small. */
const mostReasons = 3;

/** Where to look, what may be found there, and what is gone already. */
export interface Search {
  /** Best first; at least one. */
  readonly subnets: readonly ConfiguredSubnet[];
  /** That of the NIC, as `network.ts` has it; it is the subnet's own, or one to which the subnet lends addresses. */
  readonly networkIn: (subnet: string) => string;
  /** From which alone; '' for the rest that belongs to no pool, and where addresses are named for all of the subnet. */
  readonly pool: string;
  readonly ipFamily: IpFamily;
  /** What reserved addresses may be given. */
  readonly entitlements: ReadonlySet<string>;
  /** What is given up for this: where it will do, it is kept. */
  readonly own: Allocation | undefined;
  /** What this command takes for other attachments: keys as `keysTaken` makes them. */
  readonly taken: ReadonlySet<string>;
  /** Nothing but what is named: no other family beside it. */
  readonly exactly: boolean;
  readonly now: number;
  readonly tenant: Tenant;
}

export interface Picked {
  readonly configured: ConfiguredSubnet;
  /** One of each family asked for, IPv4 first. */
  readonly addresses: readonly AssignedAddress[];
}

/**
 * The first of the candidate sets that can be given as a whole, in any of the subnets; without candidates any free address. A
 * family that a set does not name is taken dynamically.
 * @throws Refused the only reason; or, of several, the first that may pass, with each one's sentence.
 */
export function pick(state: State, search: Search, candidates: readonly (readonly string[])[]): Picked {
  const refusals: Refused[] = [];
  for (const candidate of candidates.length === 0 ? [[]] : candidates)
    for (const configured of search.subnets) {
      try {
        const addresses = pickSet(state, configured, search, candidate);
        refuseOverQuota(state, configured, search.tenant, addresses.length);
        return { configured, addresses };
      } catch (thrown) {
        if (!(thrown instanceof Refused)) throw thrown;
        refusals.push(thrown);
      }
    }
  throw joined(refusals, candidates.length > 0);
}

function joined(refusals: readonly Refused[], named: boolean): Refused {
  const [first] = refusals;
  if (first && refusals.length === 1) return first;
  const hopeless = new Set(['ADDRESS_OUT_OF_RANGE', 'IP_FAMILY_INVALID']);
  const code = (refusals.find(({ refusal }) => !hopeless.has(refusal.code)) ?? first)?.refusal.code;
  if (!named) return new Refused(code ?? 'INVALID_REQUEST', refusals.map(({ message }) => message).join('; '));
  const reasons = refusals.slice(0, mostReasons).map(({ message }) => message);
  if (refusals.length > mostReasons) reasons.push(`and ${refusals.length - mostReasons} more`);
  return new Refused(
    code ?? 'INVALID_REQUEST',
    `AddressConflict: none of the addresses asked for can be given: ${reasons.join('; ')}`,
  );
}

function pickSet(
  state: State,
  configured: ConfiguredSubnet,
  search: Search,
  candidate: readonly string[],
): AssignedAddress[] {
  const named = candidate.map((text) => {
    const address = parseAddress(text);
    if (!address)
      throw new Refused('INVALID_REQUEST', `failed to parse IP ${text}: invalid IP address "${text}"; it has no mask`);
    return address;
  });
  if (new Set(named.map(({ family }) => family)).size < named.length)
    throw new Refused('INVALID_REQUEST', `${candidate.join(',')}: at most one address of each family`);
  const spaces = spacesFor(configured, search.ipFamily);
  for (const { family, value } of named) {
    const text = formatAddress({ family, value });
    if (!configured.spaces.some(({ subnetFamily }) => subnetFamily.family === family))
      throw outOfRange(text, configured);
    if (!isOf(family, search.ipFamily))
      throw new Refused('IP_FAMILY_INVALID', `InvalidIPFamily: ${text} does not match ip_family ${search.ipFamily}`);
  }
  const wanted = search.exactly
    ? spaces.filter(({ subnetFamily: { family } }) => named.some((n) => n.family === family))
    : spaces;
  return wanted.map((space) => {
    const asked = named.find(({ family }) => family === space.subnetFamily.family);
    if (asked) return assigned(space, grantable(state, configured, { space, search }, asked.value));
    const free = ownAddress(state, configured, space, search) ?? bestFree(state, configured, space, search);
    if (free === undefined) throw new Refused('SUBNET_FULL', explainFull(state, configured, search));
    return assigned(space, free);
  });
}

/**
 * The text of an asked-for address that can be given. Excluded and cooling ones can, and those of a pool; the gateway, what is
 * reserved for others, and what anybody may answer on can't.
 */
function grantable(
  state: State,
  configured: ConfiguredSubnet,
  { space, search }: { space: AddressSpace; search: Search },
  value: bigint,
): string {
  const { name } = configured.subnet;
  const address = formatAddress({ family: space.subnetFamily.family, value });
  refuseNoHost(configured, space, value);
  if (!isInPool(state, search.pool, address)) throw outOfPool(address, configured, search.pool);
  if (isTaken(configured, address, search))
    throw new Refused(
      'ADDRESS_IN_USE',
      `AddressConflict: ${address} is asked for twice in subnet ${name} by the same Pod`,
    );
  refuseFenced(state, name, address);
  refuseByHomes(state, configured, value, { space, network: search.networkIn(name), tenant: search.tenant });
  // What is reserved for the Pod is meant for it, whatever the pool says.
  if (!claimOf(state, name, address)?.reservation) refuseAddressOfForeignPool(state, space, value, search.tenant);
  const objection = objectionTo(state, configured, address, search);
  if (objection !== undefined) throw new Refused('ADDRESS_IN_USE', `AddressConflict: ${objection}`);
  return address;
}

/** The keys of an address in `taken`: in its subnet, on the network of the NIC and on the subnet's own. */
export const keysTaken = (subnet: string, networks: readonly string[], address: string): readonly string[] => [
  claimKey({ subnet, address }),
  ...networks.map((network) => `on ${network}/${address}`),
];

const isTaken = (
  { subnet: { name, network } }: ConfiguredSubnet,
  address: string,
  { taken, networkIn }: Pick<Search, 'taken' | 'networkIn'>,
): boolean => keysTaken(name, [networkIn(name), network], address).some((key) => taken.has(key));

/** @throws Refused ADDRESS_OUT_OF_RANGE, ADDRESS_IN_USE (the gateway) */
export function refuseNoHost(configured: ConfiguredSubnet, { subnetFamily }: AddressSpace, value: bigint): void {
  const { family, hosts } = subnetFamily;
  const address = formatAddress({ family, value });
  if (value < hosts.first || value > hosts.last) throw outOfRange(address, configured);
  refuseNoGateway(configured, { subnetFamily }, value);
}

/** Why an address can't be given to this search; undefined when it can. Every claim on the subnet's network and on the NIC's counts. */
function objectionTo(state: State, { subnet }: ConfiguredSubnet, address: string, search: Search): string | undefined {
  const { name } = subnet;
  const own = claimOf(state, name, address);
  const ofOwn =
    own &&
    objectionIn(own, `${address} of subnet ${name}`, restTimes(state, subnet, { subnet: name, address }, own), search);
  if (ofOwn !== undefined) return ofOwn;
  for (const network of new Set([subnet.network, search.networkIn(name)]))
    for (const { subnet: other, claim } of otherClaims(state, network, address, name)) {
      const objection = objectionIn(
        claim,
        `${address} of subnet ${other}, on the same network ${network},`,
        restTimes(state, subnet, { subnet: other, address }, claim),
        search,
      );
      if (objection !== undefined) return objection;
    }
  return undefined;
}

function objectionIn(
  claim: Claim,
  what: string,
  { bindingTimeoutMs }: RestTimes,
  { now, own, entitlements }: Search,
): string | undefined {
  const { allocation, quarantine, reservation } = claim;
  const isOwn = allocation !== undefined && allocation.seq === own?.seq;
  if (quarantine)
    return `${what} is quarantined since ${instant(quarantine.at)}: ${quarantine.seenMac || 'another host'} answers on it${quarantine.seenAt && ` (seen at ${quarantine.seenAt})`}; lift the quarantine once that is gone`;
  if (reservation && !entitlements.has(reservation.reservedFor))
    return `${what} is reserved for ${reservation.reservedFor} since ${instant(reservation.at)}${reservation.reason && `: ${reservation.reason}`}`;
  if (isOwn) return undefined;
  if (allocation) return heldBy(allocation, what, reservation);
  return claim.bindings.length > 0 && claim.lastAt > now - bindingTimeoutMs
    ? answering(what, claim, bindingTimeoutMs)
    : undefined;
}

function heldBy({ attachment, uid, at }: Allocation, what: string, reservation: Claim['reservation']): string {
  const pod = `${attachment.namespace}/${attachment.pod}`;
  // Kube-OVN's sentence for a Vip, which people search for.
  const vip = /^vip\/(.+)$/.exec(reservation?.reservedFor ?? '')?.[1];
  const found = vip === undefined ? '' : `vip '${vip}' is in use by pod ${pod}: `;
  const reserved = reservation ? ` (reserved for ${reservation.reservedFor})` : '';
  return `${found}${what}${reserved} is in use by Pod ${pod} (uid ${uid}, ${attachment.provider}) since ${instant(at)}`;
}

/** What is given up for this, of that family, where it will do. */
function ownAddress(
  state: State,
  configured: ConfiguredSubnet,
  space: AddressSpace,
  search: Search,
): string | undefined {
  const { own, pool } = search;
  const { name } = configured.subnet;
  if (own?.subnet !== name) return undefined;
  const address = own.addresses.find((held) => familyOf(held.address) === space.subnetFamily.family)?.address;
  if (address === undefined || isTaken(configured, address, search)) return undefined;
  if (isFenced(state, name, address) || !isKeepable(state, { subnet: name, address }, search)) return undefined;
  const isMeant = claimOf(state, name, address)?.reservation !== undefined;
  if (!isMeant && !mayKeep(state, configured.spaces, address, search.tenant.namespace)) return undefined;
  return isInPool(state, pool, address) ? address : undefined;
}

/** Whether a pool that is in force has the address; for '' always. */
export function isInPool(state: State, pool: string, address: string): boolean {
  const spec = state.pools.get(pool)?.spec;
  if (pool === '' || !spec) return pool === '';
  const { family, value } = parseAddress(address) as Address;
  return contains(rangesOf(spec, family), value);
}

/** Whether an address that the Pod had may stay the Pod's: it is not quarantined, and not reserved for others, in its subnet or on its networks. */
export function isKeepable(
  state: State,
  { subnet, address }: { readonly subnet: string; readonly address: string },
  { entitlements }: Pick<Search, 'entitlements'>,
): boolean {
  const own = claimOf(state, subnet, address);
  const others = (own?.networks ?? []).flatMap((network) => otherClaims(state, network, address, subnet));
  return [own, ...others.map(({ claim }) => claim)].every(
    (claim) => !claim?.quarantine && (!claim?.reservation || entitlements.has(claim.reservation.reservedFor)),
  );
}

/** So many free addresses of a subnet are held against the NIC's network, where that is not the subnet's own. */
const mostLooks = 1_024;

/**
 * The free address of a pool, or of what belongs to none, that is to be given next.
 * @throws Refused SUBNET_FULL when too many of the subnet's free addresses are in use on the network of the NIC.
 */
export function bestFree(
  state: State,
  configured: ConfiguredSubnet,
  space: AddressSpace,
  search: Pick<Search, 'pool' | 'taken' | 'now' | 'networkIn'>,
): string | undefined {
  const { subnet } = configured;
  const { name, spec } = subnet;
  const network = search.networkIn(name);
  const networks = new Set([subnet.network, network]);
  let looks = 0;
  const inForce = (address: string): Claim | undefined => claimInForce(state, subnet, address);
  for (const address of space.part(search.pool)?.candidates(search.now, spec, inForce) ?? []) {
    if (isTaken(configured, address, search) || isFenced(state, name, address)) continue;
    const isFree = isFreeOn(state, networks, { subnet, address }, search.now);
    if (isFree && isFreeAtHome(state, subnet, { network, space, address })) return address;
    if (++looks === mostLooks)
      throw new Refused(
        'SUBNET_FULL',
        `NoAvailableAddress: the next ${mostLooks} free addresses of subnet ${name} are in use on network ${network}: ask for an address that is free there, or give network ${network} a subnet of its own`,
      );
  }
  return undefined;
}

/** An address with what its subnet puts beside it. */
export const assigned = (space: AddressSpace, address: string): AssignedAddress => ({
  address,
  cidr: space.subnetFamily.cidrText,
  gateway: space.subnetFamily.gatewayText,
});
