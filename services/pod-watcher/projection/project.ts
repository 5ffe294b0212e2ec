/**
 * Brings Pod annotations, IP objects, and what Subnets, IPPools and Vips show, to what the ledger says: one work queue, in which each of them is a key
 * of its own. Level-triggered: a turn compares what should be with what is, and writes the difference, so it converges
 * from any state, after any crash, and heals what was changed by hand.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { ipName } from '../../../lib/ip-name.ts';
import type { Logger } from '../../../lib/log.ts';
import { type Api, ApiError } from '../kubernetes/api.ts';
import type { Happening } from '../kubernetes/events.ts';
import { LedgerPods, ledgerKeyOf } from '../kubernetes/ledger-pods.ts';
import { type Change, keyOf, type Source } from '../kubernetes/list-watch.ts';
import {
  type IpObject,
  ipPools,
  type PoolObject,
  type SubnetObject,
  subnets as subnetKind,
  type VipObject,
  vips as vipKind,
} from '../kubernetes/kept-objects.ts';
import { type Pod } from '../kubernetes/objects.ts';
import { mergePatch, objectPath, podPath } from '../kubernetes/patch.ts';
import type { Allocator } from '../ledger/allocator.ts';
import type { Holding } from '../ledger/facts.ts';
import { isOvnProvider } from '../../../lib/provider.ts';
import { type Outcome, Queue } from '../queue.ts';
import { Complaints } from './complaints.ts';
import { type Counts, countsOf, poolSpelling, saysCounts, statusPatch, subnetSpelling } from './counts.ts';
import { misplaced } from './place.ts';
import { canBeAnnotated, podPatch } from './pod.ts';
import { showIp } from './show-ip.ts';
import { type Touched, View } from './view.ts';
import { userLabel, VipUsers } from './vip-users.ts';

export interface ProjectorOptions {
  readonly api: Api;
  readonly allocator: Pick<Allocator, 'getPool' | 'getSubnet'>;
  readonly pods: Pick<Source<Pod>, 'objects' | 'subscribe'>;
  readonly ips: Pick<Source<IpObject>, 'objects' | 'subscribe'>;
  readonly subnets: Pick<Source<SubnetObject>, 'objects' | 'subscribe'>;
  readonly pools: Pick<Source<PoolObject>, 'objects' | 'subscribe'>;
  readonly vips: Pick<Source<VipObject>, 'objects' | 'subscribe'>;
  /** Tells people about a Pod. */
  readonly say: (pod: Pod, happening: Happening) => void;
  /** How long the IP object of a Pod that has no Node yet waits for the scheduler. */
  readonly placementMs?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Writes to the API server at a time. */
const concurrency = 16;
const firstBackoffMs = 200;
const mostBackoffMs = 30_000;
/** What the API refuses it will refuse again, until a person helps: after some tries it is asked seldom, or when something changes. */
const refusalTries = 4;
const refusedMs = 300_000;
/** A Subnet's counts change with each Pod; its status is written this long after the first change, for all of them. */
const statusMs = 1_000;
/**
 * A Pod gets its addresses before it gets its Node, and its IP object says where it runs: waiting a little for the scheduler
 * saves writing each of them twice.
 */
const usualPlacementMs = 500;

export class Projector {
  readonly view: View;
  readonly vipUsers: VipUsers;
  readonly #options: ProjectorOptions;
  readonly #pods: LedgerPods;
  readonly #queue: Queue;
  readonly #complaints: Complaints;
  /** What was said of Pods that run elsewhere than they were bound, by uid. */
  readonly #misplaced = new Map<string, string>();

