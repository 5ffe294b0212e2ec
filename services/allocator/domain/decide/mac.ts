/** Which MAC? The one asked for, else the one reserved with the address; a NIC that must have one gets one of our own. */
import { canonicalMac } from '../address.ts';
import type { AttachmentRequest } from '../command.ts';
import type { Allocation } from '../claim.ts';
import type { AssignedAddress, Attachment } from '../event.ts';
import { networkOf } from '../network.ts';
import { Refused } from '../refusal.ts';
import { attachmentKey, claimOf, type State } from '../state.ts';

/** Whose MAC it will be, and beside what. */
export interface MacSearch {
  readonly attachment: Attachment;
  readonly subnet: string;
  readonly addresses: readonly AssignedAddress[];
  /** What reserved MACs may be given. */
  readonly entitlements: ReadonlySet<string>;
  /** What an earlier Pod of the same name has. */
  readonly held: Allocation | undefined;
  /** "network/mac" of what this command takes for other attachments; added to. */
  readonly taken: Set<string>;
}

/**
 * '' for a NIC whose plugin makes its own MAC.
 * @throws Refused MAC_IN_USE, INVALID_REQUEST
 */
export function macFor(state: State, { mac: text, macSeed }: AttachmentRequest, search: MacSearch): string {
  const { subnet, addresses, held } = search;
  const named = readMac(text) || reservedMac(state, subnet, addresses);
  const own = held?.subnet === subnet ? held.mac : '';
  const mac = named !== '' || macSeed === undefined ? named : own || newMac(state, macSeed, search);
  if (mac === '') return '';
  if (mac !== own) refuseTaken(state, mac, search);
  search.taken.add(keyOf(search, mac));
  return mac;
}

/** Canonical; '' for none. @throws Refused INVALID_REQUEST */
export function readMac(text: string): string {
  if (text === '') return '';
  const mac = canonicalMac(text);
  if (!mac)
    throw new Refused(
      'INVALID_REQUEST',
      `${text} is not a valid unicast MAC address: write six octets, 02:00:00:53:6b:bb`,
    );
  return mac;
}

/** The MAC that was reserved with an address. */
const reservedMac = (state: State, subnet: string, addresses: readonly AssignedAddress[]): string =>
  addresses.map(({ address }) => claimOf(state, subnet, address)?.reservation?.mac).find((mac) => mac) ?? '';

/** The first from the seed on that is neither in use nor reserved on the network. */
function newMac(state: State, seed: number, search: MacSearch): string {
  for (let next = seed; ; next += 1) {
    const key = keyOf(search, localMac(next));
    if (!state.macs.has(key) && !state.reservedMacs.has(key) && !search.taken.has(key)) return localMac(next);
  }
}

const macBits = 48;

/** A number as a MAC that is nobody's by birth (locally administered) and one station's (unicast). */
function localMac(value: number): string {
  const octets = (value % 2 ** macBits).toString(16).padStart(12, '0').match(/../g) ?? [];
  const first = ((Number.parseInt(octets[0] ?? '', 16) | 2) & 0xfe).toString(16).padStart(2, '0');
  return [first, ...octets.slice(1)].join(':');
}

/** A MAC is one station's on the network of the NIC. */
const keyOf = ({ subnet, attachment: { provider } }: MacSearch, mac: string): string =>
  `${networkOf(provider, subnet)}/${mac}`;

function refuseTaken(state: State, mac: string, search: MacSearch): void {
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
  const holder = state.macs.get(key);
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
      `AddressConflict: MAC ${mac} is asked for twice in subnet ${subnet} by the same Pod`,
    );
}
