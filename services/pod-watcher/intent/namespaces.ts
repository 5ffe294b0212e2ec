/** Brings the annotations of namespaces to what Subnets and IPPools say of them. */
import type { Logger } from '../../../lib/log.ts';
import { ApiError } from '../kubernetes/api.ts';
import type { Source } from '../kubernetes/list-watch.ts';
import type { SubnetObject } from '../kubernetes/kept-objects.ts';
import type { NamespaceObject } from '../kubernetes/objects.ts';
import type { Fact } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { type Outcome, Queue } from '../queue.ts';
import { isFor, namespacePatch } from './namespace-annotations.ts';
import type { PoolsInForce } from './pools-in-force.ts';
import type { Subnets } from './subnets.ts';

export interface NamespacesOptions {
  readonly namespaces: Pick<Source<NamespaceObject>, 'objects' | 'subscribe'>;
  readonly objects: Pick<Source<SubnetObject>, 'objects' | 'subscribe'>;
  readonly subnets: Pick<Subnets, 'inForce'>;
  readonly pools: Pick<PoolsInForce, 'naming'>;
  /** Writes annotations of a namespace, by a merge patch. */
  readonly write: (
    namespace: NamespaceObject,
    annotations: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 4;
const firstBackoffMs = 200;
const mostBackoffMs = 30_000;
/** What changes together is written together. */
const gatherMs = 100;

export class Namespaces implements Reader {
  readonly #options: NamespacesOptions;
  readonly #queue: Queue;

  constructor(options: NamespacesOptions) {
    this.#options = options;
    const { namespaces, objects, log, signal } = options;
    const work = (name: string) => this.#turn(name);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    namespaces.subscribe((change) => {
      if (change.kind === 'present') this.#queue.addAfter(change.object.name, gatherMs);
    });
    objects.subscribe((change) => {
      if (change.kind === 'listed') return;
      // Its counts change with each Pod, and concern no namespace.
      const before = change.kind === 'present' ? change.before : undefined;
      if (!before || boundBy(before) !== boundBy(change.object)) this.#lookAtAll();
    });
  }

  /** Begins; Subnets and IPPools have been tried once by now. */
  start(): void {
    this.#lookAtAll();
    this.#queue.start();
  }

  snapshot(): void {
    this.#lookAtAll();
  }

  facts(facts: readonly Fact[]): void {
    const about = new Set(['configured', 'retired', 'pool-configured', 'pool-retired']);
    if (facts.some(({ kind }) => about.has(kind))) this.#lookAtAll();
  }

  #lookAtAll(): void {
    for (const name of this.#options.namespaces.objects.keys()) this.#queue.addAfter(name, gatherMs);
  }

  async #turn(name: string): Promise<Outcome> {
    const { namespaces, objects, subnets, pools, write, signal } = this.#options;
    const namespace = namespaces.objects.get(name);
    if (!namespace) return 'done';
    const own = [...objects.objects.values()].filter(
      (subnet) => isFor(subnet, namespace) && subnets.inForce(subnet.name) !== undefined,
    );
    const annotations = namespacePatch(namespace, {
      subnets: own.map((subnet) => subnet.name).sort(),
      pools: pools.naming(name),
      specOf: (subnet) => subnets.inForce(subnet)?.spec,
    });
    if (!annotations) return 'done';
    try {
      await write(namespace, annotations, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.reaction === 'later' || error.reaction === 'denied') throw error;
      this.#options.log.warn({ namespace: name, reason: error.message }, 'intent: the API refuses the annotations');
    }
    return 'done';
  }
}

/** What of a Subnet decides about namespaces, as one text. */
function boundBy({ spec, binding, deleting }: SubnetObject): string {
  return JSON.stringify([spec.provider, binding, deleting]);
}
