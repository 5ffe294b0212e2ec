/** Which Pods have ended, and that late requests of earlier Pods of a name get no address. */
import type { Allocate } from '../../commands/command.ts';
import { Refused } from '../../commands/refusal.ts';
import type { ReleaseCause } from '../../values/allocation.ts';
import { endedPodId } from '../../state/ended-pods.ts';
import { allocationsOfPodName, type State } from '../../state/state.ts';

/** A living Pod whose attachment ended requests addresses again, so it is not among them. */
const endingCauses: ReadonlySet<ReleaseCause> = new Set([
  'pod-deleted',
  'pod-completed',
  'scaled-down',
  'owner-deleted',
  'garbage-collected',
]);

/** The uid of a static Pod, the hash of its manifest, returns with it, so it never ends. */
const manifestHash = /^[0-9a-f]{32}$/;

/** What an event records about a Pod that loses addresses for this cause. */
export const endOf = (uid: string, cause: ReleaseCause): { readonly ended?: true } =>
  endingCauses.has(cause) && !manifestHash.test(uid) ? { ended: true } : {};

/**
 * Rejects a late request of a Pod that has ended. It would take the addresses of a newer Pod of the
 * name, or leak some. An operator may import what a Pod uses that was taken for ended by mistake,
 * while the name has no newer Pod.
 * @throws Refused POD_SUPERSEDED
 */
export function refuseEnded(state: State, { pod: { namespace, name, uid }, import: imports }: Allocate): void {
  if (!state.ended.has(endedPodId(namespace, name, uid))) return;
  const newer = allocationsOfPodName(state, namespace, name).find((held) => held.uid !== uid);
  if (imports && !newer) return;
  const how = newer ? `was superseded by uid ${newer.uid}, which holds addresses of the name` : 'has ended';
  throw new Refused(
    'POD_SUPERSEDED',
    `Pod ${namespace}/${name} (uid ${uid}) ${how}. It gets no address again. Delete the Pod if it still exists`,
  );
}

/**
 * Rejects a request that was made before another uid of the name got an address. Its Pod may have
 * been deleted since, and would take the addresses of the newer one, although it never had any. A
 * Pod that is newer itself is requested again.
 * @throws Refused REQUEST_OUTDATED
 */
export function refuseOutdated(state: State, { pod: { namespace, name, uid }, seenSeq }: Allocate): void {
  if (seenSeq === undefined) return;
  const later = allocationsOfPodName(state, namespace, name).find((held) => held.uid !== uid && held.seq > seenSeq);
  if (!later) return;
  throw new Refused(
    'REQUEST_OUTDATED',
    `Pod ${namespace}/${name} (uid ${uid}) was requested at event ${seenSeq}, and uid ${later.uid} got an address of the name at event ${later.seq}. Request again if the Pod still exists`,
  );
}
