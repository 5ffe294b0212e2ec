/**
 * Creates and deletes Pods of a network, one after the other in several slots, until it is stopped.
 */
import { expect } from 'chai';
import { eventually } from '../../e2e/support/eventually.ts';
import type { KubeObject, KubernetesClient } from '../../harness/kubernetes/kubernetes-client.ts';
import { ledgerPod } from './ledger-pods.ts';

/** The timeout of a Pod: with the packets of a node dropped, calls wait for their deadlines. */
const timeoutMs = 420_000;

export interface PodLoad {
  /** Number of Pods that became ready. */
  readonly readyPods: number;
  /** The longest time from the creation of a Pod until it was ready. */
  readonly slowestMs: number;
  /** Resolves when so many more Pods have become ready. @throws Error of a slot */
  waitFor(pods: number): Promise<void>;
  /** Resolves when all Pods are deleted. @throws Error if a Pod did not become ready */
  stop(): Promise<void>;
}

export interface PodLoadSettings {
  readonly kubernetes: KubernetesClient;
  /** The nodes. The Pods of a slot are on one of them. */
  readonly nodes: readonly string[];
  readonly slots: number;
}

/** Starts the load. Its Pods have names that begin with `load-`. */
export function startPodLoad({ kubernetes, nodes, slots }: PodLoadSettings): PodLoad {
  const stopping = new AbortController();
  let readyPods = 0;
  let slowestMs = 0;
  const runSlot = async (slot: number): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      const name = `load-${slot}-${round}`;
      const createdAt = performance.now();
      await kubernetes.create(ledgerPod(name, String(nodes[slot % nodes.length])));
      await eventually(async () => expect(isReady(await kubernetes.get('Pod', name)), name).to.equal(true), timeoutMs);
      readyPods += 1;
      slowestMs = Math.max(slowestMs, performance.now() - createdAt);
      await kubernetes.remove('Pod', name, 1);
      await eventually(async () => {
        const pods = await kubernetes.list('Pod', `fieldSelector=metadata.name=${name}`);
        expect(pods, `the deleted Pod ${name}`).to.have.length(0);
      }, timeoutMs);
    }
  };
  const work = Promise.all(Array.from({ length: slots }, (_, slot) => runSlot(slot)));
  // A failed slot ends all
  work.catch(() => stopping.abort());
  return {
    get readyPods() {
      return readyPods;
    },
    get slowestMs() {
      return slowestMs;
    },
    async waitFor(pods) {
      const target = readyPods + pods;
      await eventually(() => {
        if (!stopping.signal.aborted) expect(readyPods, 'ready Pods of the load').to.be.at.least(target);
      }, timeoutMs);
      if (stopping.signal.aborted) await work;
    },
    async stop() {
      stopping.abort();
      await work;
    },
  };
}

const isReady = ({ status }: KubeObject): boolean =>
  ((status?.['conditions'] ?? []) as { type: string; status: string }[]).some(
    ({ type, status: is }) => type === 'Ready' && is === 'True',
  );
