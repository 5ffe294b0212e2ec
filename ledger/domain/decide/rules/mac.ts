/** Selects the MAC of an attachment: the requested, the reserved with its address, or a new MAC. */
import { canonicalMac } from '../../addresses/address.ts';
import type { AttachmentRequest } from '../../commands/command.ts';
import type { Allocation, Binding } from '../../state/claim.ts';
import type { AssignedAddress, Attachment } from '../../values/allocation.ts';
import { networkOf } from '../../state/network.ts';
import { type RefusalCode, Refused } from '../../commands/refusal.ts';
import { attachmentKey, claimOf, holderOfMac, type State } from '../../state/state.ts';
import { cooldownTimesOf } from './network-rules.ts';
import { describeContainer, formatInstant, freeAfterContainer } from './refusal-messages.ts';

/** The attachment that gets the MAC, and its addresses. */
export interface MacSelection {
  readonly attachment: Attachment;
  readonly subnet: string;
  readonly addresses: readonly AssignedAddress[];
  /** The owners whose reserved MACs the attachment may take. */
  readonly entitlements: ReadonlySet<string>;
  /** The allocation that an earlier Pod of the same name holds. */
  readonly held: Allocation | undefined;
  /** MACs that this command already allocates, as "network/mac". Updated in place. */
  readonly taken: Set<string>;
  readonly now: number;
}

/**
 * Returns '' for a NIC whose plugin generates the MAC. A MAC is held as long as the address that it
 * was allocated with. During the cooldown of that address a Pod can request the MAC, but it is not
 * generated.
 * @throws Refused MAC_IN_USE, INVALID_REQUEST
 */
export function selectMac(state: State, { mac: text, macSeed }: AttachmentRequest, search: MacSelection): string {
  const { subnet, addresses, held } = search;
  const requested = parseMac(text) || reservedMac(state, subnet, addresses);
  const own = held?.subnet === subnet ? held.mac : '';
  const mac = requested !== '' || macSeed === undefined ? requested : madeMac(state, own, macSeed, search);
  if (mac === '') return '';
  if (mac !== own) refuseTaken(state, mac, search);
  if (requested !== '') refuseHeld(state, mac, search);
  search.taken.add(keyOf(search, mac));
  return mac;
}

/** Returns the canonical MAC; '' for none. @throws Refused INVALID_REQUEST */
export function parseMac(text: string): string {
  if (text === '') return '';
  const mac = canonicalMac(text);
  if (!mac)
    throw new Refused(
      'INVALID_REQUEST',
      `${text} is not a valid unicast MAC address: write six octets, 02:00:00:53:6b:bb`,
    );
  return mac;
}

/** The MAC that is reserved with an address; '' for none. */
const reservedMac = (state: State, subnet: string, addresses: readonly AssignedAddress[]): string =>
  addresses.map(({ address }) => claimOf(state, subnet, address)?.reservation?.mac).find((mac) => mac) ?? '';

/** Keeps the MAC of the name's earlier Pod, unless a container elsewhere may use it. */
function madeMac(state: State, own: string, seed: number, search: MacSelection): string {
  return own !== '' && reasonHeld(state, own, search) === undefined ? own : newMac(state, seed, search);
}

/** The first MAC from the seed on that is not in use, reserved or cooling down on the network. */
function newMac(state: State, seed: number, search: MacSelection): string {
  for (let next = seed; ; next += 1) {
    const mac = localMac(next);
    const key = keyOf(search, mac);
    const isTaken = state.macs.has(key) || search.taken.has(key) || reservedTo(state, mac, search).length > 0;
    if (!isTaken && reasonHeld(state, mac, search) === undefined && !coolsDown(state, mac, search)) return mac;
  }
}

const macBits = 48;

/** Formats a number as a locally administered unicast MAC. */
function localMac(value: number): string {
  const octets = (value % 2 ** macBits).toString(16).padStart(12, '0').match(/../g) ?? [];
  const first = ((Number.parseInt(octets[0] ?? '', 16) | 2) & 0xfe).toString(16).padStart(2, '0');
  return [first, ...octets.slice(1)].join(':');
}

/** A MAC is unique on the network of the NIC. */
const keyOf = ({ subnet, attachment: { provider } }: MacSelection, mac: string): string =>
  `${networkOf(provider, subnet)}/${mac}`;

