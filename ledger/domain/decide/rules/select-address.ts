/** Selects the addresses of an attachment: the requested, or the next free ones. */
import type { AddressSpace } from '../../state/address-pools/address-space.ts';
import { formatAddress, parseAddress, familyOf } from '../../addresses/address.ts';
import { claimKey } from '../../state/claim.ts';
import type { IpFamily } from '../../commands/command.ts';
import type { AssignedAddress } from '../../values/allocation.ts';
import { isInPool } from '../../state/pool.ts';
import { meaningOf, Refused } from '../../commands/refusal.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../../state/state.ts';
import { matchesIpFamily, spacesFor } from './ip-family.ts';
import { isFenced, refuseFenced } from './fence.ts';
import { type ClaimSearch, findConflict } from './address-conflict.ts';
import { isFreeInHomeSubnets, isFreeOnNetworks, refuseByHomeSubnets, refuseGateway } from './network-rules.ts';
import { explainSubnetFull, addressOutOfPool, addressOutOfRange } from './refusal-messages.ts';
import { mayKeepAddress } from './keep-address.ts';
import { refuseAddressOfForeignPool, refuseOverQuota, type Tenant } from './tenancy.ts';

/** The most reasons in a refusal. A refusal becomes an event, and events are small. */
const maxReasons = 3;

/** What to search for, and where. */
export interface AddressSearch extends ClaimSearch {
  /** The subnets in order of preference; at least one. */
  readonly subnets: readonly ConfiguredSubnet[];
  /** The pool to allocate from; '' for addresses outside all pools and for named addresses. */
  readonly pool: string;
  readonly ipFamily: IpFamily;
  /** Addresses that this command already allocates to other attachments, as keys of `takenKeys`. */
  readonly taken: ReadonlySet<string>;
  /** If true, a family that the request does not name gets no address. */
  readonly exactly: boolean;
  readonly tenant: Tenant;
}

export interface SelectedAddresses {
  readonly configured: ConfiguredSubnet;
  /** One address of each requested family, IPv4 first. */
  readonly addresses: readonly AssignedAddress[];
}

/**
 * Selects the first candidate set whose addresses can all be allocated, in any of the subnets.
 * Without candidates it selects any free address. A family that a set does not name gets a free
 * address.
 * @throws Refused with the only reason; or with several reasons, and the code of the first that can
 * change
 */
export function selectAddresses(
  state: State,
  search: AddressSearch,
  candidates: readonly (readonly string[])[],
): SelectedAddresses {
  const refusals: Refused[] = [];
  for (const candidate of candidates.length === 0 ? [[]] : candidates)
    for (const configured of search.subnets) {
      try {
        const addresses = selectSet(state, configured, search, candidate);
        refuseOverQuota(state, configured, search.tenant, addresses.length);
        return { configured, addresses };
      } catch (thrown) {
        if (!(thrown instanceof Refused)) throw thrown;
        refusals.push(thrown);
      }
    }
  throw combineRefusals(refusals, candidates.length > 0);
}

function combineRefusals(refusals: readonly Refused[], named: boolean): Refused {
  const [first] = refusals;
  if (first && refusals.length === 1) return first;
  const passing = refusals.find(({ refusal }) => meaningOf(refusal.code).allocate === 'passing');
  const code = (passing ?? first)?.refusal.code;
  if (!named) return new Refused(code ?? 'INVALID_REQUEST', refusals.map(({ message }) => message).join('; '));
  const reasons = refusals.slice(0, maxReasons).map(({ message }) => message);
  if (refusals.length > maxReasons) reasons.push(`and ${refusals.length - maxReasons} more`);
  return new Refused(
    code ?? 'INVALID_REQUEST',
    `AddressConflict: none of the requested addresses can be allocated: ${reasons.join('; ')}`,
  );
}

function selectSet(
  state: State,
  configured: ConfiguredSubnet,
  search: AddressSearch,
  candidate: readonly string[],
): AssignedAddress[] {
  const named = candidate.map((text) => {
    const address = parseAddress(text);
    if (!address)
      throw new Refused(
        'INVALID_REQUEST',
        `failed to parse IP ${text}: invalid IP address "${text}"; write it without a mask`,
      );
    return address;
  });
  if (named.length > 1 && new Set(named.map(({ family }) => family)).size < named.length)
    throw new Refused('INVALID_REQUEST', `${candidate.join(',')}: at most one address of each family`);
  const spaces = spacesFor(configured, search.ipFamily);
  for (const { family, value } of named) {
    const text = formatAddress({ family, value });
    if (!configured.spaces.some(({ subnetFamily }) => subnetFamily.family === family))
      throw addressOutOfRange(text, configured);
    if (!matchesIpFamily(family, search.ipFamily))
      throw new Refused('IP_FAMILY_INVALID', `InvalidIPFamily: ${text} does not match ip_family ${search.ipFamily}`);
  }
  const requested = search.exactly
    ? spaces.filter(({ subnetFamily: { family } }) => named.some((n) => n.family === family))
    : spaces;
  return requested.map((space) => {
    const requestedAddress = named.find(({ family }) => family === space.subnetFamily.family);
    if (requestedAddress)
      return toAssignedAddress(space, checkRequested(state, configured, { space, search }, requestedAddress.value));
    const free = ownAddress(state, configured, space, search) ?? nextFreeAddress(state, configured, space, search);
    if (free === undefined) throw new Refused('SUBNET_FULL', explainSubnetFull(state, configured, search));
    return toAssignedAddress(space, free);
  });
}

