/** The annotations of one attachment. Their keys start with its provider; for some NICs they also contain the interface. */
import type { AttachmentSuffix } from '../../../kubernetes/objects/attachment-suffixes.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { NetworkSelection } from './network-selections.ts';

/** An attachment to a network that is served here. */
export interface ServedAttachment {
  readonly selection: NetworkSelection;
  readonly provider: string;
  /** Its number among the Pod's attachments to this network, from 0. */
  readonly ordinal: number;
  /**
   * Whether the keys "<provider>.<interface>.kubernetes.io/…" apply: `only` these if the Pod selects the network more than once;
   * `first` these, then those of the provider. Absent: only those of the provider.
   */
  readonly interfaceKeys?: 'only' | 'first' | undefined;
}

/** @returns the key, and the value without surrounding blanks; "" if there is none. */
export function readAnnotation(
  pod: Pick<Pod, 'annotations'>,
  attachment: ServedAttachment,
  suffix: AttachmentSuffix,
): [key: string, value: string] {
  const [providerKey, interfaceKey] = keysOf(attachment, suffix);
  return readFirst(pod, attachment.interfaceKeys === 'only' ? [interfaceKey] : [interfaceKey, providerKey]);
}

/** As readAnnotation; without a key of the interface, that of the provider always applies: it constrains each of its NICs. */
export function readConstraintAnnotation(
  pod: Pick<Pod, 'annotations'>,
  attachment: ServedAttachment,
  suffix: AttachmentSuffix,
): [key: string, value: string] {
  const [providerKey, interfaceKey] = keysOf(attachment, suffix);
  return readFirst(pod, [interfaceKey, providerKey]);
}

/** As readAnnotation, for keys that Kube-OVN always writes without the interface, for instance `routes`. */
export const readProviderAnnotation = (
  pod: Pick<Pod, 'annotations'>,
  attachment: ServedAttachment,
  suffix: AttachmentSuffix,
): [key: string, value: string] => readFirst(pod, [keysOf(attachment, suffix)[0]]);

function keysOf(
  { provider, selection, interfaceKeys }: ServedAttachment,
  suffix: AttachmentSuffix,
): [ofProvider: string, ofInterface: string | undefined] {
  const ofProvider = `${provider}.kubernetes.io/${suffix}`;
  return [ofProvider, interfaceKeys && `${provider}.${selection.interface}.kubernetes.io/${suffix}`];
}

/** The first key that the Pod has, else the last one. */
function readFirst(
  { annotations }: Pick<Pod, 'annotations'>,
  keys: readonly (string | undefined)[],
): [key: string, value: string] {
  const possible = keys.filter((key) => key !== undefined);
  const key = possible.find((each) => annotations[each] !== undefined) ?? possible.at(-1) ?? '';
  return [key, annotations[key]?.trim() ?? ''];
}

/** As readAnnotation, for the key "<network>.<namespace>.kubernetes.io/<suffix>.<interface>", which never contains ".ovn". */
export function readInterfaceAnnotation(
  { annotations }: Pick<Pod, 'annotations'>,
  { selection }: ServedAttachment,
  suffix: AttachmentSuffix,
): [key: string, value: string] {
  if (selection.interface === '') return ['', ''];
  const key = `${selection.name}.${selection.namespace}.kubernetes.io/${suffix}.${selection.interface}`;
  return [key, annotations[key]?.trim() ?? ''];
}

/** Whether a key that names a single address or MAC applies: of several attachments to one network, that of the provider applies to the first. */
export const isSingleValueKeyOf = ({ ordinal, provider }: ServedAttachment, key: string): boolean =>
  ordinal === 0 || !key.startsWith(`${provider}.kubernetes.io/`);
