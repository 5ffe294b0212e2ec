import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Allocation, Event, Position, WatchReply } from '../../../proto/generated/ipledger.ts';
import { silentLogger, until } from '../testing/fakes.ts';
import { type LedgerEvent, UnknownEvent } from './ledger-events.ts';
import { followLedger, type LedgerFollowerOptions, type LedgerSnapshot } from './ledger-follower.ts';

const position = (seq: number, epoch = 1) => ({ epoch, seq, hash: `hash-${seq}` });
const attachment = { namespace: 'default', pod: 'a', provider: 'macvlan.default', ordinal: 0 };

function allocation(seq: number): Allocation {
  return {
    seq,
    attachment,
    podUid: 'u',
    node: '',
    subnet: 'macvlan',
    addresses: [],
    mac: '',
    interface: '',
    cause: 'ALLOCATION_CAUSE_DYNAMIC',
    routes: [],
    at: '',
    bindings: [],
    network: 'macvlan.default',
  };
}

function event(seq: number, data: Partial<Event>, [part, parts] = [1, 1]): Event {
  const common = {
    id: '',
    command: '',
    type: Object.keys(data)[0] ?? 'Strange',
    at: '',
    actor: '',
    before: [],
    prev: `hash-${seq - 1}`,
    stored: '',
  };
  return { ...common, seq, part, parts, subnet: 'macvlan', hash: `hash-${seq}`, ...data };
}
const released = (seq: number, alloc: number, parts?: [number, number]): Event =>
  event(
    seq,
    {
      addressReleased: {
        alloc,
        attachment,
        uid: 'u',
        addresses: [],
        cause: 'RELEASE_CAUSE_POD_DELETED',
        evidence: '',
        ended: true,
      },
    },
    parts,
  );
const allocated = (seq: number, parts?: [number, number]): Event =>
  event(
    seq,
    {
      addressAllocated: {
        attachment,
        uid: 'u',
        node: 'node-1',
        addresses: [],
        mac: '',
        interface: 'net1',
        cause: 'ALLOCATION_CAUSE_STATIC',
        routes: [],
        supersedes: '',
      },
    },
    parts,
  );
const reply = (...events: Event[]): WatchReply => ({ position: position(events.at(-1)?.seq ?? 0), events });
const keepalive = (seq: number, epoch = 1, hash = `hash-${seq}`): WatchReply => ({
  position: { epoch, seq, hash },
  events: [],
});

