/** Applies IPPool objects to the ledger. */
import type { PoolObject } from '../../kubernetes/objects/ip-pool.ts';
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { SubnetsService } from '../../../../proto/generated/ipledger.ts';
import type { LedgerEvent } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber } from '../../ledger/ledger-subscriber.ts';
import { fieldsIgnored, poolReasons, type Verdict } from '../object-controller/conditions.ts';
import { ObjectController, type ObjectAccess } from '../object-controller/object-controller.ts';
import type { PoolCache } from './pool-cache.ts';

export interface PoolControllerOptions extends ObjectAccess<PoolObject> {
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly cache: PoolCache;
}

export class PoolController implements LedgerSubscriber {
  readonly #options: PoolControllerOptions;
  readonly #controller: ObjectController<PoolObject>;

  constructor(options: PoolControllerOptions) {
    this.#options = options;
    const { allocator, cache, signal } = options;
    this.#controller = new ObjectController<PoolObject>({
      ...options,
      async apply({ name, uid, generation, spec }) {
        const request = { name, spec, source: { uid, generation } };
        await allocator.call(SubnetsService.applyPool, request, signal);
        // Keeps the spec as its author wrote it, as in Kube-OVN, and adds the finalizer.
        return {};
      },
      isApplied: (name) => cache.get(name) !== undefined,
      differences: () => ({}),
      retire: (name) => this.#retire(name),
      appliedNames: () => cache.names(),
      onVerdict: (object, verdict) => this.#onVerdict(object, verdict),
      warnings: (object) => [fieldsIgnored(object)],
      reasons: poolReasons,
    });
  }

  /** Starts; resolves when every present IPPool has been tried once. */
  start(): Promise<void> {
    return this.#controller.start();
  }

  onSnapshot(): void {
    this.#controller.enqueueAll();
  }

  /** Retries rejected pools after a change of a subnet or another pool. */
  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'pool-configured') this.#controller.enqueueIfOrphaned(event.pool.name);
      else if (event.kind === 'pool-retired') this.#controller.enqueue(event.pool);
      if (event.kind === 'subnet-configured' || event.kind === 'pool-configured' || event.kind === 'pool-retired')
        this.#controller.retryAll();
    }
  }

  #onVerdict(object: PoolObject, { accepted, message }: Verdict): void {
    const { cache, recordEvent } = this.#options;
    if (!accepted) return cache.refused(object.name, message);
    cache.accepted(object.name);
    recordEvent(object, { type: 'Normal', reason: poolReasons.ready, message: `ippool ${object.name} is in force` });
  }

  async #retire(name: string): Promise<void> {
    const { allocator, cache, objects, signal } = this.#options;
    if (!objects.objects.has(name)) cache.accepted(name);
    // Does not retire a pool that was configured over gRPC.
    if (cache.get(name)?.source) await allocator.call(SubnetsService.deletePool, { name }, signal);
  }
}
