/** Selects the MAC of an attachment: the requested one, the one reserved with its address, or a new one if the NIC needs one. */
import { canonicalMac } from '../../addresses/address.ts';
import type { AttachmentRequest } from '../../commands/command.ts';
import type { Allocation } from '../../state/claim.ts';
import type { AssignedAddress, Attachment } from '../../events/event.ts';
import { networkOf } from '../../state/network.ts';
import { Refused } from '../../commands/refusal.ts';
import { attachmentKey, claimOf, holderOfMac, type State } from '../../state/state.ts';

/** The attachment that gets the MAC, and its addresses. */
export interface MacSelection {
  readonly attachment: Attachment;
  readonly subnet: string;
  readonly addresses: readonly AssignedAddress[];
  /** The owners whose reserved MACs the attachment may take. */
  readonly entitlements: ReadonlySet<string>;
  /** The allocation of an earlier Pod of the same name. */
  readonly held: Allocation | undefined;
  /** The MACs that this command allocates, as "network/mac"; added to. */
  readonly taken: Set<string>;
}

/**
 * The MAC; '' for a NIC whose plugin makes it.
 * @throws Refused MAC_IN_USE, INVALID_REQUEST
 */
export function selectMac(state: State, { mac: text, macSeed }: AttachmentRequest, search: MacSelection): string {
  const { subnet, addresses, held } = search;
  const requested = parseMac(text) || reservedMac(state, subnet, addresses);
  const own = held?.subnet === subnet ? held.mac : '';
  const mac = requested !== '' || macSeed === undefined ? requested : own || newMac(state, macSeed, search);
  if (mac === '') return '';
  if (mac !== own) refuseTaken(state, mac, search);
  search.taken.add(keyOf(search, mac));
  return mac;
}

/** The canonical MAC; '' for none. @throws Refused INVALID_REQUEST */
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

/** The first MAC from the seed on that is neither in use nor reserved on the network. */
function newMac(state: State, seed: number, search: MacSelection): string {
  for (let next = seed; ; next += 1) {
    const key = keyOf(search, localMac(next));
    if (!state.macs.has(key) && !state.reservedMacs.has(key) && !search.taken.has(key)) return localMac(next);
  }
}

const macBits = 48;

/** A number as a locally administered unicast MAC. */
function localMac(value: number): string {
  const octets = (value % 2 ** macBits).toString(16).padStart(12, '0').match(/../g) ?? [];
  const first = ((Number.parseInt(octets[0] ?? '', 16) | 2) & 0xfe).toString(16).padStart(2, '0');
  return [first, ...octets.slice(1)].join(':');
}

/** The key of a MAC: it is unique on the network of the NIC. */
const keyOf = ({ subnet, attachment: { provider } }: MacSelection, mac: string): string =>
  `${networkOf(provider, subnet)}/${mac}`;

function refuseTaken(state: State, mac: string, search: MacSelection): void {
  const { subnet, attachment, entitlements, taken } = search;
  const key = keyOf(search, mac);
  const reservedTo = (state.reservedMacs.get(key) ?? []).map(
    ({ subnet: its, address }) => claimOf(state, its, address)?.reservation?.reservedFor ?? '',
  );
  if (reservedTo.length > 0 && !reservedTo.some((text) => entitlements.has(text)))
    throw new Refused(
      'MAC_IN_USE',
      `AddressConflict: MAC ${mac} is reserved for ${reservedTo.join(' and ')} in subnet ${subnet}`,
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
      'MAC_IN_USE',
      `AddressConflict: MAC ${mac} is requested twice in subnet ${subnet} by the same Pod`,
    );
}
