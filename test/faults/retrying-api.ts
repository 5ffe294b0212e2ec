/** Requests to the Kubernetes API during faults: each is repeated until the API answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kind, KubeObject, Manifest } from '../harness/kubernetes/kubernetes-client.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import type { FaultEnvironment } from './fault-environment.ts';

const retryMs = 100;

/**
 * Repeats requests without an answer. `settled` interprets an error when an earlier try may have
 * succeeded.
 */
async function retry<T>(work: () => Promise<T>, settled: (error: ApiError) => Promise<T> | undefined): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const answer = settled(error);
      if (answer) return answer;
      if (error.reaction !== 'later') throw error;
    }
    await sleep(retryMs);
  }
}

/** Creates an object. An existing object of this name is the result of an earlier try. */
export function createObject({ kubernetes }: FaultEnvironment, manifest: Manifest): Promise<KubeObject> {
  const { kind, metadata } = manifest;
  return retry(
    () => kubernetes.create(manifest),
    ({ status }) => (status === 409 ? getObject({ kubernetes }, kind, metadata.name) : undefined),
  );
}

/** Reads an object. */
export function getObject(
  { kubernetes }: Pick<FaultEnvironment, 'kubernetes'>,
  kind: Kind,
  name: string,
): Promise<KubeObject> {
  return retry(
    () => kubernetes.get(kind, name),
    () => undefined,
  );
}

/** Reports the successful end of a Pod's containers, as the kubelet does. */
export async function completePod({ kubernetes }: FaultEnvironment, pod: string): Promise<void> {
  await retry<unknown>(
    () => kubernetes.patch('Pod', pod, { status: { phase: 'Succeeded' } }, 'status'),
    () => undefined,
  );
}

/** Deletes an object. A missing object counts as deleted. */
export async function deleteObject({ kubernetes }: FaultEnvironment, kind: Kind, name: string): Promise<void> {
  await retry(
    () => kubernetes.remove(kind, name),
    () => undefined,
  );
}
