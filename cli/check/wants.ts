/**
 * Which of our networks a Pod's annotations name. What cannot be read here is left out: the pod-watcher refuses such a Pod
 * with an Event, and there is nothing to compare.
 */
import type { ClusterPicture, Pod } from './picture.ts';
import { record, json, text } from '../../lib/raw.ts';

const annotations = ['v1.multus-cni.io/default-network', 'k8s.v1.cni.cncf.io/networks'];
const ours = 'kube-ovn';

/** A NIC that a Pod asks for. */
export interface Wanted {
  readonly provider: string;
  /** Its name, where the annotation gives it one. */
  readonly interface: string;
}

/** The providers that a Pod wants addresses of. */
export const wantedProviders = (pod: Pod, cluster: Pick<ClusterPicture, 'networks'>): string[] => [
  ...new Set(wantedNics(pod, cluster).map(({ provider }) => provider)),
];

/** The NICs of our networks that a Pod asks for, in its order. */
export function wantedNics(
  { namespace, annotations: shown }: Pod,
  { networks }: Pick<ClusterPicture, 'networks'>,
): Wanted[] {
  const named = annotations.flatMap((key) => selected(shown[key]?.trim() ?? '', namespace));
  return named.flatMap(({ network, interface: name }) => {
    const provider = providerOf(network, networks.get(network) ?? '');
    return provider === undefined ? [] : [{ provider, interface: name }];
  });
}

/** A network "namespace/name", and what the NIC shall be called. */
interface Selected {
  readonly network: string;
  readonly interface: string;
}

/** Each network that an annotation names: a JSON array, or a comma list of `[namespace/]name[@interface]`. */
function selected(value: string, namespace: string): Selected[] {
  if (value === '') return [];
  if (!/[[{"]/.test(value))
    return value.split(',').map((item) => {
      const [network = '', name = ''] = item.trim().split('@');
      return { network: network.includes('/') ? network : `${namespace}/${network}`, interface: name };
    });
  const elements = json(value);
  if (!Array.isArray(elements)) return [];
  return elements.map((element) => {
    const { name, namespace: own, interface: called } = record(element);
    return { network: `${text(own) || namespace}/${text(name)}`, interface: text(called) };
  });
}

/** "<name>.<namespace>" when we give the addresses, with ".ovn" behind it for a NIC of Kube-OVN's own type. */
function providerOf(key: string, config: string): string | undefined {
  const conf = record(json(config));
  const chained: readonly unknown[] = Array.isArray(conf['plugins']) ? conf['plugins'] : [];
  const plugins = [conf, ...chained.map(record)];
  const [namespace = '', name = ''] = key.split('/');
  if (plugins.some(({ type }) => type === ours)) return `${name}.${namespace}.ovn`;
  return plugins.some(({ ipam }) => record(ipam)['type'] === ours) ? `${name}.${namespace}` : undefined;
}
