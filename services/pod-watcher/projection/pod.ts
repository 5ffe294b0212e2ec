/**
 * What a Pod's annotations must say of its allocations, in Kube-OVN's keys, as one merge patch. Pure.
 *
 * Keys are "<provider>.kubernetes.io/<suffix>". The first attachment of a provider has the plain ones; a further one has
 * `ip_address.<interface>` and `mac_address.<interface>` once its interface is known: one key cannot say two addresses. Several
 * of one Kube-OVN-type network have "<provider>.<interface>.kubernetes.io/<suffix>" beside that.
 */
import { isSubdomain } from '../../../lib/ip-name.ts';
import type { Pod } from '../kubernetes/objects.ts';
import type { Holding } from '../ledger/facts.ts';
import { isOvnProvider } from '../../../lib/provider.ts';
import { detachedKeys } from './detached.ts';

/** Values of annotations; null removes one. */
export type Annotations = Record<string, string | null>;

/** A merge patch for a Pod. The uid in it makes the API refuse it when the name belongs to another Pod by now. */
export interface PodPatch {
  readonly metadata: { readonly uid: string; readonly annotations: Annotations };
}

/**
 * The patch that makes the annotations right, all in one; undefined when they are. Holdings of other uids are left alone, and
 * so are the annotations of what a finished Pod holds no more: who looks at it wants to see what it had.
 * @param isOvnSubnet whether a Subnet belongs to Kube-OVN's own networks (its provider says so).
 */
export function podPatch(
  pod: Pod,
  holdings: readonly Holding[],
  isOvnSubnet: (subnet: string) => boolean,
): PodPatch | undefined {
  const wanted: Annotations = {};
  const own = holdings.filter(({ uid }) => uid === pod.identity);
  for (const holding of own) {
    Object.assign(wanted, annotationsOf(holding, pod, isOvnSubnet));
    Object.assign(wanted, interfaceAnnotations(holding, own, { pod, isOvnSubnet }));
  }
  for (const key of detachedKeys(pod, wanted)) wanted[key] = null;
  const news = Object.entries(wanted).filter(([key, value]) => (pod.annotations[key] ?? null) !== value);
  if (news.length === 0) return undefined;
  return { metadata: { uid: pod.uid, annotations: Object.fromEntries(news) } };
}

/** Whether Kubernetes takes annotations in a provider's name. A Pod of one that is too long for that goes without. */
export function canBeAnnotated(provider: string): boolean {
  return isSubdomain(`${provider}.kubernetes.io`.toLowerCase());
}

function annotationsOf(holding: Holding, pod: Pod, isOvnSubnet: (subnet: string) => boolean): Annotations {
  const { provider, ordinal, addresses, interface: interfaceName } = holding;
  if (!canBeAnnotated(provider)) return {};
  if (ordinal > 0) {
    if (interfaceName === '') return {};
    const ip = joined(addresses.map(({ address }) => address));
    const prefix = `${provider.replace(/\.ovn$/, '')}.kubernetes.io`;
    const [ipKey, macKey] = [`${prefix}/ip_address.${interfaceName}`, `${prefix}/mac_address.${interfaceName}`];
    return { [ipKey]: ip, [macKey]: macOf(holding, pod.annotations[macKey]) };
  }
  return allOf(holding, provider, { pod, isOvnSubnet });
}

/** Several NICs of one Kube-OVN-type network are told apart by their interfaces, as Kube-OVN does. */
function interfaceAnnotations(holding: Holding, all: readonly Holding[], around: Around): Annotations {
  const { provider, interface: name } = holding;
  const several = all.filter((other) => other.provider === provider).length > 1;
  if (!several || name === '' || !isOvnProvider(provider) || !canBeAnnotated(`${provider}.${name}`)) return {};
  return allOf(holding, `${provider}.${name}`, around);
}

interface Around {
  readonly pod: Pod;
  readonly isOvnSubnet: (subnet: string) => boolean;
}

function allOf(holding: Holding, prefix: string, { pod, isOvnSubnet }: Around): Annotations {
  const { provider, addresses, subnet } = holding;
  const key = (suffix: string): string => `${prefix}.kubernetes.io/${suffix}`;
  return {
    [key('ip_address')]: joined(addresses.map(({ address }) => address)),
    [key('mac_address')]: macOf(holding, pod.annotations[key('mac_address')]),
    [key('cidr')]: joined(addresses.map(({ cidr }) => cidr)),
    [key('gateway')]: joined(addresses.map(({ gateway }) => gateway)),
    [key('allocated')]: 'true',
    ...(pod.ledgerName !== pod.name && { [key('virtualmachine')]: pod.ledgerName }),
    ...(isOvnProvider(provider) || isOvnSubnet(subnet) ? { [key('logical_switch')]: subnet } : {}),
  };
}

/** The ledger writes MACs in lower case; who wrote the same in capitals finds it again as he wrote it. */
function macOf({ mac }: Holding, present: string | undefined): string | null {
  if (mac === '') return null;
  return present?.toLowerCase() === mac.toLowerCase() ? present : mac;
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(',');
}