/** The owners that a MAC is reserved for, on the network of the NIC or of the Subnet. */
function reservedTo(state: State, mac: string, search: MacSelection): readonly string[] {
  const home = state.subnets.get(search.subnet)?.subnet.network;
  return [...new Set([keyOf(search, mac), `${home}/${mac}`])]
    .flatMap((key) => state.reservedMacs.get(key) ?? [])
    .map(({ subnet, address }) => claimOf(state, subnet, address)?.reservation?.reservedFor ?? '');
}

function refuseTaken(state: State, mac: string, search: MacSelection): void {
  const { subnet, attachment, entitlements, taken } = search;
  const key = keyOf(search, mac);
  const owners = reservedTo(state, mac, search);
  if (owners.length > 0 && !owners.some((text) => entitlements.has(text)))
    throw new Refused(
      'MAC_RESERVED',
      `AddressConflict: MAC ${mac} is reserved for ${owners.join(' and ')} in subnet ${subnet}`,
    );
  const holder = holderOfMac(state, key);
  const isOwn =
    holder?.namespace === attachment.namespace &&
    holder.pod === attachment.pod &&
    attachmentKey(holder) === attachmentKey(attachment);
  if (holder && !isOwn)
    throw new Refused(
      'MAC_IN_USE',
      `AddressConflict: MAC ${mac} is in use in subnet ${subnet} by Pod ${holder.namespace}/${holder.pod} (${holder.provider})`,
    );
  if (taken.has(key))
    throw new Refused(
      'INVALID_REQUEST',
      `AddressConflict: MAC ${mac} is requested twice in subnet ${subnet} by the same Pod`,
    );
}

/** Whether an address that was released with this MAC is cooling down. */
function coolsDown(state: State, mac: string, search: MacSelection): boolean {
  const allocating = state.subnets.get(search.subnet)?.subnet;
  return (state.releasedMacs.get(keyOf(search, mac)) ?? []).some((name) => {
    const claim = claimOf(state, name.subnet, name.address);
    return (
      claim && allocating && claim.lastAt > search.now - cooldownTimesOf(state, allocating, name, claim).cooldownMs
    );
  });
}

/**
 * Explains why a MAC stays in use after its address was released or transferred: a container may
 * still use it, or the address is quarantined. Undefined if the MAC is free.
 */
function reasonHeld(state: State, mac: string, search: MacSelection): Refused | undefined {
  const refusal = (code: RefusalCode, why: string): Refused => new Refused(code, `AddressConflict: MAC ${mac} ${why}`);
  const { subnet, addresses, held, now } = search;
  const allocating = state.subnets.get(subnet)?.subnet;
  const givenUp = held?.mac === mac ? held.addresses.map(({ address }) => ({ subnet: held.subnet, address })) : [];
  for (const name of [...(state.formerMacs.get(keyOf(search, mac)) ?? []), ...givenUp]) {
    // Containers at an address that the attachment gets have this MAC already. Bind waits for those
    // on other nodes.
    if (name.subnet === subnet && addresses.some(({ address }) => address === name.address)) continue;
    const claim = claimOf(state, name.subnet, name.address);
    if (!claim || !allocating) continue;
    const { quarantine, released, allocation, lastAt } = claim;
    const { bindingTimeoutMs } = cooldownTimesOf(state, allocating, name, claim);
    const where = `${name.address} of subnet ${name.subnet}`;
    // The timeout counts from the release of the address, or from its transfer to a newer Pod.
    const isGivenUp = allocation !== undefined && allocation.seq === held?.seq;
    const endOf = ({ at }: Binding): number =>
      bindingTimeoutMs + (isGivenUp ? now : allocation ? Math.max(at, allocation.at) : lastAt);
    const containers = claim.bindings.filter((binding) => binding.mac === mac);
    const container = containers.find((each) => endOf(each) > now);
    if (container)
      return refusal(
        'MAC_IN_USE',
        `is in use with ${where} by ${describeContainer(container)}: ${freeAfterContainer(endOf(container))}`,
      );
    if (quarantine && (containers.length > 0 || released?.mac === mac))
      return refusal(
        'MAC_RESERVED',
        `is held with ${where}, which Pod ${released?.pod} had, and which is quarantined since ${formatInstant(quarantine.at)}. Run ipledger unquarantine first`,
      );
  }
  return undefined;
}

function refuseHeld(state: State, mac: string, search: MacSelection): void {
  const refused = reasonHeld(state, mac, search);
  if (refused) throw refused;
}
