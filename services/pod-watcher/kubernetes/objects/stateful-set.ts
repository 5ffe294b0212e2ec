/** StatefulSet: which members it has. */
import { asNumber, asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

/** Its members are numbered from `firstOrdinal`. */
export interface StatefulSet extends ObjectMeta {
  readonly deleting: boolean;
  readonly replicas: number;
  readonly firstOrdinal: number;
}

export const statefulSets: ResourceKind<StatefulSet> = { path: '/apis/apps/v1/statefulsets', parse: toStatefulSet };

/** @throws Error for an object without name or uid */
export function toStatefulSet(raw: unknown): StatefulSet {
  const { metadata, spec: rawSpec } = asRecord(raw);
  const [meta, spec] = [asRecord(metadata), asRecord(rawSpec)];
  return {
    ...objectMetaOf(meta),
    deleting: asText(meta['deletionTimestamp']) !== '',
    replicas: asNumber(spec['replicas']) ?? 1,
    firstOrdinal: asNumber(asRecord(spec['ordinals'])['start']) ?? 0,
  };
}
