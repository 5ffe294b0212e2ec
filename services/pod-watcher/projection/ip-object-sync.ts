/** Makes one IP object match the ledger. */
import { allocationAnnotation, finalizer } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { removeFinalizersPatch, versionPrecondition } from '../kubernetes/objects/finalizer.ts';
import type { Informer } from '../../../lib/kubernetes/client/informer.ts';
import { type IpObject, ips as ipKind } from '../kubernetes/objects/ip.ts';
import { createObject, mergePatch, objectPath, deleteObject } from '../../../lib/kubernetes/client/object-requests.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';
import {
  type IpManifest,
  ipManifest,
  belongsToOtherAllocation,
  reservedIpPatch,
  matchesManifest,
  shownAllocation,
  showsAllocation,
} from './ip-object.ts';

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

/** @param assignment undefined without an allocation. Returns whether it wrote an allocation. @throws ApiError */
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
    // Only objects that the watcher created are deleted.
    if (object && object.allocation !== '') await deleteObject(api, path, object.uid, signal);
    return false;
  }
  const shown = shownAllocation(assignment.allocation, assignment.node);
  // Its immutable fields are of another allocation: replace the object.
  const isStale = object !== undefined && belongsToOtherAllocation(object, manifest, shown);
  if (isStale) await deleteObject(api, path, object.uid, signal);
  if (!object || isStale) await createObject(api, { path: ipKind.path, body: manifest, signal });
  else if (object.allocation === '' || !matchesManifest(object, manifest))
    await mergePatch(api, { path, body: manifest, signal });
  else return false;
  return true;
}

/** An IP object that reserves an address belongs to its creator. It shows the allocation, and stays after the release. */
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

/** Lets the deletion of an object finish. If it still has an allocation, it is created again afterwards. */
async function removeFinalizers(object: IpObject, path: string, { api, signal }: IpSyncOptions): Promise<void> {
  const metadata = removeFinalizersPatch(object);
  if (metadata)
    await mergePatch(api, { path, body: { metadata: { ...versionPrecondition(object), ...metadata } }, signal });
}
