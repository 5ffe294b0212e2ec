/** What the IP object of an allocation is called: Kube-OVN's names, as far as Kubernetes takes them. */
import { createHash } from 'node:crypto';

/** The attachment that an address was given to. */
export interface Attached {
  readonly pod: string;
  readonly namespace: string;
  readonly provider: string;
  readonly ordinal: number;
}

const nameMaxLength = 253;
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Of a hash, so that nobody meets two alike. */
const digestLength = 32;

/** Whether Kubernetes takes this as the name of an object, or as the prefix of a key. */
export const isSubdomain = (name: string): boolean => name.length <= nameMaxLength && objectName.test(name);

/**
 * "<pod>.<namespace>.<provider>"; without the provider on the primary network; a further attachment of a provider has its
 * ordinal behind it. It may be no name at all: too long, or with a letter that is not allowed.
 */
export function wholeIpName({ pod, namespace, provider, ordinal }: Attached): string {
  const name = provider === '' || provider === 'ovn' ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`;
  return ordinal > 0 ? `${name}.${ordinal}` : name;
}

/** The whole name; where no object can be called so, its beginning and a hash of all of it. */
export function ipName(attached: Attached): string {
  const name = wholeIpName(attached);
  if (isSubdomain(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, digestLength);
  const beginning = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]/g, '-')
    .slice(0, nameMaxLength - digestLength - 1)
    .replaceAll(/-*\.[-.]*/g, '.')
    .replace(/[-.]+$/, '');
  return `${beginning}-${digest}`;
}
