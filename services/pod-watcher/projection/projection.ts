/**
 * Writes the state of the ledger to Pod annotations, IP objects, the status of Subnets and IPPools,
 * and labels of Vips. Each object is a key in one work queue. It is level-triggered: it compares
 * the desired with the actual state and writes the difference. So it converges from any state,
 * after a crash, and after manual changes.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { PodEvent } from '../kubernetes/event-recorder.ts';
import { type LedgerPods, ledgerKeyOf } from '../kubernetes/ledger-pods.ts';
import { type ObjectChange, keyOf, type Informer } from '../../../lib/kubernetes/client/informer.ts';
import type { IpObject } from '../kubernetes/objects/ip.ts';
import { ipPools, type PoolObject } from '../kubernetes/objects/ip-pool.ts';
import { type SubnetObject, subnets as subnetKind } from '../kubernetes/objects/subnet.ts';
import { type VipObject, vips as vipKind } from '../kubernetes/objects/vip.ts';
import type { VlanObject } from '../kubernetes/objects/vlan.ts';
import type { Pod } from '../kubernetes/objects/pod.ts';
import { mergePatch, objectPath, podPath } from '../../../lib/kubernetes/client/object-requests.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { SubnetsService } from '../../../proto/generated/ipledger.ts';
import { type HeldAllocation, podKeyOf } from '../ledger/ledger-events.ts';
import type { PodTraces } from '../pod-traces.ts';
import { isOvnProvider } from '../../../lib/kubernetes/served-network.ts';
import { type Outcome, WorkQueue } from '../work-queue/work-queue.ts';
import { ThrottledWarnings } from './throttled-warnings.ts';
import { type Counts, usageCounts, poolFieldNames, hasCounts, statusPatch, subnetFieldNames } from './usage-counts.ts';
import {
  nodeMismatch,
  rejectedKeysEvent,
  rejectedPatchEvent,
  patchesByNetwork,
  type PodPatch,
  podPatch,
  type ShownSubnet,
} from './pod-annotations.ts';
import { syncIpObject } from './ip-object.ts';
import { type AffectedObjects, AllocationView } from './allocation-view.ts';
import { userLabel, VipUsers } from './vip-users.ts';

export interface ProjectionOptions {
  readonly api: Api;
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly pods: Pick<Informer<Pod>, 'subscribe'>;
  /** The index of `pods`. Must be created before the projection, which relies on its updates. */
  readonly ledgerPods: LedgerPods;
  readonly ips: Pick<Informer<IpObject>, 'objects' | 'subscribe'>;
  readonly subnets: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>;
  readonly pools: Pick<Informer<PoolObject>, 'objects' | 'subscribe'>;
  readonly vips: Pick<Informer<VipObject>, 'objects' | 'subscribe'>;
  readonly vlans: Pick<Informer<VlanObject>, 'objects'>;
  /** Records a Kubernetes Event about a Pod. */
  readonly recordEvent: (pod: Pod, event: PodEvent) => void;
  readonly traces?: Pick<PodTraces, 'startWrite' | 'onAnnotated'> | undefined;
  /** The delay of the IP object of a Pod without a Node; default: 500 ms. */
  readonly schedulingWaitMs?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The number of concurrent writes to the API server. */
const concurrency = 16;
const firstBackoffMs = 200;
const maxBackoffMs = 30_000;
/** The attempts after which a rejected write is rarely retried: it needs an operator. */
const maxRejectedTries = 4;
const rejectedRetryMs = 300_000;
/** The delay of the status of a Subnet, whose counts many Pods change in that time. */
const statusDelayMs = 1_000;
/** The delay of an IP object, which shows the Pod's Node: it avoids a second write. */
const defaultSchedulingWaitMs = 500;

export class Projection {
  readonly view: AllocationView;
  readonly vipUsers: VipUsers;
  readonly #options: ProjectionOptions;
  readonly #pods: LedgerPods;
  readonly #queue: WorkQueue;
  readonly #warnings: ThrottledWarnings;
  /** The last reported message of each reason, by the uid of the Pod. */
  readonly #reported = new Map<string, Map<string, string>>();

