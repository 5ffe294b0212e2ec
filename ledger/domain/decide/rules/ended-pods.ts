/** Decides which Pods have ended, and rejects late requests of ended or superseded Pods. */
import type { Allocate } from '../../commands/command.ts';
import { Refused } from '../../commands/refusal.ts';
import type { ReleaseCause } from '../../values/allocation.ts';
import { endedPodId } from '../../state/ended-pods.ts';
import { allocationsOfPodName, type State } from '../../state/state.ts';

/** Causes that mean that the Pod has ended. A Pod with a `detached` attachment still lives. */
const endingCauses: ReadonlySet<ReleaseCause> = new Set([
  'pod-deleted',
  'pod-completed',
  'scaled-down',
  'owner-deleted',
  'garbage-collected',
]);

/** The uid of a static Pod is the hash of its manifest: it returns, so it never ends. */
const manifestHash = /^[0-9a-f]{32}$/;

/** Marks the Pod as ended in the event if the cause of the release implies it. */
export const endOf = (uid: string, cause: ReleaseCause): { readonly ended?: true } =>
  endingCauses.has(cause) && !manifestHash.test(uid) ? { ended: true } : {};

/**
 * Rejects a late request of a Pod that has ended: it would take the addresses of a newer Pod of the
 * same name, or leak new ones. An operator may import addresses of a Pod that was recorded as ended
 * by mistake, while the name has no newer Pod.
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
 * Rejects a request that was made before another uid of the same name got an address. The
 * requesting Pod may have been deleted since, and would take over the addresses of the newer Pod.
 * If the requesting Pod is the newer one, its client requests again.
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
