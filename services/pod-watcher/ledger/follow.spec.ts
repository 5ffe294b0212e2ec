import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Allocation, Event, Position, WatchReply } from '../../../proto/ipledger.ts';
import { silent, until } from '../fakes.ts';
import { type Fact, UnknownEvent } from './facts.ts';
import { follow, type FollowOptions, type Snapshot } from './follow.ts';

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
      addressReleased: { alloc, attachment, uid: 'u', addresses: [], cause: 'RELEASE_CAUSE_POD_DELETED', evidence: '' },
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
const signOfLife = (seq: number, epoch = 1, hash = `hash-${seq}`): WatchReply => ({
  position: { epoch, seq, hash },
  events: [],
});

describe('following the ledger', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Each watch plays one script, then stays open; lists answer with the next of `lists`. */
  function world(scripts: (WatchReply | Error)[][], lists = [{ at: 10, seqs: [3] }], remembered?: Position) {
    const alarms: (string | undefined)[] = [];
    const positions: Position[] = [];
    const told: string[] = [];
    const watchedFrom: number[] = [];
    const pages: string[] = [];
    const allocator: FollowOptions['allocator'] = {
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
        watchedFrom.push(after.seq + 1);
        for (const each of scripts.shift() ?? []) {
          if (each instanceof Error) throw each;
          yield each;
        }
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    };
    const reader = {
      snapshot: ({ seq, holdings }: { seq: number; holdings: readonly { seq: number }[] }) =>
        void told.push(`snapshot ${seq}: ${holdings.map((each) => each.seq).join(' ')}`),
      facts: (facts: readonly Fact[], seq: number) =>
        void told.push(`${seq}: ${facts.map(({ kind }) => kind).join(' ')}`),
    };
    const heard = { count: 0 };
    const onHeard = (): void => void (heard.count += 1);
    const following = follow({
      allocator,
      readers: [reader],
      onHeard,
      remembered,
      onPosition: (at) => void positions.push(at),
      onFrozen: (sentence) => void alarms.push(sentence),
      log: silent,
      signal: stop.signal,
    });
    following.catch(() => undefined);
    return { told, watchedFrom, pages, heard, alarms, positions, following };
  }

  it('begins with the state at a position, and goes on after it', async () => {
    const { told, watchedFrom } = world([[signOfLife(10), reply(released(11, 3)), reply(allocated(12))]]);
    await until(() => told.length === 3);
    expect(told).to.deep.equal(['snapshot 10: 3', '11: ended', '12: given']);
    expect(watchedFrom).to.deep.equal([11]);
  });

  it('begins with the pools and what is reserved, too', async () => {
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
    const snapshots: Snapshot[] = [];
    const following = follow({
      allocator: {
        list: () => Promise.resolve({ position: position(10), allocations: [], nextPageToken: '' }),
        listSubnets: () => Promise.resolve({ position: position(10), subnets: [] }),
        listPools: () => Promise.resolve({ position: position(10), pools: [{ name: 'blue', spec, usage: [] }] }),
        listReservations: (token) => {
          const { records = [], next = '' } = pages[token] ?? {};
          return Promise.resolve({ position: position(10), records: records.map(record), nextPageToken: next });
        },
        async *watch(_from, signal) {
          yield signOfLife(10);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
      },
      readers: [{ snapshot: (snapshot) => void snapshots.push(snapshot), facts: () => undefined }],
      log: silent,
      signal: stop.signal,
    });
    following.catch(() => undefined);
    await until(() => snapshots.length === 1);
    expect(snapshots[0]?.pools).to.deep.equal([{ name: 'blue', spec, source: undefined }]);
    expect(snapshots[0]?.reservations.map(({ address }) => address)).to.deep.equal(['10.0.0.2', '10.0.0.3']);
  });

  it('replays from the first page’s position when the list has several', async () => {
    const { told, watchedFrom, pages } = world([[]], [{ at: 10, seqs: [3, 5, 9] }]);
    await until(() => watchedFrom.length === 1);
    expect(pages).to.deep.equal(['', '1', '2']);
    expect(told).to.deep.equal(['snapshot 10: 3 5 9']);
    expect(watchedFrom).to.deep.equal([11]);
  });

  it('tells the events of one command together', async () => {
    const { told } = world([[reply(allocated(11, [1, 2]), allocated(12, [2, 2]), released(13, 11))]]);
    await until(() => told.length === 3);
    expect(told.slice(1)).to.deep.equal(['12: given given', '13: ended']);
  });

  for (const [what, broken] of [
    ['the stream breaks', new IpledgerError('UNAVAILABLE', 'connection lost')],
    ['an event is missing', reply(allocated(13))],
  ] as const)
    it(`goes on after the last command when ${what}`, async () => {
      const { told, watchedFrom } = world([[reply(allocated(11)), broken], [reply(allocated(12))]]);
      await until(() => told.length === 3);
      expect(told).to.deep.equal(['snapshot 10: 3', '11: given', '12: given']);
      expect(watchedFrom).to.deep.equal([11, 12]);
    });

  for (const [what, cause] of [
    ['its position is gone', new IpledgerError('POSITION_GONE', 'gone')],
    ['the ledger goes on in another epoch', signOfLife(10, 2)],
  ] as const)
    it(`begins anew when ${what}`, async () => {
      const lists = [
        { at: 10, seqs: [3] },
        { at: 20, seqs: [15] },
      ];
      const { told, watchedFrom } = world([[signOfLife(10), cause], [reply(allocated(21))]], lists);
      await until(() => told.includes('21: given'));
      expect(told.filter((each) => each !== '11: given')).to.deep.equal([
        'snapshot 10: 3',
        'snapshot 20: 15',
        '21: given',
      ]);
      expect(watchedFrom).to.deep.equal([11, 21]);
    });

  for (const [what, cause] of [
    ['the ledger ends before its position', signOfLife(5)],
    ['another event stands at its position', signOfLife(10, 1, 'other')],
    ['the next event does not follow on its own', reply({ ...allocated(11), prev: 'other' })],
  ] as const)
    it(`believes nothing of it, and asks whether it was rewound, when ${what}`, async () => {
      const frozen = new IpledgerError('LEDGER_FROZEN', 'event 10 is not in the ledger');
      const { told, watchedFrom, alarms } = world([[signOfLife(10), cause], [frozen], [frozen], [signOfLife(10)]]);
      await until(() => watchedFrom.length === 4 && alarms.at(-1) === undefined);
      expect(watchedFrom).to.deep.equal([11, 11, 11, 11]);
      expect(told).to.deep.equal(['snapshot 10: 3']);
      expect(alarms).to.include('event 10 is not in the ledger');
    });

  it('believes no ledger at first that lacks what is remembered of it, until it was restored', async () => {
    const frozen = new IpledgerError('LEDGER_FROZEN', 'event 99 is not in the ledger');
    const restored = new IpledgerError('POSITION_GONE', 'another epoch');
    const { told, watchedFrom } = world(
      [[frozen], [frozen], [restored], [reply(allocated(11))]],
      undefined,
      position(99),
    );
    await until(() => told.length === 2);
    expect(watchedFrom).to.deep.equal([100, 100, 100, 11]);
    expect(told).to.deep.equal(['snapshot 10: 3', '11: given']);
  });

  it('takes a ledger that holds what is remembered of it, and tells where it is', async () => {
    const { told, watchedFrom, positions } = world([[signOfLife(10)], [reply(allocated(11))]], undefined, position(9));
    await until(() => told.length === 2);
    expect(watchedFrom).to.deep.equal([10, 11]);
    expect(positions.at(-1)).to.deep.equal(position(11));
  });

  it('tells each time that something was heard', async () => {
    const { heard } = world([[signOfLife(10), reply(allocated(11))]]);
    await until(() => heard.count === 2);
  });

  it('stops at an event that it does not know, and says what to do', async () => {
    const { following } = world([[reply(event(11, {}))]]);
    const error: unknown = await following.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(UnknownEvent);
    expect(error)
      .to.have.property('message')
      .that.contains('event 11 is of type Strange')
      .and.contains('bring it to the allocator’s version'.replace('’', "'"));
  });
});
