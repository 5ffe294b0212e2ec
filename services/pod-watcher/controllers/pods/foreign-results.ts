/**
 * Finds annotations that show an allocation of another Pod or cluster: a copied or restored Pod has
 * the annotations of its original. They look like an allocation of this Pod, but the ledger has
 * none. Pure.
 */
import { ovnIfaceListAnnotation, ovnInterfacesAnnotation } from '../../../../lib/ovn4nfv/annotations.ts';
import { ovn4nfvProvider } from '../../../../lib/kubernetes/served-network.ts';
import { resultSuffixes } from '../../kubernetes/objects/annotation-table.ts';
import type { PodEvent } from '../../kubernetes/event-recorder.ts';
import type { Pod } from '../../kubernetes/objects/pod.ts';
import { networkSelector, shownProviders } from '../../kubernetes/objects/shown-allocations.ts';
import { describeKeys } from '../../limits.ts';
import type { HeldAttachment } from './planning/attachment-matching.ts';

/** The annotations with an answer to OVN4NFV. `ovn` is not one of them: it may be the request. */
const ovn4nfvAnswers = [ovnIfaceListAnnotation, ovnInterfacesAnnotation];

/**
 * Returns the keys of foreign annotations. Keeps those of a Pod that has run: it had the addresses
 * that it shows, which is evidence if the ledger lost events.
 * @param held the attachments that the Pod's uid holds
 * @param requested the providers whose request was refused, with their interfaces
 */
export function foreignResultKeys(pod: Pod, held: readonly HeldAttachment[], requested: ReadonlySet<string>): string[] {
  const hasStarted = pod.phase !== '' && pod.phase !== 'Pending';
  // Skips a Pod with a field over its limit, which is unread and may request any network.
  if (hasStarted || pod.problems.length > 0) return [];
  const own = new Set(held.flatMap(({ provider, interface: name }) => [provider, `${provider}.${name}`]));
  const maySelect = networkSelector(pod);
  return shownProviders(pod)
    .filter((provider) => !own.has(provider) && (requested.has(provider) || !maySelect(provider)))
    .flatMap((provider) => [
      ...resultSuffixes.map((suffix) => `${provider}.kubernetes.io/${suffix}`),
      ...(provider === ovn4nfvProvider ? ovn4nfvAnswers : []),
    ])
    .filter((key) => pod.annotations[key] !== undefined);
}

export function foreignResultEvent(keys: readonly string[]): PodEvent {
  return {
    type: 'Warning',
    reason: 'PodNetworkResultRemoved',
    message: `removed ${describeKeys(keys)}: such an annotation is a result and no request, and the ledger has no such allocation for this Pod. It came from an earlier request, another Pod or another cluster; ip_address and mac_address beside it are requests: correct or remove them if they came with it`,
  };
}
