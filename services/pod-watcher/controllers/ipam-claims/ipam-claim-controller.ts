/**
 * Gives IPAMClaims their addresses, and releases them when the IPAMClaim is deleted.
 *
 * An IPAMClaim owns its addresses by a reservation in the ledger, which outlives the Pods that use
 * them. The first Pod that names the IPAMClaim decides its Subnet; before that it has no address.
 * The controller writes the status and never reads it, so an edit has no effect.
 */
import { IpledgerError } from '../../../../lib/errors.ts';
import { withoutPrefixLength } from '../../../../lib/net/ip.ts';
import { finalizer } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { type AddressRecord, IpamService } from '../../../../proto/generated/ipledger.ts';
import { type Informer, keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import { type LedgerPods, ledgerKeyOf } from '../../kubernetes/ledger-pods.ts';
import type { IpamClaimObject } from '../../kubernetes/objects/ipam-claim.ts';
import { isTerminated, type Pod } from '../../kubernetes/objects/pod.ts';
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import type { LedgerEvent } from '../../ledger/ledger-events.ts';
import type { LedgerSnapshot, LedgerSubscriber } from '../../ledger/ledger-subscriber.ts';
import { type ObjectAccess, ObjectController } from '../object-controller/object-controller.ts';
import type { IpamClaimDemand } from '../pods/planning/ipam-claim-request.ts';
import type { IpamClaimState, ClusterView } from '../cluster-view.ts';
import type { EventBudget } from '../pods/event-budget.ts';
import { IpamClaimAddressCache, ipamClaimOwner } from './ipam-claim-address-cache.ts';
import { IpamClaimCreator, type IpamClaimCreatorOptions, IpamClaimDemands } from './ipam-claim-creator.ts';
import { ipamClaimDifferences, ipamClaimReasons, ipamClaimStatus, prefixedAddresses } from './ipam-claim-status.ts';
import type { AllocationCache } from '../pods/allocation-cache.ts';
import type { SubnetCache } from '../subnets/subnet-cache.ts';

export interface IpamClaimControllerOptions
  extends Omit<ObjectAccess<IpamClaimObject>, 'objects'>, Pick<IpamClaimCreatorOptions, 'ipamClaimOwnerOf' | 'create'> {
  readonly objects: Pick<Informer<IpamClaimObject>, 'objects' | 'subscribe' | 'resourceVersion'>;
  readonly pods: Pick<Informer<Pod>, 'subscribe'>;
  /** The Pods by their names in the ledger. Must be created before this controller. */
  readonly ledgerPods: Pick<LedgerPods, 'all'>;
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly quota: Omit<QuotaView, 'claims'>;
  /** The budget for events, which Pods also use. */
  readonly budget: Pick<EventBudget, 'refusalOf' | 'spend'>;
  readonly namespacesOfPool: ClusterView['pools']['namespacesOf'];
  /** Retries all Pods that wait for a topic. */
  readonly wakeWaiters: (topic: string) => void;
}

export class IpamClaimController implements LedgerSubscriber {
  readonly #options: IpamClaimControllerOptions;
  readonly #controller: ObjectController<IpamClaimObject>;
  readonly #creator: IpamClaimCreator;
  readonly #demands = new IpamClaimDemands();
  readonly #addresses: IpamClaimAddressCache;
  /** Why IPAMClaims have no addresses. */
  readonly #problems = new Map<string, string>();
  /** The last reservation: the next one waits for it, and counts its addresses for the quota. */
  #lastReservation: Promise<unknown> = Promise.resolve();

  constructor(options: IpamClaimControllerOptions) {
    this.#options = options;
    this.#addresses = new IpamClaimAddressCache((claim) => this.#onAffected(claim));
    const { objects, pods } = options;
    this.#creator = new IpamClaimCreator({
      ...options,
      onFailed: (claim, problem) => this.#setProblem(claim, problem),
    });
    this.#controller = new ObjectController<IpamClaimObject>({
      ...options,
      isRelevant: (object) => this.#isRelevant(object),
      apply: (object) => this.#apply(object),
      // Computes the status each time: another Pod may hold the addresses.
      isApplied: () => false,
      differences: ipamClaimDifferences,
      retire: (claim) => this.#retire(claim),
      appliedNames: () => this.#addresses.keys(),
      onVerdict: (object, { message }) => this.#setProblem(keyOf(object), message),
      reasons: ipamClaimReasons,
    });
    objects.subscribe((change) => {
      if (change.kind === 'listed') return;
      const { object } = change;
      const before = change.kind === 'present' ? change.before : undefined;
      if (before?.generation === object.generation && before.deleting === object.deleting) return;
      // Forgets the problem of a new IPAMClaim, for example that it does not exist.
      if (!before) this.#problems.delete(keyOf(object));
      this.#wake(keyOf(object));
    });
    pods.subscribe((change) => {
      if (change.kind === 'listed') return;
      for (const claim of this.#addresses.claimsHeldBy(ledgerKeyOf(change.object))) this.#controller.enqueue(claim);
    });
  }

  /** Starts; resolves when every present IPAMClaim has been tried once. */
  start(): Promise<void> {
    return this.#controller.start();
  }

  /** Returns the state of an IPAMClaim "namespace/name" for the plan of a Pod. */
  readonly view = (claim: string): IpamClaimState => {
    const object = this.#options.objects.objects.get(claim);
    const reserved = this.#addresses.get(claim);
    return {
      ...(object && { object: { network: object.spec.network, deleting: object.deleting } }),
      ...(reserved && { reserved: { ...reserved, owner: ipamClaimOwner(claim) } }),
      problem: this.#problems.get(claim) ?? '',
    };
  };

  /** Creates the missing IPAMClaims of a waiting Pod. @param pod its name in the ledger */
  request(pod: string, demands: readonly IpamClaimDemand[]): void {
    for (const { claim } of this.#demands.replace(pod, demands)) this.#controller.enqueue(claim);
    for (const demand of demands) this.#creator.request(pod, demand);
  }

  onSnapshot(snapshot: LedgerSnapshot): void {
    this.#addresses.onSnapshot(snapshot);
    this.#controller.enqueueAll();
  }

  onEvents(events: readonly LedgerEvent[]): void {
    this.#addresses.onEvents(events);
    const subnets = new Set(events.flatMap((event) => subnetWithRoom(event) ?? []));
    if (subnets.size > 0)
      this.#controller.retryAll((object) => this.#subnetsOf(keyOf(object)).some((each) => subnets.has(each)));
  }

  /** Returns the Subnets that an IPAMClaim waits for, or that have its addresses. */
  #subnetsOf(claim: string): readonly string[] {
    const reserved = this.#addresses.get(claim);
    return reserved ? [reserved.subnet] : (this.#demands.get(claim)?.subnets ?? []);
  }

  /**
   * Whether an IPAMClaim concerns the controller: an IPAMClaim that no Pod has named is left alone.
   */
  #isRelevant(object: IpamClaimObject): boolean {
    const claim = keyOf(object);
    return (
      object.finalizers.includes(finalizer) ||
      this.#demands.get(claim) !== undefined ||
      this.#addresses.get(claim) !== undefined
    );
  }

  #onAffected(claim: string): void {
    this.#controller.enqueue(claim);
    this.#wake(claim);
  }

  #wake(claim: string): void {
    this.#options.wakeWaiters(`claim:${claim}`);
  }

  #setProblem(claim: string, problem: string): void {
    if ((this.#problems.get(claim) ?? '') === problem) return;
    if (problem === '') this.#problems.delete(claim);
    else this.#problems.set(claim, problem);
    this.#wake(claim);
  }

  async #apply(object: IpamClaimObject): Promise<UntypedJson> {
    const claim = keyOf(object);
    if (!this.#addresses.get(claim)) await this.#reserveInTurn(object);
    const status = this.#statusOf(claim);
    if (!status) throw new IpledgerError('RESERVATION_UNKNOWN', noPod);
    return status;
  }

  #statusOf(claim: string): UntypedJson | undefined {
    const reserved = this.#addresses.get(claim);
    if (!reserved) return undefined;
    const cidrBlock = this.#options.quota.subnets.get(reserved.subnet)?.spec.cidrBlock ?? '';
    const [pod] = this.#options.ledgerPods.all(this.#addresses.holderOf(claim) ?? '');
    return ipamClaimStatus(prefixedAddresses(reserved, cidrBlock), pod?.name ?? '');
  }

  async #reserveInTurn(object: IpamClaimObject): Promise<void> {
    const reservation = this.#lastReservation.then(() => this.#reserve(object));
    this.#lastReservation = reservation.catch(() => undefined);
    await reservation;
  }

  /** Reserves in the first Subnet with the addresses. @throws the first Subnet's IpledgerError */
  async #reserve(object: IpamClaimObject): Promise<void> {
    const claim = keyOf(object);
    const demand = this.#demands.get(claim);
    if (!demand) throw new IpledgerError('RESERVATION_UNKNOWN', noPod);
    const requested = object.spec.ipRequests.map(withoutPrefixLength);
    const addresses = requested.length > 0 ? requested : demand.addresses;
    let first: unknown;
    for (const subnet of demand.subnets) {
      try {
        const records = await this.#reserveIn(subnet, { object, demand, addresses });
        const listed = records.map(({ address }) => address).join(', ');
        const message = `reserved ${listed} of Subnet ${subnet} for the claim until it is deleted`;
        this.#options.recordEvent(object, { type: 'Normal', reason: ipamClaimReasons.ready, message });
        return;
      } catch (error) {
        if (IpledgerError.from(error).kind === 'transient') throw error;
        first ??= error;
      }
    }
    throw IpledgerError.from(first ?? new IpledgerError('SUBNET_UNKNOWN', 'no Subnet serves the network of the claim'));
  }

  async #reserveIn(
    subnet: string,
    {
      object,
      demand: { ipFamily },
      addresses,
    }: {
      readonly object: IpamClaimObject;
      readonly demand: IpamClaimDemand;
      readonly addresses: readonly string[];
    },
  ): Promise<AddressRecord[]> {
    const { allocator, budget, quota, signal } = this.#options;
    const { namespace } = object;
    const claim = keyOf(object);
    for (const address of addresses) await this.#refuseForeignPool(subnet, address, namespace);
    const families = ipFamily === '' ? (quota.subnets.get(subnet)?.spec.cidrBlock.split(',').length ?? 1) : 1;
    const count = addresses.length || families;
    const refusal = quotaRefusal({ ...quota, claims: this.#addresses }, { namespace, subnet, requested: count });
    if (refusal !== undefined) throw new IpledgerError('NAMESPACE_QUOTA_EXCEEDED', refusal);
    const overspent = budget.refusalOf(namespace, undefined, count);
    if (overspent !== undefined) throw new IpledgerError('NAMESPACE_QUOTA_EXCEEDED', overspent);
    const owner = ipamClaimOwner(claim);
    const request = { subnet, addresses: [...addresses], reservedFor: owner, reason: `IPAMClaim ${claim}`, ipFamily };
    const { records } = await allocator.call(IpamService.reserve, request, signal);
    budget.spend(namespace, undefined, records.length);
    for (const { address } of records) this.#addresses.put({ subnet, address, reservedFor: owner });
    return records;
  }

  /** Refuses an address in an IPPool of other namespaces: a tenant must not reserve it. */
  async #refuseForeignPool(subnet: string, address: string, namespace: string): Promise<void> {
    const { allocator, namespacesOfPool, signal } = this.#options;
    const { record } = await allocator.call(IpamService.getAddress, { subnet, address }, signal);
    const namespaces = record && record.pool !== '' ? namespacesOfPool(record.pool) : [];
    if (namespaces.length === 0 || namespaces.includes(namespace)) return;
    throw new IpledgerError(
      'NAMESPACE_NOT_ALLOWED',
      `NamespaceNotAllowed: IPAMClaims of namespace ${namespace} can't have ${address} of ippool ${record?.pool}, which is for other namespaces. Request another address, or add ${namespace} to the namespaces of the IPPool`,
    );
  }

  /** Releases the addresses. @throws IpledgerError of kind 'conflict' while a Pod uses them */
  async #retire(claim: string): Promise<void> {
    const { allocator, ledgerPods, objects, recordEvent, signal } = this.#options;
    const reserved = this.#addresses.get(claim);
    if (!reserved) return;
    if (objects.resourceVersion === undefined)
      throw new IpledgerError('ADDRESS_IN_USE', 'IPAMClaims cannot be read: run ipledger install-crds deploy/crds');
    const user = ledgerPods.all(this.#addresses.holderOf(claim) ?? '').find((pod) => !isTerminated(pod));
    if (user)
      throw new IpledgerError(
        'ADDRESS_IN_USE',
        `the claim is being deleted, and Pod ${user.name} uses ${reserved.addresses.join(', ')}: delete the Pod, and the addresses are released`,
      );
    const owner = ipamClaimOwner(claim);
    const request = {
      subnet: reserved.subnet,
      reservedFor: owner,
      addresses: [],
      reason: `IPAMClaim ${claim} was deleted`,
    };
    await allocator.call(IpamService.unreserve, request, signal);
    for (const address of reserved.addresses) this.#addresses.drop({ ...reserved, reservedFor: owner, address });
    const object = objects.objects.get(claim);
    const message = `released ${reserved.addresses.join(', ')} of Subnet ${reserved.subnet}: the claim was deleted`;
    if (object) recordEvent(object, { type: 'Normal', reason: 'Released', message });
  }
}

