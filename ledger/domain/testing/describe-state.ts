/** Describes everything in a state that decisions depend on, to compare two states. */
import { formatAddress } from '../addresses/address.ts';
import type { AddressSpace } from '../state/address-pools/address-space.ts';
import { formatRanges } from '../addresses/interval.ts';
import { claimKey, type ClaimName, formerMacKeysOf, releasedMacKeysOf, sandboxKeysOf } from '../state/claim.ts';
import { attachmentKey, macKeyOf, podKeyOf, type State } from '../state/state.ts';

/** The fresh addresses of each pool to list: enough to compare the order of allocation. */
const freshShown = 20;

/**
 * States with equal descriptions lead to equal decisions. Maps are sorted; the order of reuse
 * stays.
 */
export function describeState(state: State): object {
  const sorted = <Value>(map: Iterable<[string, Value]>): [string, Value][] =>
    [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const index = (names: ReadonlyMap<string, readonly ClaimName[]>): [string, string[]][] =>
    sorted(names).map(([key, each]) => [key, each.map(claimKey).toSorted()]);
  const claims = [...state.claims.values()].flatMap((each) => [...each.values()]);
  const allocations = [...state.pods.after(0)];
  return {
    ledger: state.ledger,
    segments: state.segments,
    claims: sorted(state.claims).map(([subnet, each]) => [subnet, sorted(each)]),
    networks: sorted(state.networks).map(([network, counts]) => [network, sorted(counts)]),
    homes: sorted(state.homeSubnets),
    dropped: sorted(state.dropped),
    ended: [...state.ended.chunks()],
    allocations,
    pods: distinct(allocations.map(podKeyOf)).map((pod) => [
      pod,
      state.pods.get(pod)?.toSorted((a, b) => (attachmentKey(a.attachment) < attachmentKey(b.attachment) ? -1 : 1)),
    ]),
    sandboxes: distinct(claims.flatMap(sandboxKeysOf)).map((key) => [
      key,
      state.sandboxes.get(key)?.map(claimKey).toSorted(),
    ]),
    bindings: [...state.bindings.nodesFrom('')].map((node) => [
      node,
      [...state.bindings.after(0, node)].map(({ alloc, name }) => `${alloc} ${claimKey(name)}`).toSorted(),
    ]),
    macs: distinct(allocations.flatMap((each) => (each.mac === '' ? [] : macKeyOf(each)))).flatMap((key) =>
      (state.macs.get(key) ?? []).map(({ attachment }) => [key, attachment]),
    ),
    macCount: state.macs.size,
    formerMacs: distinct(claims.flatMap(formerMacKeysOf)).map((key) => [
      key,
      state.formerMacs.get(key)?.map(claimKey).toSorted(),
    ]),
    releasedMacs: distinct(claims.flatMap(releasedMacKeysOf)).map((key) => [
      key,
      state.releasedMacs.get(key)?.map(claimKey).toSorted(),
    ]),
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

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();

/** Sorts the pools by name, because no decision depends on the order of the configuration. */
function describeSpace({ subnetFamily, total, pools }: AddressSpace): object {
  const { family } = subnetFamily;
  const text = (value: bigint): string => formatAddress({ family, value });
  const described = pools.map((pool) => ({
    pool: pool.pool,
    total: pool.total,
    inUse: formatRanges(family, pool.inUseRanges),
    reserved: formatRanges(family, pool.reservedRanges),
    quarantined: formatRanges(family, pool.quarantinedRanges),
    excludedInUse: formatRanges(family, pool.excludedInUseRanges),
    idle: [...pool.released.idle].map(text),
    held: [...pool.released.held].map(text),
    fresh: pool.firstFresh(freshShown).map(text),
  }));
  return { total, pools: described.toSorted((a, b) => (a.pool < b.pool ? -1 : 1)) };
}
