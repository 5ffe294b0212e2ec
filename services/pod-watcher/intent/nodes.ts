/**
 * Ends the bindings of Nodes that were deleted, or tainted as out of service, so that the addresses which Pods of theirs left need
 * not be kept back until their binding times out.
 *
 * Only what the Pod of that container does not hold any more: a container on a machine whose Node object was deleted may run on,
 * and its Pod with it; as long as the Pod is there, its address is given to nobody else, bound or not. And only Nodes whose
 * deletion the API told, or remembers: a name in the ledger that is no Node's (an agent by itself, a test) says nothing about a
 * machine. A Node that binds something after it was declared out of service lives: that binding stays.
 */
import type { Logger } from '../../../lib/log.ts';
import type { SandboxBinding, UnbindCause } from '../../../proto/ipledger.ts';
import { reasonOf } from '../kubernetes/api.ts';
import type { Change, Named, Source } from '../kubernetes/list-watch.ts';
import type { NodeObject } from '../kubernetes/objects.ts';
import type { Allocator } from '../ledger/allocator.ts';
import type { Fact } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { type Outcome, Queue } from '../queue.ts';
import { Vanished } from './vanished.ts';

export interface NodesOptions {
  readonly allocator: Pick<Allocator, 'listBindings' | 'unbind'>;
  readonly nodes: Pick<Source<NodeObject>, 'objects' | 'subscribe'>;
  /** Whether the Pod of this container holds one of its addresses still. */
  readonly holds: (sandbox: SandboxBinding) => boolean;
  /** Whether there is such a Node at this moment. */
  readonly exists: (name: string, signal: AbortSignal) => Promise<boolean>;
  /** Those that were deleted while nobody watched, as far as the API server remembers. */
  readonly recall?: (signal: AbortSignal) => AsyncIterable<Named>;
  /** Go on also when most Nodes vanish at once. */
  readonly acceptVanished: boolean;
  readonly vanishedBefore?: number;
  /** Says that too many Nodes vanished; undefined when that is over. */
  readonly alarm: (sentence: string | undefined) => void;
  /** How long a deleted Node is waited for; others may follow. */
  readonly settleMs?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 4;
const firstBackoffMs = 500;
/** What its Pods still hold is looked at again so often; and at once when something is released. */
const mostBackoffMs = 60_000;
const usualSettleMs = 10_000;
const soonMs = 200;
/** Those that vanish within this time vanish at once. */
const atOnceMs = 60_000;
const fewestNodes = 10;

/** Why the bindings of a Node end, and which: those made until then, in milliseconds since 1970. */
interface NodeEnd {
  readonly cause: UnbindCause;
  readonly until: number;
}

export class Nodes implements Reader {
  readonly #options: NodesOptions;
  readonly #queue: Queue;
  readonly #vanished: Vanished;
  /** Deleted, and perhaps with bindings left; since when (of performance.now()). */
  readonly #gone = new Map<string, number>();
  /** Tainted as out of service; since when (milliseconds since 1970). */
  readonly #outOfService = new Map<string, number>();

  constructor(options: NodesOptions) {
    this.#options = options;
    const { log, signal, acceptVanished: accept, vanishedBefore: before = 0 } = options;
    this.#vanished = new Vanished({ fewest: fewestNodes, accept, before });
    const work = (name: string) => this.#turn(name);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    options.nodes.subscribe((change) => this.#onNode(change));
  }

  /** How many Nodes vanished, while that is doubted; else 0. */
  get vanished(): number {
    return this.#vanished.most;
  }

  /** Begins; Nodes and the ledger's snapshot must be known by now. Resolves when what was missed is recalled. */
  async start(): Promise<void> {
    const { recall, nodes, log, signal } = this.#options;
    this.#queue.start();
    if (!recall) return;
    try {
      for await (const { name } of recall(signal)) if (!nodes.objects.has(name)) this.#onGone(name);
    } catch (error) {
      if (!signal.aborted) log.info({ reason: reasonOf(error) }, 'nodes: the API does not remember what was deleted');
    }
  }

  snapshot(): void {
    // What is bound is asked for each time.
  }

