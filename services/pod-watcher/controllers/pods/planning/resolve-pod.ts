/** Stage 2 of planning: resolves selections to attachments with Subnets and IPPool. Pure. */
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../../../proto/generated/ipledger.ts';
import { truncate } from '../../../limits.ts';
import type { MacSupport, ServedNetwork } from '../../network-definitions/classify-network.ts';
import { primaryProvider } from '../../subnets/subnet-cache.ts';
import { ownerOf } from '../pod-owner.ts';
import { statefulSetOrdinal } from '../../../../../lib/kubernetes/stateful-set.ts';
import type { AttachmentAnnotations, ServedAttachment } from './attachment-annotations.ts';
import type { HeldAttachment } from './attachment-matching.ts';
import type { NamedIpamClaim } from './ipam-claim-request.ts';
import type { ClusterView, ReservedVip } from '../../cluster-view.ts';
import { networkKey } from './network-selections.ts';
import { resolveOvn4nfv } from './ovn4nfv/resolve-ovn4nfv.ts';
import type { ParsedPod, PlannedPod, SelectedAttachment } from './parse-pod.ts';
import { primarySelection, resolvePrimaryNetwork } from './primary-network.ts';
import type { Result } from '../../../../../lib/result.ts';
import {
  clusterProblem,
  type PlanProblem,
  networkServedElsewhere,
  networkWithoutConfig,
  type UnservedRequest,
} from './unserved-requests.ts';
import { resolveNamedSubnet, resolvePoolSubnets, resolveProviderSubnets } from './subnet-selection.ts';

export interface ResolvedAttachment extends ServedAttachment {
  readonly annotations: AttachmentAnnotations;
  /** The Subnets that may serve the attachment, best first; at least one. */
  readonly subnets: readonly string[];
  /** The IPPool for a Pod that names no address, and the IPPool's Subnet. */
  readonly pool?: { readonly name: string; readonly subnets: Result<readonly string[]> } | undefined;
  /** The Pod's place in its StatefulSet, if `ip_pool` lists addresses by place. */
  readonly member?: { readonly ordinal: number; readonly firstOrdinal: number } | undefined;
  /** The support for a requested MAC; absent for the primary network. */
  readonly macSupport?: MacSupport;
  /** The IPAMClaim whose addresses the attachment uses. */
  readonly ipamClaim?: NamedIpamClaim;
}

export interface ResolvedPod<H extends HeldAttachment = HeldAttachment> {
  readonly pod: PlannedPod;
  readonly attachments: readonly ResolvedAttachment[];
  /** The requests for the NICs of OVN4NFV. */
  readonly ovn4nfv: readonly MessageInput<AttachmentRequest>[];
  /** The Vip that the Pod names, with its addresses if it has them. */
  readonly vip: { readonly name: string; readonly reserved: ReservedVip | undefined } | undefined;
  readonly detached: readonly H[];
  readonly problems: readonly PlanProblem[];
  readonly unserved: readonly UnservedRequest[];
  readonly topics: readonly string[];
}

type ParsedAttachment = ServedAttachment & Pick<ResolvedAttachment, 'annotations'>;

/** The result of one selection. */
interface Resolution {
  readonly topics: readonly string[];
  readonly attachment?: ResolvedAttachment;
  readonly problems?: readonly PlanProblem[];
  readonly unserved?: UnservedRequest;
}

export function resolvePod<H extends HeldAttachment>(parsed: ParsedPod<H>, clusterView: ClusterView): ResolvedPod<H> {
  const { pod, attachments, mayNeedPrimary, unselected, vip } = parsed;
  const resolutions = [
    ...(mayNeedPrimary ? [resolvePrimary(parsed, clusterView)] : []),
    ...attachments.map((selected) => resolveSelection(parsed, selected, clusterView)),
  ];
  const ovn4nfv = resolveOvn4nfv(parsed, clusterView);
  return {
    pod,
    attachments: resolutions.flatMap(({ attachment }) => attachment ?? []),
    ovn4nfv: ovn4nfv.requests,
    vip: vip === '' ? undefined : { name: vip, reserved: clusterView.vip(vip) },
    detached: unselected.filter((held) => isServed(held, clusterView)),
    problems: [...resolutions.flatMap(({ problems = [] }) => problems), ...ovn4nfv.problems],
    unserved: [...resolutions.flatMap((each) => each.unserved ?? []), ...ovn4nfv.unserved],
    topics: [...resolutions.flatMap(({ topics }) => topics), ...ovn4nfv.topics],
  };
}

/** Whether a held attachment's network is served here. Other attachments are not released. */
function isServed({ provider }: HeldAttachment, clusterView: ClusterView): boolean {
  return networkKeysOf(provider).some((key) => {
    const network = clusterView.network(key);
    return network !== undefined && 'provider' in network && network.provider === provider;
  });
}

/** Returns the possible networks of a provider: "net.ovn" may be `net` in namespace `ovn`. */
function networkKeysOf(provider: string): string[] {
  const stems = [provider, ...(provider.endsWith('.ovn') ? [provider.slice(0, -'.ovn'.length)] : [])];
  return stems.map((stem) => `${stem.slice(stem.lastIndexOf('.') + 1)}/${stem.slice(0, stem.lastIndexOf('.'))}`);
}

function resolvePrimary(parsed: ParsedPod, clusterView: ClusterView): Resolution {
  const attachment = { selection: primarySelection, provider: primaryProvider, ordinal: 0 };
  const annotations = parsed.annotations.of(attachment);
  const { topics, network } = resolvePrimaryNetwork(parsed, annotations.values, clusterView);
  if (!network) return { topics };
  if (!network.ok) return { topics, problems: [clusterProblem(network.problem)] };
  const { subnets, pool } = network.value;
  const served = { ...attachment, annotations, subnets };
  const resolution = resolveAddressSource(parsed.pod, served, { clusterView, defaultPool: pool });
  return { ...resolution, topics: [...topics, ...resolution.topics] };
}

