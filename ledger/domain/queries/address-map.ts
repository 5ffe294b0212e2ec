/** The address map: every address that is not free, and whether two claims of one address agree. */
import { parseAddress } from '../addresses/address.ts';
import type { Claim } from '../state/claim.ts';
import { familyOf } from '../events/event.ts';
import { addressRecord, type AddressRecord } from './queries.ts';
import type { State } from '../state/state.ts';

/** Whether an address is allocated, bound, reserved or quarantined. */
const isInUse = (claim: Claim | undefined): claim is Claim =>
  claim !== undefined &&
  (claim.allocation !== undefined ||
    claim.bindings.length > 0 ||
    claim.reservation !== undefined ||
    claim.quarantine !== undefined);

/** The map of one subnet, or of all ('') by name; addresses in numeric order, IPv4 first. The states are those at `now`. */
export function* addressMap(state: State, subnet: string, now: number): Generator<AddressRecord> {
  const subnets = subnet === '' ? [...state.claims.keys()].toSorted() : [subnet];
  for (const name of subnets) {
    const inUse = [...(state.claims.get(name) ?? [])].filter(([, claim]) => isInUse(claim));
    for (const address of sortAddresses(inUse.map(([address]) => address)))
      yield addressRecord(state, name, address, now);
  }
}

/** Sorts canonical addresses in numeric order, IPv4 first. */
export function sortAddresses(addresses: readonly string[]): string[] {
  const numbered = addresses.map((address) => ({ address, value: parseAddress(address)?.value ?? 0n }));
  return numbered
    .toSorted((a, b) => familyOf(a.address) - familyOf(b.address) || (a.value < b.value ? -1 : 1))
    .map(({ address }) => address);
}

/** Whether two claims have the same holder, node, containers, reservation and quarantine. */
export const claimsAgree = (one: Claim | undefined, other: Claim | undefined): boolean =>
  comparableText(one) === comparableText(other);

function comparableText(claim: Claim | undefined): string {
  if (!isInUse(claim)) return '';
  const { allocation, bindings, reservation, quarantine } = claim;
  const containers = bindings.map(({ containerId, interface: name }) => `${containerId}/${name}`).toSorted();
  return JSON.stringify([allocation?.seq, allocation?.node, containers, reservation?.seq, quarantine?.seq]);
}
