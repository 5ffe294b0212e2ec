/** Which address? The one asked for if it can be given, or the best free one. */
import type { AddressSpace } from '../address-space.ts';
import { formatAddress, parseAddress } from '../address.ts';
import type { Claim } from '../claim.ts';
import type { AssignedAddress } from '../event.ts';
import { claimKey } from '../journal.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../state.ts';

/** Of a long list only the first reasons are told: the refusal becomes an event, and events are small. */
const mostReasons = 3;

/** Where to look, and what is gone already. */
export interface Search {
  /** Best first; at least one. */
  readonly subnets: readonly ConfiguredSubnet[];
  /** "subnet/address" of what this command takes for other attachments. */
  readonly taken: ReadonlySet<string>;
  readonly now: number;
}

interface Picked {
  readonly configured: ConfiguredSubnet;
  /** One of each family of the subnet, IPv4 first. */
  readonly addresses: readonly AssignedAddress[];
}

/** Any free address (both families of a dual subnet) of the first subnet that has one. @throws Refused SUBNET_FULL */
export function pickDynamic(state: State, search: Search): Picked {
  for (const configured of search.subnets) {
    const found = configured.spaces.map((space) => bestFree(state, configured, space, search));
    if (found.every((address) => address !== undefined))
      return {
        configured,
        addresses: found.map((address, index) => assigned(configured.spaces[index] as AddressSpace, address)),
      };
  }
  throw new Refused(
    'SUBNET_FULL',
    search.subnets.map((configured) => explainFull(state, configured, search.now)).join('; '),
  );
}

/**
 * The first of the candidate sets that is free as a whole, in any of the subnets. A family of a dual subnet that the set does
 * not name is taken dynamically.
 * @throws Refused the only candidate's reason; or ADDRESS_IN_USE with each candidate's.
 */
export function pickStatic(state: State, search: Search, candidates: readonly (readonly string[])[]): Picked {
  const refusals: Refused[] = [];
  for (const candidate of candidates)
    for (const configured of search.subnets) {
      try {
        return { configured, addresses: pickSet(state, configured, search, candidate) };
      } catch (thrown) {
        if (!(thrown instanceof Refused)) throw thrown;
        refusals.push(thrown);
      }
    }
  const [first] = refusals;
  if (first && refusals.length === 1) throw first;
  const conflict = refusals.find(({ refusal }) => refusal.code !== 'ADDRESS_OUT_OF_RANGE') ?? first;
  const reasons = refusals.slice(0, mostReasons).map(({ refusal }) => refusal.message);
  if (refusals.length > mostReasons) reasons.push(`and ${refusals.length - mostReasons} more`);
  throw new Refused(
    conflict?.refusal.code ?? 'INVALID_REQUEST',
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
    if (!address) throw new Refused('INVALID_REQUEST', `failed to parse IP ${text}: it is no address`);
    return address;
  });
  if (new Set(named.map(({ family }) => family)).size < named.length)
    throw new Refused('INVALID_REQUEST', `${candidate.join(',')}: at most one address of each family`);
  for (const { family, value } of named)
    if (!configured.spaces.some((space) => space.subnetFamily.family === family))
      throw outOfRange(formatAddress({ family, value }), configured);

  return configured.spaces.map((space) => {
    const wanted = named.find(({ family }) => family === space.subnetFamily.family);
    if (wanted) return assigned(space, grantable(state, configured, { space, search }, wanted.value));
    const free = bestFree(state, configured, space, search);
    if (free === undefined) throw new Refused('SUBNET_FULL', explainFull(state, configured, search.now));
    return assigned(space, free);
  });
}

