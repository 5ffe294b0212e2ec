/** Writes objects for controllers, records Events about them, and lists their past deletions. */
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import {
  createObject,
  deleteObject,
  mergePatch,
  objectPath,
  podPath,
} from '../../../lib/kubernetes/client/object-requests.ts';
import { asRecord, type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import type { SubnetManifest } from '../controllers/ovn4nfv/network-controller.ts';
import type { IpamClaimOwner } from '../controllers/ipam-claims/ipam-claim-creator.ts';
import type { IpamClaimDemand } from '../controllers/pods/planning/ipam-claim-request.ts';
import { deletedSince } from '../kubernetes/client/deletion-history.ts';
import type { ObjectMeta, ResourceKind } from '../../../lib/kubernetes/client/informer.ts';
import type { EventRecorder, PodEvent } from '../kubernetes/event-recorder.ts';
import type { CustomResource } from '../kubernetes/objects/custom-resource.ts';
import { ipamClaimApi, type IpamClaimObject } from '../kubernetes/objects/ipam-claim.ts';
import { type Ovn4nfvNetwork, ovn4nfvNetworkApi } from '../kubernetes/objects/ovn4nfv-network.ts';
import type { Pod } from '../kubernetes/objects/pod.ts';
import type { WaitingAnnotation } from '../kubernetes/waiting-annotation.ts';
import { type SubnetObject, subnets } from '../kubernetes/objects/subnet.ts';

interface Access {
  readonly api: Api;
  readonly events: EventRecorder;
}

interface KindOfObject<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly pathOf: (object: T) => string;
}

/** Writes to objects of one kind, and records Events about them. */
function accessTo<T extends CustomResource>({ api, events }: Access, { apiVersion, kind, pathOf }: KindOfObject<T>) {
  return {
    write: (object: T, body: object, signal: AbortSignal) => mergePatch(api, { path: pathOf(object), body, signal }),
    async writeStatus(object: T, status: object, signal: AbortSignal): Promise<void> {
      const [path, body] = [pathOf(object), { status }];
      try {
        await mergePatch(api, { path: `${path}/status`, body, signal });
      } catch (error) {
        // Patches the object itself, because Kube-OVN's Vip has no status subresource.
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        await mergePatch(api, { path, body, signal });
      }
    },
    recordEvent: (object: T, event: PodEvent) => events.record({ apiVersion, kind, ...nameOf(object) }, event),
  };
}

/** Accesses the objects of a cluster-scoped kind of Kube-OVN. */
export const objectAccess = <T extends CustomResource>(
  api: Api,
  events: EventRecorder,
  kind: string,
  { path }: ResourceKind<T>,
) => accessTo<T>({ api, events }, { apiVersion: 'kubeovn.io/v1', kind, pathOf: ({ name }) => objectPath(path, name) });

/** Accesses IPAMClaims, which are namespaced and which the watcher also creates. */
export function ipamClaimAccess(api: Api, events: EventRecorder) {
  const { apiVersion, kind, plural } = ipamClaimApi;
  const collectionOf = (namespace: string): string =>
    `/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  const pathOf = ({ namespace, name }: IpamClaimObject): string => objectPath(collectionOf(namespace), name);
  return {
    ...accessTo<IpamClaimObject>({ api, events }, { apiVersion, kind, pathOf }),
    create: ({ claim, network, interface: nic }: IpamClaimDemand, owner: IpamClaimOwner, signal: AbortSignal) => {
      const [namespace = '', name = ''] = claim.split('/');
      const body = {
        apiVersion,
        kind,
        metadata: { namespace, name, ownerReferences: [owner] },
        spec: { network, interface: nic },
      };
      return createObject(api, { path: collectionOf(namespace), body, signal });
    },
  };
}

/** Accesses the namespaced Networks of OVN4NFV, and their Subnets. */
export function networkAccess(api: Api, events: EventRecorder) {
  const { apiVersion, kind, plural } = ovn4nfvNetworkApi;
  const pathOf = ({ namespace, name }: Ovn4nfvNetwork): string =>
    objectPath(`/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`, name);
  const { path } = subnets;
  return {
    ...accessTo<Ovn4nfvNetwork>({ api, events }, { apiVersion, kind, pathOf }),
    createSubnet: (manifest: SubnetManifest, signal: AbortSignal) =>
      createObject(api, { path, body: { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', ...manifest }, signal }),
    patchSubnet: ({ name, uid }: SubnetObject, body: UntypedJson, signal: AbortSignal) => {
      const metadata = { ...asRecord(body['metadata']), uid };
      return mergePatch(api, { path: objectPath(path, name), body: { ...body, metadata }, signal });
    },
    deleteSubnet: ({ name, uid }: SubnetObject, signal: AbortSignal) =>
      deleteObject(api, objectPath(path, name), uid, signal),
  };
}

export const podEventRecorder =
  (events: EventRecorder, waiting: WaitingAnnotation) =>
  (pod: Pod, event: PodEvent): void => {
    events.record({ apiVersion: 'v1', kind: 'Pod', ...nameOf(pod) }, event);
    waiting.record(pod, event);
  };

/** Removes annotations of a Pod, unless it has changed since it was read. */
export const annotationRemover =
  (api: Api, signal: AbortSignal) =>
  async ({ namespace, name, uid, resourceVersion }: Pod, keys: readonly string[]): Promise<boolean> => {
    const annotations = Object.fromEntries(keys.map((key) => [key, null]));
    const body = { metadata: { uid, resourceVersion, annotations } };
    try {
      await mergePatch(api, { path: podPath(namespace, name), body, signal });
      return true;
    } catch (error) {
      if (error instanceof ApiError && ['changed', 'absent'].includes(error.reaction)) return false;
      throw error;
    }
  };

/** Returns a function that lists deletions since a version; none while it is unknown. */
export const deletionLister = <T extends ObjectMeta>(api: Api, kind: ResourceKind<T>, since: () => string) =>
  async function* (signal: AbortSignal): AsyncGenerator<T> {
    const version = since();
    if (version !== '') yield* deletedSince(api, kind, { version, signal });
  };

function nameOf({ namespace, name, uid }: { namespace: string; name: string; uid: string }) {
  return { namespace, name, uid };
}
