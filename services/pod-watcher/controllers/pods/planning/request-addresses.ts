/** Stage 3 of planning: turns attachments into the allocator's requests, or problems. Pure. */
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../../../proto/generated/ipledger.ts';
import { vipAnnotation } from '../../../kubernetes/objects/pod.ts';
import { limitExceeded, podLimits } from '../../../limits.ts';
import { type IpamClaimDemand, requestIpamClaimAddresses } from './ipam-claim-request.ts';
import type { HeldAttachment } from './attachment-matching.ts';
import type { ConflictingAddress } from '../conflicting-addresses.ts';
import { buildAttachmentRequest } from './attachment-request.ts';
import { networkKey } from './network-selections.ts';
import type { ResolvedAttachment, ResolvedPod } from './resolve-pod.ts';
import { ok, problem, type Result } from '../../../../../lib/result.ts';
import { clusterProblem, type PlanProblem, requestProblem, type UnservedRequest } from './unserved-requests.ts';
import type { ReservedVip } from '../../cluster-view.ts';

type Request = MessageInput<AttachmentRequest>;

export interface PodPlan<H extends HeldAttachment = HeldAttachment> {
  /** The requests for attachments that the Pod does not hold yet; empty if there is a problem. */
  readonly attachments: readonly Request[];
  /** Held attachments that are no longer selected; empty if the annotation is invalid. */
  readonly detached: readonly H[];
  readonly problems: readonly PlanProblem[];
  /** The providers of missing attachments, each also with its interface. */
  readonly requestedProviders: ReadonlySet<string>;
  /** The IPAMClaims that must get addresses first. */
  readonly ipamClaims: readonly IpamClaimDemand[];
  /** Networks and requests that are not served here. */
  readonly unserved: readonly UnservedRequest[];
  /** Problems on the node that remain although the attachments are requested. */
  readonly warnings: readonly string[];
  /**
   * The objects whose change may alter the plan: "network:<namespace>/<name>",
   * "provider:<provider>", "subnet:<name>", "pool:<name>", "vip:<name>", "claim:<namespace>/<name>"
   * (an IPAMClaim), "set:<namespace>/<name>" (a StatefulSet).
   */
  readonly topics: ReadonlySet<string>;
}

/** The result of one attachment. */
interface Built {
  readonly topics: readonly string[];
  readonly request?: Request;
  readonly problem?: PlanProblem;
  readonly demand?: IpamClaimDemand;
  readonly warning?: string;
}

/** @param conflicts the addresses that the Pod gave up because another host answered on them */
export function requestAddresses<H extends HeldAttachment>(
  resolved: ResolvedPod<H>,
  conflicts: readonly ConflictingAddress[],
): PodPlan<H> {
  const { pod, detached, unserved } = resolved;
  const built = resolved.attachments.map((attachment) => buildRequest(attachment, conflicts));
  const problems = [...resolved.problems, ...built.flatMap(({ problem }) => problem ?? [])];
  const topics = new Set([...resolved.topics, ...built.flatMap((each) => each.topics)]);
  let attachments = [...built.flatMap(({ request }) => request ?? []), ...resolved.ovn4nfv];
  if (problems.length === 0 && attachments.length > 0 && resolved.vip) {
    topics.add(`vip:${resolved.vip.name}`);
    const fromVip = requestVipAddresses(resolved.vip, pod.namespace, attachments);
    if (fromVip.ok) attachments = fromVip.value;
    else problems.push(clusterProblem(`annotation ${vipAnnotation}: ${fromVip.problem}`));
  }
  const tooMany = tooManyCandidates(attachments);
  if (tooMany !== undefined) problems.push(requestProblem(tooMany));
  return {
    attachments: problems.length > 0 ? [] : attachments,
    detached,
    problems,
    requestedProviders: requestedProviders(resolved),
    ipamClaims: built.flatMap(({ demand }) => demand ?? []),
    unserved,
    warnings: built.flatMap(({ warning }) => warning ?? []),
    topics,
  };
}

