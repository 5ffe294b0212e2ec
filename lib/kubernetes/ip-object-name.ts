/**
 * The name of an allocation's IP object: Kube-OVN's name, shortened if Kubernetes would reject it.
 * Names of Pods and networks may have dots, so two attachments may share a name: `a.b.c` is Pod a
 * in namespace b, and Pod a.b in namespace c. The first attachment in a fixed order gets the shared
 * name, and the others get distinct names. The order does not depend on the time of allocation.
 */
import { createHash } from 'node:crypto';

export interface AttachmentName {
  readonly pod: string;
  readonly namespace: string;
  readonly provider: string;
  readonly ordinal: number;
}

const nameMaxLength = 253;
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** The length of a hash that is free of collisions in practice. */
const digestLength = 32;

/** Whether a text is a valid name of an object, or a valid prefix of an annotation key. */
export const isDnsSubdomain = (name: string): boolean => name.length <= nameMaxLength && objectName.test(name);

/**
 * Returns "<pod>.<namespace>.<provider>", without the provider on the primary network. The ordinal
 * is appended if it is not 0. The result may be an invalid object name: too long, or with an
 * invalid character.
 */
export function fullIpObjectName({ pod, namespace, provider, ordinal }: AttachmentName): string {
  const name = provider === '' || provider === 'ovn' ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`;
  return ordinal > 0 ? `${name}.${ordinal}` : name;
}

/** Yields the Pods ("namespace/name") that may have this full name: Pod names may have dots. */
export function* podsOfFullName(name: string): Iterable<string> {
  for (let end = name.indexOf('.'); end !== -1; end = name.indexOf('.', end + 1)) {
    const next = name.indexOf('.', end + 1);
    yield `${name.slice(end + 1, next === -1 ? undefined : next)}/${name.slice(0, end)}`;
  }
}

/** Returns the full name or, if that is invalid, its beginning with a hash of the full name. */
export function ipObjectName(attached: AttachmentName): string {
  const name = fullIpObjectName(attached);
  return isDnsSubdomain(name) ? name : `${beginningOf(name)}-${digestOf(name)}`;
}

/** Returns the name of an attachment that shares its `ipObjectName`: a beginning, and a hash. */
export function distinctIpObjectName(attached: AttachmentName): string {
  const { pod, namespace, provider, ordinal } = attached;
  return `${beginningOf(fullIpObjectName(attached))}-${digestOf(JSON.stringify([namespace, pod, provider, ordinal]))}`;
}

/** Returns what precedes the hash in a distinct name: the full name or its beginning. */
export const fullNameOfDistinct = (name: string): string | undefined => /^(.+)-[0-9a-f]{32}$/.exec(name)?.[1];

/** Whether a distinct name can contain the whole of a full name. */
export const hasSpaceForHash = (fullName: string): boolean =>
  fullName.length < nameMaxLength - digestLength && isDnsSubdomain(fullName);

/** The order of attachments that share a name. The Pod with fewer dots keeps the name. */
export function compareInNameOrder(one: AttachmentName, other: AttachmentName): number {
  const order = one.pod.length - other.pod.length || one.ordinal - other.ordinal;
  return order || (one.provider < other.provider ? -1 : one.provider > other.provider ? 1 : 0);
}

/** Whether an attachment precedes all others that may share its name. */
export const isFirstInNameOrder = ({ pod, ordinal }: AttachmentName): boolean => ordinal === 0 && !pod.includes('.');

/** The reason of a reservation by an IP object. The name of the object follows it. */
export const ipReservationReason = 'IP object ';

/** The attachment that an address is reserved for; undefined for another kind of owner. */
export function attachmentOf(reservedFor: string): AttachmentName | undefined {
  const [kind, namespace = '', pod = '', provider] = reservedFor.split('/', 4);
  return kind === 'pod' && provider !== undefined ? { namespace, pod, provider, ordinal: 0 } : undefined;
}

/**
 * Returns the names of the IP objects of all attachments, in the same order.
 * @param reservedBy the attachments for which IP objects reserve an address
 */
export function ipObjectNames(attached: readonly AttachmentName[], reservedBy: readonly AttachmentName[]): string[] {
  const reserved = new Map(reservedBy.map((each) => [ipObjectName(each), each]));
  const first = new Map(reserved);
  for (const each of attached) {
    const name = ipObjectName(each);
    const known = first.get(name);
    if (!known || (!reserved.has(name) && compareInNameOrder(each, known) < 0)) first.set(name, each);
  }
  return attached.map((each) => {
    const name = ipObjectName(each);
    const owner = first.get(name);
    return !owner || compareInNameOrder(owner, each) === 0 ? name : distinctIpObjectName(each);
  });
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, digestLength);

/** The beginning of a full name, with valid characters, and with room for a hash. */
function beginningOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]/g, '-')
    .slice(0, nameMaxLength - digestLength - 1)
    .replaceAll(/-*\.[-.]*/g, '.')
    .replace(/[-.]+$/, '');
}
