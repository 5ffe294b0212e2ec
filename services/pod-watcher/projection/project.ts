/**
 * Brings Pod annotations, IP objects and Subnet status to what the ledger says: one work queue, in which each of them is a key
 * of its own. Level-triggered: a turn compares what should be with what is, and writes the difference, so it converges
 * from any state, after any crash, and heals what was changed by hand.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { type Api, ApiError } from '../kubernetes/api.ts';
import { type Change, keyOf, type Source } from '../kubernetes/list-watch.ts';
import {
  type IpObject,
  ips as ipKind,
  type Pod,
  type SubnetObject,
  subnets as subnetKind,
} from '../kubernetes/objects.ts';
import { create, mergePatch, objectPath, podPath, remove } from '../kubernetes/patch.ts';
import type { Allocator } from '../ledger/allocator.ts';
import type { Holding } from '../ledger/facts.ts';
import { type Outcome, Queue } from '../queue.ts';
import { canBeNamed, ipManifest, ipName, shows } from './ip.ts';
import { isOvnProvider, podPatch } from './pod.ts';
import { countsOf, saysCounts, statusPatch } from './subnet-status.ts';
import { type Touched, View } from './view.ts';

export interface ProjectorOptions {
  readonly api: Api;
  readonly allocator: Pick<Allocator, 'getSubnet'>;
  readonly pods: Pick<Source<Pod>, 'objects' | 'subscribe'>;
  readonly ips: Pick<Source<IpObject>, 'objects' | 'subscribe'>;
  readonly subnets: Pick<Source<SubnetObject>, 'objects' | 'subscribe'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Writes to the API server at a time. */
const concurrency = 16;
const firstBackoffMs = 200;
const mostBackoffMs = 30_000;
/**
 * A Subnet's counts change with each Pod; its status is written this long after the first change. Counting the ranges of a
 * large subnet takes the allocator tens of milliseconds, in the queue in which commands wait, too.
 */
const statusMs = 1_000;

export class Projector {
  readonly view: View;
  readonly #options: ProjectorOptions;
  readonly #queue: Queue;

  constructor(options: ProjectorOptions) {
    this.#options = options;
    const { log, signal } = options;
    this.view = new View((touched) => this.#onTouched(touched));
    this.#queue = new Queue({
      concurrency,
      firstBackoffMs,
      mostBackoffMs,
      work: (key) => this.#turn(key),
      log,
      signal,
    });
    options.pods.subscribe((change) => this.#onPod(change));
    options.ips.subscribe((change) => this.#onObject('ip', change));
    options.subnets.subscribe((change) => this.#onObject('subnet', change));
  }

  /** Begins, with a look at everything; the objects and the ledger's snapshot must be known by now. */
  start(): void {
    const { ips, subnets } = this.#options;
    this.#onTouched(this.view.all());
    for (const name of ips.objects.keys()) this.#queue.add(`ip:${name}`);
    for (const name of subnets.objects.keys()) this.#queue.add(`subnet:${name}`);
    this.#queue.start();
  }

  #onTouched({ pods, ips, subnets }: Touched): void {
    for (const pod of pods) this.#queue.add(`pod:${pod}`);
    for (const ip of ips) this.#queue.add(`ip:${ip}`);
    for (const subnet of subnets) this.#queue.addAfter(`subnet:${subnet}`, statusMs);
  }

  #onPod(change: Change<Pod>): void {
    if (change.kind === 'listed') return;
    const key = keyOf(change.object);
    const holdings = this.view.ofPod(key);
    if (holdings.length === 0) return;
    this.#queue.add(`pod:${key}`);
    // An IP object says where its Pod runs.
    const moved = change.kind === 'present' && change.before?.node !== change.object.node;
    if (moved) for (const holding of holdings) this.#queue.add(`ip:${ipName(holding)}`);
  }

