/** StatefulSet: the members that it has. */
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';
import { membersOf, type StatefulSetMembers } from '../../../../lib/kubernetes/stateful-set.ts';
import { asRecord } from '../../../../lib/kubernetes/untyped-json.ts';

export interface StatefulSet extends ObjectMeta, StatefulSetMembers {}

export const statefulSets: ResourceKind<StatefulSet> = { path: '/apis/apps/v1/statefulsets', parse: toStatefulSet };

/** @throws Error for an object without name or uid */
export function toStatefulSet(raw: unknown): StatefulSet {
  return { ...membersOf(raw), ...objectMetaOf(asRecord(asRecord(raw)['metadata'])) };
}
