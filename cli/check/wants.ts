/**
 * Which of our networks a Pod's annotations name. What cannot be read here is left out: the pod-watcher refuses such a Pod
 * with an Event, and there is nothing to compare.
 */
import type { ClusterPicture, Pod } from './picture.ts';
import { fields, json, text } from '../raw.ts';

const annotations = ['v1.multus-cni.io/default-network', 'k8s.v1.cni.cncf.io/networks'];
const ours = 'kube-ovn';

/** The providers that a Pod wants addresses of. */
export function wantedProviders({ namespace, annotations: shown }: Pod, { networks }: ClusterPicture): string[] {
  const named = annotations.flatMap((key) => networkNames(shown[key]?.trim() ?? '', namespace));
  const providers = named.flatMap((key) => providerOf(key, networks.get(key) ?? '') ?? []);
  return [...new Set(providers)];
}

/** "namespace/name" of each network that an annotation names: a JSON array, or a comma list of `[namespace/]name[@interface]`. */
function networkNames(value: string, namespace: string): string[] {
  if (value === '') return [];
  if (!/[[{"]/.test(value))
    return value.split(',').map((item) => {
      const [network = ''] = item.trim().split('@');
      return network.includes('/') ? network : `${namespace}/${network}`;
    });
  const elements = json(value);
  if (!Array.isArray(elements)) return [];
  return elements.map((element) => {
    const { name, namespace: own } = fields(element);
    return `${text(own) || namespace}/${text(name)}`;
  });
}

/** "<name>.<namespace>" when we give the addresses, with ".ovn" behind it for a NIC of Kube-OVN's own type. */
function providerOf(key: string, config: string): string | undefined {
  const conf = fields(json(config));
  const chained: readonly unknown[] = Array.isArray(conf['plugins']) ? conf['plugins'] : [];
  const plugins = [conf, ...chained.map(fields)];
  const [namespace = '', name = ''] = key.split('/');
  if (plugins.some(({ type }) => type === ours)) return `${name}.${namespace}.ovn`;
  return plugins.some(({ ipam }) => fields(ipam)['type'] === ours) ? `${name}.${namespace}` : undefined;
}
