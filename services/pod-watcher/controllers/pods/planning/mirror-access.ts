/**
 * Restricts the mirrors of static Pods. A kubelet can write a mirror into every namespace, so the namespace of a mirror is no evidence
 * for what is restricted to it, unless the namespace has another Pod on that node: then the kubelet has the rights of its Pods anyway.
 */
import { isMirror, type Pod } from '../../../kubernetes/objects/pod.ts';
import type { HeldAttachment } from './attachment-matching.ts';
import type { ClusterView } from './cluster-view.ts';
import type { PodPlan } from './request-addresses.ts';

/** What it reads of the cluster. */
interface Access extends Pick<ClusterView, 'hasOtherPod'> {
  readonly subnets: Pick<ClusterView['subnets'], 'restrictionOf'>;
  readonly pools: Pick<ClusterView['pools'], 'namespacesOf'>;
}

/** Takes out the Subnets that a mirror may not use. Without another one, the plan has a problem. Pure. */
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
