/** Applies Subnet objects to the ledger, and writes the spec in force back to them. */
import { noBindingTimeoutMs } from '../../../../ledger/domain/commands/command.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { type LedgerEvent, sourceOf, type AppliedSubnet } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';
import { addressOverlap, subnetReasons, type Verdict, type Warning } from '../object-controller/conditions.ts';
import { ObjectController, type ObjectAccess } from '../object-controller/object-controller.ts';
import {
  appliedSpecFields,
  type ClusterAddresses,
  privateWarning,
  specConflicts,
  specDifferences,
} from './subnet-spec.ts';
import type { KubeOvnSubnets } from './kube-ovn-subnets.ts';
import type { SubnetCache } from './subnet-cache.ts';
import { overlapMessage, AddressOverlapDetector } from '../network-definitions/address-overlap-detector.ts';

export interface SubnetControllerOptions extends ObjectAccess<SubnetObject> {
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly subnets: SubnetCache;
  readonly networks: Pick<Informer<NetworkDefinition>, 'subscribe'>;
  /** Returns the current addresses of the cluster. */
  readonly clusterAddresses: () => ClusterAddresses;
  /** The Subnets of Kube-OVN, if it runs in the same cluster. */
  readonly kubeOvn?: Pick<KubeOvnSubnets, 'conflictOf' | 'subscribe'> | undefined;
  /** Wakes the Pods that wait for a topic, because other Subnets may serve it now. */
  readonly wakeWaiters: (topic: string) => void;
}

export class SubnetController implements LedgerSubscriber {
  readonly #options: SubnetControllerOptions;
  readonly #controller: ObjectController<SubnetObject>;
  readonly #overlaps: AddressOverlapDetector;

  constructor(options: SubnetControllerOptions) {
    this.#options = options;
    const { subnets, objects, networks, kubeOvn } = options;
    this.#overlaps = new AddressOverlapDetector(networks, (name) => {
      if (objects.objects.has(name)) this.#controller.enqueue(name);
    });
    this.#controller = new ObjectController<SubnetObject>({
      ...options,
      apply: (object) => this.#apply(object),
      isApplied: (name) => subnets.get(name) !== undefined && this.#conflictInForce(name) === undefined,
      differences: specDifferences,
      retire: (name) => this.#retire(name),
      appliedNames: () => subnets.names(),
      warnings: (object) => [this.#overlapWarning(object), privateWarning(object)],
      onVerdict: (object, verdict) => this.#onVerdict(object, verdict),
      reasons: subnetReasons,
    });
    kubeOvn?.subscribe((mayAlter) => {
      for (const object of objects.objects.values())
        if (mayAlter(subnets.get(object.name) ?? object) || mayAlter(object)) this.#controller.enqueue(object.name);
    });
  }

  /** Starts; resolves when every present Subnet has been tried once. */
  start(): Promise<void> {
    return this.#controller.start();
  }

  onSnapshot(snapshot: LedgerSnapshot): void {
    this.#overlaps.onSnapshot(snapshot);
    this.#controller.enqueueAll();
  }

  /** Retries subnets whose retirement or change an address in use may have prevented. */
  onEvents(events: readonly LedgerEvent[]): void {
    this.#overlaps.onEvents(events);
    for (const event of events) {
      if (event.kind === 'subnet-configured') this.#controller.enqueueIfOrphaned(event.subnet.name);
      else if (event.kind === 'subnet-retired') this.#controller.enqueue(event.subnet);
      else if (event.kind === 'released' || event.kind === 'unbound' || event.kind === 'unreserved')
        this.#controller.retry(event.subnet);
    }
  }

  /** @throws IpledgerError */
  async #apply(object: SubnetObject): Promise<UntypedJson> {
    const { allocator, subnets, clusterAddresses, kubeOvn, signal } = this.#options;
    const { name, uid, generation, spec } = object;
    const conflicts = specConflicts(object, clusterAddresses());
    if (conflicts.length > 0) throw new IpledgerError('SUBNET_INVALID', conflicts.join('; '));
    const conflict = kubeOvn?.conflictOf(object);
    if (conflict !== undefined) {
      const until = subnets.get(name) ? `. Until then Subnet ${name} gives no new address; Pods keep theirs` : '';
      throw new IpledgerError('SUBNET_OVERLAP', conflict + until);
    }
    // Sets the default explicitly, because an allocator of an earlier version has another default.
    // A later upgrade replaces it.
    const request = { name, spec: { bindingTimeoutMs: noBindingTimeoutMs, ...spec }, source: { uid, generation } };
    const reply = await allocator.call(SubnetsService.applySubnet, request, signal);
    if (!reply.subnet?.spec) throw new IpledgerError('BUG', `the allocator accepted subnet ${name} but returned none`);
    const inForce: AppliedSubnet = { name, spec: reply.subnet.spec, source: sourceOf(reply.subnet.source) };
    subnets.accepted(inForce, reply.position?.seq ?? 0);
    return appliedSpecFields(object, inForce.spec);
  }

  #overlapWarning({ name }: SubnetObject): Warning {
    return { ...addressOverlap, message: overlapMessage(name, this.#overlaps.overlapOf(name)) };
  }

  #onVerdict({ name }: SubnetObject, { accepted, message }: Verdict): void {
    const { wakeWaiters, subnets } = this.#options;
    subnets.suspend(name, this.#conflictInForce(name));
    if (!accepted) subnets.refused(name, message);
    wakeWaiters(`subnet:${name}`);
    const provider = subnets.get(name)?.spec.provider;
    if (provider !== undefined) wakeWaiters(`provider:${provider}`);
  }

  /** Returns the conflict of the spec in force, while an edit of the object is refused. */
  #conflictInForce(name: string): string | undefined {
    const { subnets, kubeOvn } = this.#options;
    const inForce = subnets.get(name);
    return inForce && kubeOvn?.conflictOf(inForce);
  }

  /** @throws IpledgerError */
  async #retire(name: string): Promise<void> {
    const { allocator, subnets, objects, signal } = this.#options;
    if (!objects.objects.has(name)) subnets.forget(name);
    // Does not retire a subnet that was configured over gRPC.
    if (!subnets.get(name)?.source) return;
    try {
      await allocator.call(SubnetsService.deleteSubnet, { name }, signal);
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.code !== 'SUBNET_UNKNOWN') throw error;
    }
  }
}
