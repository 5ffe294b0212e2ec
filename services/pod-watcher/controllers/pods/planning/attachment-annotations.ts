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
  /** Whether its keys contain the interface: "<provider>.<interface>.kubernetes.io/…". */
  readonly hasInterfaceKeys?: boolean;
}

/** @returns the key, and the value without surrounding blanks; "" if there is none. */
export function readAnnotation(
  { annotations }: Pick<Pod, 'annotations'>,
  { provider, selection, hasInterfaceKeys = false }: ServedAttachment,
  suffix: AttachmentSuffix,
): [key: string, value: string] {
  const key = `${hasInterfaceKeys ? `${provider}.${selection.interface}` : provider}.kubernetes.io/${suffix}`;
  return [key, annotations[key]?.trim() ?? ''];
}

/** As readAnnotation, for keys that Kube-OVN always writes without the interface, for instance `routes`. */
export const readProviderAnnotation = (
  pod: Pick<Pod, 'annotations'>,
  attachment: ServedAttachment,
  suffix: AttachmentSuffix,
): [key: string, value: string] => readAnnotation(pod, { ...attachment, hasInterfaceKeys: false }, suffix);

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

/** Whether a key that names a single address or MAC applies: of several attachments to one network it applies to the first. */
export const hasSingleValueKeys = ({ ordinal, hasInterfaceKeys = false }: ServedAttachment): boolean =>
  ordinal === 0 || hasInterfaceKeys;
