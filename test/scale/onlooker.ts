/** Somebody who watches Pods and IP objects, as kubectl get -w does, and says when a crowd has all it wants, or is gone. */
import { Source } from '../../services/pod-watcher/kubernetes/list-watch.ts';
import type { Api } from '../../services/pod-watcher/kubernetes/api.ts';
import { ips } from '../../services/pod-watcher/kubernetes/kept-objects.ts';
import { type Pod, toPod } from '../../services/pod-watcher/kubernetes/objects.ts';
import { createLogger } from '../../lib/log.ts';
import type { Crowd } from './crowd.ts';

export interface Onlooker {
  /** Resolves when each Pod of the crowd says that it has its addresses. */
  annotated(crowd: Crowd): Promise<void>;
  /** The same, and each address has its IP object. */
  served(crowd: Crowd): Promise<void>;
  /** Resolves when no Pod and no IP object is left. */
  gone(): Promise<void>;
}

/** Begins to watch a namespace's Pods and all IP objects; until the signal is aborted. */
export async function onlookerOf(api: Api, namespace: string, signal: AbortSignal): Promise<Onlooker> {
  const log = createLogger('onlooker');
  const pods = new Source(api, { path: `/api/v1/namespaces/${namespace}/pods`, parse: toPod }, log);
  const objects = new Source(api, ips, log);
  const served = new Set<string>();
  let look: () => void = () => undefined;
  pods.subscribe((change) => {
    if (change.kind === 'present' && hasAll(change.object)) served.add(change.object.name);
    else if (change.kind === 'gone') served.delete(change.object.name);
    look();
  });
  objects.subscribe(() => look());
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => (isSo() ? resolve() : undefined);
      signal.addEventListener('abort', () => reject(new Error('the run is over')), { once: true });
      look();
    });
  for (const source of [pods, objects]) void source.run(signal);
  await until(() => pods.listed && objects.listed);
  return {
    annotated: ({ names }) => until(() => served.size === names.length),
    served: ({ names, networks }) =>
      until(() => served.size === names.length && objects.objects.size === names.length * networks.length),
    gone: () => until(() => pods.objects.size === 0 && objects.objects.size === 0),
  };
}

/** Each network that is named in the annotation is served. */
function hasAll({ annotations }: Pod): boolean {
  const wanted = annotations['k8s.v1.cni.cncf.io/networks']?.split(',').length ?? 0;
  const has = Object.entries(annotations).filter(([key, value]) => key.endsWith('/allocated') && value === 'true');
  return has.length === wanted;
}
