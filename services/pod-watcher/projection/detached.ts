/**
 * Annotations that speak of an attachment which a living Pod has no more and does not name any more. Pure. Left as they are, they
 * would ask for the same address again when the Pod is attached again, whoever has it by then.
 */
import { networksAnnotation, type Pod } from '../kubernetes/objects.ts';
import { isOvnProvider } from '../../../lib/provider.ts';

/** What is written for an attachment, and so is taken away with it. */
const results = ['ip_address', 'mac_address', 'cidr', 'gateway', 'allocated', 'virtualmachine'];
const ended = new Set(['Succeeded', 'Failed']);

/**
 * Their keys.
 * @param wanted what the Pod shall show of what it holds.
 */
export function detachedKeys(
  { annotations, phase, problems }: Pod,
  wanted: Readonly<Record<string, unknown>>,
): string[] {
  // What is over its limit was not read: it may name any network.
  if (ended.has(phase) || problems.length > 0) return [];
  const words = new Set((annotations[networksAnnotation] ?? '').split(/[^a-z0-9.-]+/));
  return Object.entries(annotations).flatMap(([key, value]) => {
    const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
    if (provider === undefined || value !== 'true' || key in wanted) return [];
    // The primary network is named elsewhere, and who is the default network of Multus stays so.
    if (!provider.includes('.') || names(words, provider)) return [];
    return results
      .map((suffix) => `${provider}.kubernetes.io/${suffix}`)
      .filter((each) => annotations[each] !== undefined);
  });
}

/** Whether the words may name the provider's network: they are not read closely, and who is in doubt keeps what there is. */
function names(words: ReadonlySet<string>, provider: string): boolean {
  const stem = isOvnProvider(provider) ? provider.slice(0, -'.ovn'.length) : provider;
  const name = stem.slice(0, stem.lastIndexOf('.'));
  return words.has(name);
}