  constructor(options: ProjectionOptions) {
    this.#options = options;
    const { log, signal } = options;
    this.#warnings = new ThrottledWarnings(log);
    this.#pods = options.ledgerPods;
    this.view = new AllocationView((affected) => this.#onAffected(affected));
    const onVipsAffected = (vips: Iterable<string>): void => {
      for (const vip of vips) this.#queue.add(`vip:${vip}`);
    };
    this.vipUsers = new VipUsers(onVipsAffected, this.view);
    this.#queue = new WorkQueue({
      concurrency,
      firstBackoffMs,
      maxBackoffMs,
      work: (key) => this.#project(key),
      // Prefers other keys: a container start waits for its Pod's annotations, not for IP objects.
      canWait: (key) => key.startsWith('ip:'),
      namespaceOf: (key) => this.#namespaceOf(key),
      log,
      signal,
    });
    options.pods.subscribe((change) => this.#onPod(change));
    options.ips.subscribe((change) => this.#onObject('ip', change));
    options.subnets.subscribe((change) => this.#onObject('subnet', change));
    options.pools.subscribe((change) => this.#onObject('pool', change));
    options.vips.subscribe((change) => this.#onObject('vip', change));
  }

  /** Projects all objects, and then changes. Informers and snapshot must be complete. */
  start(): void {
    const { ips, subnets, pools, vips } = this.#options;
    this.#onAffected(this.view.all());
    for (const name of ips.objects.keys()) this.#queue.add(`ip:${name}`);
    for (const name of subnets.objects.keys()) this.#queue.add(`subnet:${name}`);
    for (const name of pools.objects.keys()) this.#queue.add(`pool:${name}`);
    for (const name of vips.objects.keys()) this.#queue.add(`vip:${name}`);
    this.#queue.start();
  }

  #onAffected({ pods, ips, subnets, pools }: AffectedObjects): void {
    for (const pod of pods) this.#queue.add(`pod:${pod}`);
    for (const ip of ips) this.#enqueueIp(ip);
    for (const subnet of subnets) this.#queue.addAfter(`subnet:${subnet}`, statusDelayMs);
    for (const pool of pools) this.#queue.addAfter(`pool:${pool}`, statusDelayMs);
  }

  #enqueueIp(name: string): void {
    const { ips, schedulingWaitMs = defaultSchedulingWaitMs } = this.#options;
    const allocation = this.view.allocationOfIp(name);
    const awaitsNode = allocation !== undefined && !ips.objects.has(name) && this.#nodeOf(allocation) === '';
    if (awaitsNode) this.#queue.addAfter(`ip:${name}`, schedulingWaitMs);
    else this.#queue.add(`ip:${name}`);
  }

  #onPod(change: ObjectChange<Pod>): void {
    if (change.kind === 'listed') return;
    if (change.kind === 'gone') this.#reported.delete(change.object.uid);
    const key = ledgerKeyOf(change.object);
    const allocations = this.view.allocationsOfPod(key);
    if (allocations.length === 0) return;
    this.#queue.add(`pod:${key}`);
    // Updates the Node that IP objects show: a machine may have another launcher now, or none.
    const { object } = change;
    const nodeMayChange =
      change.kind === 'gone' || change.before?.node !== object.node || change.before.ledgerName !== object.ledgerName;
    if (nodeMayChange) for (const allocation of allocations) this.#queue.add(`ip:${this.view.ipNameOf(allocation)}`);
  }

  #onObject(
    kind: 'ip' | 'subnet' | 'pool' | 'vip',
    change: ObjectChange<IpObject | SubnetObject | PoolObject | VipObject>,
  ): void {
    if (change.kind !== 'listed') this.#queue.add(`${kind}:${change.object.name}`);
  }

