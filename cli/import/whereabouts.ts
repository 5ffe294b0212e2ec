/**
 * Parses the objects of whereabouts: IPPool and OverlappingRangeIPReservation of
 * whereabouts.cni.cncf.io/v1alpha1. Pure.
 *
 * An IPPool maps offsets from the address of `spec.range` to allocations. An
 * OverlappingRangeIPReservation repeats one allocation under the name `[network-]address`, with "-"
 * for ":".
 */
import { formatAddress, lastAddressOf, parseAddress, parseCidr } from '../../ledger/domain/addresses/address.ts';
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { CliError } from '../cli-error.ts';
import { maxInterfaceLength } from './observed-attachment.ts';
import { maxSourceAddresses, type SourceAddress, type SourceAddresses, type SourceConflict } from './source-address.ts';

const api = '/apis/whereabouts.cni.cncf.io/v1alpha1';
export const whereaboutsPaths = {
  pools: `${api}/ippools`,
  reservations: `${api}/overlappingrangeipreservations`,
} as const;

const maxPools = 20_000;
/** A namespace has up to 63 characters, a Pod name up to 253. */
const podReference = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/;
/** An offset, up to 2^128. */
const offsetText = /^\d{1,39}$/;
const maxIdLength = 256;

export interface WhereaboutsObjects {
  readonly pools: readonly UntypedJson[];
  readonly reservations: readonly UntypedJson[];
}

/**
 * @param isSelected whether the import includes a network
 * @throws CliError if there are more objects than an import can have
 */
export function parseWhereabouts(
  { pools, reservations }: WhereaboutsObjects,
  isSelected: (network: string) => boolean,
): SourceAddresses {
  assertSizes(pools, reservations);
  const parsed = pools.map(parsePool);
  const all = parsed.flatMap(({ addresses }) => addresses);
  const selected = parsed.filter(({ network }) => isSelected(network));
  const byName = Map.groupBy(all, ({ address }) => nameOf(address));
  return {
    networks: new Set(parsed.map(({ network }) => network)),
    addresses: selected.flatMap(({ addresses }) => addresses),
    conflicts: [
      ...selected.flatMap(({ conflicts }) => conflicts),
      ...reservations.flatMap((each) => checkReservation(each, byName, isSelected)),
    ],
  };
}

function assertSizes(pools: readonly UntypedJson[], reservations: readonly UntypedJson[]): void {
  assertAtMost(pools.length, maxPools, 'IPPools');
  assertAtMost(reservations.length, maxSourceAddresses, 'OverlappingRangeIPReservations');
  let count = 0;
  for (const pool of pools) count += Object.keys(allocationsOf(pool)).length;
  assertAtMost(count, maxSourceAddresses, 'allocations in IPPools');
}

function assertAtMost(count: number, limit: number, what: string): void {
  if (count > limit)
    throw new CliError('refused', `the cluster has ${count} ${what}; an import can have ${limit}: nothing was changed`);
}

const allocationsOf = (pool: UntypedJson): UntypedJson => asRecord(asRecord(pool['spec'])['allocations']);

interface ParsedPool extends Omit<SourceAddresses, 'networks'> {
  readonly network: string;
}

function parsePool(pool: UntypedJson): ParsedPool {
  const { name: nameValue, namespace } = asRecord(pool['metadata']);
  const network = asText(nameValue);
  const where = `IPPool ${asText(namespace)}/${network}`;
  const range = asText(asRecord(pool['spec'])['range']);
  const [conflicts, addresses]: [SourceConflict[], SourceAddress[]] = [[], []];
  for (const [offset, value] of Object.entries(allocationsOf(pool))) {
    const address = addressAt(range, offset);
    const { id, podref, ifname } = asRecord(value);
    const [containerId, interfaceName] = [asText(id), asText(ifname)];
    const [, podNamespace, podName] = podReference.exec(asText(podref)) ?? [];
    const invalid = (what: string): void =>
      void conflicts.push({
        kind: 'invalid entry',
        where,
        what: `allocation ${quote(offset)}: ${what}`,
        remedy: 'delete the allocation from the IPPool, and the Pod that has the address',
        ...(address !== undefined && { about: { network, address } }),
      });
    if (address === undefined) invalid(`it is not an address of the range ${quote(range)}`);
    else if (!podNamespace || !podName) invalid(`podref ${quote(asText(podref))} is not namespace/name`);
    else if (containerId.length > maxIdLength || interfaceName.length > maxInterfaceLength)
      invalid('id or ifname is too long');
    else if (asText(asRecord(value)['ipamclaimref']) !== '')
      conflicts.push({
        kind: 'persistent address',
        where,
        what: `${address} belongs to IPAMClaim ${quote(asText(asRecord(value)['ipamclaimref']))}`,
        remedy: 'stop the virtual machine and delete the IPAMClaim; or leave this network with whereabouts',
        about: { network, address },
      });
    else
      addresses.push({
        where,
        network,
        address,
        interface: interfaceName,
        containerId,
        holder: { by: 'pod', namespace: podNamespace, name: podName },
      });
  }
  return { network, addresses, conflicts };
}

/** Quotes a value for users, at a length that a table can show. */
const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** The address at an offset from a range's address, which may have host bits. */
function addressAt(range: string, offset: string): string | undefined {
  const cidr = parseCidr(range);
  const first = parseAddress(range.split('/')[0] ?? '');
  if (!cidr || !first || !offsetText.test(offset)) return undefined;
  const value = first.value + BigInt(offset);
  return value > lastAddressOf(cidr) ? undefined : formatAddress({ family: first.family, value });
}

/** The name of an address's object. A name must not end with "-". */
const nameOf = (address: string): string => (address.endsWith(':') ? `${address}0` : address).replaceAll(':', '-');

/** Checks that a reservation repeats the allocation of an IPPool. */
function checkReservation(
  reservation: UntypedJson,
  byName: ReadonlyMap<string, readonly SourceAddress[]>,
  isSelected: (network: string) => boolean,
): SourceConflict[] {
  const { name: nameValue, namespace } = asRecord(reservation['metadata']);
  const name = asText(nameValue);
  const podref = asText(asRecord(reservation['spec'])['podref']);
  const found = suffixesOf(name).flatMap((suffix) => byName.get(suffix) ?? []);
  const podOf = ({ holder }: SourceAddress): string =>
    holder.by === 'pod' ? `${holder.namespace}/${holder.name}` : '';
  const selected = found.filter(({ network }) => isSelected(network));
  // A reservation of another network with the same address has the same suffix
  if (selected.length === 0 || found.some((each) => podOf(each) === podref)) return [];
  return selected.map((about): SourceConflict => ({
    kind: 'entry and reservation',
    where: `OverlappingRangeIPReservation ${asText(namespace)}/${name}`,
    what: `it is for Pod ${quote(podref)}; the IPPool has the address for Pod ${podOf(about)}`,
    remedy: 'delete the wrong one of the two; `ip addr` in the containers shows which',
    about,
  }));
}

/** Returns the name, and what follows each "-" of it. */
function suffixesOf(name: string): string[] {
  const starts = [...name.matchAll(/-/g)].map(({ index }) => index + 1);
  return [name, ...starts.map((start) => name.slice(start))];
}
