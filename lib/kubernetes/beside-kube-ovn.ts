/**
 * Runs beside Kube-OVN, on a cluster whose own NICs Kube-OVN's controller keeps.
 *
 * That controller handles every Subnet, IPPool, Vip and IP object of kubeovn.io, for all providers:
 * it writes spec, finalizers and status, and allocates addresses for them. No field excludes an
 * object. So in this mode the objects of ipledger belong to their own API group, and its networks
 * name its own IPAM plugin, which Kube-OVN ignores. Thus no object and no address has two writers.
 */
import type { Api } from './client/kubernetes-api.ts';
import { isOvnProvider } from './served-network.ts';
import { asRecord, type UntypedJson } from './untyped-json.ts';

/** The API group of ipledger's own Subnets, IPPools, Vips and IPs, with Kube-OVN's fields. */
export const ownGroup = 'ipam.ipledger.io';

const kubeOvnVersion = 'kubeovn.io/v1';
const ownVersion = `${ownGroup}/v1`;
const objectPath = /^\/apis\/kubeovn\.io\/v1\/(?=(?:subnets|ippools|vips|ips)(?:[/?]|$))/;
const objectKinds = new Set(['Subnet', 'IPPool', 'Vip', 'IP']);

/** An API that replaces Kube-OVN's objects by ipledger's own. Other objects are unchanged. */
export function withOwnObjects(api: Api): Api {
  const translate = (path: string): string => path.replace(objectPath, `/apis/${ownVersion}/`);
  return {
    server: api.server,
    request: ({ path, body, ...request }) =>
      api.request({ ...request, path: translate(path), ...(body !== undefined && { body: inOwnGroup(body) }) }),
    stream: (path, options) => api.stream(translate(path), options),
  };
}

/** Changes the group of an object, or of the reference in an Event. */
function inOwnGroup(body: unknown): unknown {
  const object = asRecord(body);
  const { involvedObject } = object;
  if (involvedObject !== undefined) return { ...object, involvedObject: inOwnGroup(involvedObject) };
  const isOwn = object['apiVersion'] === kubeOvnVersion && objectKinds.has(String(object['kind']));
  return isOwn ? { ...object, apiVersion: ownVersion } : body;
}

/** Removes the annotations of Kube-OVN's own networks from an object. */
export function withoutKubeOvnAnnotations(raw: unknown): UntypedJson {
  const object = asRecord(raw);
  const metadata = asRecord(object['metadata']);
  const annotations = Object.entries(asRecord(metadata['annotations'])).filter(([key]) => !isOfKubeOvn(key));
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(annotations) } };
}

/** Matches "ovn.kubernetes.io/…" and "<name>.<namespace>.ovn[.<interface>].kubernetes.io/…". */
function isOfKubeOvn(key: string): boolean {
  const [, provider] = /^(.+)\.kubernetes\.io\//.exec(key) ?? [];
  return provider !== undefined && isOvnProvider(provider.split('.').slice(0, 3).join('.'));
}
