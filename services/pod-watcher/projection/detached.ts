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
export function detachedKeys({ annotations, phase }: Pod, wanted: Readonly<Record<string, unknown>>): string[] {
  if (ended.has(phase)) return [];
  const networks = annotations[networksAnnotation] ?? '';
  return Object.entries(annotations).flatMap(([key, value]) => {
    const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
    if (provider === undefined || value !== 'true' || key in wanted) return [];
    // The primary network is named elsewhere, and who is the default network of Multus stays so.
    if (!provider.includes('.') || names(networks, provider)) return [];
    return results
      .map((suffix) => `${provider}.kubernetes.io/${suffix}`)
      .filter((each) => annotations[each] !== undefined);
  });
}

/** Whether the text may name the provider's network: it is not read closely, and who is in doubt keeps what there is. */
function names(networks: string, provider: string): boolean {
  const stem = isOvnProvider(provider) ? provider.slice(0, -'.ovn'.length) : provider;
  const name = stem.slice(0, stem.lastIndexOf('.'));
  return networks.split(/[^a-z0-9.-]+/).includes(name);
}
