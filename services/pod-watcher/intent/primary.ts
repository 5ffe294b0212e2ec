/**
 * Whether a Pod's primary network is served here, and from which Subnets. On most clusters another CNI plugin makes that network,
 * so nobody is given an address of it who does not ask: the Pod or its namespace names a Subnet or an IPPool for it.
 */
import { networksAnnotation, type Pod } from '../kubernetes/objects.ts';
import { isPoolName } from './addresses.ts';
import type { Selection } from './attachments.ts';
import type { Sight } from './sight.ts';
import { ok, problem, type Result } from './result.ts';
import { primaryProvider } from './subnets.ts';
import { whyNoPool, whyNoSubnet } from './tenancy.ts';

export interface Primary {
  /** Best first; at least one. */
  readonly subnets: readonly string[];
  /** The IPPool from which it is served when the Pod names neither address nor pool; "" for none. */
  readonly pool: string;
}

/** The NIC that the container runtime makes of it. */
export const primarySelection: Selection = {
  namespace: '',
  name: '',
  interface: 'eth0',
  addresses: [],
  mac: '',
  main: true,
};

const key = (suffix: string): string => `${primaryProvider}.kubernetes.io/${suffix}`;

/**
 * The Subnets, as Kube-OVN looks for them: what the Pod names, its IPPool's, its namespace's in their order.
 * @param topics is added what to watch for a change of.
 * @returns undefined where it is not served here, or another network takes its place; a problem where what is named cannot be used.
 */
export function primaryOf(
  { namespace, annotations }: Pod,
  sight: Sight,
  topics: Set<string>,
): Result<Primary> | undefined {
  const { pools, namespaceOf } = sight;
  const named = annotations[key('logical_switch')]?.trim() ?? '';
  if (named !== '') {
    topics.add(`subnet:${named}`);
    if (!sight.subnets.serves(named))
      return problem(
        `annotation ${key('logical_switch')}: ${sight.subnets.whyNotServing(named)}: create or correct it`,
      );
    const refusal = whyNotFrom(named, namespace, sight);
    return refusal === undefined
      ? ok({ subnets: [named], pool: '' })
      : problem(`annotation ${key('logical_switch')}: ${refusal}`);
  }
  const pool = annotations[key('ip_pool')] ?? '';
  if (isPoolName(pool)) {
    topics.add(`pool:${pool.trim()}`);
    const subnet = pools.subnetOf(pool.trim());
    if (subnet === undefined)
      return problem(`annotation ${key('ip_pool')}: ${pools.whyNot(pool.trim())}: create or correct it`);
    const refusal = whyNotFrom(subnet, namespace, sight);
    return refusal === undefined
      ? ok({ subnets: [subnet], pool: '' })
      : problem(`annotation ${key('ip_pool')}: IPPool ${pool.trim()} is of Subnet ${subnet}: ${refusal}`);
  }
  const known = namespaceOf(namespace);
  if (known?.problems && !asksForOthersOnly(annotations))
    return problem(`namespace ${namespace}: ${known.problems.join('; ')}`);
  const drawn = pools.ofNamespace(namespace, known?.pools ?? []);
  const listed = known?.subnets ?? [];
  for (const name of listed) topics.add(`subnet:${name}`);
  for (const name of drawn) topics.add(`pool:${name}`);
  const mayServe = (name: string): boolean => whyNotFrom(name, namespace, sight) === undefined;
  const serving = listed.filter(mayServe);
  const [best] = drawn.filter((name) => {
    const subnet = pools.subnetOf(name) ?? '';
    const fits = serving.length === 0 ? mayServe(subnet) : serving.includes(subnet);
    return fits && whyNoPool(name, namespace, sight) === undefined;
  });
  if (best !== undefined) return ok({ subnets: [pools.subnetOf(best) ?? ''], pool: best });
  if (serving.length > 0) return ok({ subnets: serving, pool: '' });
  const coming = listed.filter((name) => sight.subnets.exists(name));
  if (coming.length === 0) return undefined;
  return problem(`namespace ${namespace}: ${coming.map((name) => whyNotFrom(name, namespace, sight)).join('; ')}`);
}

/** Whether a Pod selects networks, and says nothing of its primary one. */
function asksForOthersOnly(annotations: Pod['annotations']): boolean {
  const selects = (annotations[networksAnnotation]?.trim() ?? '') !== '';
  return selects && !Object.keys(annotations).some((each) => each.startsWith(key('')));
}

/** Why a Subnet cannot serve the primary network of a namespace's Pods, as a sentence; undefined if it can. */
function whyNotFrom(name: string, namespace: string, sight: Sight): string | undefined {
  const { subnets } = sight;
  if (!subnets.serves(name)) return subnets.whyNotServing(name);
  const serves = subnets.providerOf(name);
  if (serves !== primaryProvider)
    return `Subnet ${name} serves provider ${serves}: name one of provider ${primaryProvider}`;
  return whyNoSubnet(name, namespace, sight);
}