/** Returns the Subnet of an event after which an IPAMClaim may get addresses, or be retired. */
function subnetWithRoom(event: LedgerEvent): string | undefined {
  if (event.kind === 'subnet-configured') return event.subnet.name;
  return event.kind === 'released' || event.kind === 'unreserved' || event.kind === 'unquarantined'
    ? event.subnet
    : undefined;
}

const noPod = 'the claim has no address: an address is reserved when a Pod names the claim in its networks annotation';

export interface QuotaView {
  readonly subnets: Pick<SubnetCache, 'get'>;
  readonly allocations: Pick<AllocationCache, 'addressCount'>;
  readonly claims: Pick<IpamClaimAddressCache, 'idleAddresses'>;
}

/** Returns why a namespace's IPAMClaims get no more addresses of a Subnet, as a sentence. */
function quotaRefusal(
  { subnets, allocations, claims }: QuotaView,
  { namespace, subnet, requested }: { readonly namespace: string; readonly subnet: string; readonly requested: number },
): string | undefined {
  const limit = subnets.get(subnet)?.spec.maxAddressesPerNamespace;
  if (limit === undefined) return undefined;
  const has = allocations.addressCount(namespace, subnet) + claims.idleAddresses(namespace, subnet).length;
  if (has + requested <= limit) return undefined;
  return `NamespaceQuotaExceeded: Pods and IPAMClaims of namespace ${namespace} have ${has} addresses of subnet ${subnet}, the limit is ${limit} (maxAddressesPerNamespace), and ${requested} more ${requested === 1 ? 'is' : 'are'} requested. Delete Pods or IPAMClaims of namespace ${namespace} that are not needed, or raise the limit in the Subnet`;
}
