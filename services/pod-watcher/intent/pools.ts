/** Brings the ledger's pools to what the IPPool objects say. */
import type { PoolObject } from '../kubernetes/kept-objects.ts';
import type { Allocator } from '../ledger/allocator.ts';
import type { Fact } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { poolReasons, type Verdict } from './conditions.ts';
import { Keeper, type Keeping } from './keeper.ts';
import type { PoolsInForce } from './pools-in-force.ts';

export interface PoolsOptions extends Keeping<PoolObject> {
  readonly allocator: Pick<Allocator, 'applyPool' | 'deletePool'>;
  readonly inForce: PoolsInForce;
}

export class Pools implements Reader {
  readonly #options: PoolsOptions;
  readonly #keeper: Keeper<PoolObject>;

  constructor(options: PoolsOptions) {
    this.#options = options;
    const { allocator, inForce, signal } = options;
    this.#keeper = new Keeper<PoolObject>({
      ...options,
      async apply({ name, uid, generation, spec }) {
        await allocator.applyPool({ name, spec, source: { uid, generation } }, signal);
        // As its owner wrote it: Kube-OVN leaves it so, too. But it is held from now on.
        return {};
      },
      stands: (name) => inForce.get(name) !== undefined,
      differences: () => ({}),
      retire: (name) => this.#retire(name),
      names: () => inForce.names(),
      onAnswer: (object, verdict) => this.#onAnswer(object, verdict),
      reasons: poolReasons,
    });
  }

  /** Begins; resolves when every IPPool that is known now has been tried once. */
  start(): Promise<void> {
    return this.#keeper.start();
  }

  snapshot(): void {
    this.#keeper.addAll();
  }

  /** A subnet that is configured, or another pool that gives way, may be what a pool waits for. */
  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'pool-configured') this.#keeper.heard(fact.pool.name);
      else if (fact.kind === 'pool-retired') this.#keeper.add(fact.pool);
      if (fact.kind === 'configured' || fact.kind === 'pool-configured' || fact.kind === 'pool-retired')
        this.#keeper.retryAll();
    }
  }

  #onAnswer(object: PoolObject, { accepted, message }: Verdict): void {
    const { inForce, say } = this.#options;
    if (!accepted) return inForce.refused(object.name, message);
    inForce.accepted(object.name);
    say(object, { type: 'Normal', reason: poolReasons.ready, message: `ippool ${object.name} is in force` });
  }

  async #retire(name: string): Promise<void> {
    const { allocator, inForce, objects, signal } = this.#options;
    if (!objects.objects.has(name)) inForce.accepted(name);
    // What was configured over gRPC is not ours to retire.
    if (inForce.get(name)?.source) await allocator.deletePool(name, signal);
  }
}
