/**
 * Finds the annotations of attachments that a Pod neither has nor requests any more. Pure. If they stayed, they would request the
 * same address when the Pod requests the attachment again, even if another Pod has that address by then.
 */
import type { AttachmentSuffix } from '../kubernetes/objects/attachment-suffixes.ts';
import { isTerminated, networksAnnotationOf, type Pod } from '../kubernetes/objects/pod.ts';
import { isOvnProvider } from '../../../lib/kubernetes/provider.ts';

/** The suffixes that the projection writes for an attachment. */
const suffixes: readonly AttachmentSuffix[] = [
  'ip_address',
  'mac_address',
  'cidr',
  'gateway',
  'allocated',
  'virtualmachine',
];

/**
 * Returns the keys of these annotations.
 * @param desired the annotations of the Pod's present allocations
 */
export function detachedAnnotationKeys(pod: Pod, desired: Readonly<Record<string, unknown>>): string[] {
  const { annotations, problems } = pod;
  // A field over its limit is unread, and may request any network.
  if (isTerminated(pod) || problems.length > 0) return [];
  const words = new Set(networksAnnotationOf(pod)[1].split(/[^a-z0-9.-]+/));
  return Object.entries(annotations).flatMap(([key, value]) => {
    const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
    if (provider === undefined || value !== 'true' || key in desired) return [];
    // A provider without a dot is the primary network, which no Pod annotation selects.
    if (!provider.includes('.') || maySelect(words, provider)) return [];
    return suffixes
      .map((suffix) => `${provider}.kubernetes.io/${suffix}`)
      .filter((each) => annotations[each] !== undefined);
  });
}

/** Whether the words may select the provider's network. This compares names only; in doubt, the annotations stay. */
function maySelect(words: ReadonlySet<string>, provider: string): boolean {
  const withoutSuffix = isOvnProvider(provider) ? provider.slice(0, -'.ovn'.length) : provider;
  const name = withoutSuffix.slice(0, withoutSuffix.lastIndexOf('.'));
  return words.has(name);
}
