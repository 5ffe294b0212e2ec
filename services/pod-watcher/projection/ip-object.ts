/**
 * The IP object of an allocation, in Kube-OVN's format, and how it is written. It has no finalizer,
 * because the watcher creates it again after a deletion. It has no owner reference, because
 * Kubernetes' garbage collector deletes cluster-scoped objects that are owned by a Pod.
 */
import { ipObjectName, fullIpObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { allocationAnnotation, finalizer } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { virtualMachineKind } from '../../../lib/kubernetes/pod-identity.ts';
import { type IpObject, ShownIp, ips as ipKind } from '../kubernetes/objects/ip.ts';
import {
  coversContent,
  ipLabels,
  ipSpec,
  type ShownAllocation,
  shownDigest,
} from '../kubernetes/objects/ip-content.ts';
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { removeFinalizersPatch, versionPrecondition } from '../kubernetes/objects/finalizer.ts';
import type { Informer } from '../../../lib/kubernetes/client/informer.ts';
import { createObject, mergePatch, objectPath, deleteObject } from '../../../lib/kubernetes/client/object-requests.ts';

const apiVersion = 'kubeovn.io/v1';

/** Kube-OVN's names of owners that create a Pod of the same name again. */
const podTypes: Readonly<Record<string, string>> = {
  StatefulSet: 'StatefulSet',
  [virtualMachineKind]: 'VirtualMachine',
};

/** The cluster-scoped IP object to write. */
export interface IpManifest {
  readonly apiVersion: string;
  readonly kind: 'IP';
  readonly metadata: {
    readonly name: string;
    readonly labels: Record<string, string>;
    readonly annotations: Record<string, string>;
  };
  readonly spec: Record<string, string | readonly string[]>;
}

/** The annotation with the full name of an IP object whose name is shortened. */
const nameAnnotation = 'ipledger.io/name';

/** Returns what an allocation's object shows. @param node the Pod's Node; "" while unknown */
export function shownAllocation(allocation: HeldAllocation, node: string): ShownAllocation {
  const { pod, namespace, subnet, addresses, mac, owner } = allocation;
  const podType = podTypes[owner?.kind ?? ''] ?? '';
  return { pod, namespace, subnet, addresses: addresses.map(({ address }) => address), mac, podType, node };
}

/**
 * Returns the object for an allocation.
 * @param node see `shownAllocation`
 * @param name another name, if the allocation shares its usual name
 */
export function ipManifest(allocation: HeldAllocation, node: string, name = ipObjectName(allocation)): IpManifest {
  const shown = shownAllocation(allocation, node);
  const fullName = fullIpObjectName(allocation);
  return {
    apiVersion,
    kind: 'IP',
    metadata: {
      name,
      labels: ipLabels(shown),
      annotations: {
        [allocationAnnotation]: String(allocation.seq),
        ...(name !== fullName && { [nameAnnotation]: fullName }),
      },
    },
    spec: ipSpec(shown),
  };
}

/** Whether an object is complete for an allocation, which usually needs no manifest. */
export function showsAllocation(object: IpObject, allocation: HeldAllocation, node: string): boolean {
  if (!(object instanceof ShownIp) || object.allocation !== String(allocation.seq) || object.node !== node)
    return false;
  return object.digest === shownDigest(shownAllocation(allocation, node));
}

/** The fields of an IP object that the watcher writes. Other clients may add fields. */
interface RequiredFields {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly annotations: UntypedJson };
  readonly spec: UntypedJson;
}

/** Returns the watcher's fields of an object that reserves its address. */
function reservedIpPatch({ metadata, spec }: IpManifest): RequiredFields {
  const key = 'ovn.kubernetes.io/node-name';
  const node = metadata.labels[key];
  return {
    metadata: { labels: node === undefined ? {} : { [key]: node }, annotations: metadata.annotations },
    spec: { nodeName: spec['nodeName'] ?? '' },
  };
}

