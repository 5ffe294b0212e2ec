/**
 * The CNI calls that wait until their Pod has an allocation. Committed events wake them, so nothing
 * is polled. The last refusal of a Pod explains a wait that times out.
 */
import { waitForCallback } from '../../../../lib/process/abortable.ts';
import type { Sandbox } from '../../../../ledger/domain/commands/command.ts';
import { podKey } from '../../../../ledger/domain/state/state.ts';
import type { StoredEvent } from '../../../../ledger/log/chain/chain.ts';
import type { Replica } from '../../../../ledger/log/reader/replica.ts';
import { storeNewest } from '../../../../lib/maps.ts';

const maxRefusals = 10_000;

/** The last refusal of a Pod uid. */
export interface LastRefusal {
  readonly at: string;
  readonly reason: string;
  readonly message: string;
}

export class PodWaiters {
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #refusals = new Map<string, LastRefusal & { readonly pod: string }>();

  constructor(replica: Replica) {
    replica.onCommitted((events) => {
      for (const event of events) this.#handleEvent(event);
    });
  }

  /** The number of waiting calls. */
  get count(): number {
    return [...this.#waiters.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Resolves at the next committed event about the Pod, or when the signal is aborted. */
  nextEvent(namespace: string, pod: string, signal: AbortSignal): Promise<void> {
    const key = podKey(namespace, pod);
    return waitForCallback(signal, (wake) => {
      const waiting = this.#waiters.get(key) ?? new Set();
      this.#waiters.set(key, waiting);
      waiting.add(wake);
      return () => {
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiters.get(key) === waiting) this.#waiters.delete(key);
      };
    });
  }

  /** The last refusal of this Pod; undefined if it had none, or has got an allocation since. */
  lastRefusalOf({ namespace, pod, uid }: Pick<Sandbox, 'namespace' | 'pod' | 'uid'>): LastRefusal | undefined {
    const last = this.#refusals.get(uid);
    return last?.pod === podKey(namespace, pod) ? last : undefined;
  }

  #handleEvent({ envelope, sequenced }: StoredEvent): void {
    if (!('attachment' in sequenced.data)) return;
    const { namespace, pod } = sequenced.data.attachment;
    if (sequenced.type === 'AllocationRefused') {
      const { uid, reason, message } = sequenced.data;
      storeNewest(this.#refusals, uid, { at: envelope.at, reason, message, pod: podKey(namespace, pod) }, maxRefusals);
    } else if ('uid' in sequenced.data) this.#refusals.delete(sequenced.data.uid);
    for (const wake of this.#waiters.get(podKey(namespace, pod)) ?? []) wake();
  }
}