/**
 * Checks that a requested address can be allocated, and returns its text. A request may name an
 * address that is excluded, cooling down or in a pool. It may not name the gateway, an address
 * reserved for another owner, or an address on which a container may answer.
 * @throws Refused
 */
function checkRequested(
  state: State,
  configured: ConfiguredSubnet,
  { space, search }: { space: AddressSpace; search: AddressSearch },
  value: bigint,
): string {
  const { name } = configured.subnet;
  const address = formatAddress({ family: space.subnetFamily.family, value });
  refuseNonHost(configured, space, value);
  if (!isInPool(state, search.pool, address)) throw addressOutOfPool(address, configured, search.pool);
  if (isTaken(configured, address, search))
    throw new Refused(
      'INVALID_REQUEST',
      `AddressConflict: ${address} of subnet ${name} is requested twice by the same Pod`,
    );
  refuseFenced(state, name, address);
  refuseByHomeSubnets(state, configured, value, { space, network: search.networkIn(name), tenant: search.tenant });
  // An address that is reserved for the Pod may be in a pool of another namespace.
  if (!claimOf(state, name, address)?.reservation) refuseAddressOfForeignPool(state, space, value, search.tenant);
  const conflict = findConflict(state, configured, address, search);
  if (conflict) throw conflict;
  return address;
}

/** The keys of an address in `taken`: one for its subnet, and one for each of its networks. */
export const takenKeys = (subnet: string, networks: readonly string[], address: string): readonly string[] => [
  claimKey({ subnet, address }),
  ...networks.map((network) => `on ${network}/${address}`),
];

const isTaken = (
  { subnet: { name, network } }: ConfiguredSubnet,
  address: string,
  { taken, networkIn }: Pick<AddressSearch, 'taken' | 'networkIn'>,
): boolean => taken.size > 0 && takenKeys(name, [networkIn(name), network], address).some((key) => taken.has(key));

/** @throws Refused ADDRESS_OUT_OF_RANGE */
export function refuseNonHost(configured: ConfiguredSubnet, { subnetFamily }: AddressSpace, value: bigint): void {
  const { family, hosts } = subnetFamily;
  const address = formatAddress({ family, value });
  if (value < hosts.first || value > hosts.last) throw addressOutOfRange(address, configured);
  refuseGateway(configured, { subnetFamily }, value);
}

/** The address of one family that the Pod gives up for this request, if the Pod may keep it. */
function ownAddress(
  state: State,
  configured: ConfiguredSubnet,
  space: AddressSpace,
  search: AddressSearch,
): string | undefined {
  const { own, pool, entitlements, tenant } = search;
  const { name } = configured.subnet;
  if (own?.subnet !== name) return undefined;
  const address = own.addresses.find((held) => familyOf(held.address) === space.subnetFamily.family)?.address;
  if (address === undefined || isTaken(configured, address, search) || isFenced(state, name, address)) return undefined;
  const keeper = { pool, entitlements, namespace: tenant.namespace };
  return mayKeepAddress(state, configured, address, keeper) ? address : undefined;
}

/** The most free addresses to compare with the NIC's network, if it is not the subnet's. */
const maxCandidates = 1_024;

/**
 * Finds the next free address of a pool, or outside all pools.
 * @throws Refused SUBNET_FULL if too many of the subnet's free addresses are in use on the network
 * of the NIC.
 */
export function nextFreeAddress(
  state: State,
  configured: ConfiguredSubnet,
  space: AddressSpace,
  search: Pick<AddressSearch, 'pool' | 'taken' | 'now' | 'networkIn'>,
): string | undefined {
  const { subnet } = configured;
  const { name, spec } = subnet;
  const network = search.networkIn(name);
  const networks = network === subnet.network ? [network] : [subnet.network, network];
  let checked = 0;
  for (const address of space.pool(search.pool)?.candidates(search.now, spec) ?? []) {
    if (isTaken(configured, address, search) || isFenced(state, name, address)) continue;
    const isFree = isFreeOnNetworks(state, networks, { subnet, address }, search.now);
    if (isFree && isFreeInHomeSubnets(state, subnet, { network, space, address })) return address;
    if (++checked === maxCandidates)
      throw new Refused(
        'SUBNET_FULL',
        `NoAvailableAddress: the next ${maxCandidates} free addresses of subnet ${name} are in use on network ${network}. Request an address that is free there, or create a Subnet for network ${network}`,
      );
  }
  return undefined;
}

/** Adds the CIDR and gateway of its subnet to an address. */
export const toAssignedAddress = (space: AddressSpace, address: string): AssignedAddress => ({
  address,
  cidr: space.subnetFamily.cidrText,
  gateway: space.subnetFamily.gatewayText,
});
