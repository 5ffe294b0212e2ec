/**
 * Requested attachments: the NICs of ipledger's networks that a Pod's annotations name. Invalid
 * annotations are left out, because the pod-watcher rejects such a Pod with an Event.
 */
import type { ClusterState, Pod } from './cluster-state.ts';
import { servedKind, ovn4nfvProvider } from '../../lib/kubernetes/served-network.ts';
import { goFields } from '../../lib/go-fields.ts';
import { parseOvn4nfvRequest } from '../../lib/ovn4nfv/request.ts';
import { asRecord, asRecords, asText, tryParseJson, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';

const annotations = ['v1.multus-cni.io/default-network', 'k8s.v1.cni.cncf.io/networks'];

/** A NIC that a Pod requests. */
export interface RequestedAttachment {
  readonly provider: string;
  /** The name of the NIC; "" if the annotation has none. */
  readonly interface: string;
}

type Networks = Pick<ClusterState, 'networks' | 'besideKubeOvn'>;

/** The providers of a Pod's requested attachments, with that of an OVN4NFV request. */
export function findRequestedProviders(pod: Pod, cluster: Networks): string[] {
  const providers = new Set(findRequestedAttachments(pod, cluster).map(({ provider }) => provider));
  const ovn4nfv = parseOvn4nfvRequest(pod);
  return [...providers, ...(ovn4nfv.ok && ovn4nfv.value ? [ovn4nfvProvider] : [])];
}

/** Finds the NICs in the order of the annotations. */
export function findRequestedAttachments(pod: Pod, { networks, besideKubeOvn }: Networks): RequestedAttachment[] {
  return findSelections(pod).flatMap(({ network, interface: name }) => {
    const provider = servedProviderOf(network, networks.get(network) ?? '', besideKubeOvn);
    return provider === undefined ? [] : [{ provider, interface: name }];
  });
}

/** A network "namespace/name", and the requested name of the NIC. */
export interface Selection {
  readonly network: string;
  /** The requested name; "" if the annotation has none. */
  readonly interface: string;
  /** The NIC's name: the requested name, else eth0 for the default network, else net1, net2, … */
  readonly actualInterface: string;
}

/** The networks that a Pod's annotations name, in their order, of any IPAM. */
export function findSelections({ namespace, annotations: values }: Pod): Selection[] {
  return annotations.flatMap((key, kind) =>
    parseSelections(values[key]?.trim() ?? '', namespace).map((selection, index) => ({
      ...selection,
      actualInterface: selection.interface || (kind === 0 ? 'eth0' : `net${index + 1}`),
    })),
  );
}

const selectionFields = goFields(['name', 'namespace', 'interface', 'interfaceRequest']);

/** Each network of an annotation: a JSON array, or a list of `[namespace/]name[@interface]`. */
function parseSelections(value: string, namespace: string): Omit<Selection, 'actualInterface'>[] {
  if (value === '') return [];
  if (!/[[{"]/.test(value))
    return value.split(',').map((item) => {
      const [network = '', name = ''] = item.trim().split('@');
      return { network: network.includes('/') ? network : `${namespace}/${network}`, interface: name };
    });
  const elements = tryParseJson(value);
  if (!Array.isArray(elements)) return [];
  return elements.map((element) => {
    const { name, namespace: own, interface: interfaceName, interfaceRequest } = asRecord(selectionFields(element));
    return {
      network: `${asText(own) || namespace}/${asText(name)}`,
      interface: asText(interfaceName) || asText(interfaceRequest),
    };
  });
}

/**
 * Returns "<name>.<namespace>[.ovn]" of a network with ipledger's IPAM; undefined for other
 * networks.
 */
export function servedProviderOf(key: string, config: string, besideKubeOvn: boolean): string | undefined {
  const kind = servedKind(parsePlugins(config), besideKubeOvn)?.kind;
  if (kind === undefined || kind === 'ovn4nfv') return undefined;
  const [namespace = '', name = ''] = key.split('/');
  return kind === 'ovn' ? `${name}.${namespace}.ovn` : `${name}.${namespace}`;
}

const pluginFields = goFields(['type', 'ipam', 'provider', 'server_socket']);

/** The plugins of a CNI configuration, which is one plugin or a list. */
export function parsePlugins(config: string) {
  const single = asRecord(pluginFields(tryParseJson(config)));
  const plugins = asText(single['type']) === '' ? asRecords(single['plugins']) : [];
  return (plugins.length > 0 ? plugins : [single]).map((each) => {
    const plugin = asRecord(pluginFields(each));
    return { ...settingsOf(plugin), ipam: settingsOf(asRecord(pluginFields(plugin['ipam']))) };
  });
}

/** The settings of a plugin, or of its IPAM, that decide which program gives the addresses. */
const settingsOf = ({ type, provider, server_socket: socket }: UntypedJson) => ({
  type: asText(type),
  provider: asText(provider),
  socket: asText(socket),
});
