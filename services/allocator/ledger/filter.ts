/** Which events are wanted. All that is said must match; what is '' (or empty) matches everything. */
import { addressesOf, type Attachment, type Event, type Owner } from '../domain/event.ts';
import type { StoredEvent } from './chain.ts';
import type { EventReader } from './ledger.ts';
import { beginningsOf, grantsOf } from './origins.ts';

export interface EventFilter {
  readonly subnet: string;
  readonly namespace: string;
  readonly pod: string;
  /** Whose Pods had it. Refusals name no owner, and so never match. */
  readonly owner: Owner;
  /** On which node: what was given to Pods there, and bindings there with their ends. */
  readonly node: string;
  readonly address: string;
  readonly types: readonly string[];
}

const anyOwner: Owner = { kind: '', name: '', uid: '' };

/** All events. */
export const everything: EventFilter = {
  subnet: '',
  namespace: '',
  pod: '',
  owner: anyOwner,
  node: '',
  address: '',
  types: [],
};

const asksForOwner = ({ owner }: EventFilter): boolean => owner.kind !== '' || owner.name !== '' || owner.uid !== '';

/**
 * Those of the events that match, in their order.
 * @throws what the ledger throws, where events before these have to be looked at.
 */
export async function select(
  ledger: EventReader,
  events: readonly StoredEvent[],
  filter: EventFilter,
  signal: AbortSignal,
): Promise<readonly StoredEvent[]> {
  let left: readonly StoredEvent[] = events.filter((event) => saysItself(event, filter));
  if (filter.node !== '') left = await onNode(ledger, left, filter.node, signal);
  if (asksForOwner(filter)) left = await ofOwner(ledger, left, filter.owner, signal);
  return left;
}

/** Whether an event matches, by what it says itself: not yet by node or owner. */
function saysItself({ envelope, sequenced }: StoredEvent, filter: EventFilter): boolean {
  const attachment = attachmentOf(sequenced);
  return (
    matches(filter.subnet, envelope.subnet) &&
    matches(filter.namespace, attachment?.namespace) &&
    matches(filter.pod, attachment?.pod) &&
    (filter.types.length === 0 || filter.types.includes(envelope.type)) &&
    (filter.address === '' || addressesOf(sequenced).includes(filter.address))
  );
}

const matches = (wanted: string, found: string | undefined): boolean => wanted === '' || wanted === found;

const attachmentOf = ({ data }: Event): Attachment | undefined => ('attachment' in data ? data.attachment : undefined);

async function onNode(
  ledger: EventReader,
  events: readonly StoredEvent[],
  node: string,
  signal: AbortSignal,
): Promise<readonly StoredEvent[]> {
  const bindings = await beginningsOf(ledger, events, signal);
  return events.filter((event) => {
    const { data } = (bindings.get(event.envelope.seq) ?? event).sequenced;
    return 'node' in data && data.node === node;
  });
}

async function ofOwner(
  ledger: EventReader,
  events: readonly StoredEvent[],
  wanted: Owner,
  signal: AbortSignal,
): Promise<readonly StoredEvent[]> {
  const grants = await grantsOf(ledger, events, signal);
  return events.filter(({ envelope }) => {
    const grant = grants.get(envelope.seq)?.sequenced;
    const owner = grant && 'owner' in grant.data ? grant.data.owner : undefined;
    return (
      owner !== undefined &&
      matches(wanted.kind, owner.kind) &&
      matches(wanted.name, owner.name) &&
      matches(wanted.uid, owner.uid)
    );
  });
}

/** A test on the stored text that is false only where an event cannot match: it spares parsing and hashing most of a long log. */
export function quickLook({ subnet, namespace, pod, node, address }: EventFilter): (line: string) => boolean {
  const field = (name: string, value: string): string[] => (value === '' ? [] : [`"${name}":${JSON.stringify(value)}`]);
  const needles = [...field('subnet', subnet), ...field('namespace', namespace), ...field('pod', pod)];
  if (address !== '') needles.push(JSON.stringify(address));
  const onNode = `"node":${JSON.stringify(node)}`;
  return (line) =>
    needles.every((needle) => line.includes(needle)) &&
    (node === '' || line.includes(onNode) || line.includes('"type":"AddressUnbound"'));
}
