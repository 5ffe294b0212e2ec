/**
 * The IP object of an allocation, in Kube-OVN's format. Pure. It has no finalizer: the watcher creates it again after a deletion.
 * It has no owner reference: Kubernetes' garbage collector deletes cluster-scoped objects that are owned by a Pod.
 */
import { isIP } from 'node:net';
import { ipObjectName, fullIpObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { allocationAnnotation } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { virtualMachineKind } from '../../../lib/kubernetes/pod-identity.ts';
import type { IpObject } from '../kubernetes/objects/ip.ts';
import { type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';

const apiVersion = 'kubeovn.io/v1';
const labelMaxLength = 63;

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

/**
 * Returns the object for an allocation.
 * @param node the Node of the Pod, "" while unknown
 */
export function ipManifest(allocation: HeldAllocation, node: string): IpManifest {
  const { seq, pod, namespace, subnet, addresses, mac, owner } = allocation;
  const texts = addresses.map(({ address }) => address);
  const [name, fullName] = [ipObjectName(allocation), fullIpObjectName(allocation)];
  return {
    apiVersion,
    kind: 'IP',
    metadata: {
      name,
      labels: fittingLabels({
        'ovn.kubernetes.io/subnet': subnet,
        'ovn.kubernetes.io/node-name': node,
        [subnet]: '',
        'ovn.kubernetes.io/ip_reserved': 'false',
      }),
      annotations: { [allocationAnnotation]: String(seq), ...(name !== fullName && { [nameAnnotation]: fullName }) },
    },
    spec: {
      podName: pod,
      namespace,
      subnet,
      attachSubnets: [],
      nodeName: node,
      ipAddress: texts.join(','),
      v4IpAddress: texts.find((text) => isIP(text) === 4) ?? '',
      v6IpAddress: texts.find((text) => isIP(text) === 6) ?? '',
      attachIps: [],
      macAddress: mac,
      attachMacs: [],
      containerID: '',
      podType: podTypes[owner?.kind ?? ''] ?? '',
    },
  };
}

/** Leaves out labels that are too long. The spec has their values. */
function fittingLabels(labels: Record<string, string>): Record<string, string> {
  const fitting = Object.entries(labels).filter(([key, value]) => {
    const name = key.slice(key.lastIndexOf('/') + 1);
    return name.length <= labelMaxLength && value.length <= labelMaxLength;
  });
  return Object.fromEntries(fitting);
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
export function belongsToOtherAllocation(object: IpObject, { metadata, spec }: IpManifest): boolean {
  const { allocation } = object;
  if (allocation !== '' && allocation !== metadata.annotations[allocationAnnotation]) return true;
  return immutableFields.some((key) => (object.spec[key] ?? '') !== spec[key]);
}

/** Whether an object shows the required fields. Other clients may add fields. */
export function matchesManifest(object: IpObject, { metadata, spec }: RequiredFields): boolean {
  return covers(object.labels, metadata.labels) && covers(object.spec, spec);
}

function covers(present: UntypedJson, required: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(required).every(
    ([key, value]) => present[key] === value || JSON.stringify(present[key]) === JSON.stringify(value),
  );
}
