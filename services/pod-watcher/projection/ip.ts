/**
 * The IP object of an allocation, in Kube-OVN's form. Pure. It carries no finalizer: deleted by hand, it is made again. And no
 * owner reference: the garbage collector would delete a cluster-scoped object that names a Pod.
 */
import { isIP } from 'node:net';
import { ipName, wholeIpName } from '../../../lib/ip-name.ts';
import { allocationAnnotation } from '../../../lib/marks.ts';
import { machineKind } from '../../../lib/pod-identity.ts';
import type { IpObject } from '../kubernetes/kept-objects.ts';
import { type Raw } from '../../../lib/raw.ts';
import type { Holding } from '../ledger/facts.ts';

const apiVersion = 'kubeovn.io/v1';
const labelMaxLength = 63;

/** Owners that may have a Pod of the name again, as Kube-OVN calls them. */
const podTypes: Readonly<Record<string, string>> = { StatefulSet: 'StatefulSet', [machineKind]: 'VirtualMachine' };

/** What a cluster-scoped IP object is made of. */
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

/** Says whose IP object it is, where its name cannot. */
const nameAnnotation = 'ipledger.io/name';

/**
 * The object for an allocation.
 * @param node where the Pod runs, "" while unknown.
 */
export function ipManifest(holding: Holding, node: string): IpManifest {
  const { seq, pod, namespace, subnet, addresses, mac, owner } = holding;
  const texts = addresses.map(({ address }) => address);
  const [name, whole] = [ipName(holding), wholeIpName(holding)];
  return {
    apiVersion,
    kind: 'IP',
    metadata: {
      name,
      labels: labels({
        'ovn.kubernetes.io/subnet': subnet,
        'ovn.kubernetes.io/node-name': node,
        [subnet]: '',
        'ovn.kubernetes.io/ip_reserved': 'false',
      }),
      annotations: { [allocationAnnotation]: String(seq), ...(name !== whole && { [nameAnnotation]: whole }) },
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

/** Labels are for selecting: one that is too long to be a label is left out, and what it says stands in the spec. */
function labels(wanted: Record<string, string>): Record<string, string> {
  const fitting = Object.entries(wanted).filter(([key, value]) => {
    const name = key.slice(key.lastIndexOf('/') + 1);
    return name.length <= labelMaxLength && value.length <= labelMaxLength;
  });
  return Object.fromEntries(fitting);
}

/** What an object must show, at least. */
interface Part {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly annotations: Raw };
  readonly spec: Raw;
}

/** The part of a manifest for an object that somebody made to hold the address: the rest is his, and says the same. */
export function partForReserved({ metadata, spec }: IpManifest): Part {
  const key = 'ovn.kubernetes.io/node-name';
  const node = metadata.labels[key];
  return {
    metadata: { labels: node === undefined ? {} : { [key]: node }, annotations: metadata.annotations },
    spec: { nodeName: spec['nodeName'] ?? '' },
  };
}

/** What the API server never lets change in an IP object. */
const immutable = ['subnet', 'namespace', 'podName', 'podType', 'macAddress', 'v4IpAddress', 'v6IpAddress'];

/** Whether an object is of another allocation, so that it cannot become what it must be. */
export function isOfAnother(object: IpObject, { metadata, spec }: IpManifest): boolean {
  const { allocation } = object;
  if (allocation !== '' && allocation !== metadata.annotations[allocationAnnotation]) return true;
  return immutable.some((key) => (object.spec[key] ?? '') !== spec[key]);
}

/** Whether an object shows what it must. What others added to it is theirs. */
export function shows(object: IpObject, { metadata, spec }: Part): boolean {
  return covers(object.labels, metadata.labels) && covers(object.spec, spec);
}

function covers(present: Raw, wanted: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(wanted).every(([key, value]) => JSON.stringify(present[key]) === JSON.stringify(value));
}
