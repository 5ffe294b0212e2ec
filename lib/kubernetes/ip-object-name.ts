/** The name of the IP object of an allocation: Kube-OVN's name, shortened where Kubernetes rejects it. */
import { createHash } from 'node:crypto';

/** The attachment of an allocation. */
export interface AttachmentName {
  readonly pod: string;
  readonly namespace: string;
  readonly provider: string;
  readonly ordinal: number;
}

const nameMaxLength = 253;
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Length of a hash without collisions in practice. */
const digestLength = 32;

/** Whether a text is a valid name of an object, or a valid prefix of an annotation key. */
export const isDnsSubdomain = (name: string): boolean => name.length <= nameMaxLength && objectName.test(name);

/**
 * Returns "<pod>.<namespace>.<provider>", without the provider on the primary network. A further attachment of a provider has its
 * ordinal appended. The result may be an invalid object name: too long, or with an invalid character.
 */
export function fullIpObjectName({ pod, namespace, provider, ordinal }: AttachmentName): string {
  const name = provider === '' || provider === 'ovn' ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`;
  return ordinal > 0 ? `${name}.${ordinal}` : name;
}

/** The Pods "namespace/name" whose attachments may have a full name: the name of a Pod may have dots, the one of a namespace has none. */
export function* podsOfFullName(name: string): Iterable<string> {
  for (let end = name.indexOf('.'); end !== -1; end = name.indexOf('.', end + 1)) {
    const next = name.indexOf('.', end + 1);
    yield `${name.slice(end + 1, next === -1 ? undefined : next)}/${name.slice(0, end)}`;
  }
}

/** Returns the full name; if it is invalid, its beginning with a hash of the full name. */
export function ipObjectName(attached: AttachmentName): string {
  const name = fullIpObjectName(attached);
  if (isDnsSubdomain(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, digestLength);
  const beginning = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]/g, '-')
    .slice(0, nameMaxLength - digestLength - 1)
    .replaceAll(/-*\.[-.]*/g, '.')
    .replace(/[-.]+$/, '');
  return `${beginning}-${digest}`;
}
