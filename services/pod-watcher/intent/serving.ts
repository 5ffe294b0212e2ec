/** From which Subnets an attachment may be served: by its network, by its annotations, and for the Pod's namespace. Pure. */
import type { Network } from './network.ts';
import { annotation, type Wanted } from './request.ts';
import { ok, problem, type Result } from './result.ts';
import type { Sight } from './sight.ts';
import { primaryProvider } from './subnets.ts';
import { whyNoPool, whyNoSubnet } from './tenancy.ts';

type OurNetwork = Extract<Network, { provider: string }>;

/** The Subnet that the annotation `key` names: it goes before those of the provider. It serves the NIC's own provider, or the primary one. */
export function namedSubnet(
  name: string,
  key: string,
  { wanted, network, sight }: { wanted: Omit<Wanted, 'subnets'>; network: OurNetwork; sight: Sight },
): Result<string[]> {
  const { subnets } = sight;
  if (!subnets.serves(name)) return problem(`annotation ${key}: ${subnets.whyNotServing(name)}: create or correct it`);
  const serves = subnets.providerOf(name);
  if (serves !== network.provider && serves !== primaryProvider)
    return problem(
      `annotation ${key}: Subnet ${name} serves provider ${serves}: name one of provider ${primaryProvider} or ${network.provider}`,
    );
  const isForeignMain = wanted.selection.main && network.kind !== 'ovn';
  if (isForeignMain && serves !== network.provider)
    return problem(
      `annotation ${key}: a main NIC of another plugin cannot have its address from Subnet ${name} of provider ${primaryProvider}: give it a Subnet with spec.provider ${JSON.stringify(network.provider)}, or attach the network beside the primary one`,
    );
  const refusal = whyNoSubnet(name, wanted.pod.namespace, sight);
  return refusal === undefined ? ok([name]) : problem(`annotation ${key}: ${refusal}`);
}

/** Those of a provider that are for the namespace, by name. */
export function subnetsOf(provider: string, namespace: string, sight: Sight): Result<string[]> {
  const { subnets } = sight;
  const serving = subnets.servingProvider(provider);
  const refusals = serving.map((name) => whyNoSubnet(name, namespace, sight));
  const open = serving.filter((_, index) => refusals[index] === undefined);
  if (open.length > 0) return ok(open);
  const [refusal] = refusals;
  if (refusal !== undefined) return problem(`provider ${provider}: ${refusal}`);
  const why =
    subnets.whyNot(provider) ||
    `create a Subnet with spec.provider ${JSON.stringify(provider)}, or correct that of the one which is meant for it (kubectl get subnets)`;
  return problem(`provider ${provider} is not bound to any subnet: ${why}`);
}

/** An IPPool is of one Subnet; that must be one of those that serve the attachment, and the pool be for the Pod's namespace. */
export function subnetsOfPool(pool: string, wanted: Wanted, sight: Sight): Result<readonly string[]> {
  const [key] = annotation(wanted, 'ip_pool');
  const { pools } = sight;
  const subnet = pools.subnetOf(pool);
  if (subnet === undefined) return problem(`annotation ${key}: ${pools.whyNot(pool)}: create or correct it`);
  if (!wanted.subnets.includes(subnet))
    return problem(
      `annotation ${key}: IPPool ${pool} is of Subnet ${subnet}, and provider ${wanted.provider} is served from ${wanted.subnets.join(', ')}: name a pool of that`,
    );
  const refusal = whyNoPool(pool, wanted.pod.namespace, sight);
  return refusal === undefined ? ok([subnet]) : problem(`annotation ${key}: ${refusal}`);
}
