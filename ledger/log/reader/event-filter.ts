/** Selects events. Each field that is set must match; '' and an empty list match all events. */
import type { Event } from '../../domain/events/event.ts';
import type { Attachment, Owner } from '../../domain/values/allocation.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import type { StoredEvent } from '../chain/chain.ts';
import type { EventReader } from '../store/ledger.ts';
import { findBindingStarts, findGrants } from './event-context.ts';

export interface EventFilter {
  readonly subnet: string;
  readonly namespace: string;
  readonly pod: string;
  /** The owner of the Pod. Refusals name no owner, so they never match. */
  readonly owner: Owner;
  /** The node of the Pod in allocations, and of the container in the start and end of bindings. */
  readonly node: string;
  readonly address: string;
  readonly types: readonly string[];
}

const anyOwner: Owner = { kind: '', name: '', uid: '' };

export const matchAllEvents: EventFilter = {
  subnet: '',
  namespace: '',
  pod: '',
  owner: anyOwner,
  node: '',
  address: '',
  types: [],
};

const hasOwner = ({ owner }: EventFilter): boolean => owner.kind !== '' || owner.name !== '' || owner.uid !== '';

/**
 * Returns the matching events, in their order.
 * @throws errors of the ledger, when earlier events have to be read.
 */
export async function selectEvents(
  ledger: EventReader,
  events: readonly StoredEvent[],
  filter: EventFilter,
  signal: AbortSignal,
): Promise<readonly StoredEvent[]> {
  let selected: readonly StoredEvent[] = events.filter((event) => matchesItself(event, filter));
  if (filter.node !== '') selected = await onNode(ledger, selected, filter.node, signal);
  if (hasOwner(filter)) selected = await ofOwner(ledger, selected, filter.owner, signal);
  return selected;
}

/** Whether an event matches by its own fields, without node and owner. */
function matchesItself({ envelope, sequenced }: StoredEvent, filter: EventFilter): boolean {
  const attachment = attachmentOf(sequenced);
  return (
    matches(filter.subnet, envelope.subnet) &&
    matches(filter.namespace, attachment?.namespace) &&
    matches(filter.pod, attachment?.pod) &&
    (filter.types.length === 0 || filter.types.includes(envelope.type)) &&
    (filter.address === '' || addressesOf(sequenced).includes(filter.address))
  );
}

const matches = (filter: string, value: string | undefined): boolean => filter === '' || filter === value;

const attachmentOf = ({ data }: Event): Attachment | undefined => ('attachment' in data ? data.attachment : undefined);

async function onNode(
  ledger: EventReader,
  events: readonly StoredEvent[],
  node: string,
  signal: AbortSignal,
): Promise<readonly StoredEvent[]> {
  const bindings = await findBindingStarts(ledger, events, signal);
  return events.filter((event) => {
    const { data } = (bindings.get(event.envelope.seq) ?? event).sequenced;
    return 'node' in data && data.node === node;
  });
}

async function ofOwner(
  ledger: EventReader,
  events: readonly StoredEvent[],
  filter: Owner,
  signal: AbortSignal,
): Promise<readonly StoredEvent[]> {
  const grants = await findGrants(ledger, events, signal);
  return events.filter(({ envelope }) => {
    const grant = grants.get(envelope.seq)?.sequenced;
    const owner = grant && 'owner' in grant.data ? grant.data.owner : undefined;
    return (
      owner !== undefined &&
      matches(filter.kind, owner.kind) &&
      matches(filter.name, owner.name) &&
      matches(filter.uid, owner.uid)
    );
  });
}

/** Tests the stored text, so that most lines need not be parsed or hashed. */
export function textPrefilter({ subnet, namespace, pod, node, address }: EventFilter): (line: string) => boolean {
  const field = (name: string, value: string): string[] => (value === '' ? [] : [`"${name}":${JSON.stringify(value)}`]);
  const needles = [...field('subnet', subnet), ...field('namespace', namespace), ...field('pod', pod)];
  if (address !== '') needles.push(JSON.stringify(address));
  const onNode = `"node":${JSON.stringify(node)}`;
  return (line) =>
    needles.every((needle) => line.includes(needle)) &&
    (node === '' || line.includes(onNode) || line.includes('"type":"AddressUnbound"'));
}