  constructor(options: ProjectorOptions) {
    this.#options = options;
    const { log, signal } = options;
    this.#complaints = new Complaints(log);
    this.#pods = new LedgerPods(options.pods);
    this.view = new View((touched) => this.#onTouched(touched));
    this.vipUsers = new VipUsers((vips) => {
      for (const vip of vips) this.#queue.add(`vip:${vip}`);
    });
    this.#queue = new Queue({
      concurrency,
      firstBackoffMs,
      mostBackoffMs,
      work: (key) => this.#turn(key),
      // Who waits for an address looks at the Pod.
      canWait: (key) => key.startsWith('ip:'),
      log,
      signal,
    });
    options.pods.subscribe((change) => this.#onPod(change));
    options.ips.subscribe((change) => this.#onObject('ip', change));
    options.subnets.subscribe((change) => this.#onObject('subnet', change));
    options.pools.subscribe((change) => this.#onObject('pool', change));
    options.vips.subscribe((change) => this.#onObject('vip', change));
  }

  /** Begins, with a look at everything; the objects and the ledger's snapshot must be known by now. */
  start(): void {
    const { ips, subnets, pools, vips } = this.#options;
    this.#onTouched(this.view.all());
    for (const name of ips.objects.keys()) this.#queue.add(`ip:${name}`);
    for (const name of subnets.objects.keys()) this.#queue.add(`subnet:${name}`);
    for (const name of pools.objects.keys()) this.#queue.add(`pool:${name}`);
    for (const name of vips.objects.keys()) this.#queue.add(`vip:${name}`);
    this.#queue.start();
  }

  #onTouched({ pods, ips, subnets, pools }: Touched): void {
    for (const pod of pods) this.#queue.add(`pod:${pod}`);
    for (const ip of ips) this.#touchIp(ip);
    for (const subnet of subnets) this.#queue.addAfter(`subnet:${subnet}`, statusMs);
    for (const pool of pools) this.#queue.addAfter(`pool:${pool}`, statusMs);
  }

  #touchIp(name: string): void {
    const { ips, placementMs = usualPlacementMs } = this.#options;
    const holding = this.view.ofIp(name);
    const awaitsNode = holding !== undefined && !ips.objects.has(name) && this.#nodeOf(holding) === '';
    if (awaitsNode) this.#queue.addAfter(`ip:${name}`, placementMs);
    else this.#queue.add(`ip:${name}`);
  }

  #onPod(change: Change<Pod>): void {
    if (change.kind === 'listed') return;
    if (change.kind === 'gone') this.#misplaced.delete(change.object.uid);
    const key = ledgerKeyOf(change.object);
    const holdings = this.view.ofPod(key);
    if (holdings.length === 0) return;
    this.#queue.add(`pod:${key}`);
    // An IP object says where its Pod runs.
    const moved = change.kind === 'present' && change.before?.node !== change.object.node;
    if (moved) for (const holding of holdings) this.#queue.add(`ip:${ipName(holding)}`);
  }

  #onObject(
    kind: 'ip' | 'subnet' | 'pool' | 'vip',
    change: Change<IpObject | SubnetObject | PoolObject | VipObject>,
  ): void {
    if (change.kind !== 'listed') this.#queue.add(`${kind}:${change.object.name}`);
  }

