/** Messages of refusals about addresses. Each begins with Kube-OVN's name of the problem. */
import { formatAddress } from '../../addresses/address.ts';
import type { AddressPool, CooldownTimes } from '../../state/address-pools/address-pool.ts';
import type { AddressSpace } from '../../state/address-pools/address-space.ts';
import type { Binding, Claim } from '../../state/claim.ts';
import { type IpFamily, isNever } from '../../commands/command.ts';
import { Refused } from '../../commands/refusal.ts';
import { effectiveClaim } from '../../state/claims-on-network.ts';
import type { ConfiguredSubnet, State } from '../../state/state.ts';
import type { Subnet } from '../../state/subnet.ts';
import { cooldownTimesOf } from './network-rules.ts';
import { matchesIpFamily } from './ip-family.ts';

export const formatInstant = (at: number): string => new Date(at).toISOString();

/** The command that ends a quarantine; without an address, after a list of those of the subnet. */
export const unquarantineCommand = ({
  subnet,
  address,
}: {
  readonly subnet: string;
  readonly address?: string;
}): string => `ipledger unquarantine ${address === undefined ? '' : `${address} `}--subnet ${subnet} --reason TEXT`;

/** Describes a released address whose binding has not ended. */
export function describeUnendedBinding(what: string, claim: Claim, bindingTimeoutMs: number): string {
  const [binding] = claim.bindings;
  return `${what} was released, but container ${binding?.containerId} on node ${binding?.node} may still answer on it: ${freeAfterContainer(claim.lastAt + bindingTimeoutMs)}`;
}

/** States when an address or MAC becomes free that a container may still use. */
export const freeAfterContainer = (until: number): string =>
  isNever(until)
    ? "it is free after that container's CNI DEL, or when that Node is deleted or out of service"
    : `it is free after that container's CNI DEL, when that Node is deleted, or at ${formatInstant(until)}`;

/** What, besides its CNI DEL, ends the wait for a container. @param node as the reader knows it */
export const rebootOrTimeout = (node: string, until: number): string =>
  isNever(until) ? `or a reboot of ${node}` : `a reboot of ${node}, or ${formatInstant(until)}`;

export const describeContainer = ({ containerId, node, attachment: { namespace, pod } }: Binding): string =>
  `container ${containerId} of Pod ${namespace}/${pod} on node ${node}`;

/** Explains that a subnet, or a pool of it, has no free address, with counts. */
export function explainSubnetFull(
  state: State,
  configured: ConfiguredSubnet,
  { pool, ipFamily, now }: { readonly pool: string; readonly ipFamily: IpFamily; readonly now: number },
): string {
  const { subnet, spaces } = configured;
  const requested = spaces.filter(({ subnetFamily }) => matchesIpFamily(subnetFamily.family, ipFamily));
  const reasons = requested.map(
    (space) => `IPv${space.subnetFamily.family}: ${explainPool(state, configured, space, { pool, now })}`,
  );
  const what =
    pool === '' ? `subnet ${subnet.name} (${subnet.spec.cidrBlock})` : `ippool ${pool} of subnet ${subnet.name}`;
  const has = (count: (addresses: AddressPool) => number): boolean =>
    requested.some((space) => {
      const addresses = space.pool(pool);
      return addresses !== undefined && count(addresses) > 0;
    });
  const remedy = [
    has(({ released }) => released.count) ? 'wait for the released addresses' : '',
    has(({ inUse }) => inUse) ? 'delete Pods that are not needed' : '',
    has(({ reserved }) => reserved) ? 'end reservations (`ipledger unreserve`)' : '',
    has(({ quarantined }) => quarantined)
      ? `end quarantines (\`${unquarantineCommand({ subnet: subnet.name })}\`)`
      : '',
    `widen the ${pool === '' ? 'subnet' : 'ippool'}`,
  ]
    .filter((step) => step !== '')
    .join(', or ')
    .replace(/^./, (first) => first.toUpperCase());
  return `NoAvailableAddress: ${what} has no free address: ${reasons.join('; ')}. ${remedy}${has(({ held }) => held) ? '; `ipledger check` names containers without a CNI DEL' : ''}`;
}

function explainPool(
  state: State,
  { subnet }: ConfiguredSubnet,
  space: AddressSpace,
  { pool, now }: { readonly pool: string; readonly now: number },
): string {
  const addresses = space.pool(pool);
  if (!addresses || addresses.total === 0n)
    return pool === '' ? 'it has no usable address' : 'it has no usable address in this subnet';
  const released = addresses.released.count;
  const pooled = space.total - addresses.total;
  return [
    `${addresses.inUse} of ${addresses.total} addresses in use`,
    released > 0 ? `${released} released but not yet available${describeNextFree(state, subnet, addresses, now)}` : '',
    addresses.reserved > 0 ? `${addresses.reserved} reserved` : '',
    addresses.quarantined > 0 ? `${addresses.quarantined} quarantined` : '',
    pool === '' && pooled > 0n ? `${pooled} more belong to ippools` : '',
  ]
    .filter((text) => text !== '')
    .join(', ');
}

/** When the next address becomes free. Names no container: agents of other nodes read it. */
function describeNextFree(state: State, subnet: Subnet, addresses: AddressPool, now: number): string {
  const freeAt = (values: Iterable<bigint>, time: keyof CooldownTimes): number | undefined => {
    for (const value of values) {
      const address = formatAddress({ family: addresses.family, value });
      const claim = effectiveClaim(state, subnet, address);
      return claim && claim.lastAt + cooldownTimesOf(state, subnet, { subnet: subnet.name, address }, claim)[time];
    }
    return undefined;
  };
  const cooledAt = freeAt(addresses.released.idle, 'cooldownMs');
  const heldUntil = freeAt(addresses.released.held, 'bindingTimeoutMs');
  const at = Math.min(cooledAt ?? Infinity, heldUntil ?? Infinity);
  if (at <= now || at === Infinity) return ': another Subnet of the network uses the next one, or it cools down there';
  const afterDel = `${subnet.spec.cooldownMs / 1_000} s after the CNI DEL of its container`;
  if (isNever(at)) return ` (the next is free ${afterDel})`;
  if (cooledAt === undefined) return ` (the next is free ${afterDel}, or at ${formatInstant(at)})`;
  return ` (the next is free at ${formatInstant(at)}${heldUntil === undefined ? '' : `, or ${afterDel}`})`;
}

export const addressOutOfRange = (address: string, { subnet }: ConfiguredSubnet): Refused =>
  new Refused(
    'ADDRESS_OUT_OF_RANGE',
    `AddressOutOfRange: ${address} is not a host address of subnet ${subnet.name} (${subnet.spec.cidrBlock})`,
  );

export const addressOutOfPool = (address: string, { subnet }: ConfiguredSubnet, pool: string): Refused =>
  new Refused(
    'ADDRESS_OUT_OF_RANGE',
    `AddressOutOfRange: ${address} is not in ippool ${pool} of subnet ${subnet.name}`,
  );

export const subnetUnknown = (subnet: string): Refused =>
  new Refused('SUBNET_UNKNOWN', `NoSubnet: no subnet ${subnet} is configured`);
