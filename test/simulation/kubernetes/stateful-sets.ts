/** The StatefulSet controller: it makes missing members, and deletes those beyond the replicas. */
import { asNumber, asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import type { World } from '../kernel/world.ts';
import {
  type ClusterUser,
  isDeleting,
  nameOf,
  namespace,
  ownedBy,
  ownerOf,
  podsPath,
  reactToChanges,
  uidOf,
} from './cluster-user.ts';

const kind = '/apis/apps/v1/statefulsets';
const setsPath = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;

export function runStatefulSets(world: World, user: ClusterUser): void {
  reactToChanges(world, user.model, world.random('stateful sets'), () => {
    const sets = user.model.objectsOf({ kind, namespace });
    const uids = new Set(sets.map(uidOf));
    for (const pod of user.pods()) {
      const owner = ownerOf(pod);
      if (owner['kind'] === 'StatefulSet' && !uids.has(String(owner['uid'])) && !isDeleting(pod))
        user.deletePod(nameOf(pod));
    }
    for (const set of sets) {
      const replicas = asNumber(asRecord(set['spec'])['replicas']) ?? 1;
      const template = asRecord(asRecord(set['spec'])['template']);
      const annotations = asRecord(asRecord(template['metadata'])['annotations']);
      for (let ordinal = 0; ordinal < replicas; ordinal++) {
        const metadata = {
          name: `${nameOf(set)}-${ordinal}`,
          ownerReferences: ownedBy('apps/v1', 'StatefulSet', set),
          annotations,
        };
        user.try('POST', podsPath, {
          metadata,
          spec: { ...asRecord(template['spec']), terminationGracePeriodSeconds: 10 },
        });
      }
      for (const pod of user.pods()) {
        const ordinal = Number(nameOf(pod).slice(nameOf(set).length + 1));
        if (ownerOf(pod)['uid'] === uidOf(set) && ordinal >= replicas && !isDeleting(pod)) user.deletePod(nameOf(pod));
      }
    }
  });
}

/** What the Pods of a StatefulSet have. */
export interface MemberTemplate {
  readonly metadata: { readonly annotations: object };
  readonly spec: { readonly hostNetwork: boolean };
}

/** Makes a StatefulSet, or changes its replicas and its template. */
export function scaleStatefulSet(user: ClusterUser, name: string, replicas: number, template: MemberTemplate): void {
  const spec = { replicas, template };
  if (!user.try('POST', setsPath, { metadata: { name }, spec })) user.try('PATCH', `${setsPath}/${name}`, { spec });
}

export const deleteStatefulSet = (user: ClusterUser, name: string): void =>
  void user.try('DELETE', `${setsPath}/${name}`);
