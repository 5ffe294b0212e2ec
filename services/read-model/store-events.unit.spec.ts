import { pino } from 'pino';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { WatchReply } from '../../proto/generated/ipledger.ts';
import {
  fakeEvent,
  podLifeEvents,
  fakePosition,
  hourInstant,
  watchReply,
  temporaryFile,
} from './testing/fake-events.ts';
import { storeEvents } from './store-events.ts';
import { ReadModel } from './read-model.ts';
import { emptyPosition } from './store/database-file.ts';

interface LogLine {
  readonly failures?: number;
}

describe('storeEvents', () => {
  let place: ReturnType<typeof temporaryFile>;
  let model: ReadModel;
  let logged: LogLine[];
  beforeEach(() => {
    [logged, statesRead, stateError] = [[], [], undefined];
    place = temporaryFile();
    model = new ReadModel(place.file);
  });
  /** The answers of the allocator, in order. */
  let firstEvents: number[] = [];
  let statesRead: number[] = [];
  let stateError: IpledgerError | undefined;
  afterEach(() => {
    model.close();
    place.remove();
  });

  /**
   * Follows these streams one after another, until each ends or fails. Calls a function in a stream
   * when everything before it was applied. Returns the event from which each stream was opened.
   */
  async function follow(...streams: (WatchReply | IpledgerError | (() => void))[][]): Promise<number[]> {
    const openedAt: number[] = [];
    const done = new AbortController();
    const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line) as LogLine) });
    async function* watch(fromSeq: number): AsyncGenerator<WatchReply> {
      const replies = streams.shift();
      if (!replies) return done.abort();
      openedAt.push(fromSeq);
      for (const each of replies) {
        if (each instanceof IpledgerError) throw each;
        if (typeof each === 'function') each();
        else yield each;
      }
    }
    await storeEvents({
      model,
      firstEvent: () => Promise.resolve(firstEvents.shift() ?? 1),
      readState: async (seq) => {
        statesRead.push(seq);
        if (stateError) throw stateError;
        return { seq, at: hourInstant(seq), subnets: [], records: [] };
      },
      watch,
      log,
      signal: done.signal,
    });
    return openedAt;
  }
  const keepalive = (seq: number): WatchReply => watchReply([], fakePosition(seq));

  it('storeEvents stores events, and continues after them on reconnect', async () => {
    const [given, bound, released, unbound] = podLifeEvents(1) as [never, never, never, never];
    const openedAt = await follow(
      [keepalive(4), watchReply([given, bound]), new IpledgerError('UNAVAILABLE', 'away')],
      [keepalive(4), watchReply([released, unbound])],
    );
    expect(openedAt).to.deep.equal([1, 3]);
    expect(model.position).to.deep.equal(fakePosition(4));
    expect(model.store.event(4)).to.deep.equal(unbound);
  });

  it('the model rejects queries until it reaches the head that the ledger had at the start', async () => {
    expect(model.notReadyReason).to.equal('the read model has no connection to the ledger yet');
    const [given, bound] = podLifeEvents(1) as [never, never];
    await follow([keepalive(2), watchReply([given], fakePosition(1))]);
    expect(model.notReadyReason).to.equal('the read model has read 1 of 2 events so far');
    expect(() => model.store)
      .to.throw(IpledgerError)
      .with.property('code', 'UNAVAILABLE');
    await follow([keepalive(2), watchReply([bound])]);
    expect(model.notReadyReason).to.equal(undefined);
  });

  it('storeEvents rebuilds a damaged file, even while the stream is idle, and the model answers nothing until then', async () => {
    const [given, bound] = podLifeEvents(1) as [never, never];
    const openedAt = await follow(
      [
        keepalive(2),
        watchReply([given, bound]),
        () => {
          model.reportDamage('the page of event 1 does not have its hash');
          expect(() => model.store)
            .to.throw(IpledgerError)
            .with.property('code', 'UNAVAILABLE');
        },
        keepalive(2),
      ],
      [keepalive(2), watchReply([given, bound])],
    );
    expect(openedAt).to.deep.equal([1, 1]);
    expect({ damage: model.damage, ...model.position }).to.deep.equal({ damage: undefined, ...fakePosition(2) });
    expect(model.store.event(2)).to.deep.equal(bound);
    expect(logged[0]).to.include({ reason: 'the page of event 1 does not have its hash' });
  });

  it('storeEvents splits transactions only between commands', async () => {
    const events = Array.from({ length: 250 }, (_, index) =>
      fakeEvent(index + 1, index >= 90 && index < 110 ? { part: index - 89, parts: 20 } : {}),
    );
    const positions: number[] = [];
    const append = model.append.bind(model);
    model.append = (part, at) => {
      positions.push(at.seq);
      append(part, at);
    };
    await follow([keepalive(0), watchReply(events)]);
    expect(positions).to.deep.equal([110, 210, 250]);
  });

  /** Records the position after each transaction. */
  function positionsOf(): number[] {
    const positions: number[] = [];
    const append = model.append.bind(model);
    model.append = (part, at) => {
      positions.push(at.seq);
      append(part, at);
    };
    return positions;
  }
  const replyOf = (from: number, to: number): WatchReply =>
    watchReply(Array.from({ length: to - from + 1 }, (_, index) => fakeEvent(from + index)));

  it('storeEvents stores several replies in one transaction while it catches up, and the last reply at the head', async () => {
    const positions = positionsOf();
    const replies = [1, 501, 1_001, 1_501, 2_001].map((from) => replyOf(from, from + 499));
    await follow([keepalive(2_600), ...replies, replyOf(2_501, 2_600), replyOf(2_601, 2_603)]);
    expect(positions).to.deep.equal([2_000, 2_600, 2_603]);
    expect(model.store.event(2_603).seq).to.equal(2_603);
  });

  it('storeEvents stores the received events when the stream ends, fails or is idle while it catches up', async () => {
    const positions = positionsOf();
    const openedAt = await follow(
      [keepalive(300), replyOf(1, 100)],
      [keepalive(300), replyOf(101, 150), new IpledgerError('UNAVAILABLE', 'away')],
      [keepalive(300), replyOf(151, 200), keepalive(300), replyOf(201, 250)],
    );
    expect(openedAt).to.deep.equal([1, 101, 151]);
    expect(positions).to.deep.equal([100, 150, 200, 250]);
  });

  it('storeEvents drops events that it received from another ledger', async () => {
    await follow([keepalive(2), watchReply(podLifeEvents(1).slice(0, 2))]);
    model.reset();
    await follow([keepalive(300), replyOf(1, 100)]);
    const positions = positionsOf();
    const stream = [keepalive(300), replyOf(101, 150), watchReply([{ ...fakeEvent(151), prev: 'another' }])];
    expect(await follow(stream, [keepalive(1), replyOf(1, 1)])).to.deep.equal([101, 1]);
    expect(positions).to.deep.equal([1]);
  });

  it('storeEvents stores events up to the head of a rewound ledger, although the ledger was longer before', async () => {
    const stored: number[] = [];
    await follow(
      [keepalive(100_000), replyOf(1, 600), new IpledgerError('UNAVAILABLE', 'away')],
      [keepalive(300)],
      [keepalive(3), replyOf(1, 3), () => stored.push(model.position.seq), replyOf(4, 4)],
    );
    expect(stored).to.deep.equal([3]);
  });

  for (const [what, broken] of [
    ['with a head before the stored position', [keepalive(1)]],
    ['with another event at the stored position', [watchReply([], { ...fakePosition(2), hash: 'another' })]],
    ['with another event before the next one', [keepalive(5), watchReply([{ ...fakeEvent(3), prev: 'another' }])]],
    ['that ends before the stored position', [new IpledgerError('POSITION_GONE', 'event 3 is beyond the ledger')]],
  ] as const)
    it(`storeEvents rebuilds the store for a ledger ${what}`, async () => {
      await follow([keepalive(2), watchReply(podLifeEvents(1).slice(0, 2))]);
      const openedAt = await follow([...broken], [keepalive(1), watchReply([fakeEvent(1, { type: 'LedgerCreated' })])]);
      expect(openedAt).to.deep.equal([3, 1]);
      expect(model.position).to.deep.equal(fakePosition(1));
      expect(model.store.event(1).type).to.equal('LedgerCreated');
    });

  it('storeEvents keeps the store when an event is missing in the stream', async () => {
    const openedAt = await follow(
      [keepalive(4), watchReply([fakeEvent(1)]), watchReply([fakeEvent(3)])],
      [keepalive(4)],
    );
    expect(openedAt).to.deep.equal([1, 2]);
    expect(model.position).to.deep.equal(fakePosition(1));
  });

  it('storeEvents begins at the history start, even if that moves before it is read', async () => {
    firstEvents = [3, 4];
    const gone = new IpledgerError('POSITION_GONE', 'the history begins with event 4');
    const [given] = podLifeEvents(4) as [never];
    expect(await follow([keepalive(4), gone], [keepalive(4), watchReply([given])])).to.deep.equal([3, 4]);
    expect(model.position).to.deep.equal(fakePosition(4));
    expect(model.store.firstSeq).to.equal(4);
    expect(statesRead).to.deep.equal([2, 3]);
    expect(model.store.mapsFromSeq).to.equal(4);
  });

  it('storeEvents stores the events also when the state before them cannot be read', async () => {
    firstEvents = [4];
    stateError = new IpledgerError('POSITION_GONE', 'no archive');
    const [given] = podLifeEvents(4) as [never];
    await follow([keepalive(4), watchReply([given])]);
    expect([model.position.seq, model.store.mapsFromSeq]).to.deep.equal([4, undefined]);
    expect(logged).to.have.length(1);
  });

  it('storeEvents retries with backoff when the first event is sealed', async () => {
    const gone = new IpledgerError('POSITION_GONE', 'event 1 is sealed: the first live one is event 900');
    const stream = [keepalive(950), gone];
    expect(await follow(stream, stream, stream)).to.deep.equal([1, 1, 1]);
    expect(model.position).to.deep.equal(emptyPosition);
    expect(logged.map(({ failures }) => failures)).to.deep.equal([0, 1, 2]);
  });
});
