/** The state from its snapshot: the claim keys and the subnets in force hold all that deciding needs. */
import type { Claim } from './claim.ts';
import type { Segment, Seq, SourceObject, SubnetSpec } from './event.ts';
import { configureSubnet, indexAllocation, putClaim } from './indexes.ts';
import { type ClaimName, Journal } from './journal.ts';
import { networkOf } from './network.ts';
import type { ConfiguredPool } from './pool.ts';
import { initialState, type State } from './state.ts';
import { subnetOf } from './subnet.ts';

/** The last events that dropped claims of a subnet, newest first. */
export interface DroppedClaims {
  readonly subnet: string;
  readonly seqs: readonly Seq[];
}

/** Everything beside the log, at one revision. */
export interface Snapshot {
  readonly ledger: string;
  readonly segments: readonly Segment[];
  readonly subnets: readonly { readonly name: string; readonly spec: SubnetSpec; readonly source?: SourceObject }[];
  readonly pools: readonly ConfiguredPool[];
  readonly claims: readonly (ClaimName & { readonly claim: Claim })[];
  readonly dropped: readonly DroppedClaims[];
}

/** Equal to the fold of the log up to the snapshot, in what it holds and in what is decided next. */
export function restore({ ledger, segments, subnets, pools, claims, dropped }: Snapshot): State {
  const state = initialState();
  const journal = new Journal();
  state.ledger = ledger;
  state.segments = segments;
  const homes = new Map(subnets.map(({ name, spec }) => [name, networkOf(spec.provider, name)]));
  for (const { subnet, address, claim: stored } of claims) {
    const claim = stored.networks.length > 0 ? stored : { ...stored, networks: networksOf(subnet, stored, homes) };
    putClaim(state, { subnet, address }, claim, journal);
    if (claim.allocation) indexAllocation(state, claim.allocation, journal);
  }
  for (const { subnet, seqs } of dropped) state.dropped.set(subnet, seqs);
  for (const pool of pools) state.pools.set(pool.name, pool);
  for (const { name, spec, source } of subnets)
    configureSubnet(state, { subnet: subnetOf(name, spec), ...(source && { source }) }, journal);
  return state;
}

/** The networks of a claim whose key was written before it named them. */
function networksOf(subnet: string, { allocation, bindings }: Claim, homes: ReadonlyMap<string, string>): string[] {
  const users = [...(allocation ? [allocation] : []), ...bindings];
  const used = users.map(({ attachment }) => networkOf(attachment.provider, subnet));
  const home = homes.get(subnet);
  return [...new Set(home === undefined ? used : [home, ...used])];
}
