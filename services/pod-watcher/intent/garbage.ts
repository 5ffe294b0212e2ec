/**
 * Allocations whose Pod is not in the API, and that nobody saw go: found by comparison, suspected first, looked up in a second
 * pass, and collected with the evidence of both. A Pod that is being made, or that the watch has not told of yet, is found by
 * the second pass; whether its network or Subnet is there has no part in it.
 */
import type { Pod } from '../kubernetes/objects.ts';
import type { Ending } from './owner.ts';

export interface GarbageOptions {
  /** The Pod "namespace/name" as the API has it at this moment; undefined if there is none. */
  readonly lookUp: (key: string, signal: AbortSignal) => Promise<Pod | undefined>;
  /** How long after the first pass the second may be. */
  readonly confirmMs?: number;
  readonly signal: AbortSignal;
}

const usualConfirmMs = 2_000;

interface Suspicion {
  /** For people. */
  readonly since: string;
  /** Of performance.now(). */
  readonly at: number;
}

export class Garbage {
  readonly #options: GarbageOptions;
  /** By the Pod's "namespace/name". */
  readonly #suspicions = new Map<string, Suspicion>();

  constructor(options: GarbageOptions) {
    this.#options = options;
  }

  /** The first pass: no such Pod is known. Said again, it changes nothing. */
  suspect(key: string): void {
    if (this.#suspicions.has(key)) return;
    this.#suspicions.set(key, { since: new Date().toISOString(), at: performance.now() });
  }

  /** There is such a Pod, or nothing is held under the name. */
  clear(key: string): void {
    this.#suspicions.delete(key);
  }

  /** The second pass, when it is time for it: what the API says of a uid that was missed. 'unsure' until then, or if it is there. */
  async confirm(key: string, uid: string): Promise<Ending | 'unsure'> {
    const { lookUp, confirmMs = usualConfirmMs, signal } = this.#options;
    this.suspect(key);
    const suspicion = this.#suspicions.get(key);
    if (!suspicion || performance.now() - suspicion.at < confirmMs) return 'unsure';
    const found = await lookUp(key, signal);
    if (found?.identity === uid) {
      this.clear(key);
      return 'unsure';
    }
    const instead = found ? `, where the name belongs to Pod uid ${found.identity}` : '';
    const evidence = `not in the Kubernetes API: missed since ${suspicion.since}, looked up at ${new Date().toISOString()}${instead}`;
    return { cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED', evidence };
  }
}
