/**
 * Plans the attachments of one Pod in three stages, each entered once: parse (annotations to selections), resolve (networks,
 * Subnets, IPPools, owner), request (one request per attachment). Pure.
 *
 * A Pod gets all of its attachments or none: one attachment that cannot be served keeps all of them waiting. Networks that
 * another plugin serves are left out and reported. An attachment that the Pod already holds is not requested again, even if
 * its network has changed; an attachment that the Pod holds and no longer selects is reported as detached.
 */
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { HeldAttachment } from './attachment-matching.ts';
import type { ClusterView } from './cluster-view.ts';
import { restrictMirror } from './mirror-access.ts';
import { parsePod } from './parse-pod.ts';
import { type PodPlan, requestAddresses } from './request-addresses.ts';
import { resolvePod } from './resolve-pod.ts';

/** @param held the attachments that the Pod's uid holds, sorted by ordinal. */
export function planPod<H extends HeldAttachment>(
  pod: Pod,
  clusterView: ClusterView,
  held: readonly H[] = [],
): PodPlan<H> {
  const parsed = parsePod(pod, held);
  // An unreadable Pod keeps what it holds: its selections are unknown.
  if (!parsed.ok) return { ...emptyPlan, problems: parsed.problems };
  return restrictMirror(requestAddresses(resolvePod(parsed.value, clusterView)), pod, clusterView);
}

const emptyPlan: Omit<PodPlan<never>, 'problems'> = {
  attachments: [],
  detached: [],
  claims: [],
  requestedProviders: new Set(),
  unserved: [],
  warnings: [],
  topics: new Set(),
};
