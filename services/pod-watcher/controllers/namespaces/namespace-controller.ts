/** The namespace controller: writes the Subnets and IPPools of a namespace into its annotations. */
import type { Logger } from '../../../../lib/process/log.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { NamespaceObject } from '../../kubernetes/objects/namespace.ts';
import type { LedgerEvent } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber } from '../../ledger/ledger-follower.ts';
import { type Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import { isBoundToNamespace, namespacePatch } from './namespace-annotations.ts';
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
/** Changes within this time are written together. */
const gatherMs = 100;

export class NamespaceController implements LedgerSubscriber {
  readonly #options: NamespaceControllerOptions;
  readonly #queue: WorkQueue;

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
    const { namespaces, subnetObjects, log, signal } = options;
    const work = (name: string) => this.#reconcile(name);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    namespaces.subscribe((change) => {
      if (change.kind === 'present') this.#queue.addAfter(change.object.name, gatherMs);
    });
    subnetObjects.subscribe((change) => {
      if (change.kind === 'listed') return;
      // The usage counts of a Subnet change with each Pod, and concern no namespace.
      const before = change.kind === 'present' ? change.before : undefined;
      if (!before || namespaceFieldsOf(before) !== namespaceFieldsOf(change.object)) this.#enqueueAll();
    });
  }

  /** Starts; Subnets and IPPools must have been tried once. */
  start(): void {
    this.#enqueueAll();
    this.#queue.start();
  }

  onSnapshot(): void {
    this.#enqueueAll();
  }

  onEvents(events: readonly LedgerEvent[]): void {
    const relevant = new Set<LedgerEvent['kind']>([
      'subnet-configured',
      'subnet-retired',
      'pool-configured',
      'pool-retired',
    ]);
    if (events.some(({ kind }) => relevant.has(kind))) this.#enqueueAll();
  }

  #enqueueAll(): void {
    for (const name of this.#options.namespaces.objects.keys()) this.#queue.addAfter(name, gatherMs);
  }

  async #reconcile(name: string): Promise<Outcome> {
    const { namespaces, subnetObjects, subnets, pools, write, signal } = this.#options;
    const namespace = namespaces.objects.get(name);
    if (!namespace) return 'done';
    const boundSubnets = [...subnetObjects.objects.values()].filter(
      (subnet) => isBoundToNamespace(subnet, namespace) && subnets.get(subnet.name) !== undefined,
    );
    const annotations = namespacePatch(namespace, {
      subnets: boundSubnets.map((subnet) => subnet.name).sort(),
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

/** The fields of a Subnet that decide about namespaces, as one text. */
function namespaceFieldsOf({ spec, namespaceRestriction, deleting }: SubnetObject): string {
  return JSON.stringify([spec.provider, namespaceRestriction, deleting]);
}