function resolveSelection(
  { pod, annotations }: ParsedPod,
  { selection, ordinal, isRepeated }: SelectedAttachment,
  clusterView: ClusterView,
): Resolution {
  const key = networkKey(selection);
  const topics = [`network:${key}`];
  const network = clusterView.network(key);
  if (!network) return { topics, problems: [missingNetwork(key)] };
  switch (network.kind) {
    case 'other':
      return { topics, unserved: networkServedElsewhere(key, network.reason) };
    case 'empty':
      return { topics, unserved: networkWithoutConfig(key) };
    case 'ovn4nfv':
      return { topics };
    case 'broken':
      return { topics, problems: [brokenNetwork(key, network.problem)] };
    case 'ipam':
    case 'ovn': {
      const isOwnNic = network.kind === 'ovn' && selection.interface !== '';
      const interfaceKeys = isOwnNic ? (isRepeated ? 'only' : 'first') : undefined;
      const attachment = { selection, provider: network.provider, ordinal, interfaceKeys } as const;
      const served = { ...attachment, annotations: annotations.of(attachment) };
      const resolution = resolveAttachment(pod, served, { network, clusterView });
      return { ...resolution, topics: [...topics, ...resolution.topics] };
    }
  }
}

function resolveAttachment(
  pod: PlannedPod,
  attachment: ParsedAttachment,
  { network, clusterView }: { readonly network: ServedNetwork; readonly clusterView: ClusterView },
): Resolution {
  const { provider } = network;
  const named = attachment.annotations.values.subnet;
  const topics = [`provider:${provider}`, ...(named ? [`subnet:${named.value}`] : [])];
  const subnets = named
    ? resolveNamedSubnet(named, pod, { attachment, network, clusterView })
    : resolveProviderSubnets(provider, pod.namespace, clusterView);
  if (!subnets.ok) return { topics, problems: [clusterProblem(subnets.problem)] };
  const ipamClaim = resolveIpamClaim(pod, attachment, { network, clusterView });
  const served = {
    ...attachment,
    subnets: subnets.value,
    macSupport: network.macSupport,
    ...(ipamClaim && { ipamClaim }),
  };
  const resolution = resolveAddressSource(pod, served, { clusterView });
  return {
    ...resolution,
    topics: [
      ...topics,
      ...subnets.value.map((name) => `subnet:${name}`),
      ...(ipamClaim ? [`claim:${ipamClaim.key}`] : []),
      ...resolution.topics,
    ],
    problems: [...providerMismatch(attachment, network), ...(resolution.problems ?? [])],
  };
}

/** Resolves an IPAMClaim, which is always in the namespace of the Pod. */
function resolveIpamClaim(
  { namespace }: PlannedPod,
  { selection }: ServedAttachment,
  { network, clusterView }: { readonly network: ServedNetwork; readonly clusterView: ClusterView },
): NamedIpamClaim | undefined {
  if (selection.ipamClaim === undefined) return undefined;
  const key = `${namespace}/${selection.ipamClaim}`;
  return {
    key,
    networkNames: [network.configuredName ?? selection.name, selection.name],
    state: clusterView.ipamClaim(key),
  };
}

/** Adds the IPPool, or the member's place in `ip_pool`, to an attachment. */
function resolveAddressSource(
  pod: PlannedPod,
  attachment: ParsedAttachment & { readonly subnets: readonly string[] },
  { clusterView, defaultPool }: { readonly clusterView: ClusterView; readonly defaultPool?: string | undefined },
): Resolution {
  const { key, value } = attachment.annotations.values.pool ?? { key: '' };
  const name = value?.kind === 'named' ? value.pool : defaultPool;
  const pool =
    name === undefined
      ? undefined
      : { name, subnets: resolvePoolSubnets({ key, value: name }, pod, { attachment, clusterView }) };
  const owner = ownerOf(pod);
  const ordinal = value?.kind === 'list' ? statefulSetOrdinal(pod, owner) : undefined;
  if (!owner || ordinal === undefined) return { topics: [], attachment: { ...attachment, pool } };
  const topics = [`set:${pod.namespace}/${owner.name}`];
  const firstOrdinal = clusterView.ordinalStart(owner, pod.namespace);
  return firstOrdinal === undefined
    ? { topics, problems: [clusterProblem(`StatefulSet ${owner.name} is not observed yet: the Pod waits for it`)] }
    : { topics, attachment: { ...attachment, pool, member: { ordinal, firstOrdinal } } };
}

const missingNetwork = (key: string): PlanProblem =>
  clusterProblem(`there is no NetworkAttachmentDefinition ${key}: create it, or correct the Pod's networks annotation`);

const brokenNetwork = (key: string, reason: string): PlanProblem =>
  clusterProblem(`NetworkAttachmentDefinition ${key}: ${reason}: correct it`);

/** Reports a provider in the plugin's configuration that makes each ADD fail. */
function providerMismatch(
  { selection }: ServedAttachment,
  { provider, configuredProvider }: ServedNetwork,
): PlanProblem[] {
  if (configuredProvider === provider) return [];
  const configured =
    configuredProvider === '' ? 'no provider' : `provider ${truncate(JSON.stringify(configuredProvider))}`;
  return [
    clusterProblem(
      `NetworkAttachmentDefinition ${networkKey(selection)}: its configuration has ${configured}, but must have ${JSON.stringify(provider)}: correct it`,
    ),
  ];
}
