/** The members of a StatefulSet: the Pods that it has and would create again. */
import { asNumber, asRecord, asText } from './untyped-json.ts';

/** The members of a StatefulSet, numbered from `firstOrdinal`. */
export interface StatefulSetMembers {
  readonly uid: string;
  readonly deleting: boolean;
  readonly replicas: number;
  readonly firstOrdinal: number;
}

/** @param raw the object from the API */
export function membersOf(raw: unknown): StatefulSetMembers {
  const { metadata, spec: rawSpec } = asRecord(raw);
  const [meta, spec] = [asRecord(metadata), asRecord(rawSpec)];
  return {
    uid: asText(meta['uid']),
    deleting: asText(meta['deletionTimestamp']) !== '',
    replicas: asNumber(spec['replicas']) ?? 1,
    firstOrdinal: asNumber(asRecord(spec['ordinals'])['start']) ?? 0,
  };
}

/** The ordinal of a Pod in its StatefulSet: 2 for "web-2"; undefined for other Pods. */
export function statefulSetOrdinal(
  { name }: { readonly name: string },
  owner: { readonly kind: string; readonly name: string } | undefined,
): number | undefined {
  if (owner?.kind !== 'StatefulSet' || !name.startsWith(`${owner.name}-`)) return undefined;
  const ordinal = name.slice(owner.name.length + 1);
  return /^\d{1,9}$/.test(ordinal) ? Number(ordinal) : undefined;
}

export const includesMember = ({ firstOrdinal, replicas }: StatefulSetMembers, member: number): boolean =>
  member >= firstOrdinal && member < firstOrdinal + replicas;
