/**
 * Creates missing IPAMClaims that Pods name. A tenant causes them without the permission to create
 * any. So their number in a namespace is limited, and each is deleted with the Pod that caused it.
 *
 * The IPAMClaims of a virtual machine have a producer, such as KubeVirt's ipam-extensions, which
 * refuses an IPAMClaim that it did not create, and may be slower than the Pods. So the creator
 * leaves to it all IPAMClaims of virtual machines, and of namespaces with an IPAMClaim of a
 * producer.
 */
import { errorMessage } from '../../../../lib/errors.ts';
import type { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { Logger } from '../../../../lib/process/log.ts';
import type { IpamClaimObject } from '../../kubernetes/objects/ipam-claim.ts';
import { ipamClaimLimits } from '../../limits.ts';
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import { namespaceOf } from '../../namespaced-map.ts';
import { type Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import type { IpamClaimDemand } from '../pods/planning/ipam-claim-request.ts';

/** An entry of `metadata.ownerReferences`: the IPAMClaim is deleted with its owner. */
export interface IpamClaimOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface IpamClaimCreatorOptions {
  readonly objects: Pick<Informer<IpamClaimObject>, 'objects' | 'subscribe'>;
  /** The owner of the IPAMClaims of a Pod; the Pod is "namespace/name" in the ledger. */
  readonly ipamClaimOwnerOf: (pod: string) => IpamClaimOwner | 'machine' | undefined;
  /** Creates an IPAMClaim object. Throws ApiError 'changed' if the object exists. */
  readonly create: (demand: IpamClaimDemand, owner: IpamClaimOwner, signal: AbortSignal) => Promise<void>;
  /** Called with the reason why an IPAMClaim could not be created. */
  readonly onFailed: (claim: string, problem: string) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 4;
const firstBackoffMs = 500;
const maxBackoffMs = 30_000;

export class IpamClaimCreator {
  readonly #options: IpamClaimCreatorOptions;
  readonly #queue: WorkQueue;
  readonly #requested = new Map<string, { readonly pod: string; readonly demand: IpamClaimDemand }>();
  /** The IPAMClaims of each namespace; `#produced` has those of another program. */
  readonly #claims = new Map<string, Set<string>>();
  readonly #produced = new Map<string, Set<string>>();

  constructor(options: IpamClaimCreatorOptions) {
    this.#options = options;
    const { objects, log, signal } = options;
    const work = (claim: string): Promise<Outcome> => this.#createOne(claim);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    this.#queue.start();
    for (const object of objects.objects.values()) this.#put(object);
    objects.subscribe((change) => {
      if (change.kind === 'present') this.#put(change.object);
      else if (change.kind === 'gone')
        for (const index of [this.#claims, this.#produced])
          removeFrom(index, change.object.namespace, change.object.name);
    });
  }

  #put({ namespace, name, isProduced }: IpamClaimObject): void {
    addTo(this.#claims, namespace, name);
    if (isProduced) addTo(this.#produced, namespace, name);
    else removeFrom(this.#produced, namespace, name);
  }

  /** Creates an IPAMClaim that a Pod names. The Pod repeats its request while it waits. */
  request(pod: string, demand: IpamClaimDemand): void {
    if (this.#options.objects.objects.has(demand.claim)) return;
    this.#requested.set(demand.claim, { pod, demand });
    this.#queue.add(demand.claim);
  }

  async #createOne(claim: string): Promise<Outcome> {
    const { objects, ipamClaimOwnerOf, create, onFailed, log, signal } = this.#options;
    const requested = this.#requested.get(claim);
    this.#requested.delete(claim);
    if (!requested || objects.objects.has(claim)) return 'done';
    try {
      const owner = ipamClaimOwnerOf(requested.pod);
      if (!owner) return 'done';
      if (owner === 'machine') throw new Error(machineClaimRefusal);
      this.#refuseNamespace(namespaceOf(claim));
      await create(requested.demand, owner, signal);
      log.info({ claim }, 'claims: created the IPAMClaim that a Pod names');
    } catch (error) {
      if (signal.aborted) return 'done';
      log.info({ claim, reason: errorMessage(error) }, 'claims: could not create an IPAMClaim');
      onFailed(claim, `there is no such IPAMClaim, and none is created: ${errorMessage(error)}`);
    }
    return 'done';
  }

  /** @throws Error if the namespace is left to a producer, or is at its limit */
  #refuseNamespace(namespace: string): void {
    const count = this.#claims.get(namespace)?.size ?? 0;
    const [produced] = this.#produced.get(namespace) ?? [];
    if (produced !== undefined)
      throw new Error(
        `another program creates the claims of namespace ${namespace}, as ${produced}: check that it runs, or create the claim`,
      );
    if (count >= ipamClaimLimits.perNamespace)
      throw new Error(
        `namespace ${namespace} has ${count} IPAMClaims, and for Pods at most ${ipamClaimLimits.perNamespace} are created: delete those that are not needed, or create the claim`,
      );
  }
}

const machineClaimRefusal =
  'the program that names the claims of virtual machines, as ipam-extensions of KubeVirt, creates them: check that it runs, or create the claim';

export class IpamClaimDemands {
  readonly #byClaim = new Map<string, { readonly pod: string; readonly demand: IpamClaimDemand }>();
  readonly #byPod = new Map<string, readonly string[]>();

  get(claim: string): IpamClaimDemand | undefined {
    return this.#byClaim.get(claim)?.demand;
  }

  /**
   * Replaces the demands of a Pod. Ignores a demand for an IPAMClaim for which another Pod has one.
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
