/** The namespace controller: writes the Subnets and IPPools of a namespace into its annotations. */
import type { Logger } from '../../../../lib/process/log.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { NamespaceObject } from '../../kubernetes/objects/namespace.ts';
import type { AppliedPool, LedgerEvent } from '../../ledger/ledger-events.ts';
import type { LedgerSnapshot, LedgerSubscriber } from '../../ledger/ledger-subscriber.ts';
import { type Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import { namespacePatch } from './namespace-annotations.ts';
import { NamespaceBindings } from './namespace-bindings.ts';
import type { PoolCache } from '../pools/pool-cache.ts';
import type { SubnetCache } from '../subnets/subnet-cache.ts';

export interface NamespaceControllerOptions {
  readonly namespaces: Pick<Informer<NamespaceObject>, 'objects' | 'subscribe'>;
  readonly subnetObjects: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>;
  readonly subnets: Pick<SubnetCache, 'get'>;
  readonly pools: Pick<PoolCache, 'poolsOfNamespace'>;
  /** Writes annotations of a namespace by a merge patch. */
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
const maxBackoffMs = 30_000;
/** The time within which changes are written together. */
const gatherMs = 100;

export class NamespaceController implements LedgerSubscriber {
  readonly #options: NamespaceControllerOptions;
  readonly #queue: WorkQueue;
  readonly #bindings = new NamespaceBindings();
  /** The namespaces that each IPPool names. */
  readonly #namespacesOfPool = new Map<string, readonly string[]>();

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
    const { namespaces, subnetObjects, log, signal } = options;
    const work = (name: string) => this.#reconcile(name);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    for (const namespace of namespaces.objects.values()) this.#bindings.putNamespace(namespace);
    for (const subnet of subnetObjects.objects.values()) this.#bindings.putSubnet(subnet);
    namespaces.subscribe((change) => {
      if (change.kind === 'listed') return;
      if (change.kind === 'gone') return this.#bindings.dropNamespace(change.object.name);
      this.#bindings.putNamespace(change.object);
      this.#enqueue([change.object.name]);
    });
    subnetObjects.subscribe((change) => {
      if (change.kind === 'listed') return;
      // Ignores the usage counts of a Subnet, which change with each Pod and concern no namespace.
      const before = change.kind === 'present' ? change.before : undefined;
      if (before && namespaceFieldsOf(before) === namespaceFieldsOf(change.object)) return;
      const isGone = change.kind === 'gone';
      this.#enqueue(isGone ? this.#bindings.dropSubnet(change.object.name) : this.#bindings.putSubnet(change.object));
    });
  }

  /** Starts. Subnets and IPPools must have been tried once before. */
  start(): void {
    this.#enqueueAll();
    this.#queue.start();
  }

  onSnapshot({ pools }: LedgerSnapshot): void {
    this.#namespacesOfPool.clear();
    for (const { name, spec } of pools) this.#namespacesOfPool.set(name, spec.namespaces);
    this.#enqueueAll();
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'subnet-configured') this.#enqueue(this.#bindings.namespacesOf(event.subnet.name));
      else if (event.kind === 'subnet-retired') this.#enqueue(this.#bindings.namespacesOf(event.subnet));
      else if (event.kind === 'pool-configured') this.#onPool(event.pool.name, event.pool);
      else if (event.kind === 'pool-retired') this.#onPool(event.pool, undefined);
    }
  }

  /** @param pool the applied IPPool; undefined if it is retired */
  #onPool(name: string, pool: AppliedPool | undefined): void {
    this.#enqueue(this.#namespacesOfPool.get(name) ?? []);
    this.#namespacesOfPool.delete(name);
    if (!pool) return;
    this.#namespacesOfPool.set(name, pool.spec.namespaces);
    this.#enqueue(pool.spec.namespaces);
  }

  #enqueueAll(): void {
    this.#enqueue(this.#options.namespaces.objects.keys());
  }

  #enqueue(names: Iterable<string>): void {
    for (const name of names) this.#queue.addAfter(name, gatherMs);
  }

  async #reconcile(name: string): Promise<Outcome> {
    const { namespaces, subnets, pools, write, signal } = this.#options;
    const namespace = namespaces.objects.get(name);
    if (!namespace) return 'done';
    const annotations = namespacePatch(namespace, {
      subnets: [...this.#bindings.subnetsOf(name)].filter((subnet) => subnets.get(subnet) !== undefined).sort(),
      pools: pools.poolsOfNamespace(name),
      specOf: (subnet) => subnets.get(subnet)?.spec,
    });
    if (!annotations) return 'done';
    try {
      await write(namespace, annotations, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.reaction === 'later' || error.reaction === 'denied') throw error;
      this.#options.log.warn(
        { namespace: name, reason: error.message },
        'namespaces: the API rejected the annotations',
      );
    }
    return 'done';
  }
}

/** Returns the fields of a Subnet that concern namespaces, as one text. */
function namespaceFieldsOf({ spec, namespaceRestriction, deleting }: SubnetObject): string {
  return JSON.stringify([spec.provider, namespaceRestriction, deleting]);
}