  facts(facts: readonly Fact[]): void {
    if (facts.some(({ kind }) => kind === 'ended'))
      for (const name of [...this.#gone.keys(), ...this.#outOfService.keys()]) this.#queue.addAfter(name, soonMs);
  }

  #onNode(change: Change<NodeObject>): void {
    if (change.kind === 'listed') return;
    const { name, outOfServiceSince: since } = change.object;
    if (change.kind === 'gone' || since === undefined) this.#outOfService.delete(name);
    if (change.kind === 'gone') return this.#onGone(name);
    this.#gone.delete(name);
    if (since === undefined || this.#outOfService.has(name)) return;
    this.#outOfService.set(name, Date.parse(since) || Date.now());
    this.#queue.add(name);
  }

  #onGone(name: string): void {
    this.#gone.set(name, performance.now());
    this.#queue.addAfter(name, this.#settleMs);
  }

  get #settleMs(): number {
    return this.#options.settleMs ?? usualSettleMs;
  }

  async #turn(name: string): Promise<Outcome> {
    const { exists, signal } = this.#options;
    const outOfServiceAt = this.#outOfService.get(name);
    if (outOfServiceAt !== undefined) {
      const cause = 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE';
      return (await this.#unbind(name, { cause, until: outOfServiceAt })) > 0 ? 'again' : 'done';
    }
    const goneAt = this.#gone.get(name);
    if (goneAt === undefined) return 'done';
    const earlyMs = goneAt + this.#settleMs - performance.now();
    if (earlyMs > 0) {
      this.#queue.addAfter(name, earlyMs);
      return 'done';
    }
    if (this.#isDoubtful()) return 'again';
    const end = { cause: 'UNBIND_CAUSE_NODE_DELETED', until: Infinity } as const;
    const left = (await exists(name, signal)) ? 0 : await this.#unbind(name, end);
    if (left > 0) return 'again';
    this.#gone.delete(name);
    return 'done';
  }

  #isDoubtful(): boolean {
    const { nodes, alarm } = this.#options;
    const doubted = this.#vanished.most > 0;
    const since = doubted ? -Infinity : performance.now() - atOnceMs;
    const missing = [...this.#gone].filter(([, at]) => at > since).map(([name]) => name);
    const known = missing.length + nodes.objects.size;
    const doubtful = this.#vanished.judge(missing.length, known);
    if (doubtful)
      alarm(
        `${missing.length} of ${known} Nodes vanished from the Kubernetes API at once (${missing.slice(0, 3).join(', ')}, …); what was bound there is kept back. ` +
          'If the API server lost its data, bring it back; if the Nodes are really gone, restart this watcher once with --accept-vanished',
      );
    else if (doubted) alarm(undefined);
    return doubtful;
  }

  /** Ends, of a Node's bindings, those that their Pods left behind; gives how many are left. */
  async #unbind(node: string, { cause, until }: NodeEnd): Promise<number> {
    const { allocator, holds, log, signal } = this.#options;
    let [ended, left, later] = [0, 0, 0];
    for (let pageToken = ''; ;) {
      const { bindings, nextPageToken } = await allocator.listBindings({ node, pageToken }, signal);
      for (const sandbox of bindings) {
        if (Date.parse(sandbox.binding?.at ?? '') > until) later += 1;
        else if (!holds(sandbox) && (await this.#unbindOne(sandbox, cause)) > 0) ended += 1;
        else left += 1;
      }
      pageToken = nextPageToken;
      if (pageToken === '') break;
    }
    const found = { node, ended, left, cause };
    if (ended > 0) log.info(found, 'nodes: a Node has ended, and so have the bindings that its Pods left behind');
    if (later > 0)
      log.warn(
        { ...found, later },
        'nodes: a Node that is tainted as out of service has bound containers since, so it runs: remove the taint, or stop the machine',
      );
    return left;
  }

  /** How many it ended: none where an address is fenced, or somebody was quicker. */
  async #unbindOne({ attachment, binding }: SandboxBinding, cause: UnbindCause): Promise<number> {
    const { allocator, signal } = this.#options;
    const { namespace = '', pod = '', provider = '' } = attachment ?? {};
    const { containerId = '', interface: name = '' } = binding ?? {};
    const request = { namespace, pod, provider, containerId, interface: name, cause };
    return (await allocator.unbind(request, signal)).unbound;
  }
}
