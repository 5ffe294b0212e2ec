/**
 * Resolves whether a Pod's primary network is served here, and from which Subnets. On most clusters another CNI plugin makes
 * that network. Therefore a Pod gets an address of it only if the Pod or its namespace names a Subnet or an IPPool for it.
 */
import type { AttachmentSuffix } from '../../../kubernetes/objects/attachment-suffixes.ts';
import { networksAnnotationOf, type Pod } from '../../../kubernetes/objects/pod.ts';
import { poolAccessRefusal, subnetAccessRefusal } from '../../namespaces/namespace-access.ts';
import { primaryProvider } from '../../subnets/subnet-cache.ts';
import { isPoolName } from './address-annotations.ts';
import type { ClusterView } from '../../cluster-view.ts';
import type { NetworkSelection } from './network-selections.ts';
import { ok, problem, type Result } from './result.ts';

export interface PrimaryNetwork {
  /** Best first; at least one. */
  readonly subnets: readonly string[];
  /** The IPPool that serves a Pod which names neither address nor pool; "" for none. */
  readonly pool: string;
}

export interface PrimaryResolution {
  readonly topics: readonly string[];
  /** undefined where the network is not served here; a problem where a named Subnet or IPPool cannot be used. */
  readonly network: Result<PrimaryNetwork> | undefined;
}

/** The NIC that the container runtime makes for the primary network. */
export const primarySelection: NetworkSelection = {
  namespace: '',
  name: '',
  interface: 'eth0',
  addresses: [],
  mac: '',
  isMain: true,
};

const key = (suffix: AttachmentSuffix | ''): string => `${primaryProvider}.kubernetes.io/${suffix}`;

/** In Kube-OVN's order: the Subnet that the Pod names, the Subnet of its IPPool, the Subnets of its namespace. */
export function resolvePrimaryNetwork(pod: Pod, clusterView: ClusterView): PrimaryResolution {
  const subnet = pod.annotations[key('logical_switch')]?.trim() ?? '';
  if (subnet !== '') return resolveSubnetOfPod(subnet, pod.namespace, clusterView);
  const pool = pod.annotations[key('ip_pool')]?.trim() ?? '';
  if (isPoolName(pool)) return { topics: [`pool:${pool}`], network: poolOfPod(pool, pod.namespace, clusterView) };
  return resolveNamespaceNetwork(pod, clusterView);
}

/** The IPPools of the namespace apply to the Subnet that the Pod names, as in Kube-OVN. */
function resolveSubnetOfPod(name: string, namespace: string, clusterView: ClusterView): PrimaryResolution {
  const annotation = `annotation ${key('logical_switch')}`;
  const { subnets } = clusterView;
  const topics = [`subnet:${name}`];
  const refusal = subnets.serves(name)
    ? whyNotServingPrimary(name, namespace, clusterView)
    : `${subnets.whyNotServing(name)}: create or correct it`;
  if (refusal !== undefined) return { topics, network: problem(`${annotation}: ${refusal}`) };
  const poolNames = poolsOfNamespace(namespace, clusterView);
  const pool = findPool(poolNames, namespace, { clusterView, fits: (subnet) => subnet === name }) ?? '';
  return { topics: [...topics, ...poolTopics(poolNames)], network: ok({ subnets: [name], pool }) };
}

function poolOfPod(name: string, namespace: string, clusterView: ClusterView): Result<PrimaryNetwork> {
  const annotation = `annotation ${key('ip_pool')}`;
  const { pools } = clusterView;
  const subnet = pools.subnetOf(name);
  if (subnet === undefined) return problem(`${annotation}: ${pools.whyNot(name)}: create or correct it`);
  const refusal = whyNotServingPrimary(subnet, namespace, clusterView);
  return refusal === undefined
    ? ok({ subnets: [subnet], pool: '' })
    : problem(`${annotation}: IPPool ${name} is of Subnet ${subnet}: ${refusal}`);
}

function resolveNamespaceNetwork({ namespace, annotations }: Pod, clusterView: ClusterView): PrimaryResolution {
  const { pools, subnets } = clusterView;
  const observed = clusterView.namespaceOf(namespace);
  if (observed?.problems && !selectsOtherNetworksOnly(annotations))
    return { topics: [], network: problem(`namespace ${namespace}: ${observed.problems.join('; ')}`) };
  const poolNames = poolsOfNamespace(namespace, clusterView);
  const subnetNames = observed?.subnets ?? [];
  const topics = [...subnetNames.map((name) => `subnet:${name}`), ...poolTopics(poolNames)];
  const canServe = (name: string): boolean => whyNotServingPrimary(name, namespace, clusterView) === undefined;
  const serving = subnetNames.filter(canServe);
  const fits = (subnet: string): boolean => (serving.length === 0 ? canServe(subnet) : serving.includes(subnet));
  const bestPool = findPool(poolNames, namespace, { clusterView, fits });
  if (bestPool !== undefined)
    return { topics, network: ok({ subnets: [pools.subnetOf(bestPool) ?? ''], pool: bestPool }) };
  if (serving.length > 0) return { topics, network: ok({ subnets: serving, pool: '' }) };
  const refusals = subnetNames.flatMap((name) =>
    subnets.exists(name) ? (whyNotServingPrimary(name, namespace, clusterView) ?? '') : [],
  );
  const network = refusals.length > 0 ? problem(`namespace ${namespace}: ${refusals.join('; ')}`) : undefined;
  return { topics, network };
}

/** Best first. */
const poolsOfNamespace = (namespace: string, { pools, namespaceOf }: ClusterView): string[] =>
  pools.ofNamespace(namespace, namespaceOf(namespace)?.pools ?? []);

const poolTopics = (names: readonly string[]): string[] => names.map((name) => `pool:${name}`);

/** The first IPPool that the namespace may use, and whose Subnet fits. */
function findPool(
  names: readonly string[],
  namespace: string,
  { clusterView, fits }: { readonly clusterView: ClusterView; readonly fits: (subnet: string) => boolean },
): string | undefined {
  return names.find(
    (name) =>
      fits(clusterView.pools.subnetOf(name) ?? '') && poolAccessRefusal(name, namespace, clusterView) === undefined,
  );
}

/** Whether a Pod selects networks and has no annotation about its primary network. */
function selectsOtherNetworksOnly(annotations: Pod['annotations']): boolean {
  const selects = networksAnnotationOf({ annotations })[1] !== '';
  return selects && !Object.keys(annotations).some((each) => each.startsWith(key('')));
}

/** Why a Subnet cannot serve the primary network of a namespace's Pods, as a sentence; undefined if it can. */
function whyNotServingPrimary(name: string, namespace: string, clusterView: ClusterView): string | undefined {
  const { subnets } = clusterView;
  if (!subnets.serves(name)) return subnets.whyNotServing(name);
  const provider = subnets.providerOf(name);
  if (provider !== primaryProvider)
    return `Subnet ${name} serves provider ${provider}: name one of provider ${primaryProvider}`;
  return subnetAccessRefusal(name, namespace, clusterView);
}
