/**
 * A fake scheduler and fake kubelets: Pods get a node, become Ready when they have their addresses,
 * and are removed after their deletion. Kubernetes' own controllers do the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { KubernetesClient, KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import type { TestEnvironment } from './test-environment.ts';

export interface FakeKubelets {
  /** Stops serving a node: it serves its Pods no longer, and gets no new Pods. */
  loseNode(node: string): void;
  /** Resolves when the loop has ended. */
  stop(): Promise<void>;
}

const pollMs = 100;
const timeoutMs = 60_000;

/** Starts the loop. @param nodes assigned in turn to Pods without a node */
export function startFakeKubelets({ run, kubernetes }: TestEnvironment, nodes: readonly string[]): FakeKubelets {
  const liveNodes = new Set(nodes);
  const stopped = new AbortController();
  const signal = AbortSignal.any([run.signal, stopped.signal]);
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      const pods = await kubernetes.list('Pod').catch(() => []);
      for (const [index, pod] of pods.entries())
        await servePod(pod, { kubernetes, liveNodes, index, signal }).catch(ignoreApiError);
      await sleep(pollMs);
    }
  };
  const done = work();
  return {
    loseNode: (node) => void liveNodes.delete(node),
    async stop() {
      stopped.abort();
      await done.catch(() => undefined);
    },
  };
}

interface PodContext {
  readonly kubernetes: KubernetesClient;
  readonly liveNodes: ReadonlySet<string>;
  readonly index: number;
  readonly signal: AbortSignal;
}

async function servePod(pod: KubeObject, { kubernetes, liveNodes, index, signal }: PodContext): Promise<void> {
  const { name, uid, deletionTimestamp } = pod.metadata;
  const node = pod.spec?.['nodeName'] as string | undefined;
  if (node === undefined) {
    const target = { kind: 'Node', name: [...liveNodes][index % liveNodes.size] };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid }, target };
    const path = `/api/v1/namespaces/default/pods/${name}/binding`;
    await kubernetes.api.request({ method: 'POST', path, body, discardBody: true, timeoutMs, signal });
  } else if (!liveNodes.has(node)) return;
  else if (deletionTimestamp !== undefined) await kubernetes.remove('Pod', name);
  else if (pod.status?.['phase'] === 'Pending' && hasAddresses(pod)) {
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }));
    await kubernetes.patch('Pod', name, { metadata: { uid }, status: { phase: 'Running', conditions } }, 'status');
  }
}

const hasAddresses = ({ metadata }: KubeObject): boolean =>
  Object.entries(metadata.annotations ?? {}).some(
    ([key, value]) => key.endsWith('.kubernetes.io/allocated') && value === 'true',
  );

/** Ignores errors of the API: the Pod was deleted or replaced, and the next poll reads it again. */
function ignoreApiError(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}
