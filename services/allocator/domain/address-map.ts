/** The address map: every address that somebody has or that is kept back, and what makes two looks at one of them differ. */
import { parseAddress } from './address.ts';
import type { Claim } from './claim.ts';
import { familyOf } from './event.ts';
import { addressRecord, type AddressRecord } from './questions.ts';
import type { State } from './state.ts';

/** Whether an address is anything but free: held, still answered on by a container, reserved or quarantined. */
const isKept = (claim: Claim | undefined): claim is Claim =>
  claim !== undefined &&
  (claim.allocation !== undefined ||
    claim.bindings.length > 0 ||
    claim.reservation !== undefined ||
    claim.quarantine !== undefined);

/** The map of one subnet, or ('') of all, by name; addresses in numeric order, IPv4 first. Which of them still cool down depends on `now`. */
export function* addressMap(state: State, subnet: string, now: number): Generator<AddressRecord> {
  const subnets = subnet === '' ? [...state.claims.keys()].toSorted() : [subnet];
  for (const name of subnets) {
    const kept = [...(state.claims.get(name) ?? [])].filter(([, claim]) => isKept(claim));
    for (const address of inOrder(kept.map(([address]) => address))) yield addressRecord(state, name, address, now);
  }
}

/** Canonical addresses by family and number. */
export function inOrder(addresses: readonly string[]): string[] {
  const numbered = addresses.map((address) => ({ address, value: parseAddress(address)?.value ?? 0n }));
  return numbered
    .toSorted((a, b) => familyOf(a.address) - familyOf(b.address) || (a.value < b.value ? -1 : 1))
    .map(({ address }) => address);
}

/** Whether two claims agree on who has the address, where it is used and why it is kept back. */
export const isSame = (one: Claim | undefined, other: Claim | undefined): boolean => facts(one) === facts(other);

function facts(claim: Claim | undefined): string {
  if (!isKept(claim)) return '';
  const { allocation, bindings, reservation, quarantine } = claim;
  const containers = bindings.map(({ containerId, interface: name }) => `${containerId}/${name}`).toSorted();
  return JSON.stringify([allocation?.seq, allocation?.node, containers, reservation?.seq, quarantine?.seq]);
}
