/** Restores the state from the claims and configurations in etcd. */
import type { Claim, ClaimName } from './claim.ts';
import type { Segment, Seq } from '../values/ledger.ts';
import type { SourceObject, SubnetSpec } from '../values/configuration.ts';
import type { EndedChunk } from './ended-pods.ts';
import { addClaim, indexSubnet, indexAllocation, putClaim } from './indexes.ts';
import { permanent } from './undo-log.ts';
import { networkOf } from './network.ts';
import type { ConfiguredPool } from './pool.ts';
import { claimOf, initialState, type State } from './state.ts';
import { subnetFromSpec } from './subnet.ts';

/** The newest events that dropped claims of a subnet, newest first. */
export interface DroppedClaims {
  readonly subnet: string;
  readonly seqs: readonly Seq[];
}

/** All keys beside the log, without the head and the claims. */
export interface Configuration {
  readonly ledger: string;
  readonly segments: readonly Segment[];
  readonly subnets: readonly { readonly name: string; readonly spec: SubnetSpec; readonly source?: SourceObject }[];
  readonly pools: readonly ConfiguredPool[];
  readonly dropped: readonly DroppedClaims[];
  readonly ended: readonly EndedChunk[];
}

/** All keys beside the log, at one revision. */
export interface Snapshot extends Configuration {
  readonly claims: readonly (ClaimName & { readonly claim: Claim })[];
}

/** Restores the state. `decide` returns the same for it as for the fold of the log. */
export function restoreState(snapshot: Snapshot): State {
  const restore = new StateRestore(snapshot.subnets);
  for (const { subnet, address, claim } of snapshot.claims) restore.add({ subnet, address }, claim);
  return restore.end(snapshot);
}

/** Restores a state claim by claim. So the claims do not fill memory as objects. */
export class StateRestore {
  readonly #state = initialState();
  /** The network of each Subnet in force. */
  readonly #homes: ReadonlyMap<string, string>;

  constructor(subnets: Configuration['subnets']) {
    this.#homes = new Map(subnets.map(({ name, spec }) => [name, networkOf(spec.provider, name)]));
  }

  /** Adds a claim. Each name may be added only once. */
  add(name: ClaimName, stored: Claim): void {
    const isComplete = stored.networks.length > 0;
    const claim = isComplete ? stored : { ...stored, networks: networksOf(name.subnet, stored, this.#homes) };
    addClaim(this.#state, name, claim);
    if (claim.allocation) indexAllocation(this.#state, claim.allocation, permanent);
  }

  /** Sets the networks of a claim that was added without them. */
  setNetworks(name: ClaimName, networks: readonly string[]): void {
    const claim = claimOf(this.#state, name.subnet, name.address);
    if (claim) putClaim(this.#state, name, { ...claim, networks }, permanent);
  }

  /** Returns the state with its configuration. Nothing can be added afterwards. */
  end({ ledger, segments, dropped, ended, pools, subnets }: Configuration): State {
    const state = this.#state;
    state.ledger = ledger;
    state.segments = segments;
    for (const { subnet, seqs } of dropped) state.dropped.set(subnet, seqs);
    state.ended.restore(ended);
    for (const pool of pools) state.pools.set(pool.name, pool);
    for (const { name, spec, source } of subnets)
      indexSubnet(state, { subnet: subnetFromSpec(name, spec), ...(source && { source }) }, permanent);
    return state;
  }
}

/** Computes the networks of a claim that was stored by a version without them. */
function networksOf(subnet: string, { allocation, bindings }: Claim, homes: ReadonlyMap<string, string>): string[] {
  const users = [...(allocation ? [allocation] : []), ...bindings];
  const used = users.map(({ attachment }) => networkOf(attachment.provider, subnet));
  const home = homes.get(subnet);
  return [...new Set(home === undefined ? used : [home, ...used])];
}