  #onObject(kind: 'ip' | 'subnet', change: Change<IpObject | SubnetObject>): void {
    if (change.kind !== 'listed') this.#queue.add(`${kind}:${change.object.name}`);
  }

  async #turn(key: string): Promise<Outcome> {
    const colon = key.indexOf(':');
    const [kind, name] = [key.slice(0, colon), key.slice(colon + 1)];
    try {
      if (kind === 'pod') await this.#annotate(name);
      else if (kind === 'ip') await this.#showIp(name);
      else await this.#showStatus(name);
      return 'done';
    } catch (error) {
      return this.#after(error, key);
    }
  }

  /** Another Pod, or none, has the name by now: its own events will come. All else is tried again. */
  #after(error: unknown, key: string): Outcome {
    if (!(error instanceof ApiError)) throw error;
    if (error.reaction === 'absent') return 'done';
    const level = { changed: 'debug', later: 'debug', denied: 'error', invalid: 'error' } as const;
    this.#options.log[level[error.reaction]]({ reason: error.message, key }, 'projection: not written, trying again');
    return 'again';
  }

  async #annotate(key: string): Promise<void> {
    const { api, pods, signal } = this.#options;
    const pod = pods.objects.get(key);
    const body = pod && podPatch(pod, this.view.ofPod(key), (subnet) => this.#isOvnSubnet(subnet));
    if (!body) return;
    try {
      await mergePatch(api, { path: podPath(pod.namespace, pod.name), body, signal });
    } catch (error) {
      // The name is another Pod's by now, and its own events will come.
      if (!(error instanceof ApiError && error.reaction === 'changed')) throw error;
    }
  }

  #isOvnSubnet(name: string): boolean {
    const subnet = this.view.subnet(name);
    return subnet !== undefined && isOvnProvider(subnet.spec.provider);
  }

  async #showIp(name: string): Promise<void> {
    const { api, ips, log, signal } = this.#options;
    const object = ips.objects.get(name);
    const holding = this.view.ofIp(name);
    const path = objectPath(ipKind.path, name);
    if (!holding) {
      // Only what we made is ours to delete.
      if (object && object.allocation !== '') await remove(api, path, object.uid, signal);
      return;
    }
    if (!canBeNamed(name)) {
      log.warn({ name }, 'projection: an IP object cannot have so long a name; this allocation goes without one');
      return;
    }
    const manifest = ipManifest(holding, this.#nodeOf(holding));
    // Of another allocation: that one's object goes, this one's comes.
    const stale = object !== undefined && object.allocation !== '' && object.allocation !== String(holding.seq);
    if (stale) await remove(api, path, object.uid, signal);
    if (!object || stale) await create(api, { path: ipKind.path, body: manifest, signal });
    else if (object.allocation === '' || !shows(object, manifest))
      await mergePatch(api, { path, body: manifest, signal });
  }

  #nodeOf({ namespace, pod, uid, node }: Holding): string {
    const known = this.#options.pods.objects.get(keyOf({ namespace, name: pod }));
    return known?.identity === uid && known.node !== '' ? known.node : node;
  }

  async #showStatus(name: string): Promise<void> {
    const { api, allocator, subnets, signal } = this.#options;
    if (!subnets.objects.has(name) || !this.view.subnet(name)) return;
    const { subnet } = await this.#usage(allocator, name);
    const object = subnets.objects.get(name);
    if (!subnet || !object) return;
    const counts = countsOf(subnet.usage);
    if (saysCounts(object.status, counts)) return;
    await mergePatch(api, { path: `${objectPath(subnetKind.path, name)}/status`, body: statusPatch(counts), signal });
  }

  async #usage(allocator: ProjectorOptions['allocator'], name: string) {
    try {
      return await allocator.getSubnet(name, this.view.seq, this.#options.signal);
    } catch (error) {
      // Retired since: that is an event of its own.
      if (IpledgerError.from(error).code === 'SUBNET_UNKNOWN') return { subnet: undefined };
      throw error;
    }
  }
}
