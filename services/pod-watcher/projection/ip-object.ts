/**
 * The IP object of an allocation, in Kube-OVN's format. Pure. It has no finalizer: the watcher creates it again after a deletion.
 * It has no owner reference: Kubernetes' garbage collector deletes cluster-scoped objects that are owned by a Pod.
 */
import { ipObjectName, fullIpObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { allocationAnnotation } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { virtualMachineKind } from '../../../lib/kubernetes/pod-identity.ts';
import { type IpObject, ShownIp } from '../kubernetes/objects/ip.ts';
import {
  coversContent,
  ipLabels,
  ipSpec,
  type ShownAllocation,
  shownDigest,
} from '../kubernetes/objects/ip-content.ts';
import { type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';

const apiVersion = 'kubeovn.io/v1';

/** Kube-OVN's names of owners that create a Pod of the same name again. */
const podTypes: Readonly<Record<string, string>> = {
  StatefulSet: 'StatefulSet',
  [virtualMachineKind]: 'VirtualMachine',
};

/** A cluster-scoped IP object. */
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

/** The full name of the IP object where the object has a shortened name. */
const nameAnnotation = 'ipledger.io/name';

/** What the object of an allocation shows. @param node the Node of the Pod, "" while unknown */
export function shownAllocation(allocation: HeldAllocation, node: string): ShownAllocation {
  const { pod, namespace, subnet, addresses, mac, owner } = allocation;
  const podType = podTypes[owner?.kind ?? ''] ?? '';
  return { pod, namespace, subnet, addresses: addresses.map(({ address }) => address), mac, podType, node };
}

/**
 * Returns the object for an allocation.
 * @param node as for `shownAllocation`
 * @param name another name than its own if it shares that one
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

/** Whether an object is complete for an allocation: the usual case, which needs no manifest. */
export function showsAllocation(object: IpObject, allocation: HeldAllocation, node: string): boolean {
  if (!(object instanceof ShownIp) || object.allocation !== String(allocation.seq) || object.node !== node)
    return false;
  return object.digest === shownDigest(shownAllocation(allocation, node));
}

/** The fields that an object must show. */
interface RequiredFields {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly annotations: UntypedJson };
  readonly spec: UntypedJson;
}

/** The fields that the watcher writes to an object that reserves its address. The others are set by its creator. */
export function reservedIpPatch({ metadata, spec }: IpManifest): RequiredFields {
  const key = 'ovn.kubernetes.io/node-name';
  const node = metadata.labels[key];
  return {
    metadata: { labels: node === undefined ? {} : { [key]: node }, annotations: metadata.annotations },
    spec: { nodeName: spec['nodeName'] ?? '' },
  };
}

/** The CRD makes these fields of an IP object immutable. */
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
