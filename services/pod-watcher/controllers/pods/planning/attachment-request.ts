/**
 * Builds the request for one attachment from its parsed annotations, or returns the first error in
 * them.
 *
 * Addresses have this precedence: `ips` beside the network's name, the annotation for the
 * interface, `ip_address`, `ip_pool`. Without any of them the request is for any free address.
 * Values with a lower precedence are validated, too. After a conflict on the wire, `ip_pool`
 * precedes the annotation that still shows the address. So does an IPPool of the namespace, unless
 * the Pod had requested this address.
 */
import { ok, problem, type Result } from '../../../../../lib/result.ts';
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { AddressSet, AttachmentRequest } from '../../../../../proto/generated/ipledger.ts';
import type { RequestedValues } from '../../../kubernetes/objects/annotation-table.ts';
import { type AddressConstraints, parseAddresses, parseMac } from '../../../kubernetes/objects/annotation-values.ts';
import type { ConflictingAddress } from '../conflicting-addresses.ts';
import { constraintsOf } from './attachment-annotations.ts';
import { networkKey, type NetworkSelection } from './network-selections.ts';
import type { ResolvedAttachment } from './resolve-pod.ts';

/** The fields of an attachment that determine its request, except Subnets and IPPool. */
type RequestedAttachment = Pick<
  ResolvedAttachment,
  'selection' | 'provider' | 'ordinal' | 'member' | 'annotations' | 'pool'
>;

/**
 * @param conflicts the addresses that another host answered on; the annotations may show them
 * @returns the request without Subnets and IPPool
 */
export function buildAttachmentRequest(
  { selection, provider, ordinal, member, annotations, pool: namedPool }: RequestedAttachment,
  conflicts: readonly Pick<ConflictingAddress, 'address' | 'isStatic'>[] = [],
): Result<Omit<MessageInput<AttachmentRequest>, 'subnets' | 'pool'>> {
  if (annotations.problem !== undefined) return problem(annotations.problem);
  // Omits `subnet`, which is already resolved. A field that the request does not use remains in
  // `forgotten`, which does not compile.
  const { values }: { readonly values: Omit<RequestedValues, 'subnet'> } = annotations;
  const { cidrs, family, pool, addresses, interfaceAddresses, mac, interfaceMac, routes, defaultRoute, ...forgotten } =
    values;
  forgotten satisfies Record<string, never>;
  const ips = parseIps(selection, constraintsOf({ cidrs, family }));
  if (!ips.ok) return ips;
  const ownMac = selection.mac === '' ? ok('') : parseMac(selection.mac, `mac of network ${networkKey(selection)}`);
  if (!ownMac.ok) return ownMac;
  const listed = selectCandidates(pool, member);
  if (!listed.ok) return listed;
  const shown = interfaceAddresses?.value ?? addresses?.value;
  const mayGiveUp = ({ isStatic }: Pick<ConflictingAddress, 'isStatic'>): boolean =>
    pool !== undefined || (namedPool !== undefined && !isStatic);
  const givenUp = new Set(conflicts.filter(mayGiveUp).map(({ address }) => address));
  const isGivenUp = shown?.addresses?.every((address) => givenUp.has(address));
  const named = ips.value ?? (isGivenUp ? undefined : shown);
  return ok({
    provider,
    ordinal,
    interface: selection.interface,
    candidates: named ? [named] : listed.value,
    mac: ownMac.value || (interfaceMac?.value ?? mac?.value ?? ''),
    routes: routes?.value ?? [],
    defaultRoute: defaultRoute?.value,
    ipFamily: family?.value ?? '',
  });
}

/** Parses the `ips` beside the network's name. */
function parseIps(selection: NetworkSelection, constraints: AddressConstraints): Result<AddressSet | undefined> {
  if (selection.addresses.length === 0) return ok(undefined);
  const source = { key: `ips of network ${networkKey(selection)}`, label: 'ips', allowsPrefixLength: true };
  return parseAddresses(selection.addresses, source, constraints);
}

/** Returns the addresses in `ip_pool`; for a StatefulSet's member the entry of its ordinal. */
function selectCandidates(
  pool: RequestedValues['pool'],
  member: RequestedAttachment['member'],
): Result<readonly AddressSet[]> {
  if (pool?.value.kind !== 'list') return ok([]);
  const { sets } = pool.value;
  if (!member) return ok(sets);
  const { ordinal, firstOrdinal } = member;
  const own = sets[ordinal - firstOrdinal];
  if (own) return ok([own]);
  const from = firstOrdinal === 0 ? '' : `, whose first member is ${firstOrdinal}`;
  return problem(
    `NoAvailableAddress: ${pool.key} has ${sets.length} entries, none for member ${ordinal} of the StatefulSet${from}`,
  );
}