function requestedProviders({ attachments, ovn4nfv }: ResolvedPod): ReadonlySet<string> {
  const ofNetworks = attachments.flatMap(({ provider, selection }) => [provider, `${provider}.${selection.interface}`]);
  return new Set([...ofNetworks, ...ovn4nfv.map(({ provider = '' }) => provider)]);
}

function buildRequest(attachment: ResolvedAttachment, conflicts: readonly ConflictingAddress[]): Built {
  const { provider, ordinal } = attachment;
  const own = conflicts.filter((each) => each.provider === provider && each.ordinal === ordinal);
  const built = buildAttachmentRequest(attachment, own);
  if (!built.ok) return { topics: [], problem: requestProblem(built.problem) };
  const request = built.value;
  // Ignores the IPPool if the Pod names an address.
  const pool = request.candidates?.length ? undefined : attachment.pool;
  const topics = pool ? [`pool:${pool.name}`] : [];
  const subnets = pool?.subnets ?? ok(attachment.subnets);
  if (!subnets.ok) return { topics, problem: clusterProblem(subnets.problem) };
  const warning = macWarning(attachment, request);
  const completed = { ...request, subnets: subnets.value, pool: pool?.name ?? '' };
  const requested = attachment.ipamClaim
    ? requestIpamClaimAddresses(attachment.ipamClaim, completed)
    : { request: completed };
  return { topics, ...requested, ...(warning !== undefined && { warning }) };
}

/**
 * Warns if the CNI result will show another MAC than the link: the agent sets the MAC after the
 * plugin that makes the NIC has recorded the original MAC. Returns undefined if the result is
 * correct.
 */
function macWarning({ selection, macSupport }: ResolvedAttachment, { mac = '' }: Request): string | undefined {
  if (mac === '' || macSupport === undefined || macSupport === 'own' || macSupport === 'chained') return undefined;
  if (macSupport === 'capability' && selection.mac !== '') return undefined;
  const remedy =
    macSupport === 'capability'
      ? `Give "mac": "${mac}" beside the network's name in the networks annotation`
      : `Give its plugin "capabilities": {"mac": true} and the Pod "mac": "${mac}" beside the network's name, or chain {"type": "kube-ovn"} behind its plugin`;
  return `${networkKey(selection)}: the link gets MAC ${mac}, but the CNI result and network-status show another, and CHECK fails: the plugin that makes the NIC does not get the MAC. ${remedy}`;
}

function tooManyCandidates(attachments: readonly Request[]): string | undefined {
  const has = attachments.reduce((sum, { candidates = [] }) => sum + candidates.length, 0);
  const limit = { has, most: podLimits.candidatesOfPod, unit: 'addresses to choose from for all its attachments' };
  const remedy = 'shorten the ip_pool annotations, or name an IPPool in them';
  return has > limit.most ? limitExceeded('the Pod', { ...limit, remedy }) : undefined;
}

/**
 * Returns the requests, of which the first that the Vip's Subnet serves now requests the Vip's
 * addresses.
 * @param vip `reserved` is undefined while the Vip does not exist or has no address
 */
function requestVipAddresses(
  { name, reserved }: { readonly name: string; readonly reserved: ReservedVip | undefined },
  namespace: string,
  requests: readonly MessageInput<AttachmentRequest>[],
): Result<MessageInput<AttachmentRequest>[]> {
  if (!reserved) return problem(`there is no Vip ${name}, or it has no address yet: create or correct it`);
  if (reserved.namespace !== '' && reserved.namespace !== namespace)
    return problem(
      `Vip ${name} is for namespace ${reserved.namespace}, not for namespace ${namespace}: name another Vip, or correct spec.namespace of Vip ${name}`,
    );
  const index = requests.findIndex(
    ({ subnets = [], reservation = '' }) => reservation === '' && subnets.includes(reserved.subnet),
  );
  if (index === -1)
    return problem(`Vip ${name} is of Subnet ${reserved.subnet}, from which none of the Pod's networks is served`);
  const vipRequest = {
    subnets: [reserved.subnet],
    candidates: [{ addresses: [...reserved.addresses] }],
    pool: '',
    reservation: `vip/${name}`,
  };
  return ok(requests.map((request, at) => (at === index ? { ...request, ...vipRequest } : request)));
}
