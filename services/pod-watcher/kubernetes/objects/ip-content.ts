/** Labels and spec of the IP object of an allocation, in Kube-OVN's format. Pure. */
import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';

const labelMaxLength = 63;
/** The length of a digest in bytes. */
export const digestLength = 20;

/** The fields of an allocation from which labels and spec follow. */
export interface ShownAllocation {
  readonly pod: string;
  readonly namespace: string;
  readonly subnet: string;
  /** The addresses, IPv4 first. */
  readonly addresses: readonly string[];
  readonly mac: string;
  /** Kube-OVN's name of an owner that creates a Pod of the same name again; "" for other owners. */
  readonly podType: string;
  /** The Node of the Pod; "" while unknown. */
  readonly node: string;
}

/** The labels and the spec of an IP object. Other clients may add fields. */
export interface IpContent {
  readonly labels: UntypedJson;
  readonly spec: UntypedJson;
}

/** Returns the labels, except those that are too long. The spec has their values. */
export function ipLabels({ subnet, node }: ShownAllocation): Record<string, string> {
  const labels = {
    'ovn.kubernetes.io/subnet': subnet,
    'ovn.kubernetes.io/node-name': node,
    [subnet]: '',
    'ovn.kubernetes.io/ip_reserved': 'false',
  };
  const fitting = Object.entries(labels).filter(([key, value]) => {
    const name = key.slice(key.lastIndexOf('/') + 1);
    return name.length <= labelMaxLength && value.length <= labelMaxLength;
  });
  return Object.fromEntries(fitting);
}

export function ipSpec(shown: ShownAllocation): Record<string, string | readonly string[]> {
  const { pod, namespace, subnet, addresses, mac, podType, node } = shown;
  return {
    podName: pod,
    namespace,
    subnet,
    attachSubnets: [],
    nodeName: node,
    ipAddress: addresses.join(','),
    v4IpAddress: addressOf(4, addresses),
    v6IpAddress: addressOf(6, addresses),
    attachIps: [],
    macAddress: mac,
    attachMacs: [],
    containerID: '',
    podType,
  };
}

const addressOf = (family: number, addresses: readonly string[]): string =>
  addresses.find((text) => isIP(text) === family) ?? '';

/** Whether an object shows the required fields. */
export const coversContent = (present: IpContent, required: IpContent): boolean =>
  covers(present.labels, required.labels) && covers(present.spec, required.spec);

function covers(present: UntypedJson, required: UntypedJson): boolean {
  return Object.entries(required).every(
    ([key, value]) => present[key] === value || JSON.stringify(present[key]) === JSON.stringify(value),
  );
}

/** Returns the allocation with these labels and spec; undefined if a required field differs. */
export function shownAllocationOf(content: IpContent): ShownAllocation | undefined {
  const text = (key: string): string => asText(content.spec[key]);
  const shown = {
    pod: text('podName'),
    namespace: text('namespace'),
    subnet: text('subnet'),
    addresses: [text('v4IpAddress'), text('v6IpAddress')].filter((each) => each !== ''),
    mac: text('macAddress'),
    podType: text('podType'),
    node: text('nodeName'),
  };
  return coversContent(content, { labels: ipLabels(shown), spec: ipSpec(shown) }) ? shown : undefined;
}

/**
 * Returns a digest of all immutable fields of an object, that is all but the Node. 160 bits of
 * SHA-256 are enough: it takes 2^80 attempts to find two allocations with the same digest.
 */
export function shownDigest({ pod, namespace, subnet, addresses, mac, podType }: ShownAllocation): string {
  const text = JSON.stringify([pod, namespace, subnet, addresses, mac, podType]);
  return hash('sha256', text, 'binary').slice(0, digestLength);
}