  #namespaceOf(key: string): string {
    if (key.startsWith('pod:')) return key.slice('pod:'.length, key.indexOf('/'));
    return key.startsWith('ip:') ? (this.view.allocationOfIp(key.slice('ip:'.length))?.namespace ?? '') : '';
  }

  async #project(key: string): Promise<Outcome> {
    const colon = key.indexOf(':');
    const [kind, name] = [key.slice(0, colon), key.slice(colon + 1)];
    try {
      if (kind === 'pod') await this.#annotate(name);
      else if (kind === 'ip') await this.#syncIpObject(name);
      else if (kind === 'subnet') await this.#projectSubnet(name);
      else if (kind === 'vip') await this.#projectVip(name);
      else await this.#projectPool(name);
      return 'done';
    } catch (error) {
      return this.#handleError(error, key);
    }
  }

  /** Ignores a missing object, whose deletion will be reported. All other errors are retried. */
  #handleError(error: unknown, key: string): Outcome {
    if (!(error instanceof ApiError)) throw error;
    const { reaction, message: reason } = error;
    if (reaction === 'absent') return 'done';
    if (reaction === 'changed' || reaction === 'later') {
      this.#options.log.debug({ reason, key }, 'projection: write failed, retrying');
      return 'again';
    }
    const [kind = ''] = key.split(':', 1);
    this.#warnings.log(`${kind} ${error.status}`, { reason, key }, 'projection: the API server rejected a write');
    if (this.#queue.tries(key) < maxRejectedTries) return 'again';
    this.#queue.addAfter(key, rejectedRetryMs);
    return 'done';
  }

  /** Writes annotations, to both launchers of a machine during a live migration. */
  async #annotate(key: string): Promise<void> {
    const allocations = this.view.allocationsOfPod(key);
    const results = await Promise.allSettled(this.#pods.all(key).map((pod) => this.#annotateOne(pod, allocations)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #annotateOne(pod: Pod, allocations: readonly HeldAllocation[]): Promise<void> {
    const { traces } = this.#options;
    this.#reportNodeMismatch(pod, allocations);
    const { patch, rejectedKeys } = podPatch(pod, allocations, (subnet) => this.#shownSubnet(subnet));
    if (rejectedKeys.length > 0) {
      const event = rejectedKeysEvent(rejectedKeys);
      this.#warnings.log(
        event.reason,
        { pod: keyOf(pod), reason: event.message },
        'projection: left out an annotation',
      );
      this.#reportOnce(pod, event);
    }
    if (!patch) return;
    const own = allocations.filter(({ uid }) => uid === pod.ledgerUid);
    const span = traces?.startWrite(pod, 'annotate Pod', own);
    try {
      await this.#patchPod(pod, patch);
      span?.end();
      traces?.onAnnotated(pod, own);
    } catch (error) {
      span?.end('WRITE_FAILED');
      // Ignores that another Pod has the name: its own changes will be reported.
      if (!(error instanceof ApiError && error.reaction === 'changed')) throw error;
    }
  }

  /** Patches a Pod; if the API rejects the patch, writes each network's annotations separately. */
  async #patchPod(pod: Pod, patch: PodPatch): Promise<void> {
    const { api, signal } = this.#options;
    const path = podPath(pod.namespace, pod.name);
    const write = (body: PodPatch): Promise<void> => mergePatch(api, { path, body, signal });
    try {
      await write(patch);
    } catch (error) {
      if (!(error instanceof ApiError) || !['invalid', 'denied'].includes(error.reaction)) throw error;
      const parts = patchesByNetwork(patch);
      const results = parts.length > 1 ? await Promise.allSettled(parts.map(write)) : [];
      const rejected = parts.filter((_, index) => results[index]?.status !== 'fulfilled');
      if (rejected.length > 0) this.#reportOnce(pod, rejectedPatchEvent(rejected, error.reason));
      if (rejected.length > 0) throw error;
    }
  }

  #reportNodeMismatch(pod: Pod, allocations: readonly HeldAllocation[]): void {
    const message = nodeMismatch(pod, allocations);
    if (message === undefined) return;
    const isNew = this.#reportOnce(pod, { type: 'Warning', reason: 'BoundOnAnotherNode', message });
    if (isNew) this.#options.log.warn({ pod: keyOf(pod), reason: message }, 'projection: bound on another Node');
  }

  /** Records an Event once, until its message changes. Returns whether it recorded the Event. */
  #reportOnce(pod: Pod, event: PodEvent): boolean {
    const reported = this.#reported.get(pod.uid) ?? new Map<string, string>();
    if (reported.get(event.reason) === event.message) return false;
    this.#reported.set(pod.uid, reported.set(event.reason, event.message));
    this.#options.recordEvent(pod, event);
    return true;
  }

  #shownSubnet(name: string): ShownSubnet | undefined {
    const subnet = this.view.subnet(name);
    const { vpc = '', vlan = '', logicalGateway = false } = this.#options.subnets.objects.get(name)?.overlay ?? {};
    return (
      subnet && {
        ...subnet.spec,
        isOvn: isOvnProvider(subnet.spec.provider),
        logicalRouter: vlan === '' || logicalGateway ? vpc : '',
        vlan: this.#options.vlans.objects.get(vlan),
      }
    );
  }

  async #syncIpObject(name: string): Promise<void> {
    const allocation = this.view.allocationOfIp(name);
    const { traces } = this.#options;
    const owner = allocation && this.#ownersOf(allocation)[0];
    const span = allocation && traces?.startWrite(owner, 'write IP object', [allocation]);
    const assignment = allocation && { allocation, node: this.#nodeOf(allocation) };
    const isWritten = await syncIpObject(name, assignment, this.#options);
    if (isWritten) span?.end();
  }

  /** Returns the Pod of an allocation, or the launchers of its machine, newest first. */
  #ownersOf(allocation: HeldAllocation): readonly Pod[] {
    return this.#pods.all(podKeyOf(allocation)).filter(({ ledgerUid }) => ledgerUid === allocation.uid);
  }

  /**
   * Returns the Node of the Pod; with two launchers the Node of the last binding. Creation times
   * are in seconds, so the newest launcher may be unknown.
   */
  #nodeOf(allocation: HeldAllocation): string {
    const nodes = this.#ownersOf(allocation).flatMap(({ node }) => node || []);
    return nodes.find((node) => node === allocation.node) ?? nodes[0] ?? allocation.node;
  }

  async #projectSubnet(name: string): Promise<void> {
    const { allocator, subnets, signal } = this.#options;
    if (!subnets.objects.has(name) || !this.view.subnet(name)) return;
    const request = { name, minSeq: this.view.seq };
    const reply = await undefinedIfRetired(() => allocator.call(SubnetsService.getSubnet, request, signal));
    const object = subnets.objects.get(name);
    if (!reply?.subnet || !object) return;
    await this.#projectCounts(object, subnetKind.path, usageCounts(reply.subnet.usage, subnetFieldNames));
  }

  async #projectPool(name: string): Promise<void> {
    const { allocator, pools, signal } = this.#options;
    if (!pools.objects.has(name) || !this.view.pool(name)) return;
    const request = { name, minSeq: this.view.seq };
    const reply = await undefinedIfRetired(() => allocator.call(SubnetsService.getPool, request, signal));
    const object = pools.objects.get(name);
    if (!reply?.pool || !object) return;
    await this.#projectCounts(object, ipPools.path, usageCounts(reply.pool.usage, poolFieldNames));
  }

  async #projectVip(name: string): Promise<void> {
    const { api, vips, signal } = this.#options;
    const user = this.vipUsers.userOf(name);
    const labels = vips.objects.get(name)?.labels;
    if (!labels || (labels[userLabel] ?? '') === user) return;
    await mergePatch(api, {
      path: objectPath(vipKind.path, name),
      body: { metadata: { labels: { [userLabel]: user } } },
      signal,
    });
  }

  async #projectCounts({ name, status }: SubnetObject | PoolObject, path: string, counts: Counts): Promise<void> {
    const { api, signal } = this.#options;
    if (hasCounts(status, counts)) return;
    await mergePatch(api, { path: `${objectPath(path, name)}/status`, body: statusPatch(counts), signal });
  }
}

/** Ignores a retired Subnet or IPPool, for which there is a separate event. */
async function undefinedIfRetired<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const { code } = IpledgerError.from(error);
    if (code === 'SUBNET_UNKNOWN' || code === 'POOL_UNKNOWN') return undefined;
    throw error;
  }
}
