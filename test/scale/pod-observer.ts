/**
 * Watches Pods and IP objects, as `kubectl get -w` does. Reports when a batch of Pods has its
 * addresses, and when all are deleted.
 */
import { Informer } from '../../lib/kubernetes/client/informer.ts';
import type { Api } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { ips } from '../../services/pod-watcher/kubernetes/objects/ip.ts';
import { type Pod, toPod } from '../../services/pod-watcher/kubernetes/objects/pod.ts';
import { createLogger } from '../../lib/process/log.ts';
import type { PodBatch } from './pod-batch.ts';

export interface PodObserver {
  /** Resolves when the annotations of each Pod of the batch show its addresses. */
  waitUntilAnnotated(batch: PodBatch): Promise<void>;
  /** Waits like `waitUntilAnnotated`, and until each address has its IP object. */
  waitUntilServed(batch: PodBatch): Promise<void>;
  /** Resolves when no Pod and no IP object exists. */
  waitUntilGone(): Promise<void>;
}

/** Watches the Pods of a namespace and all IP objects, until the signal is aborted. */
export async function startPodObserver(api: Api, namespace: string, signal: AbortSignal): Promise<PodObserver> {
  const log = createLogger('pod-observer');
  const pods = new Informer(api, { path: `/api/v1/namespaces/${namespace}/pods`, parse: toPod }, log);
  const objects = new Informer(api, ips, log);
  const served = new Set<string>();
  let checkCondition: () => void = () => undefined;
  pods.subscribe((change) => {
    if (change.kind === 'present' && isServed(change.object)) served.add(change.object.name);
    else if (change.kind === 'gone') served.delete(change.object.name);
    checkCondition();
  });
  objects.subscribe(() => checkCondition());
  const until = (isMet: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      checkCondition = () => (isMet() ? resolve() : undefined);
      signal.addEventListener('abort', () => reject(new Error('the run has ended')), { once: true });
      checkCondition();
    });
  for (const source of [pods, objects]) void source.run(signal);
  await until(() => pods.hasSynced && objects.hasSynced);
  return {
    waitUntilAnnotated: ({ names }) => until(() => served.size === names.length),
    waitUntilServed: ({ names, networks }) =>
      until(() => served.size === names.length && objects.objects.size === names.length * networks.length),
    waitUntilGone: () => until(() => pods.objects.size === 0 && objects.objects.size === 0),
  };
}

/** Whether each network that the annotation names has addresses. */
function isServed({ annotations }: Pod): boolean {
  const requested = annotations['k8s.v1.cni.cncf.io/networks']?.split(',').length ?? 0;
  const allocated = Object.entries(annotations).filter(
    ([key, value]) => key.endsWith('/allocated') && value === 'true',
  );
  return allocated.length === requested;
}