  async #turn(key: string): Promise<Outcome> {
    const colon = key.indexOf(':');
    const [kind, name] = [key.slice(0, colon), key.slice(colon + 1)];
    try {
      if (kind === 'pod') await this.#annotate(name);
      else if (kind === 'ip') await this.#showIp(name);
      else if (kind === 'subnet') await this.#showSubnet(name);
      else if (kind === 'vip') await this.#showVip(name);
      else await this.#showPool(name);
      return 'done';
    } catch (error) {
      return this.#after(error, key);
    }
  }

  /** Another Pod, or none, has the name by now: its own events will come. All else is tried again. */
  #after(error: unknown, key: string): Outcome {
    if (!(error instanceof ApiError)) throw error;
    const { reaction, message: reason } = error;
    if (reaction === 'absent') return 'done';
    if (reaction === 'changed' || reaction === 'later') {
      this.#options.log.debug({ reason, key }, 'projection: not written, trying again');
      return 'again';
    }
    const [kind = ''] = key.split(':', 1);
    this.#complaints.make(`${kind} ${error.status}`, { reason, key }, 'projection: the API refuses to take it');
    if (this.#queue.tries(key) < refusalTries) return 'again';
    this.#queue.addAfter(key, refusedMs);
    return 'done';
  }

  /** Of a virtual machine that moves, both launchers show what it has. */
  async #annotate(key: string): Promise<void> {
    const holdings = this.view.ofPod(key);
    for (const pod of this.#pods.all(key)) await this.#annotateOne(pod, holdings);
  }

  async #annotateOne(pod: Pod, holdings: readonly Holding[]): Promise<void> {
    const { api, signal } = this.#options;
    this.#tellMisplaced(pod, holdings);
    for (const { provider } of holdings)
      if (!canBeAnnotated(provider))
        this.#complaints.make(
          provider,
          { provider, pod: keyOf(pod) },
          'projection: no annotation can have so long a name',
        );
    const body = podPatch(pod, holdings, (subnet) => this.#isOvnSubnet(subnet));
    if (!body) return;
    try {
      await mergePatch(api, { path: podPath(pod.namespace, pod.name), body, signal });
    } catch (error) {
      // The name is another Pod's by now, and its own events will come.
      if (!(error instanceof ApiError && error.reaction === 'changed')) throw error;
    }
  }

  #tellMisplaced(pod: Pod, holdings: readonly Holding[]): void {
    const message = misplaced(pod, holdings);
    if (message === undefined || this.#misplaced.get(pod.uid) === message) return;
    this.#misplaced.set(pod.uid, message);
    this.#options.log.warn({ pod: keyOf(pod), reason: message }, 'projection: bound on another Node');
    this.#options.say(pod, { type: 'Warning', reason: 'BoundOnAnotherNode', message });
  }

  #isOvnSubnet(name: string): boolean {
    const subnet = this.view.subnet(name);
    return subnet !== undefined && isOvnProvider(subnet.spec.provider);
  }

  #showIp(name: string): Promise<void> {
    const holding = this.view.ofIp(name);
    return showIp(name, holding && { holding, node: this.#nodeOf(holding) }, this.#options);
  }

  #nodeOf({ namespace, pod, uid, node }: Holding): string {
    const known = this.#pods.all(keyOf({ namespace, name: pod })).find(({ identity }) => identity === uid);
    return known && known.node !== '' ? known.node : node;
  }

  async #showSubnet(name: string): Promise<void> {
    const { allocator, subnets, signal } = this.#options;
    if (!subnets.objects.has(name) || !this.view.subnet(name)) return;
    const reply = await unlessGone(() => allocator.getSubnet(name, this.view.seq, signal));
    const object = subnets.objects.get(name);
    if (!reply?.subnet || !object) return;
    await this.#showCounts(object, subnetKind.path, countsOf(reply.subnet.usage, subnetSpelling));
  }

  async #showPool(name: string): Promise<void> {
    const { allocator, pools, signal } = this.#options;
    if (!pools.objects.has(name) || !this.view.pool(name)) return;
    const reply = await unlessGone(() => allocator.getPool(name, this.view.seq, signal));
    const object = pools.objects.get(name);
    if (!reply?.pool || !object) return;
    await this.#showCounts(object, ipPools.path, countsOf(reply.pool.usage, poolSpelling));
  }

  async #showVip(name: string): Promise<void> {
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

  async #showCounts({ name, status }: SubnetObject | PoolObject, path: string, counts: Counts): Promise<void> {
    const { api, signal } = this.#options;
    if (saysCounts(status, counts)) return;
    await mergePatch(api, { path: `${objectPath(path, name)}/status`, body: statusPatch(counts), signal });
  }
}

/** Retired since: that is an event of its own. */
async function unlessGone<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const { code } = IpledgerError.from(error);
    if (code === 'SUBNET_UNKNOWN' || code === 'POOL_UNKNOWN') return undefined;
    throw error;
  }
}
