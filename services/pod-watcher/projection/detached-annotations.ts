/**
 * Finds the annotations of attachments that a Pod neither has nor requests any more. Pure. If they stayed, they would request the
 * same address when the Pod requests the attachment again, even if another Pod has that address by then.
 */
import { resultSuffixes } from '../kubernetes/objects/attachment-suffixes.ts';
import { isTerminated, type Pod } from '../kubernetes/objects/pod.ts';
import { networkSelector, shownProviders } from '../kubernetes/objects/shown-allocations.ts';

/** The suffixes that the projection writes for an attachment, but for those that may select a network. */
const suffixes = ['ip_address', 'mac_address', ...resultSuffixes];

/**
 * Returns the keys of these annotations.
 * @param desired the annotations of the Pod's present allocations
 */
export function detachedAnnotationKeys(pod: Pod, desired: Readonly<Record<string, unknown>>): string[] {
  const { annotations, problems } = pod;
  // A field over its limit is unread, and may request any network.
  if (isTerminated(pod) || problems.length > 0) return [];
  const maySelect = networkSelector(pod);
  return shownProviders(pod).flatMap((provider) => {
    if (`${provider}.kubernetes.io/allocated` in desired || maySelect(provider)) return [];
    return suffixes
      .map((suffix) => `${provider}.kubernetes.io/${suffix}`)
      .filter((each) => annotations[each] !== undefined);
  });
}
