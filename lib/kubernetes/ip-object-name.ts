/**
 * The name of the IP object of an allocation: Kube-OVN's name, shortened where Kubernetes rejects
 * it. Names of Pods and networks may have dots, so two attachments may share that name: `a.b.c` is
 * Pod a of namespace b, and Pod a.b of namespace c. The first in a fixed order has it, and the
 * others have distinct names. The time of the allocations makes no difference.
 */
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
 * Returns "<pod>.<namespace>.<provider>", without the provider on the primary network. A further
 * attachment of a provider has its ordinal appended. The result may be an invalid object name: too
 * long, or with an invalid character.
 */
export function fullIpObjectName({ pod, namespace, provider, ordinal }: AttachmentName): string {
  const name = provider === '' || provider === 'ovn' ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`;
  return ordinal > 0 ? `${name}.${ordinal}` : name;
}

/** The Pods "namespace/name" whose attachments may have a full name: Pod names may have dots. */
export function* podsOfFullName(name: string): Iterable<string> {
  for (let end = name.indexOf('.'); end !== -1; end = name.indexOf('.', end + 1)) {
    const next = name.indexOf('.', end + 1);
    yield `${name.slice(end + 1, next === -1 ? undefined : next)}/${name.slice(0, end)}`;
  }
}

/** Returns the full name; if it is invalid, its beginning with a hash of the full name. */
export function ipObjectName(attached: AttachmentName): string {
  const name = fullIpObjectName(attached);
  return isDnsSubdomain(name) ? name : `${beginningOf(name)}-${digestOf(name)}`;
}

/** The name of an attachment that shares its `ipObjectName`: its beginning, and a hash. */
export function distinctIpObjectName(attached: AttachmentName): string {
  const { pod, namespace, provider, ordinal } = attached;
  return `${beginningOf(fullIpObjectName(attached))}-${digestOf(JSON.stringify([namespace, pod, provider, ordinal]))}`;
}

/** The full name that a distinct name begins with, or its beginning; undefined without a hash. */
export const fullNameOfDistinct = (name: string): string | undefined => /^(.+)-[0-9a-f]{32}$/.exec(name)?.[1];

/** Whether the distinct name of an attachment begins with its full name. */
export const hasSpaceForHash = (fullName: string): boolean =>
  fullName.length < nameMaxLength - digestLength && isDnsSubdomain(fullName);

/** The order of attachments with one name. A Pod without dots keeps its name. */
export function compareInNameOrder(one: AttachmentName, other: AttachmentName): number {
  const order = one.pod.length - other.pod.length || one.ordinal - other.ordinal;
  return order || (one.provider < other.provider ? -1 : one.provider > other.provider ? 1 : 0);
}

/** Whether an attachment is before all others that may share its name. */
export const isFirstInNameOrder = ({ pod, ordinal }: AttachmentName): boolean => ordinal === 0 && !pod.includes('.');

/** The reason of a reservation by an IP object, followed by the name of the object. */
export const ipReservationReason = 'IP object ';

/** The attachment that an address is reserved for; undefined if it is for another owner. */
export function attachmentOf(reservedFor: string): AttachmentName | undefined {
  const [kind, namespace = '', pod = '', provider] = reservedFor.split('/', 4);
  return kind === 'pod' && provider !== undefined ? { namespace, pod, provider, ordinal: 0 } : undefined;
}

/**
 * The names of the IP objects of all attachments, in the same order.
 * @param reservedBy the attachments that IP objects reserve an address for
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

/** The beginning of a full name, with permitted characters, and space for a hash. */
function beginningOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]/g, '-')
    .slice(0, nameMaxLength - digestLength - 1)
    .replaceAll(/-*\.[-.]*/g, '.')
    .replace(/[-.]+$/, '');
}
