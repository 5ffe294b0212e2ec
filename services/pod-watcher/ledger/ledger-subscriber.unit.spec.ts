import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { decode, encode, type MessageInput } from '../../../proto/codec.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { deliverCommands, deliverSnapshot, type LedgerSnapshot } from './ledger-subscriber.ts';

const position = (seq: number) => ({ epoch: 1, seq, hash: `hash-${seq}` });
const attachment = { namespace: 'default', pod: 'a', provider: 'macvlan.default', ordinal: 0 };

function event(seq: number, data: MessageInput<Event>, [part, parts] = [1, 1]): Event {
  const common = { seq, part, parts, subnet: 'macvlan', hash: `hash-${seq}` };
  return decode('Event', encode('Event', { ...common, ...data })) as Event;
}
const released = (seq: number, alloc: number): Event => event(seq, { addressReleased: { alloc, attachment } });
const allocated = (seq: number, parts?: [number, number]): Event =>
  event(seq, { addressAllocated: { attachment } }, parts);

/** Delivers the snapshot of a ledger with these pages of allocations and reservations. */
async function takeSnapshot(
  pages: readonly (readonly number[])[],
  reservations: readonly (readonly string[])[] = [[]],
) {
  const snapshots: LedgerSnapshot[] = [];
  const spec = { subnet: 'macvlan', ips: ['10.0.0.9'] };
  const pageOf = <T>(all: readonly (readonly T[])[], pageToken = '') => {
    const index = Number(pageToken);
    return { items: all[index] ?? [], nextPageToken: index + 1 < all.length ? String(index + 1) : '' };
  };
  const allocator = fakeLedgerClient({
    listAllocations: ({ pageToken }) => {
      const { items, nextPageToken } = pageOf(pages, pageToken);
      const allocations = items.map((seq) => ({ seq, attachment }));
      return { position: position(10 + Number(pageToken)), allocations, nextPageToken };
    },
    listSubnets: () => ({ position: position(10), subnets: [{ name: 'macvlan', spec: { provider: 'macvlan' } }] }),
    listPools: () => ({ position: position(10), pools: [{ name: 'blue', spec }] }),
    listReservations: ({ pageToken }) => {
      const { items, nextPageToken } = pageOf(reservations, pageToken);
      return { records: items.map((address) => ({ address, reservation: { seq: 5 } })), nextPageToken };
    },
  });
  const subscriber = {
    onSnapshot: (snapshot: LedgerSnapshot) => void snapshots.push(snapshot),
    onEvents: () => undefined,
  };
  const summary = await deliverSnapshot(allocator, [subscriber], new AbortController().signal);
  return { summary, snapshots };
}

describe('Ledger subscribers', () => {
  it('Ledger subscribers receive one snapshot with the allocations of all pages, at the position of the first page', async () => {
    const { summary, snapshots } = await takeSnapshot([[3], [3, 5], [9]]);
    expect(summary).to.deep.equal({ position: position(10), allocations: 3 });
    expect(snapshots.map(({ seq }) => seq)).to.deep.equal([10]);
    expect(snapshots[0]?.allocations.map(({ seq }) => seq)).to.deep.equal([3, 5, 9]);
  });

  it('Ledger subscribers receive the Subnets, pools and reservations in the snapshot', async () => {
    const { snapshots } = await takeSnapshot([[]], [['10.0.0.2'], ['10.0.0.2', '10.0.0.3']]);
    const [snapshot] = snapshots;
    expect(snapshot?.subnets.map(({ name }) => name)).to.deep.equal(['macvlan']);
    expect(snapshot?.pools[0]).to.deep.include({ name: 'blue', source: undefined });
    expect(snapshot?.pools[0]?.spec).to.deep.include({ subnet: 'macvlan', ips: ['10.0.0.9'] });
    expect(snapshot?.reservations.map(({ address }) => address)).to.deep.equal(['10.0.0.2', '10.0.0.3']);
  });

  it('Ledger subscribers receive the events of one command together', () => {
    const received: string[] = [];
    const events = [allocated(11, [1, 2]), allocated(12, [2, 2]), released(13, 11)];
    const subscriber = {
      onSnapshot: () => undefined,
      onEvents: (command: readonly { kind: string }[], seq: number) =>
        void received.push(`${seq}: ${command.map(({ kind }) => kind).join(' ')}`),
    };
    deliverCommands({ events, position: position(13), head: position(13) }, [subscriber]);
    expect(received).to.deep.equal(['12: allocated allocated', '13: released']);
  });
});
