/**
 * Resolves whether a Pod's primary network is served here, and from which Subnets. On most clusters
 * another CNI plugin makes that network. So a Pod gets an address of it only if the Pod or its
 * namespace names a Subnet or an IPPool for it.
 */
import type { Requested, RequestedValues } from '../../../kubernetes/objects/annotation-table.ts';
import { poolAccessRefusal, subnetAccessRefusal } from '../../namespaces/namespace-access.ts';
import { primaryProvider } from '../../subnets/subnet-cache.ts';
import type { ClusterView } from '../../cluster-view.ts';
import type { NetworkSelection } from './network-selections.ts';
import type { ParsedPod } from './parse-pod.ts';
import { ok, problem, type Result } from '../../../../../lib/result.ts';

export interface PrimaryNetwork {
  /** The Subnets that may serve the network, best first; at least one. */
  readonly subnets: readonly string[];
  /** The IPPool that serves a Pod which names neither address nor pool. Absent if there is none. */
  readonly pool?: string | undefined;
}

export interface PrimaryResolution {
  readonly topics: readonly string[];
  /** The network; undefined if it is not served here. A problem: a named object cannot be used. */
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

/** Follows Kube-OVN's order: the Pod's Subnet, its IPPool's Subnet, its namespace's Subnets. */
export function resolvePrimaryNetwork(
  parsed: ParsedPod,
  { subnet, pool }: RequestedValues,
  clusterView: ClusterView,
): PrimaryResolution {
  const { namespace } = parsed.pod;
  if (subnet) return resolveSubnetOfPod(subnet, namespace, clusterView);
  if (pool?.value.kind !== 'named') return resolveNamespaceNetwork(parsed, clusterView);
  const name = pool.value.pool;
  return { topics: [`pool:${name}`], network: poolOfPod({ key: pool.key, value: name }, namespace, clusterView) };
}

/** Resolves the Subnet that the Pod names. The namespace's IPPools apply to it, as in Kube-OVN. */
function resolveSubnetOfPod(
  { key, value: name }: Requested<string>,
  namespace: string,
  clusterView: ClusterView,
): PrimaryResolution {
  const { subnets } = clusterView;
  const topics = [`subnet:${name}`];
  const refusal = subnets.serves(name)
    ? whyNotServingPrimary(name, namespace, clusterView)
    : `${subnets.whyNotServing(name)}: create or correct it`;
  if (refusal !== undefined) return { topics, network: problem(`annotation ${key}: ${refusal}`) };
  const poolNames = poolsOfNamespace(namespace, clusterView);
  const pool = findPool(poolNames, namespace, { clusterView, fits: (subnet) => subnet === name });
  return { topics: [...topics, ...poolTopics(poolNames)], network: ok({ subnets: [name], pool }) };
}

function poolOfPod(
  { key, value: name }: Requested<string>,
  namespace: string,
  clusterView: ClusterView,
): Result<PrimaryNetwork> {
  const { pools } = clusterView;
  const subnet = pools.subnetOf(name);
  if (subnet === undefined) return problem(`annotation ${key}: ${pools.whyNot(name)}: create or correct it`);
  const refusal = whyNotServingPrimary(subnet, namespace, clusterView);
  return refusal === undefined
    ? ok({ subnets: [subnet] })
    : problem(`annotation ${key}: IPPool ${name} is of Subnet ${subnet}: ${refusal}`);
}

function resolveNamespaceNetwork(
  { pod: { namespace }, annotations, selectsNetworks }: ParsedPod,
  clusterView: ClusterView,
): PrimaryResolution {
  const { pools, subnets } = clusterView;
  const observed = clusterView.namespaceOf(namespace);
  const selectsOtherNetworksOnly = selectsNetworks && !annotations.has(primaryProvider);
  if (observed?.problems && !selectsOtherNetworksOnly)
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
  if (serving.length > 0) return { topics, network: ok({ subnets: serving }) };
  const refusals = subnetNames.flatMap((name) =>
    subnets.exists(name) ? (whyNotServingPrimary(name, namespace, clusterView) ?? '') : [],
  );
  const network = refusals.length > 0 ? problem(`namespace ${namespace}: ${refusals.join('; ')}`) : undefined;
  return { topics, network };
}

/** Returns the IPPools of a namespace, best first. */
const poolsOfNamespace = (namespace: string, { pools, namespaceOf }: ClusterView): string[] =>
  pools.ofNamespace(namespace, namespaceOf(namespace)?.pools ?? []);

const poolTopics = (names: readonly string[]): string[] => names.map((name) => `pool:${name}`);

/** Returns the first IPPool that the namespace may use, and whose Subnet fits. */
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

/** Returns why a Subnet cannot serve a namespace's primary network, as a sentence. */
function whyNotServingPrimary(name: string, namespace: string, clusterView: ClusterView): string | undefined {
  const { subnets } = clusterView;
  if (!subnets.serves(name)) return subnets.whyNotServing(name);
  const provider = subnets.providerOf(name);
  if (provider !== primaryProvider)
    return `Subnet ${name} serves provider ${provider}: name one of provider ${primaryProvider}`;
  return subnetAccessRefusal(name, namespace, clusterView);
}
