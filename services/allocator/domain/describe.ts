/** A state as plain data, for comparing two of them: everything that deciding depends on, and nothing else. */
import { formatAddress } from './address.ts';
import type { AddressSpace } from './address-space.ts';
import { formatRanges } from './interval.ts';
import { claimKey } from './journal.ts';
import type { State } from './state.ts';

/** How many fresh addresses of each space are named: enough to see the order in which they would be given. */
const freshShown = 20;

/** Equal descriptions decide alike. Maps are sorted; the order of reuse is kept. */
export function describeState(state: State): object {
  const sorted = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
    [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    ledger: state.ledger,
    claims: sorted(state.claims).map(([subnet, claims]) => [subnet, sorted(claims)]),
    pods: sorted(state.pods).map(([pod, held]) => [pod, sorted(held)]),
    sandboxes: sorted(state.sandboxes).map(([key, names]) => [key, names.map(claimKey).toSorted()]),
    macs: sorted(state.macs),
    subnets: sorted(state.subnets).map(([name, { subnet, source, spaces }]) => ({
      name,
      spec: subnet.spec,
      source,
      spaces: spaces.map((space) => describeSpace(space)),
    })),
  };
}

function describeSpace(space: AddressSpace): object {
  const text = (value: bigint): string => formatAddress({ family: space.subnetFamily.family, value });
  return {
    total: space.total,
    inUse: formatRanges(space.subnetFamily.family, space.inUseRanges),
    idle: [...space.released.idle].map(text),
    held: [...space.released.held].map(text),
    fresh: space.firstFresh(freshShown).map(text),
  };
}