/** The fields of an IP object that the CRD makes immutable. */
const immutableFields = ['subnet', 'namespace', 'podName', 'podType', 'macAddress', 'v4IpAddress', 'v6IpAddress'];

/** Whether an object shows another allocation, so that it must be replaced. */
export function belongsToOtherAllocation(object: IpObject, manifest: IpManifest, shown: ShownAllocation): boolean {
  const { allocation, content } = object;
  if (allocation !== '' && allocation !== manifest.metadata.annotations[allocationAnnotation]) return true;
  if (object instanceof ShownIp) return object.digest !== shownDigest(shown);
  return immutableFields.some((key) => (content?.spec[key] ?? '') !== manifest.spec[key]);
}

/** Whether an object shows the required fields. Other clients may add fields. */
export function matchesManifest(object: IpObject, { metadata, spec }: RequiredFields): boolean {
  return object.content !== undefined && coversContent(object.content, { labels: metadata.labels, spec });
}

export interface IpSyncOptions {
  readonly api: Api;
  readonly ips: Pick<Informer<IpObject>, 'objects'>;
  readonly signal: AbortSignal;
}

/** The allocation that an IP object shows, and the Node of its Pod. */
export interface IpAssignment {
  readonly allocation: HeldAllocation;
  readonly node: string;
}

/** @param assignment undefined for none. @returns whether it wrote an object. @throws ApiError */
export async function syncIpObject(
  name: string,
  assignment: IpAssignment | undefined,
  options: IpSyncOptions,
): Promise<boolean> {
  const { api, ips, signal } = options;
  const object = ips.objects.get(name);
  if (object && assignment && showsAllocation(object, assignment.allocation, assignment.node)) return false;
  const path = objectPath(ipKind.path, name);
  const manifest = assignment && ipManifest(assignment.allocation, assignment.node, name);
  if (object?.finalizers.includes(finalizer)) return projectOnReservation(object, manifest, options);
  if (object?.deleting) {
    await removeFinalizers(object, path, options);
    return false;
  }
  if (!manifest || !assignment) {
    // Deletes only objects that the watcher created.
    if (object && object.allocation !== '') await deleteObject(api, path, object.uid, signal);
    return false;
  }
  const shown = shownAllocation(assignment.allocation, assignment.node);
  // Replaces an object whose immutable fields belong to another allocation.
  const isStale = object !== undefined && belongsToOtherAllocation(object, manifest, shown);
  if (isStale) await deleteObject(api, path, object.uid, signal);
  if (!object || isStale) await createObject(api, { path: ipKind.path, body: manifest, signal });
  else if (object.allocation === '' || !matchesManifest(object, manifest))
    await mergePatch(api, { path, body: manifest, signal });
  else return false;
  return true;
}

/** Shows an allocation on its reservation, which belongs to a user and stays after a release. */
async function projectOnReservation(
  object: IpObject,
  manifest: IpManifest | undefined,
  { api, signal }: IpSyncOptions,
): Promise<boolean> {
  const path = objectPath(ipKind.path, object.name);
  if (manifest) {
    const body = reservedIpPatch(manifest);
    const isCurrent =
      object.allocation === body.metadata.annotations[allocationAnnotation] && matchesManifest(object, body);
    if (!isCurrent) await mergePatch(api, { path, body, signal });
    return !isCurrent;
  }
  if (object.allocation !== '')
    await mergePatch(api, { path, body: { metadata: { annotations: { [allocationAnnotation]: null } } }, signal });
  return false;
}

/** Completes the deletion of an object. If it has an allocation, it is created again. */
async function removeFinalizers(object: IpObject, path: string, { api, signal }: IpSyncOptions): Promise<void> {
  const metadata = removeFinalizersPatch(object);
  if (metadata)
    await mergePatch(api, { path, body: { metadata: { ...versionPrecondition(object), ...metadata } }, signal });
}