describe('Ledger follower', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Each watch plays one script, then stays open. Each list of allocations is the next of `lists`. */
  function world(scripts: (WatchReply | Error)[][], lists = [{ at: 10, seqs: [3] }], lastKnownPosition?: Position) {
    const alarms: (string | undefined)[] = [];
    const positions: Position[] = [];
    const received: string[] = [];
    const watchStarts: number[] = [];
    const pages: string[] = [];
    const allocator: LedgerFollowerOptions['allocator'] = {
      list: (pageToken) => {
        pages.push(pageToken);
        const { at, seqs } = (lists.length > 1 && pageToken === '' && pages.length > 1 ? lists.slice(1) : lists)[0] ?? {
          at: 0,
          seqs: [],
        };
        const index = Number(pageToken || 0);
        const nextPageToken = index + 1 < seqs.length ? String(index + 1) : '';
        return Promise.resolve({
          position: position(at + index),
          allocations: seqs.slice(index, index + 1).map(allocation),
          nextPageToken,
        });
      },
      listSubnets: () => Promise.resolve({ position: position(10), subnets: [] }),
      listPools: () => Promise.resolve({ position: position(10), pools: [] }),
      listReservations: () => Promise.resolve({ position: position(10), records: [], nextPageToken: '' }),
      async *watch(after, signal) {
        watchStarts.push(after.seq + 1);
        for (const each of scripts.shift() ?? []) {
          if (each instanceof Error) throw each;
          yield each;
        }
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    };
    const subscriber = {
      onSnapshot: ({ seq, allocations }: { seq: number; allocations: readonly { seq: number }[] }) =>
        void received.push(`snapshot ${seq}: ${allocations.map((each) => each.seq).join(' ')}`),
      onEvents: (events: readonly LedgerEvent[], seq: number) =>
        void received.push(`${seq}: ${events.map(({ kind }) => kind).join(' ')}`),
    };
    const replies = { count: 0 };
    const onReply = (): void => void (replies.count += 1);
    const following = followLedger({
      allocator,
      subscribers: [subscriber],
      onReply,
      lastKnownPosition,
      onPosition: (at) => void positions.push(at),
      onFrozen: (reason) => void alarms.push(reason),
      log: silentLogger,
      signal: stop.signal,
    });
    following.catch(() => undefined);
    return { received, watchStarts, pages, replies, alarms, positions, following };
  }

  it('delivers a snapshot, then the events after it', async () => {
    const { received, watchStarts } = world([[keepalive(10), reply(released(11, 3)), reply(allocated(12))]]);
    await until(() => received.length === 3);
    expect(received).to.deep.equal(['snapshot 10: 3', '11: released', '12: allocated']);
    expect(watchStarts).to.deep.equal([11]);
  });

  it('delivers pools and reservations in the snapshot', async () => {
    const spec = { subnet: 'macvlan', ips: ['10.0.0.9'], namespaces: [] };
    const record = (address: string) => ({
      subnet: 'macvlan',
      address,
      state: 'reserved',
      bindings: [],
      lastSeq: 5,
      releasedAt: '',
      releasedFromUid: '',
      availableAt: '',
      pool: '',
      reservation: { seq: 5, reservedFor: 'vip/web', reason: '', mac: '', at: '' },
    });
    const pages: Record<string, { records: string[]; next: string }> = {
      '': { records: ['10.0.0.2'], next: 'more' },
      more: { records: ['10.0.0.3'], next: '' },
    };
    const snapshots: LedgerSnapshot[] = [];
    const following = followLedger({
      allocator: {
        list: () => Promise.resolve({ position: position(10), allocations: [], nextPageToken: '' }),
        listSubnets: () => Promise.resolve({ position: position(10), subnets: [] }),
        listPools: () => Promise.resolve({ position: position(10), pools: [{ name: 'blue', spec, usage: [] }] }),
        listReservations: (token) => {
          const { records = [], next = '' } = pages[token] ?? {};
          return Promise.resolve({ position: position(10), records: records.map(record), nextPageToken: next });
        },
        async *watch(_from, signal) {
          yield keepalive(10);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
      },
      subscribers: [{ onSnapshot: (snapshot) => void snapshots.push(snapshot), onEvents: () => undefined }],
      log: silentLogger,
      signal: stop.signal,
    });
    following.catch(() => undefined);
    await until(() => snapshots.length === 1);
    expect(snapshots[0]?.pools).to.deep.equal([{ name: 'blue', spec, source: undefined }]);
    expect(snapshots[0]?.reservations.map(({ address }) => address)).to.deep.equal(['10.0.0.2', '10.0.0.3']);
  });

  it('watches from the position of the first page when the list has several', async () => {
    const { received, watchStarts, pages } = world([[]], [{ at: 10, seqs: [3, 5, 9] }]);
    await until(() => watchStarts.length === 1);
    expect(pages).to.deep.equal(['', '1', '2']);
    expect(received).to.deep.equal(['snapshot 10: 3 5 9']);
    expect(watchStarts).to.deep.equal([11]);
  });

  it('delivers the events of one command together', async () => {
    const { received } = world([[reply(allocated(11, [1, 2]), allocated(12, [2, 2]), released(13, 11))]]);
    await until(() => received.length === 3);
    expect(received.slice(1)).to.deep.equal(['12: allocated allocated', '13: released']);
  });

  for (const [what, broken] of [
    ['the stream breaks', new IpledgerError('UNAVAILABLE', 'connection lost')],
    ['an event is missing', reply(allocated(13))],
  ] as const)
    it(`continues after the last command when ${what}`, async () => {
      const { received, watchStarts } = world([[reply(allocated(11)), broken], [reply(allocated(12))]]);
      await until(() => received.length === 3);
      expect(received).to.deep.equal(['snapshot 10: 3', '11: allocated', '12: allocated']);
      expect(watchStarts).to.deep.equal([11, 12]);
    });

  for (const [what, cause] of [
    ['its position is gone', new IpledgerError('POSITION_GONE', 'gone')],
    ['the epoch of the ledger changes', keepalive(10, 2)],
  ] as const)
    it(`takes a new snapshot when ${what}`, async () => {
      const lists = [
        { at: 10, seqs: [3] },
        { at: 20, seqs: [15] },
      ];
      const { received, watchStarts } = world([[keepalive(10), cause], [reply(allocated(21))]], lists);
      await until(() => received.includes('21: allocated'));
      expect(received.filter((each) => each !== '11: allocated')).to.deep.equal([
        'snapshot 10: 3',
        'snapshot 20: 15',
        '21: allocated',
      ]);
      expect(watchStarts).to.deep.equal([11, 21]);
    });

  for (const [what, cause] of [
    ['the ledger ends before its position', keepalive(5)],
    ['another event has its position', keepalive(10, 1, 'other')],
    ['the hash chain is broken', reply({ ...allocated(11), prev: 'other' })],
  ] as const)
    it(`applies nothing and requests its position again when ${what}`, async () => {
      const frozen = new IpledgerError('LEDGER_FROZEN', 'event 10 is not in the ledger');
      const { received, watchStarts, alarms } = world([[keepalive(10), cause], [frozen], [frozen], [keepalive(10)]]);
      await until(() => watchStarts.length === 4 && alarms.at(-1) === undefined);
      expect(watchStarts).to.deep.equal([11, 11, 11, 11]);
      expect(received).to.deep.equal(['snapshot 10: 3']);
      expect(alarms).to.include('event 10 is not in the ledger');
    });

  it('takes no snapshot of a ledger that lacks the last known position, until it is recovered', async () => {
    const frozen = new IpledgerError('LEDGER_FROZEN', 'event 99 is not in the ledger');
    const restored = new IpledgerError('POSITION_GONE', 'another epoch');
    const { received, watchStarts } = world(
      [[frozen], [frozen], [restored], [reply(allocated(11))]],
      undefined,
      position(99),
    );
    await until(() => received.length === 2);
    expect(watchStarts).to.deep.equal([100, 100, 100, 11]);
    expect(received).to.deep.equal(['snapshot 10: 3', '11: allocated']);
  });

  it('takes a snapshot of a ledger that contains the last known position, and reports its position', async () => {
    const { received, watchStarts, positions } = world(
      [[keepalive(10)], [reply(allocated(11))]],
      undefined,
      position(9),
    );
    await until(() => received.length === 2);
    expect(watchStarts).to.deep.equal([10, 11]);
    expect(positions.at(-1)).to.deep.equal(position(11));
  });

  it('reports each reply, keepalives included', async () => {
    const { replies } = world([[keepalive(10), reply(allocated(11))]]);
    await until(() => replies.count === 2);
  });

  it('fails with a remedy at an event of unknown type', async () => {
    const { following } = world([[reply(event(11, {}))]]);
    const error: unknown = await following.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(UnknownEvent);
    expect(error)
      .to.have.property('message')
      .that.contains('event 11 is of type Strange')
      .and.contains('upgrade it to the allocator’s version'.replace('’', "'"));
  });
});
