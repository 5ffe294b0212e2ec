/**
 * Plans the attachments of one Pod in three stages: parse (annotations to selections), resolve
 * (networks, Subnets, IPPools, owner), request (one request per attachment). The later stages read
 * annotations only through `PodAnnotations`. Pure.
 *
 * A Pod gets all of its attachments or none: one attachment that cannot be served keeps all of them
 * waiting. Networks that another plugin serves are left out and reported. An attachment that the
 * Pod already holds is not requested again, even if its network has changed; an attachment that the
 * Pod holds and no longer selects is reported as detached.
 */
import { type Pod, isMirror } from '../../../kubernetes/objects/pod.ts';
import type { HeldAttachment } from './attachment-matching.ts';
import type { ClusterView } from '../../cluster-view.ts';
import type { ConflictingAddress } from '../conflicting-addresses.ts';
import { parsePod } from './parse-pod.ts';
import { type PodPlan, requestAddresses } from './request-addresses.ts';
import { resolvePod } from './resolve-pod.ts';

/**
 * @param held the attachments that the Pod's uid holds, sorted by ordinal
 * @param conflicts the addresses that the Pod gave up because another host answered on them
 */
export function planPod<H extends HeldAttachment>(
  pod: Pod,
  clusterView: ClusterView,
  held: readonly H[] = [],
  conflicts: readonly ConflictingAddress[] = [],
): PodPlan<H> {
  const parsed = parsePod(pod, held);
  // Detaches nothing from an unreadable Pod, whose selections are unknown.
  if (!parsed.ok) return { ...emptyPlan, problems: parsed.problems };
  return restrictMirror(requestAddresses(resolvePod(parsed.value, clusterView), conflicts), pod, clusterView);
}

const emptyPlan: Omit<PodPlan<never>, 'problems'> = {
  attachments: [],
  detached: [],
  ipamClaims: [],
  requestedProviders: new Set(),
  unserved: [],
  warnings: [],
  topics: new Set(),
};

/** The part of the cluster view that `restrictMirror` reads. */
interface Access extends Pick<ClusterView, 'hasOtherPod'> {
  readonly subnets: Pick<ClusterView['subnets'], 'restrictionOf'>;
  readonly pools: Pick<ClusterView['pools'], 'namespacesOf'>;
}

/**
 * Removes the Subnets that the mirror of a static Pod may not use. If none remains, the plan has a
 * problem. A kubelet can write a mirror into every namespace. So the namespace of a mirror proves
 * nothing, unless it has another Pod on that node: then the kubelet has the rights of its Pods
 * anyway.
 */
export function restrictMirror<H extends HeldAttachment>(plan: PodPlan<H>, pod: Pod, clusterView: Access): PodPlan<H> {
  if (plan.attachments.length === 0 || !isMirror(pod) || clusterView.hasOtherPod(pod.node, pod.namespace)) return plan;
  const attachments = plan.attachments.map((request) => {
    const { subnets = [], pool = '', reservation = '' } = request;
    const isRestricted = reservation !== '' || (pool !== '' && clusterView.pools.namespacesOf(pool).length > 0);
    return { ...request, subnets: isRestricted ? [] : subnets.filter((name) => isOpen(name, clusterView)) };
  });
  const refused = attachments.find(({ subnets }) => subnets.length === 0);
  if (!refused) return { ...plan, attachments };
  const text = `provider ${refused.provider}: a static Pod gets no address that is restricted to namespaces, because namespace ${pod.namespace} has no other Pod on node ${pod.node}: use a Subnet without namespaces`;
  return { ...plan, attachments: [], problems: [{ about: 'cluster', text }] };
}

function isOpen(subnet: string, { subnets }: Access): boolean {
  const { namespaces = [], selectors = [] } = subnets.restrictionOf(subnet) ?? {};
  return namespaces.length === 0 && selectors.length === 0;
}
