/** The allocations that a Pod's annotations show: "<provider>.kubernetes.io/allocated". */
import { isOvnProvider } from '../../../../lib/kubernetes/served-network.ts';
import { defaultNetworkAnnotation, networksAnnotationOf, type Pod } from './pod.ts';

const allocatedKey = /^(.+)\.kubernetes\.io\/allocated$/;

/** Returns the providers for which annotations show an allocation. */
export function shownProviders({ annotations }: Pick<Pod, 'annotations'>): string[] {
  return Object.entries(annotations).flatMap(([key, value]) =>
    value === 'true' ? (allocatedKey.exec(key)?.[1] ?? []) : [],
  );
}

/**
 * Returns a function that reports whether a Pod may select the network of a provider. It compares
 * only names, and returns true in doubt. No annotation selects the primary network, whose provider
 * has no dot.
 */
export function networkSelector(pod: Pick<Pod, 'annotations'>): (provider: string) => boolean {
  const texts = [networksAnnotationOf(pod)[1], pod.annotations[defaultNetworkAnnotation] ?? ''];
  const words = new Set(texts.flatMap((text) => text.split(/[^a-z0-9.-]+/)));
  return (provider) => {
    if (!provider.includes('.')) return true;
    const withoutSuffix = isOvnProvider(provider) ? provider.slice(0, -'.ovn'.length) : provider;
    return words.has(withoutSuffix.slice(0, withoutSuffix.lastIndexOf('.')));
  };
}
