/** The Kubernetes API for those who go on whatever happens to it: each request is made until it is answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kind, KubeObject, Manifest } from '../e2e/kubernetes.ts';
import { ApiError } from '../../services/pod-watcher/kubernetes/api.ts';
import type { Stage } from './stage.ts';

const againMs = 100;

/** Repeats what fails because nobody answers. `settled` says what an answer means when an earlier try may have been done. */
async function persistently<T>(
  work: () => Promise<T>,
  settled: (error: ApiError) => Promise<T> | undefined,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const answer = settled(error);
      if (answer) return answer;
      if (error.reaction !== 'later') throw error;
    }
    await sleep(againMs);
  }
}

/** Makes an object; one that is there by that name is ours. */
export function create({ kubernetes }: Stage, manifest: Manifest): Promise<KubeObject> {
  const { kind, metadata } = manifest;
  return persistently(
    () => kubernetes.create(manifest),
    ({ status }) => (status === 409 ? get({ kubernetes }, kind, metadata.name) : undefined),
  );
}

/** Reads an object. */
export function get({ kubernetes }: Pick<Stage, 'kubernetes'>, kind: Kind, name: string): Promise<KubeObject> {
  return persistently(
    () => kubernetes.get(kind, name),
    () => undefined,
  );
}

/** Says that a Pod's containers have ended well; one that is gone by now needs no telling. */
export async function complete({ kubernetes }: Stage, pod: string): Promise<void> {
  await persistently<unknown>(
    () => kubernetes.patch('Pod', pod, { status: { phase: 'Succeeded' } }, 'status'),
    () => undefined,
  );
}

/** Deletes an object; one that is gone is deleted. */
export async function remove({ kubernetes }: Stage, kind: Kind, name: string): Promise<void> {
  await persistently(
    () => kubernetes.remove(kind, name),
    ({ status }) => (status === 404 ? Promise.resolve() : undefined),
  );
}
