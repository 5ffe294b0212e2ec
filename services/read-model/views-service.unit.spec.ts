import { expect } from 'chai';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import type {
  Event,
  ListUsageReply,
  MapAddressesReply,
  MapAddressesRequest,
  SearchReply,
  StateAtReply,
} from '../../proto/generated/ipledger.ts';
import { EventStore } from './store/event-store.ts';
import { verifyStore } from './store/verify-store.ts';
import { chained, positionAfter } from './testing/chained-events.ts';
import { fakeEvent, fakePosition, hourInstant, temporaryFile } from './testing/fake-events.ts';
import { viewsHandlers } from './views-service.ts';

const context = { actor: 'anonymous', signal: new AbortController().signal };

/** Creates a store with these events for a test. */
async function withStore(
  events: readonly Event[],
  use: (views: Views, store: EventStore) => Promise<void>,
): Promise<void> {
  const { file, remove } = temporaryFile();
  const store = new EventStore(file);
  try {
    store.append(events, fakePosition(events.at(-1)?.seq ?? 0));
    await use(viewsOf(store, events.at(-1)?.seq ?? 0), store);
  } finally {
    store.close();
    remove();
  }
}

type Views = ReturnType<typeof viewsOf>;

function viewsOf(store: EventStore, hour: number) {
  const handlers = viewsHandlers({ store }, () => Date.parse(hourInstant(hour)));
  const read = (name: string, reply: object): object => decode(name, encode(name, reply));
  return {
    map: async (request: MessageInput<MapAddressesRequest>) => {
      const complete = decode(
        'MapAddressesRequest',
        encode('MapAddressesRequest', { subnet: 'lan', family: 4, ...request }),
      );
      const reply = await handlers.mapAddresses(complete as MapAddressesRequest, context);
      return read('MapAddressesReply', reply) as MapAddressesReply;
    },
    usage: async (hours: number) =>
      read('ListUsageReply', await handlers.listUsage({ subnet: 'lan', hours }, context)) as ListUsageReply,
    search: async (text: string) => (read('SearchReply', await handlers.search({ text }, context)) as SearchReply).hits,
  };
}

const number = (last: number): number => 10 * 2 ** 24 + last;
const configured = (seq: number, spec = {}): Event =>
  fakeEvent(seq, {
    type: 'SubnetConfigured',
    subnetConfigured: { spec: { cidrBlock: '10.0.0.0/24,fd00::/64', provider: 'lan.default', ...spec } },
  });
const attachment = (pod: string) => ({ namespace: 'default', pod, provider: 'lan.default', ordinal: 0 });
const allocated = (seq: number, address: string, pod = 'web', fields: MessageInput<Event> = {}): Event =>
  fakeEvent(seq, {
    type: 'AddressAllocated',
    addressAllocated: {
      attachment: attachment(pod),
      uid: `uid-${pod}`,
      addresses: [{ address }],
      mac: '02:00:00:00:00:0a',
    },
    ...fields,
  });
const released = (seq: number, address: string, pod = 'web'): Event =>
  fakeEvent(seq, {
    type: 'AddressReleased',
    addressReleased: { attachment: attachment(pod), uid: `uid-${pod}`, addresses: [address] },
  });
const containerId = 'c0ffee'.repeat(10);
const bound = (seq: number, address: string, pod = 'web'): Event =>
  fakeEvent(seq, {
    type: 'AddressBound',
    addressBound: {
      attachment: attachment(pod),
      addresses: [address],
      containerId,
      interface: 'net1',
      node: 'node-1',
      bootId: 'b',
    },
  });
const twoHoursMs = 7_200_000;

