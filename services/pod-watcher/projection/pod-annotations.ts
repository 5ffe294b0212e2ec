/**
 * The annotations of a Pod that show its allocations, with Kube-OVN's keys, as one merge patch, and
 * the warnings about them. Pure.
 *
 * Keys are "<provider>.kubernetes.io/<suffix>". The first attachment of a provider has the plain
 * suffixes. A further attachment has `ip_address.<interface>` and `mac_address.<interface>` once
 * its interface is known. Several attachments of one Kube-OVN-type network also have
 * "<provider>.<interface>.kubernetes.io/<suffix>". NICs of an OVN4NFV request also have the answer
 * to it.
 */
import { isAnnotationKey } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { bothFamilies } from '../../../lib/net/ip.ts';
import { type WrittenSuffix, resultSuffixes } from '../kubernetes/objects/annotation-table.ts';
import { type Pod, isTerminated } from '../kubernetes/objects/pod.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';
import { isOvnProvider } from '../../../lib/kubernetes/served-network.ts';
import { ovn4nfvAnswer } from './ovn4nfv-answer.ts';
import { networkSelector, shownProviders } from '../kubernetes/objects/shown-allocations.ts';
import type { PodEvent } from '../kubernetes/event-recorder.ts';
import { describeKeys, truncate } from '../limits.ts';

/** Values of annotations; null removes one. */
export type Annotations = Record<string, string | null>;

/** A merge patch of a Pod. Its uid prevents a patch of another Pod of the same name. */
export interface PodPatch {
  readonly metadata: { readonly uid: string; readonly annotations: Annotations };
}

/** The fields of a Subnet in force that its Pods show. */
export interface ShownSubnet {
  /** Whether the provider belongs to Kube-OVN's own networks. */
  readonly isOvn: boolean;
  readonly cidrBlock: string;
  readonly gateway: string;
  /** The VPC, if a router connects the Subnet; otherwise "". */
  readonly logicalRouter: string;
  /** The VLAN; absent for an overlay. `provider` is the name of a ProviderNetwork. */
  readonly vlan?: { readonly id: number; readonly provider: string } | undefined;
}

export interface AnnotationChanges {
  /** The patch with all changes; undefined if there are none. */
  readonly patch: PodPatch | undefined;
  /** Keys that are omitted, because the API would reject them and the whole patch. */
  readonly rejectedKeys: readonly string[];
}

/**
 * Returns the changes of the annotations. Ignores allocations of other uids. A terminated Pod keeps
 * the annotations of its released allocations, so that users can see what it had.
 * @param subnetOf returns the Subnet of a name; undefined if it is not in force
 */
export function podPatch(
  pod: Pod,
  allocations: readonly HeldAllocation[],
  subnetOf: (name: string) => ShownSubnet | undefined,
): AnnotationChanges {
  const shown: Annotations = {};
  const own = allocations.filter(({ uid }) => uid === pod.ledgerUid);
  for (const allocation of own) {
    Object.assign(shown, annotationsOf(allocation, { pod, subnetOf }));
    Object.assign(shown, interfaceAnnotations(allocation, own, { pod, subnetOf }));
  }
  const rejectedKeys = Object.keys(shown).filter((key) => !isAnnotationKey(key));
  for (const key of rejectedKeys) delete shown[key];
  const desired = { ...shown, ...ovn4nfvAnswer(pod, own) };
  for (const key of detachedAnnotationKeys(pod, desired)) desired[key] = null;
  const changes = Object.entries(desired).filter(([key, value]) => (pod.annotations[key] ?? null) !== value);
  const patch = { metadata: { uid: pod.uid, annotations: Object.fromEntries(changes) } };
  return { patch: changes.length === 0 ? undefined : patch, rejectedKeys };
}

/** Splits a patch by network, if the API rejects the whole patch. */
export function patchesByNetwork({ metadata: { uid, annotations } }: PodPatch): PodPatch[] {
  const byPrefix = Map.groupBy(Object.entries(annotations), ([key]) => key.split('/', 1)[0]);
  return Array.from(byPrefix.values(), (entries) => ({ metadata: { uid, annotations: Object.fromEntries(entries) } }));
}

function annotationsOf(allocation: HeldAllocation, context: Context): Annotations {
  const { pod } = context;
  const { provider, ordinal, addresses, interface: interfaceName } = allocation;
  if (ordinal > 0) {
    if (interfaceName === '') return {};
    const ip = joined(addresses.map(({ address }) => address));
    const prefix = `${provider.replace(/\.ovn$/, '')}.kubernetes.io`;
    const [ipKey, macKey] = [`${prefix}/ip_address.${interfaceName}`, `${prefix}/mac_address.${interfaceName}`];
    return { [ipKey]: ip, [macKey]: macOf(allocation, pod.annotations[macKey]) };
  }
  return attachmentAnnotations(allocation, provider, context);
}

/** Returns the keys with an interface, for several NICs of one Kube-OVN-type network. */
function interfaceAnnotations(
  allocation: HeldAllocation,
  all: readonly HeldAllocation[],
  context: Context,
): Annotations {
  const { provider, interface: name } = allocation;
  const hasSeveral = all.filter((other) => other.provider === provider).length > 1;
  if (!hasSeveral || name === '' || !isOvnProvider(provider)) return {};
  return attachmentAnnotations(allocation, `${provider}.${name}`, context);
}

