/**
 * Follows the Pods of a namespace and all IP objects, and records when a Pod has all its addresses.
 */
import { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { Api } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { createLogger } from '../../../../lib/process/log.ts';
import { ips } from '../../../../services/pod-watcher/kubernetes/objects/ip.ts';
import { networksAnnotation, type Pod, toPod } from '../../../../services/pod-watcher/kubernetes/objects/pod.ts';

export interface PodTimes {
  /** The time (performance.now()) at which each living Pod had all its addresses, by name. */
  readonly annotatedAt: ReadonlyMap<string, number>;
  /** The names of all IP objects. */
  readonly ipNames: ReadonlyMap<string, unknown>;
  /** Resolves when the condition is met, which is checked at each change. */
  until(isMet: () => boolean): Promise<void>;
}

/** Follows Pods and IP objects until the signal is aborted. */
export async function followPodTimes(api: Api, namespace: string, signal: AbortSignal): Promise<PodTimes> {
  const log = createLogger('pod-times');
  const pods = new Informer(api, { path: `/api/v1/namespaces/${namespace}/pods`, parse: toPod }, log);
  const objects = new Informer(api, ips, log);
  const annotatedAt = new Map<string, number>();
  const waiting = new Set<() => void>();
  const check = (): void => {
    for (const each of waiting) each();
  };
  pods.subscribe((change) => {
    if (change.kind === 'present' && hasAllAddresses(change.object)) {
      if (!annotatedAt.has(change.object.name)) annotatedAt.set(change.object.name, performance.now());
    } else if (change.kind === 'gone') annotatedAt.delete(change.object.name);
    check();
  });
  objects.subscribe(check);
  const until = (isMet: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const checkThis = (): void => {
        if (!isMet()) return;
        waiting.delete(checkThis);
        resolve();
      };
      waiting.add(checkThis);
      signal.addEventListener('abort', () => reject(new Error('the run has ended')), { once: true });
      checkThis();
    });
  for (const source of [pods, objects]) void source.run(signal);
  await until(() => pods.hasSynced && objects.hasSynced);
  return { annotatedAt, ipNames: objects.objects, until };
}

/** Whether a Pod shows an address of each network that it requests. */
export function hasAllAddresses({ annotations }: Pod): boolean {
  const requested = annotations[networksAnnotation]?.split(',').length ?? 0;
  const shown = Object.entries(annotations).filter(([key, value]) => key.endsWith('/allocated') && value === 'true');
  return shown.length === requested;
}
