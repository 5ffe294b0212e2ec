/** A state as plain data, to compare two states: everything that decisions depend on. */
import { formatAddress } from '../addresses/address.ts';
import type { AddressSpace } from '../addresses/address-space.ts';
import { formatRanges } from '../addresses/interval.ts';
import { claimKey, type ClaimName } from '../state/claim.ts';
import { attachmentKey, type State } from '../state/state.ts';

/** The number of fresh addresses of each part: enough to compare the order of allocation. */
const freshShown = 20;

/** States with equal descriptions lead to equal decisions. Maps are sorted; the order of reuse is kept. */
export function describeState(state: State): object {
  const sorted = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
    [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const index = (names: ReadonlyMap<string, readonly ClaimName[]>): [string, string[]][] =>
    sorted(names).map(([key, each]) => [key, each.map(claimKey).toSorted()]);
  return {
    ledger: state.ledger,
    segments: state.segments,
    claims: sorted(state.claims).map(([subnet, claims]) => [subnet, sorted(claims)]),
    networks: sorted(state.networks).map(([network, counts]) => [network, sorted(counts)]),
    homes: sorted(state.homeSubnets),
    dropped: sorted(state.dropped),
    released: sorted(state.released).map(([pod, each]) => [
      pod,
      each.map(({ uid, seq }) => `${seq}/${uid}`).toSorted(),
    ]),
    pods: sorted(state.pods).map(([pod, held]) => [
      pod,
      held.toSorted((a, b) => (attachmentKey(a.attachment) < attachmentKey(b.attachment) ? -1 : 1)),
    ]),
    sandboxes: index(state.sandboxes),
    macs: sorted(state.macs),
    reservations: index(state.reservations),
    reservedMacs: index(state.reservedMacs),
    namespaceCounts: sorted(state.namespaceCounts),
    pools: sorted(state.pools),
    subnets: sorted(state.subnets).map(([name, { subnet, source, spaces }]) => ({
      name,
      spec: subnet.spec,
      source,
      spaces: spaces.map((space) => describeSpace(space)),
    })),
  };
}

/** The parts in the order of their names: no decision depends on the order of the configuration. */
function describeSpace({ subnetFamily, total, parts }: AddressSpace): object {
  const { family } = subnetFamily;
  const text = (value: bigint): string => formatAddress({ family, value });
  const described = parts.map((part) => ({
    pool: part.pool,
    total: part.total,
    inUse: formatRanges(family, part.inUseRanges),
    reserved: formatRanges(family, part.reservedRanges),
    quarantined: formatRanges(family, part.quarantinedRanges),
    excludedInUse: formatRanges(family, part.excludedInUseRanges),
    idle: [...part.released.idle].map(text),
    held: [...part.released.held].map(text),
    fresh: part.firstFresh(freshShown).map(text),
  }));
  return { total, parts: described.toSorted((a, b) => (a.pool < b.pool ? -1 : 1)) };
}
