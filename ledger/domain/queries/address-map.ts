/** The address map: every address that is not free. Also compares two claims of one address. */
import { parseAddress, familyOf } from '../addresses/address.ts';
import type { Claim } from '../state/claim.ts';
import { addressRecord, type AddressRecord } from './queries.ts';
import type { State } from '../state/state.ts';

const isInUse = (claim: Claim | undefined): claim is Claim =>
  claim !== undefined &&
  (claim.allocation !== undefined ||
    claim.bindings.length > 0 ||
    claim.reservation !== undefined ||
    claim.quarantine !== undefined);

/** The number of addresses that are sorted in one step, which takes less than a millisecond. */
const runSize = 1_024;

/**
 * Lists the addresses of one subnet, or of all subnets (''), by subnet name, then by number, IPv4
 * first. The states are those at `now`. Yields undefined after each step, so that the caller can
 * let other work run.
 */
export function* addressMap(state: State, subnet: string, now: number): Generator<AddressRecord | undefined> {
  const subnets = subnet === '' ? [...state.claims.keys()].toSorted() : [subnet];
  for (const name of subnets) {
    const inUse: string[] = [];
    for (const { address, standing } of state.claims.get(name)?.outlines() ?? []) {
      if (standing !== 'idle') inUse.push(address);
      yield undefined;
    }
    for (const address of inNumericOrder(inUse))
      yield address === undefined ? undefined : addressRecord(state, name, address, now);
  }
}

/** Yields canonical addresses in numeric order, IPv4 first, and undefined after each step. */
export function* inNumericOrder(addresses: readonly string[]): Generator<string | undefined> {
  let runs: string[][] = [];
  for (let first = 0; first < addresses.length; first += runSize) {
    runs.push(
      addresses
        .slice(first, first + runSize)
        .map(orderText)
        .sort(),
    );
    yield undefined;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(yield* merge(runs[index] as string[], runs[index + 1] ?? []));
    runs = merged;
  }
  for (const text of runs[0] ?? []) yield text.slice(orderLength);
}

function* merge(one: readonly string[], other: readonly string[]): Generator<undefined, string[]> {
  const merged: string[] = [];
  for (let [a, b] = [0, 0]; a < one.length || b < other.length;) {
    const [left, right] = [one[a], other[b]];
    const isLeft = right === undefined || (left !== undefined && left < right);
    merged.push((isLeft ? left : right) as string);
    if (isLeft) a++;
    else b++;
    if (merged.length % runSize === 0) yield undefined;
  }
  return merged;
}

const orderLength = 1 + 128 / 4;

/** Returns a text that sorts like the address: family and value with fixed lengths. */
const orderText = (address: string): string =>
  `${familyOf(address)}${(parseAddress(address)?.value ?? 0n).toString(16).padStart(orderLength - 1, '0')}${address}`;

/** Whether two claims have the same holder, node, containers, reservation and quarantine. */
export const claimsAgree = (one: Claim | undefined, other: Claim | undefined): boolean =>
  comparableText(one) === comparableText(other);

function comparableText(claim: Claim | undefined): string {
  if (!isInUse(claim)) return '';
  const { allocation, bindings, reservation, quarantine } = claim;
  const containers = bindings.map(({ containerId, interface: name }) => `${containerId}/${name}`).toSorted();
  return JSON.stringify([allocation?.seq, allocation?.node, containers, reservation?.seq, quarantine?.seq]);
}
