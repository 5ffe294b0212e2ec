/** One IP object, brought to what the ledger says of its address. */
import { allocationAnnotation, finalizer } from '../../../lib/marks.ts';
import type { Api } from '../kubernetes/api.ts';
import { lettingGo, unchanged } from '../kubernetes/finalizer.ts';
import type { Source } from '../kubernetes/list-watch.ts';
import { type IpObject, ips as ipKind } from '../kubernetes/kept-objects.ts';
import { create, mergePatch, objectPath, remove } from '../kubernetes/patch.ts';
import type { Holding } from '../ledger/facts.ts';
import { type IpManifest, ipManifest, isOfAnother, partForReserved, shows } from './ip.ts';

export interface IpShowing {
  readonly api: Api;
  readonly ips: Pick<Source<IpObject>, 'objects'>;
  readonly signal: AbortSignal;
}

/** Who has the address, and on which Node. */
export interface Held {
  readonly holding: Holding;
  readonly node: string;
}

/** @param held undefined where nobody has it. @throws ApiError */
export async function showIp(name: string, held: Held | undefined, showing: IpShowing): Promise<void> {
  const { api, ips, signal } = showing;
  const object = ips.objects.get(name);
  const path = objectPath(ipKind.path, name);
  const manifest = held && ipManifest(held.holding, held.node);
  if (object?.finalizers.includes(finalizer)) return showReserved(object, manifest, showing);
  if (object?.deleting) return letGo(object, path, showing);
  if (!manifest) {
    // Only what we made is ours to delete.
    if (object && object.allocation !== '') await remove(api, path, object.uid, signal);
    return;
  }
  // Of another allocation, or of none: that one's object goes, this one's comes.
  const stale = object !== undefined && isOfAnother(object, manifest);
  if (stale) await remove(api, path, object.uid, signal);
  if (!object || stale) await create(api, { path: ipKind.path, body: manifest, signal });
  else if (object.allocation === '' || !shows(object, manifest))
    await mergePatch(api, { path, body: manifest, signal });
}

/** It is whose who made it: it says who has the address, and outlives him. */
async function showReserved(
  object: IpObject,
  manifest: IpManifest | undefined,
  { api, signal }: IpShowing,
): Promise<void> {
  const path = objectPath(ipKind.path, object.name);
  if (manifest) {
    const body = partForReserved(manifest);
    const said = object.allocation === body.metadata.annotations[allocationAnnotation] && shows(object, body);
    if (!said) await mergePatch(api, { path, body, signal });
  } else if (object.allocation !== '')
    await mergePatch(api, { path, body: { metadata: { annotations: { [allocationAnnotation]: null } } }, signal });
}

/** One that is being deleted, by whomever, is made again once it is gone. */
async function letGo(object: IpObject, path: string, { api, signal }: IpShowing): Promise<void> {
  const metadata = lettingGo(object);
  if (metadata) await mergePatch(api, { path, body: { metadata: { ...unchanged(object), ...metadata } }, signal });
}
