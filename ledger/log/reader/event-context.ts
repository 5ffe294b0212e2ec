/**
 * Finds earlier events that explain an event. For example, the event that ends a binding does not
 * name the node, but the event that starts it does. Only the event that allocated an address names
 * the Pod's owner.
 */
import type { AddressBound, AddressUnbound, Event } from '../../domain/events/event.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import type { StoredEvent } from '../chain/chain.ts';
import type { EventReader } from '../store/ledger.ts';
import { parseLine } from '../store/stored-line.ts';

/** A limit of the search: few other events touch an address between start and end of a binding. */
const maxSteps = 100;

/** Earlier events, by the number of the later event that depends on them. */
export type EarlierEvents = ReadonlyMap<Seq, StoredEvent>;

/**
 * Finds the start of the binding for each event that ends one. Follows `before` backwards, for all
 * events and addresses in parallel. The result lacks events whose start was not found.
 * @throws errors of the ledger.
 */
export async function findBindingStarts(
  ledger: EventReader,
  events: readonly StoredEvent[],
  signal: AbortSignal,
): Promise<EarlierEvents> {
  const found = new Map<Seq, StoredEvent>();
  let walks = events.flatMap((event) => {
    const { type, data } = event.sequenced;
    const addresses = type === 'AddressUnbound' ? data.addresses : [];
    return addresses.map((address) => ({ end: event, address, at: event.envelope.before[address] ?? 0 }));
  });
  for (let step = 0; step < maxSteps && walks.length > 0; step++) {
    const read = await readAll(
      ledger,
      walks.map(({ at }) => at),
      signal,
    );
    walks = walks.flatMap(({ end, address, at }) => {
      const event = read.get(at);
      const last = found.get(end.envelope.seq);
      if (!event || (last && last.envelope.seq >= at)) return [];
      if (!isStartOf(event.sequenced, end.sequenced))
        return [{ end, address, at: event.envelope.before[address] ?? 0 }];
      found.set(end.envelope.seq, event);
      return [];
    });
  }
  return found;
}

const isStartOf = (event: Event, end: Event): event is AddressBound =>
  event.type === 'AddressBound' &&
  event.data.containerId === (end as AddressUnbound).data.containerId &&
  event.data.interface === (end as AddressUnbound).data.interface;

/**
 * Finds, for each event, the event that allocated its addresses: the event itself, the event that
 * it names, or the event that the start of its binding names.
 * @throws errors of the ledger.
 */
export async function findGrants(
  ledger: EventReader,
  events: readonly StoredEvent[],
  signal: AbortSignal,
): Promise<EarlierEvents> {
  const bindings = await findBindingStarts(ledger, events, signal);
  const grants = events.map((event) => {
    const { sequenced } = bindings.get(event.envelope.seq) ?? event;
    switch (sequenced.type) {
      case 'AddressAllocated':
      case 'AddressTransferred':
        return sequenced.seq;
      case 'AddressBound':
      case 'AddressReleased':
        return sequenced.data.alloc;
      default:
        return 0;
    }
  });
  const read = await readAll(ledger, grants, signal);
  return new Map(
    events.flatMap(({ envelope }, index) => {
      const grant = read.get(grants[index] ?? 0);
      return grant ? [[envelope.seq, grant] as const] : [];
    }),
  );
}

/** Reads the events with these numbers. 0 stands for no event. */
async function readAll(ledger: EventReader, seqs: readonly Seq[], signal: AbortSignal): Promise<EarlierEvents> {
  const existing = [...new Set(seqs)].filter((seq) => seq > 0);
  const lines = await ledger.readEach(existing, signal);
  return new Map(existing.flatMap((seq, index) => (lines[index] ? [[seq, parseLine(lines[index])] as const] : [])));
}