/** Returns the error code of a call, which must fail. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return (error as { code: string }).code;
  }
  throw new Error('the call succeeded');
}

describe('MapAddresses', () => {
  it('MapAddresses shows an address as resting until its cooldown is over, at the time of the request', () =>
    withStore(
      [
        configured(1, { cooldownMs: twoHoursMs }),
        allocated(2, '10.0.0.5'),
        released(3, '10.0.0.5'),
        fakeEvent(4, { type: 'KeyRotated', subnet: '', keyRotated: {} }),
        fakeEvent(5, { type: 'KeyRotated', subnet: '', keyRotated: {} }),
      ],
      async ({ map }) => {
        const statesAt = async (seq: number) => (await map({ pointInTime: { seq } })).states;
        expect(await statesAt(2)).to.deep.equal(['MAP_STATE_ALLOCATED']);
        expect(await statesAt(4)).to.deep.equal(['MAP_STATE_RESTING']);
        expect(await statesAt(5)).to.deep.equal([]);
        expect((await map({ pointInTime: { at: '2026-01-01T04:59:59.999Z' } })).states).to.deep.equal([
          'MAP_STATE_RESTING',
        ]);
        expect((await map({})).states).to.deep.equal([]);
      },
    ));

  it('MapAddresses reads no claims for a client that only needs the moments', () =>
    withStore([configured(1), allocated(2, '10.0.0.5'), allocated(3, '10.0.0.6', 'db')], async ({ map }, store) => {
      Object.assign(store.maps, { claims: () => expect.fail('the claims were read') });
      const { previous, next, ipv4, states } = await map({
        address: '10.0.0.6',
        onlyMoments: true,
        pointInTime: { seq: 2 },
      });
      expect([previous, next?.seq, ipv4, states]).to.deep.equal([undefined, 3, [], []]);
    }));

  it('MapAddresses names the events of the Subnet, or of one address, before and after the moment', () =>
    withStore(
      [
        configured(1),
        allocated(2, '10.0.0.5'),
        allocated(3, '10.0.0.6', 'db'),
        allocated(4, '10.9.0.6', 'other', { subnet: 'san' }),
        released(5, '10.0.0.6', 'db'),
        released(6, '10.0.0.5'),
      ],
      async ({ map }) => {
        const near = async (address = '') => {
          const { previous, next, first, last } = await map({ pointInTime: { seq: 4 }, address });
          return [previous?.seq, next?.seq, first?.seq, last?.seq];
        };
        expect(await near()).to.deep.equal([3, 5, 1, 6]);
        expect(await near('10.0.0.5')).to.deep.equal([2, 6, 1, 6]);
        expect(await near('10.0.0.7')).to.deep.equal([undefined, undefined, 1, 6]);
      },
    ));

  it('MapAddresses returns complete commands only, and IPv6 addresses in numeric order', () =>
    withStore(
      [
        configured(1),
        allocated(2, 'fd00::10', 'web', { part: 1, parts: 2 }),
        allocated(3, 'fd00::2', 'db', { part: 2, parts: 2 }),
      ],
      async ({ map }) => {
        const { ipv6, moment } = await map({ family: 6, pointInTime: { seq: 2 } });
        expect([ipv6, moment?.seq]).to.deep.equal([['fd00::2', 'fd00::10'], 3]);
      },
    ));

  it('MapAddresses shows an address whose claim was dropped as free, and one on which a container may answer as resting', () =>
    withStore(
      [
        configured(1),
        allocated(2, '10.0.0.5'),
        bound(3, '10.0.0.5'),
        released(4, '10.0.0.5'),
        allocated(5, '10.0.0.6', 'db'),
        released(6, '10.0.0.6', 'db'),
        fakeEvent(7, { type: 'ClaimsDropped', claimsDropped: { addresses: ['10.0.0.6'] } }),
      ],
      async ({ map }) => {
        const { ipv4, states } = await map({});
        expect([ipv4, states]).to.deep.equal([[number(5)], ['MAP_STATE_RESTING']]);
      },
    ));

  it('MapAddresses rejects a Subnet without that family, a later event, a future time, and a store that begins late', async () => {
    await withStore([configured(1, { cidrBlock: '10.0.0.0/24' })], async ({ map }) => {
      expect(await codeOf(map({ family: 6 }))).to.equal('SUBNET_UNKNOWN');
      expect(await codeOf(map({ subnet: 'unknown' }))).to.equal('SUBNET_UNKNOWN');
      expect(await codeOf(map({ family: 5 }))).to.equal('INVALID_REQUEST');
      expect(await codeOf(map({ pointInTime: { seq: 2 } }))).to.equal('POSITION_GONE');
      expect(await codeOf(map({ pointInTime: { at: hourInstant(9) } }))).to.equal('INVALID_REQUEST');
      expect(await codeOf(map({ address: "' OR 1=1" }))).to.equal('INVALID_REQUEST');
    });
    await withStore([configured(7)], async ({ map }) => {
      expect(await codeOf(map({}))).to.equal('POSITION_GONE');
    });
  });

  it('MapAddresses returns the same map with and without keyframes, at each event of a long history', () => {
    const held = new Set<number>();
    const expected: number[][] = [[], []];
    const events = [configured(1, { cooldownMs: 0 })];
    for (let seq = 2; seq <= 6_000; seq++) {
      const last = (seq * 7_919) % 200;
      const [address, pod] = [`10.0.0.${last}`, `web-${last}`];
      events.push(held.has(last) ? released(seq, address, pod) : allocated(seq, address, pod));
      if (!held.delete(last)) held.add(last);
      expected[seq] = [...held].map(number).toSorted((one, other) => one - other);
    }
    const { file, remove } = temporaryFile();
    const store = new EventStore(file);
    for (let from = 0; from < events.length; from += 500) {
      const part = events.slice(from, from + 500);
      store.append(part, fakePosition(part.at(-1)?.seq ?? 0));
    }
    const { map } = viewsOf(store, 6_000);
    const compare = async (): Promise<void> => {
      for (let seq = 1; seq <= 6_000; seq += 61)
        expect((await map({ pointInTime: { seq } })).ipv4, `at ${seq}`).to.deep.equal(expected[seq]);
    };
    return compare().finally(() => {
      store.close();
      remove();
    });
  });
});

describe('MapAddresses of a store that begins late', () => {
  const record = (address: string, state: object) => ({ subnet: 'lan', address, lastSeq: 4, ...state });
  const spec = { cidrBlock: '10.0.0.0/24', provider: 'lan.default' };
  const container = { containerId, interface: 'net1', node: 'node-1', bootId: 'b' };
  const start = decode(
    'StateAtReply',
    encode('StateAtReply', {
      subnets: [{ name: 'lan', spec }],
      records: [
        record('10.0.0.5', {
          state: 'bound',
          allocation: { seq: 3, attachment: attachment('web') },
          bindings: [container],
        }),
        record('10.0.0.6', { state: 'reserved', reservation: { reservedFor: 'vip/web' } }),
        record('10.0.0.7', { state: 'quarantined', quarantine: { reason: 'a printer' } }),
      ],
    }),
  ) as StateAtReply;
  const events = chained([released(10, '10.0.0.5'), allocated(11, '10.0.0.8', 'db')]);

  it('MapAddresses of a store that begins late begins with the state before its first event, and verifies', async () => {
    const { file, remove } = temporaryFile();
    const store = new EventStore(file);
    try {
      store.beginWith({ seq: 9, at: hourInstant(9), subnets: start.subnets, records: start.records });
      store.append(events, positionAfter(events));
      const { map, usage } = viewsOf(store, 12);
      const entries = async (seq: number) => {
        const { ipv4, states } = await map({ pointInTime: { seq } });
        return ipv4.map((each, index) => `${each - number(0)} ${states[index]?.replace('MAP_STATE_', '')}`);
      };
      expect(await entries(10)).to.deep.equal(['5 RESTING', '6 RESERVED', '7 QUARANTINED']);
      expect(await entries(11)).to.deep.equal(['5 RESTING', '6 RESERVED', '7 QUARANTINED', '8 ALLOCATED']);
      expect((await usage(10)).usage[0]?.inUse).to.deep.equal([2, 1, 2]);
      expect(await codeOf(map({ pointInTime: { at: hourInstant(5) } }))).to.equal('POSITION_GONE');
      expect([...verifyStore(store, `${file}-verification`)]).to.have.length(1);
    } finally {
      store.close();
      remove();
    }
  });
});

describe('ListUsage', () => {
  it('ListUsage counts the addresses in use at the end of each hour, from the hour in which the period begins', () =>
    withStore(
      [
        configured(1),
        allocated(2, '10.0.0.5'),
        allocated(3, '10.0.0.6', 'db'),
        fakeEvent(4, { type: 'AddressReserved', addressReserved: { addresses: ['10.0.0.6'] } }),
        released(5, '10.0.0.6', 'db'),
        fakeEvent(6, { type: 'ReservationCancelled', reservationCancelled: { addresses: ['10.0.0.6'] } }),
      ],
      async ({ usage }) => {
        const start = Date.parse(hourInstant(0)) / 3_600_000;
        const read = async (hours: number) =>
          (await usage(hours)).usage.map((one) => [one.family, one.hours.map((hour) => hour - start), one.inUse]);
        expect(await read(100)).to.deep.equal([[4, [2, 3, 6], [1, 2, 1]]]);
        expect(await read(1)).to.deep.equal([[4, [3, 6], [2, 1]]]);
      },
    ));
});

describe('ListUsage of quarantined addresses', () => {
  const quarantined = (seq: number, address: string): Event =>
    fakeEvent(seq, { type: 'AddressQuarantined', addressQuarantined: { address, reason: 'seen' } });
  const lifted = (seq: number, address: string): Event =>
    fakeEvent(seq, { type: 'QuarantineLifted', quarantineLifted: { address } });

  it('ListUsage lists at most 100 addresses that are in quarantine now, also allocated addresses', () =>
    withStore(
      [
        configured(1),
        allocated(2, '10.0.0.5'),
        quarantined(3, '10.0.0.5'),
        quarantined(4, '10.0.0.9'),
        lifted(5, '10.0.0.9'),
        ...Array.from({ length: 120 }, (_, index) => quarantined(index + 6, `10.0.1.${index}`)),
      ],
      async ({ usage }) => {
        const found = (await usage(1)).quarantined;
        expect(found[0]).to.deep.include({ subnet: 'lan', address: '10.0.0.5', seq: 3 });
        expect(found.map(({ address }) => address)).to.not.include('10.0.0.9');
        expect(found).to.have.length(100);
      },
    ));
});

describe('Search', () => {
  const events = [
    configured(1),
    allocated(2, '10.0.0.5', 'web-0'),
    bound(3, '10.0.0.5', 'web-0'),
    allocated(4, 'fd00::5', 'webhook'),
  ];

  it('Search finds an address in any spelling, a MAC, a container id and its first 12 digits', () =>
    withStore(events, async ({ search }) => {
      const found = async (text: string) =>
        (await search(text)).map(({ kind, subnet, address, seq }) => `${kind} ${subnet} ${address} ${seq}`);
      expect(await found('10.0.0.5')).to.deep.equal(['address lan 10.0.0.5 3']);
      expect(await found('FD00:0::5')).to.deep.equal(['address lan fd00::5 4']);
      expect(await found('02-00-00-00-00-0A')).to.deep.equal(['mac lan fd00::5 4', 'mac lan 10.0.0.5 2']);
      expect(await found(containerId.toUpperCase())).to.deep.equal(['container lan 10.0.0.5 3']);
      expect(await found(containerId.slice(0, 12))).to.deep.equal(['container lan 10.0.0.5 3']);
      expect(await found(`${containerId.slice(0, 12)}00`)).to.deep.equal([]);
      expect(await found('10.0.0.99')).to.deep.equal([]);
    }));

  it('Search finds an owner that was created again many times once, and the owners after it', () => {
    const created = (seq: number, name: string, kind: string) =>
      fakeEvent(seq, {
        type: 'AddressAllocated',
        addressAllocated: {
          attachment: { namespace: 'default', pod: 'web', provider: 'lan.default', ordinal: 0 },
          owner: { kind, name, uid: `uid-${seq}` },
        },
      });
    const again = Array.from({ length: 300 }, (_, index) => created(index + 2, 'web', 'Job'));
    return withStore(
      [configured(1), ...again, created(302, 'web', 'CronJob'), created(303, 'web-2', 'Job')],
      async ({ search }) => {
        const owners = (await search('web')).filter(({ kind }) => kind === 'owner');
        expect(owners.map(({ ownerKind, name }) => `${ownerKind} ${name}`)).to.deep.equal([
          'CronJob web',
          'Job web',
          'Job web-2',
        ]);
      },
    );
  });

  it('Search finds Pods by the beginning of their name, even with a namespace, and does not interpret patterns', () =>
    withStore(events, async ({ search }) => {
      const found = async (text: string) => (await search(text)).map(({ kind, name }) => `${kind} ${name}`);
      expect(await found('web')).to.deep.equal(['pod web-0', 'pod webhook']);
      expect(await found('default/web-')).to.deep.equal(['pod web-0']);
      expect(await found('other/web-')).to.deep.equal([]);
      expect(await found('node-1')).to.deep.equal(['node node-1']);
      expect(await found('la')).to.deep.equal(['subnet lan']);
      expect(await found('w%')).to.deep.equal([]);
      expect(await codeOf(search('w'))).to.equal('INVALID_REQUEST');
    }));
});
