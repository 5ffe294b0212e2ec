/** A state as plain data, for comparing two of them: everything that deciding depends on, and nothing else. */
import { formatAddress } from './address.ts';
import type { AddressSpace } from './address-space.ts';
import { formatRanges } from './interval.ts';
import { claimKey, type ClaimName } from './journal.ts';
import type { State } from './state.ts';

/** How many fresh addresses of each space are named: enough to see the order in which they would be given. */
const freshShown = 20;

/** Equal descriptions decide alike. Maps are sorted; the order of reuse is kept. */
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
    homes: sorted(state.homes),
    dropped: sorted(state.dropped),
    released: sorted(state.released).map(([pod, each]) => [
      pod,
      each.map(({ uid, seq }) => `${seq}/${uid}`).toSorted(),
    ]),
    pods: sorted(state.pods).map(([pod, held]) => [pod, sorted(held)]),
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

/** The parts in the order of their names: that of the configuration decides nothing. */
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
