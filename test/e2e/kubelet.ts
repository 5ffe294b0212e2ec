/**
 * What a scheduler and kubelets do to Pods, where there are none: Pods get a node, are Ready once they have their addresses,
 * and are gone when they have been told to end. Everything else, Kubernetes' own controllers do.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { type Api, ApiError, connectApi } from '../../services/pod-watcher/kubernetes/api.ts';
import type { Kubernetes, KubeObject } from './kubernetes.ts';
import type { Scene } from './scene.ts';

export interface Kubelets {
  /** A node whose machine is gone: nobody looks after its Pods any more, and no new ones get there. */
  lose(node: string): void;
  /** Resolves when they work no more. */
  stop(): Promise<void>;
}

const lookEveryMs = 100;
const timeoutMs = 10_000;

/** Begins. @param nodes that Pods without a node are spread over. */
export function playKubelets({ run, stack, kubernetes }: Scene, nodes: readonly string[]): Kubelets {
  const config = new KubeConfig();
  config.loadFromFile(stack.cluster.kubeconfig);
  const api = connectApi(config);
  const living = new Set(nodes);
  const stopped = new AbortController();
  const signal = AbortSignal.any([run.signal, stopped.signal]);
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      const pods = await kubernetes.list('Pod').catch(() => []);
      for (const [index, pod] of pods.entries())
        await lookAfter(pod, { api, kubernetes, living, index, signal }).catch(ignoreChanged);
      await sleep(lookEveryMs);
    }
  };
  const done = work();
  return {
    lose: (node) => void living.delete(node),
    async stop() {
      stopped.abort();
      await done.catch(() => undefined);
    },
  };
}

interface Care {
  readonly api: Api;
  readonly kubernetes: Kubernetes;
  readonly living: ReadonlySet<string>;
  readonly index: number;
  readonly signal: AbortSignal;
}

async function lookAfter(pod: KubeObject, { api, kubernetes, living, index, signal }: Care): Promise<void> {
  const { name, uid, deletionTimestamp } = pod.metadata;
  const node = pod.spec?.['nodeName'] as string | undefined;
  if (node === undefined) {
    const target = { kind: 'Node', name: [...living][index % living.size] };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid }, target };
    const path = `/api/v1/namespaces/default/pods/${name}/binding`;
    await api.request({ method: 'POST', path, body, unread: true, timeoutMs, signal });
  } else if (!living.has(node)) return;
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

/** The Pod is gone by now, or another one: the next look tells. */
function ignoreChanged(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}
