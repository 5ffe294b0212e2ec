/**
 * The annotations of one Pod, grouped in one pass by the prefix of their keys: the provider, for
 * some NICs with the interface. The annotations of an attachment are parsed when it is served, and
 * each value once for all attachments.
 */
import type { Result } from '../../../../../lib/result.ts';
import { isOvnProvider } from '../../../../../lib/kubernetes/served-network.ts';
import {
  type Requested,
  type RequestedValues,
  type RequestRow,
  requestRows,
} from '../../../kubernetes/objects/annotation-table.ts';
import { type AddressConstraints, noConstraints } from '../../../kubernetes/objects/annotation-values.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { NetworkSelection } from './network-selections.ts';

/** An attachment to a network that is served here. */
export interface ServedAttachment {
  readonly selection: NetworkSelection;
  readonly provider: string;
  /** The number of the attachment among the Pod's attachments to this network, from 0. */
  readonly ordinal: number;
  /**
   * Which keys apply. `only`: the keys with the interface, because the Pod selects the network more
   * than once. `first`: these keys, then the provider's. Absent: only the provider's.
   */
  readonly interfaceKeys?: 'only' | 'first' | undefined;
}

/** The parsed annotations of one attachment. */
export interface AttachmentAnnotations {
  readonly values: RequestedValues;
  /** The first malformed value, in the order of the table. */
  readonly problem: string | undefined;
}

/** An annotation, with its value after it is parsed. */
interface Entry {
  readonly key: string;
  readonly text: string;
  /** The parsed value, which all attachments share: they have the same constraints. */
  result?: Result<unknown>;
}

/** Annotations by the part of their key after the "/". */
type Group = Map<string, Entry>;

export class PodAnnotations {
  readonly #pod: Pick<Pod, 'namespace' | 'name' | 'annotations'>;
  #grouped: ReadonlyMap<string, Group> | undefined;

  constructor(pod: Pick<Pod, 'namespace' | 'name' | 'annotations'>) {
    this.#pod = pod;
  }

  /** Groups the annotations at the first use, because most plans need none. */
  get #groups(): ReadonlyMap<string, Group> {
    return (this.#grouped ??= groupByPrefix(this.#pod.annotations));
  }

  /** Whether the Pod has an annotation of a provider. */
  has(provider: string): boolean {
    return this.#groups.has(provider);
  }

  of(attachment: ServedAttachment): AttachmentAnnotations {
    const { provider, selection, interfaceKeys } = attachment;
    const ofProvider = this.#groups.get(provider);
    const ofInterface = interfaceKeys && this.#groups.get(`${provider}.${selection.interface}`);
    // Reads the keys of the network: keys that end with the interface never contain ".ovn".
    const ofNetwork = this.#groups.get(`${selection.name}.${selection.namespace}`);
    const ofInterfaces = this.#groupsOfInterfaces(provider);
    if (!ofProvider && !ofInterface && !ofNetwork && ofInterfaces.length === 0)
      return { values: {}, problem: undefined };
    const values: Record<string, Requested<unknown>> = {};
    let firstProblem: string | undefined;
    const read = (row: RequestRow, entry: Entry | undefined, field?: string): void => {
      const text = entry?.text.trim() ?? '';
      if (!entry || (text === '' && !row.rejectsBlank)) return;
      const purpose = { pod: `${this.#pod.namespace}/${this.#pod.name}`, constraints: constraintsOf(values) };
      entry.result ??= row.parse(text, entry.key, purpose);
      if (!entry.result.ok) firstProblem ??= entry.result.problem;
      else if (field !== undefined) values[field] = { key: entry.key, value: entry.result.value };
    };
    for (const row of requestRows) {
      const { suffix, field, interfaceField } = row;
      if (interfaceField !== undefined) read(row, ofNetwork?.get(`${suffix}.${selection.interface}`), interfaceField);
      if (field !== undefined) read(row, entryOf(row, attachment, [ofInterface, ofProvider]), field);
      if (row.isAlwaysValidated) for (const group of [ofProvider, ...ofInterfaces]) read(row, group?.get(suffix));
    }
    return { values, problem: firstProblem };
  }

  /** Returns the groups of "<network>.<namespace>.ovn.<interface>", a key of Kube-OVN's type. */
  #groupsOfInterfaces(provider: string): Group[] {
    if (!provider.includes('.') || !isOvnProvider(provider)) return [];
    const isInterface = (prefix: string): boolean => prefix.slice(0, prefix.lastIndexOf('.')) === provider;
    return [...this.#groups].flatMap(([prefix, group]) => (isInterface(prefix) ? [group] : []));
  }
}

function groupByPrefix(annotations: Pod['annotations']): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const [key, text] of Object.entries(annotations)) {
    const [prefix = '', suffix] = key.split('.kubernetes.io/');
    if (suffix === undefined) continue;
    const group = groups.get(prefix) ?? new Map<string, Entry>();
    groups.set(prefix, group.set(suffix, { key, text }));
  }
  return groups;
}

/** Returns the annotation of a table row that applies to an attachment. */
function entryOf(
  { suffix, keys, interfaceField, written }: RequestRow,
  { ordinal, interfaceKeys }: ServedAttachment,
  [ofInterface, ofProvider]: readonly [Group | undefined, Group | undefined],
): Entry | undefined {
  const hasOwn = keys !== 'provider' && ofInterface?.has(suffix);
  if (!hasOwn && keys === 'nic' && interfaceKeys === 'only') return undefined;
  // Applies a value of one NIC to the first of several attachments to one network.
  if (!hasOwn && interfaceField !== undefined && ordinal > 0) return undefined;
  const group = hasOwn ? ofInterface : ofProvider;
  return written === 'result' && group?.get('allocated')?.text === 'true' ? undefined : group?.get(suffix);
}

export const constraintsOf = ({ cidrs, family }: Pick<RequestedValues, 'cidrs' | 'family'>): AddressConstraints => ({
  cidrs: cidrs?.value ?? noConstraints.cidrs,
  family: family?.value ?? noConstraints.family,
  familyKey: family?.key ?? '',
});
