/** What waiting Pods request for their IPAMClaims: the first Pod of an IPAMClaim decides about its Subnet and addresses. */
import type { IpamClaimDemand } from '../pods/planning/ipam-claim-request.ts';

export class IpamClaimDemands {
  readonly #byClaim = new Map<string, { readonly pod: string; readonly demand: IpamClaimDemand }>();
  readonly #byPod = new Map<string, readonly string[]>();

  get(claim: string): IpamClaimDemand | undefined {
    return this.#byClaim.get(claim)?.demand;
  }

  /**
   * Replaces the demands of a Pod. While an IPAMClaim has a demand of one Pod, that of another Pod is ignored.
   * @param pod "namespace/name" in the ledger
   * @returns the demands that are new or changed
   */
  replace(pod: string, demands: readonly IpamClaimDemand[]): IpamClaimDemand[] {
    const requested = new Set(demands.map(({ claim }) => claim));
    for (const claim of this.#byPod.get(pod) ?? []) if (!requested.has(claim)) this.#remove(pod, claim);
    const changed = demands.filter((demand) => {
      const known = this.#byClaim.get(demand.claim);
      if (known && known.pod !== pod) return false;
      this.#byClaim.set(demand.claim, { pod, demand });
      return JSON.stringify(known?.demand) !== JSON.stringify(demand);
    });
    const own = [...requested].filter((claim) => this.#byClaim.get(claim)?.pod === pod);
    if (own.length > 0) this.#byPod.set(pod, own);
    else this.#byPod.delete(pod);
    return changed;
  }

  #remove(pod: string, claim: string): void {
    if (this.#byClaim.get(claim)?.pod === pod) this.#byClaim.delete(claim);
  }
}