/** The text of an asked-for address that can be given. Excluded and cooling ones can; the gateway, and what anybody may answer on, can't. */
function grantable(
  state: State,
  configured: ConfiguredSubnet,
  { space, search }: { space: AddressSpace; search: Search },
  value: bigint,
): string {
  const { family, hosts, gateway } = space.subnetFamily;
  const { name, spec } = configured.subnet;
  const address = formatAddress({ family, value });
  if (value < hosts.first || value > hosts.last) throw outOfRange(address, configured);
  if (value === gateway)
    throw new Refused('ADDRESS_IN_USE', `AddressConflict: ${address} is the gateway of subnet ${name}`);
  if (search.taken.has(claimKey({ subnet: name, address })))
    throw new Refused(
      'ADDRESS_IN_USE',
      `AddressConflict: ${address} is asked for twice in subnet ${name} by the same Pod`,
    );
  refuseFenced(state, name, address);
  const claim = claimOf(state, name, address);
  if (claim?.allocation) {
    const { attachment, uid } = claim.allocation;
    throw new Refused(
      'ADDRESS_IN_USE',
      `AddressConflict: ${address} of subnet ${name} is in use by Pod ${attachment.namespace}/${attachment.pod} (uid ${uid}, ${attachment.provider}) since ${instant(claim.allocation.at)}`,
    );
  }
  if (claim && stillAnswering(claim, search.now - spec.bindingTimeoutMs))
    throw new Refused('ADDRESS_IN_USE', explainHeld(name, address, claim, spec.bindingTimeoutMs));
  return address;
}

/** Whether somebody else wrote the claim's key: nothing is decided about it. */
export const isFenced = (state: State, subnet: string, address: string): boolean =>
  state.fenced.has(claimKey({ subnet, address }));

/** @throws Refused ADDRESS_FENCED when somebody else wrote the claim's key. */
export function refuseFenced(state: State, subnet: string, address: string): void {
  if (isFenced(state, subnet, address))
    throw new Refused(
      'ADDRESS_FENCED',
      `${address} of subnet ${subnet} is fenced: its key in etcd was changed by something else than ipledger; put back what the log says of it, then restart the allocator`,
    );
}

function bestFree(state: State, configured: ConfiguredSubnet, space: AddressSpace, search: Search): string | undefined {
  const { name, spec } = configured.subnet;
  for (const address of space.candidates(search.now, spec, (text) => claimOf(state, name, text))) {
    const key = claimKey({ subnet: name, address });
    if (!search.taken.has(key) && !state.fenced.has(key)) return address;
  }
  return undefined;
}

const stillAnswering = (claim: Claim, silentSince: number): boolean =>
  claim.bindings.length > 0 && claim.lastAt > silentSince;

function explainHeld(subnet: string, address: string, claim: Claim, bindingTimeoutMs: number): string {
  const [binding] = claim.bindings;
  return `AddressConflict: ${address} of subnet ${subnet} was released, but container ${binding?.containerId} on node ${binding?.node} may still answer on it: it is free after that container's CNI DEL, or at ${instant(claim.lastAt + bindingTimeoutMs)}`;
}

function explainFull(state: State, { subnet, spaces }: ConfiguredSubnet, now: number): string {
  const parts = spaces.map((space) => {
    const { family } = space.subnetFamily;
    const resting = space.released.count;
    const at = space.nextAvailableAt(subnet.spec, (address) => claimOf(state, subnet.name, address));
    const rest =
      resting > 0
        ? `, ${resting} released but resting${at !== undefined && at > now ? ` (the next is free at ${instant(at)})` : ''}`
        : '';
    return `IPv${family}: ${space.inUse} of ${space.total} addresses in use${rest}`;
  });
  return `NoAvailableAddress: subnet ${subnet.name} (${subnet.spec.cidrBlock}) has no free address: ${parts.join('; ')}. Delete Pods that are not needed, or widen the subnet`;
}

function outOfRange(address: string, { subnet }: ConfiguredSubnet): Refused {
  return new Refused(
    'ADDRESS_OUT_OF_RANGE',
    `AddressOutOfRange: ${address} is not a host address of subnet ${subnet.name} (${subnet.spec.cidrBlock})`,
  );
}

/** An address with what its subnet puts beside it. */
export const assigned = (space: AddressSpace, address: string): AssignedAddress => ({
  address,
  cidr: space.subnetFamily.cidrText,
  gateway: space.subnetFamily.gatewayText,
});

const instant = (at: number): string => new Date(at).toISOString();
