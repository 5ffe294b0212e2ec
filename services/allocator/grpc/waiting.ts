/**
 * Who waits for which Pod: CNI calls come before, with or after the allocation that they need. They are woken by committed events,
 * without polling, and are told why the Pod was refused if nothing comes.
 */
import { untilCalled } from '../../../lib/deadline.ts';
import { podKey } from '../domain/state.ts';
import type { StoredEvent } from '../ledger/chain.ts';
import type { Replica } from '../ledger/replica.ts';

const mostRefusals = 10_000;

/** The last refusal of a Pod uid, for a person. */
export interface LastRefusal {
  readonly at: string;
  readonly message: string;
}

export class Waiting {
  readonly #bells = new Map<string, Set<() => void>>();
  readonly #refusals = new Map<string, LastRefusal>();

  constructor(replica: Replica) {
    replica.onCommitted((events) => {
      for (const event of events) this.#hear(event);
    });
  }

  /** How many wait now. */
  get count(): number {
    return [...this.#bells.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Resolves at the next committed event about the Pod, or with the signal. */
  nextEvent(namespace: string, pod: string, signal: AbortSignal): Promise<void> {
    const key = podKey(namespace, pod);
    return untilCalled(signal, (ring) => {
      const bells = this.#bells.get(key) ?? new Set();
      this.#bells.set(key, bells);
      bells.add(ring);
      return () => {
        bells.delete(ring);
        if (bells.size === 0 && this.#bells.get(key) === bells) this.#bells.delete(key);
      };
    });
  }

  /** Why this Pod was refused last, if it was, and holds nothing since. */
  refusalOf(uid: string): LastRefusal | undefined {
    return this.#refusals.get(uid);
  }

  #hear({ envelope, sequenced }: StoredEvent): void {
    if (!('attachment' in sequenced.data)) return;
    const { namespace, pod } = sequenced.data.attachment;
    if (sequenced.type === 'AllocationRefused')
      this.#remember(sequenced.data.uid, { at: envelope.at, message: sequenced.data.message });
    else if ('uid' in sequenced.data) this.#refusals.delete(sequenced.data.uid);
    for (const ring of this.#bells.get(podKey(namespace, pod)) ?? []) ring();
  }

  #remember(uid: string, refusal: LastRefusal): void {
    this.#refusals.delete(uid);
    this.#refusals.set(uid, refusal);
    for (const oldest of this.#refusals.keys()) {
      if (this.#refusals.size <= mostRefusals) return;
      this.#refusals.delete(oldest);
    }
  }
}
