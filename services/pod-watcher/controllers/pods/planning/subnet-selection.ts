/** Selects Subnets by the provider and annotations of an attachment, and the namespace. Pure. */
import { ovn4nfvProvider } from '../../../../../lib/kubernetes/served-network.ts';
import type { Requested } from '../../../kubernetes/objects/annotation-table.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import { poolAccessRefusal, subnetAccessRefusal } from '../../namespaces/namespace-access.ts';
import type { ServedNetwork } from '../../network-definitions/classify-network.ts';
import { primaryProvider } from '../../subnets/subnet-cache.ts';
import type { ServedAttachment } from './attachment-annotations.ts';
import type { ClusterView } from '../../cluster-view.ts';
import { ok, problem, type Result } from '../../../../../lib/result.ts';

/** Resolves an annotation's Subnet, which must serve the attachment's or primary provider. */
export function resolveNamedSubnet(
  { key, value: name }: Requested<string>,
  pod: Pick<Pod, 'namespace'>,
  {
    attachment,
    network,
    clusterView,
  }: { readonly attachment: ServedAttachment; readonly network: ServedNetwork; readonly clusterView: ClusterView },
): Result<string[]> {
  const { subnets } = clusterView;
  if (!subnets.serves(name)) return problem(`annotation ${key}: ${subnets.whyNotServing(name)}: create or correct it`);
  const provider = subnets.providerOf(name);
  if (provider !== network.provider && provider !== primaryProvider)
    return problem(
      `annotation ${key}: Subnet ${name} serves provider ${provider}: name one of provider ${primaryProvider} or ${network.provider}`,
    );
  const isMainOfOtherPlugin = attachment.selection.isMain && network.kind !== 'ovn';
  if (isMainOfOtherPlugin && provider !== network.provider)
    return problem(
      `annotation ${key}: a main NIC of another plugin cannot have its address from Subnet ${name} of provider ${primaryProvider}: name a Subnet with spec.provider ${JSON.stringify(network.provider)}, or attach the network beside the primary one`,
    );
  const refusal = subnetAccessRefusal(name, pod.namespace, clusterView);
  return refusal === undefined ? ok([name]) : problem(`annotation ${key}: ${refusal}`);
}

/** Returns the Subnets of a provider that the namespace may use, sorted by name. */
export function resolveProviderSubnets(
  provider: string,
  namespace: string,
  clusterView: ClusterView,
): Result<string[]> {
  const { subnets } = clusterView;
  const serving = subnets.servingProvider(provider);
  const refusals = serving.map((name) => subnetAccessRefusal(name, namespace, clusterView));
  const open = serving.filter((_, index) => refusals[index] === undefined);
  if (open.length > 0) return ok(open);
  const [refusal] = refusals;
  if (refusal !== undefined) return problem(`provider ${provider}: ${refusal}`);
  const reason =
    subnets.whyNot(provider) ||
    `create a Subnet with spec.provider ${JSON.stringify(provider)}, or correct spec.provider of the Subnet that is meant for it (kubectl get subnets)`;
  return problem(`provider ${provider} is not bound to any subnet: ${reason}`);
}

/** Resolves the Subnet of an IPPool. It must serve the attachment, and permit the namespace. */
export function resolvePoolSubnets(
  { key, value: name }: Requested<string>,
  pod: Pick<Pod, 'namespace'>,
  {
    attachment,
    clusterView,
  }: {
    readonly attachment: ServedAttachment & { readonly subnets: readonly string[] };
    readonly clusterView: ClusterView;
  },
): Result<readonly string[]> {
  const { pools } = clusterView;
  const subnet = pools.subnetOf(name);
  if (subnet === undefined) return problem(`annotation ${key}: ${pools.whyNot(name)}: create or correct it`);
  if (!attachment.subnets.includes(subnet))
    return problem(
      `annotation ${key}: IPPool ${name} is of Subnet ${subnet}, and provider ${attachment.provider} is served from ${attachment.subnets.join(', ')}: name an IPPool of one of those`,
    );
  const refusal = poolAccessRefusal(name, pod.namespace, clusterView);
  return refusal === undefined ? ok([subnet]) : problem(`annotation ${key}: ${refusal}`);
}

/** Resolves the Subnet of an OVN4NFV request, which must serve it or the primary network. */
export function resolveVirtualNetwork(name: string, namespace: string, clusterView: ClusterView): Result<string[]> {
  const { subnets } = clusterView;
  if (!subnets.serves(name)) return problem(`${subnets.whyNotServing(name)}: create or correct it`);
  const provider = subnets.providerOf(name);
  if (provider !== ovn4nfvProvider && provider !== primaryProvider)
    return problem(
      `Subnet ${name} serves provider ${provider}: name one of provider ${ovn4nfvProvider} or ${primaryProvider}`,
    );
  const refusal = subnetAccessRefusal(name, namespace, clusterView);
  return refusal === undefined ? ok([name]) : problem(refusal);
}
