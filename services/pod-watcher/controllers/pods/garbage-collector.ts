/**
 * The garbage collector: releases allocations whose Pod is missing from the API, if the watch
 * reported no deletion. A missing Pod is first suspected, and then looked up in a second pass; both
 * are recorded as evidence. The second pass finds a Pod that is just being created, or that the
 * watch has not reported yet. The Pod's network and Subnet are irrelevant.
 */
import type { Pod } from '../../kubernetes/objects/pod.ts';
import type { ReleaseReason } from './pod-owner.ts';

export interface GarbageCollectorOptions {
  /** Reads the Pod "namespace/name" from the API; undefined if it does not exist. */
  readonly lookUpPod: (key: string, signal: AbortSignal) => Promise<Pod | undefined>;
  /** The minimum time between the two passes. */
  readonly confirmDelayMs?: number;
  readonly signal: AbortSignal;
}

const defaultConfirmDelayMs = 2_000;

interface Suspicion {
  /** The wall-clock time of the suspicion, for the evidence. */
  readonly since: string;
  /** The performance.now() of the suspicion. */
  readonly at: number;
}

export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  /** Suspicions by the Pod's "namespace/name". */
  readonly #suspicions = new Map<string, Suspicion>();

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
  }

  /** Runs the first pass: the watch has no such Pod. Idempotent. */
  suspect(key: string): void {
    if (this.#suspicions.has(key)) return;
    this.#suspicions.set(key, { since: new Date().toISOString(), at: performance.now() });
  }

  /** Drops a suspicion: the Pod exists, or holds nothing. */
  clear(key: string): void {
    this.#suspicions.delete(key);
  }

  /** Looks up a missing uid, in the second pass. 'unknown' until due, or if the Pod exists. */
  async confirm(key: string, uid: string): Promise<ReleaseReason | 'unknown'> {
    const { lookUpPod, confirmDelayMs = defaultConfirmDelayMs, signal } = this.#options;
    this.suspect(key);
    const suspicion = this.#suspicions.get(key);
    if (!suspicion || performance.now() - suspicion.at < confirmDelayMs) return 'unknown';
    const found = await lookUpPod(key, signal);
    if (found?.ledgerUid === uid) {
      this.clear(key);
      return 'unknown';
    }
    const replacement = found ? `, where the name belongs to Pod uid ${found.ledgerUid}` : '';
    const evidence = `not in the Kubernetes API: missing since ${suspicion.since}, looked up at ${new Date().toISOString()}${replacement}`;
    return { cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED', evidence };
  }
}
