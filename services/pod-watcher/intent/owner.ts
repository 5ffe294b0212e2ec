/** Who controls a Pod, as the ledger is told. */
import type { Owner } from '../../../proto/ipledger.ts';
import type { Pod } from '../kubernetes/objects.ts';

/** Kinds that are known by their name alone; of other groups, "StatefulSet" may be something else than Kubernetes' own. */
const knownGroups = new Set(['', 'apps', 'batch', 'kubevirt.io']);

/** The controlling owner; undefined for a bare Pod. A kind of a foreign group has the group behind it: "StatefulSet.apps.kruise.io". */
export function ownerOf({ controller }: Pick<Pod, 'controller'>): Owner | undefined {
  if (!controller) return undefined;
  const { apiVersion, kind, name, uid } = controller;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return { kind: knownGroups.has(group) ? kind : `${kind}.${group}`, name, uid };
}

/** Which member of its StatefulSet a Pod is: "web-2" is 2. Undefined for other Pods. */
export function memberOf({ name }: Pick<Pod, 'name'>, owner: Owner | undefined): number | undefined {
  if (owner?.kind !== 'StatefulSet' || !name.startsWith(`${owner.name}-`)) return undefined;
  const ordinal = name.slice(owner.name.length + 1);
  return /^\d{1,9}$/.test(ordinal) ? Number(ordinal) : undefined;
}
