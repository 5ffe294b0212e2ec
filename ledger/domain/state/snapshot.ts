/** Restores the state from its snapshot: the claims and configurations in etcd hold all that `decide` needs. */
import type { Claim, ClaimName } from './claim.ts';
import type { Segment, Seq, SourceObject, SubnetSpec } from '../events/event.ts';
import { indexSubnet, indexAllocation, putClaim } from './indexes.ts';
import { permanent } from './undo-log.ts';
import { networkOf } from './network.ts';
import type { ConfiguredPool } from './pool.ts';
import { initialState, type State } from './state.ts';
import { subnetFromSpec } from './subnet.ts';

/** The last events that dropped claims of a subnet, newest first. */
export interface DroppedClaims {
  readonly subnet: string;
  readonly seqs: readonly Seq[];
}

/** All keys beside the log, at one revision. */
export interface Snapshot {
  readonly ledger: string;
  readonly segments: readonly Segment[];
  readonly subnets: readonly { readonly name: string; readonly spec: SubnetSpec; readonly source?: SourceObject }[];
  readonly pools: readonly ConfiguredPool[];
  readonly claims: readonly (ClaimName & { readonly claim: Claim })[];
  readonly dropped: readonly DroppedClaims[];
}

/** The state. It equals the fold of the log up to the snapshot, and `decide` returns the same for both. */
export function restoreState({ ledger, segments, subnets, pools, claims, dropped }: Snapshot): State {
  const state = initialState();
  state.ledger = ledger;
  state.segments = segments;
  const homes = new Map(subnets.map(({ name, spec }) => [name, networkOf(spec.provider, name)]));
  for (const { subnet, address, claim: stored } of claims) {
    const claim = stored.networks.length > 0 ? stored : { ...stored, networks: networksOf(subnet, stored, homes) };
    putClaim(state, { subnet, address }, claim, permanent);
    if (claim.allocation) indexAllocation(state, claim.allocation, permanent);
  }
  for (const { subnet, seqs } of dropped) state.dropped.set(subnet, seqs);
  for (const pool of pools) state.pools.set(pool.name, pool);
  for (const { name, spec, source } of subnets)
    indexSubnet(state, { subnet: subnetFromSpec(name, spec), ...(source && { source }) }, permanent);
  return state;
}

/** The networks of a claim whose key was written by a version that did not store them. */
function networksOf(subnet: string, { allocation, bindings }: Claim, homes: ReadonlyMap<string, string>): string[] {
  const users = [...(allocation ? [allocation] : []), ...bindings];
  const used = users.map(({ attachment }) => networkOf(attachment.provider, subnet));
  const home = homes.get(subnet);
  return [...new Set(home === undefined ? used : [home, ...used])];
}
