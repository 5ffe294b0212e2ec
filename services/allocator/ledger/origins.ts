/**
 * What an event leaves to an earlier one to say: the end of a binding names no node, which the binding's beginning does; and only
 * the event that gave an address names the Pod's owner.
 */
import type { AddressBound, AddressUnbound, Event, Seq } from '../domain/event.ts';
import { parseEvent, type StoredEvent } from './chain.ts';
import type { EventReader } from './ledger.ts';

/** Between the beginning and the end of a binding few other events touch the address. */
const mostSteps = 100;

/** The earlier events that others refer to, by the number of the later one. */
export type Origins = ReadonlyMap<Seq, StoredEvent>;

/**
 * For each event that ends a container's bindings, the last event that began one of them: a walk back along `before`, for all of
 * them and all of their addresses at once. Those whose beginning is not found are left out.
 * @throws what the ledger throws.
 */
export async function beginningsOf(
  ledger: EventReader,
  events: readonly StoredEvent[],
  signal: AbortSignal,
): Promise<Origins> {
  const found = new Map<Seq, StoredEvent>();
  let walks = events.flatMap((event) => {
    const { type, data } = event.sequenced;
    const addresses = type === 'AddressUnbound' ? data.addresses : [];
    return addresses.map((address) => ({ of: event, address, at: event.envelope.before[address] ?? 0 }));
  });
  for (let step = 0; step < mostSteps && walks.length > 0; step++) {
    const read = await readAll(
      ledger,
      walks.map(({ at }) => at),
      signal,
    );
    walks = walks.flatMap(({ of, address, at }) => {
      const event = read.get(at);
      const last = found.get(of.envelope.seq);
      if (!event || (last && last.envelope.seq >= at)) return [];
      if (!began(event.sequenced, of.sequenced)) return [{ of, address, at: event.envelope.before[address] ?? 0 }];
      found.set(of.envelope.seq, event);
      return [];
    });
  }
  return found;
}

const began = (event: Event, end: Event): event is AddressBound =>
  event.type === 'AddressBound' &&
  event.data.containerId === (end as AddressUnbound).data.containerId &&
  event.data.interface === (end as AddressUnbound).data.interface;

/**
 * Which event gave what each of these is about: itself, or the one that it names, or that the beginning of its binding names.
 * @throws what the ledger throws.
 */
export async function grantsOf(
  ledger: EventReader,
  events: readonly StoredEvent[],
  signal: AbortSignal,
): Promise<Origins> {
  const bindings = await beginningsOf(ledger, events, signal);
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

/** These events; 0 is none. */
async function readAll(ledger: EventReader, seqs: readonly Seq[], signal: AbortSignal): Promise<Origins> {
  const wanted = [...new Set(seqs)].filter((seq) => seq > 0);
  const lines = await ledger.readEach(wanted, signal);
  return new Map(wanted.flatMap((seq, index) => (lines[index] ? [[seq, parseEvent(lines[index].text)] as const] : [])));
}