interface Context {
  readonly pod: Pod;
  readonly subnetOf: (name: string) => ShownSubnet | undefined;
}

function attachmentAnnotations(allocation: HeldAllocation, prefix: string, { pod, subnetOf }: Context): Annotations {
  const { provider, addresses } = allocation;
  const subnet = subnetOf(allocation.subnet);
  const key: KeyOf = (suffix) => `${prefix}.kubernetes.io/${suffix}`;
  return {
    [key('ip_address')]: joined(addresses.map(({ address }) => address)),
    [key('mac_address')]: macOf(allocation, pod.annotations[key('mac_address')]),
    [key('cidr')]: bothFamilies(
      addresses.map(({ cidr }) => cidr),
      subnet?.cidrBlock,
    ),
    [key('gateway')]: bothFamilies(
      addresses.map(({ gateway }) => gateway),
      subnet?.gateway,
    ),
    [key('allocated')]: 'true',
    // Writes `routed` at once. Kube-OVN writes it after the Pod is scheduled, but nothing else has
    // to be ready here, and a second patch would cost a write for each Pod.
    [key('routed')]: 'true',
    ...(pod.ledgerName !== pod.name && { [key('virtualmachine')]: pod.ledgerName }),
    ...(isOvnProvider(provider) || subnet?.isOvn ? { [key('logical_switch')]: allocation.subnet } : {}),
    ...(isOvnProvider(provider) && ovnAnnotations(pod.annotations[key('pod_nic_type')], subnet, key)),
  };
}

/** Returns annotations of a NIC, a veth pair. Keeps the type that a Pod requests instead. */
function ovnAnnotations(nicType: string | undefined, subnet: ShownSubnet | undefined, key: KeyOf): Annotations {
  return {
    [key('pod_nic_type')]: nicType || 'veth-pair',
    ...(subnet?.logicalRouter && { [key('logical_router')]: subnet.logicalRouter }),
    ...(subnet?.vlan && {
      [key('vlan_id')]: String(subnet.vlan.id),
      [key('provider_network')]: subnet.vlan.provider,
    }),
  };
}

type KeyOf = (suffix: WrittenSuffix) => string;

/**
 * Returns the MAC of the ledger, which is in lower case; or the present annotation, if it is the
 * same MAC in another case.
 */
function macOf({ mac }: HeldAllocation, present: string | undefined): string | null {
  if (mac === '') return null;
  return present?.toLowerCase() === mac.toLowerCase() ? present : mac;
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(',');
}

/** The suffixes that the projection writes, except those that select a network. */
const removedSuffixes = ['ip_address', 'mac_address', ...resultSuffixes];

/**
 * Finds the annotations of attachments that a Pod neither has nor requests any more. Returns their
 * keys. If they stayed, they would request the same address when the Pod requests the attachment
 * again, even if another Pod has that address by then.
 * @param desired the annotations of the Pod's present allocations
 */
export function detachedAnnotationKeys(pod: Pod, desired: Readonly<Record<string, unknown>>): string[] {
  const { annotations, problems } = pod;
  // Skips a Pod with a field over its limit, which is unread and may request any network.
  if (isTerminated(pod) || problems.length > 0) return [];
  const maySelect = networkSelector(pod);
  return shownProviders(pod).flatMap((provider) => {
    if (`${provider}.kubernetes.io/allocated` in desired || maySelect(provider)) return [];
    return removedSuffixes
      .map((suffix) => `${provider}.kubernetes.io/${suffix}`)
      .filter((each) => annotations[each] !== undefined);
  });
}

/** Reports keys that Kubernetes never accepts. */
export function rejectedKeysEvent(keys: readonly string[]): PodEvent {
  const message = `Kubernetes accepts no annotation ${describeKeys(keys)}: the Pod has the addresses and does not show them there (ipledger why shows them). Give the network a name of letters, digits, "-" and ".", and the interface a name that ends with a letter or a digit and has no other characters than these and "_"`;
  return { type: 'Warning', reason: 'AnnotationNotPossible', message };
}

/** Reports patches that the API server rejected, also separately. */
export function rejectedPatchEvent(patches: readonly PodPatch[], reason: string): PodEvent {
  const keys = patches.flatMap(({ metadata }) => Object.keys(metadata.annotations));
  const message = `the API server rejected annotation ${describeKeys(keys)}: ${truncate(reason)}. The watcher tries again; correct what rejects it`;
  return { type: 'Warning', reason: 'AnnotationRejected', message };
}

/**
 * Describes the mismatch when the agent of one Node bound an address for a Pod that Kubernetes
 * scheduled to another Node. Returns undefined if there is none, or while one of the Nodes is
 * unknown.
 */
export function nodeMismatch(pod: Pod, allocations: readonly HeldAllocation[]): string | undefined {
  // Skips virtual machines, which are on two Nodes during a live migration.
  if (pod.ledgerName !== pod.name) return undefined;
  const elsewhere = allocations.find(
    ({ uid, node }) => uid === pod.ledgerUid && pod.node !== '' && node !== '' && node !== pod.node,
  );
  if (!elsewhere) return undefined;
  return `the agent of node ${elsewhere.node} bound the Pod's address of ${elsewhere.provider}, but the Pod is on node ${pod.node}: start that agent with the name of its own Node`;
}
