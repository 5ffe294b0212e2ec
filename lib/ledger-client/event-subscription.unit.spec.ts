import { expect } from 'chai';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import type { Event, Position, WatchReply } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { type EventReply, PositionMismatch, subscribeEvents } from './event-subscription.ts';

const position = (seq: number, parts: Partial<Position> = {}): Position => ({
  epoch: 1,
  seq,
  hash: `hash-${seq}`,
  ...parts,
});
const event = (seq: number, fields: MessageInput<Event> = {}): Event =>
  decode('Event', encode('Event', { seq, prev: `hash-${seq - 1}`, hash: `hash-${seq}`, ...fields })) as Event;
const reply = (events: Event[], at = position(events.at(-1)?.seq ?? 0)): WatchReply => ({ position: at, events });
const keepalive = (at: Position): WatchReply => reply([], at);

interface Recorded {
  readonly replies: EventReply[];
  readonly starts: (Position | undefined)[];
  readonly errors: unknown[];
  readonly failures: number[];
}

/** Plays one script for each connection, and aborts after the last script. */
async function subscribe(
  known: Position | undefined,
  scripts: (WatchReply | Error)[][],
  isFiltered = false,
): Promise<Recorded> {
  const recorded: Recorded = { replies: [], starts: [], errors: [], failures: [] };
  const stop = new AbortController();
  let current = known;
  async function* play(after: Position | undefined): AsyncGenerator<WatchReply> {
    const script = scripts.shift();
    if (!script) return stop.abort();
    recorded.starts.push(after);
    for (const each of script) {
      await Promise.resolve();
      if (each instanceof Error) throw each;
      yield each;
    }
  }
  await subscribeEvents({
    position: () => current,
    watch: play,
    isFiltered,
    apply: (reply) => {
      recorded.replies.push(reply);
      current = reply.position;
    },
    onFailure: (error, failures) => {
      recorded.errors.push(error);
      recorded.failures.push(failures);
    },
    signal: stop.signal,
  });
  return recorded;
}

const seqsOf = ({ replies }: Recorded): number[] => replies.flatMap(({ events }) => events.map(({ seq }) => seq));
const unavailable = new IpledgerError('UNAVAILABLE', 'connection lost');

describe('Event subscription', () => {
  it('Event subscription delivers events with the position after them, and continues there after a failure', async () => {
    const recorded = await subscribe(position(10), [
      [keepalive(position(20)), reply([event(11), event(12)]), unavailable],
      [keepalive(position(20)), reply([event(13)])],
    ]);
    expect(seqsOf(recorded)).to.deep.equal([11, 12, 13]);
    expect(recorded.replies.map((reply) => reply.position.seq)).to.deep.equal([10, 12, 12, 13]);
    expect(recorded.replies[0]?.head).to.deep.equal(position(20));
    expect(recorded.starts).to.deep.equal([position(10), position(12)]);
    expect(recorded.errors).to.deep.equal([unavailable]);
  });

  for (const [what, invalid] of [
    ['an event is missing', reply([event(12)])],
    ['an event is repeated', reply([event(10)], position(11))],
    ['an event is missing within a reply', reply([event(11), event(13)])],
  ] as const)
    it(`Event subscription delivers no events of a reply in which ${what}, and connects again`, async () => {
      const recorded = await subscribe(position(10), [[keepalive(position(13)), invalid], [reply([event(11)])]]);
      expect(seqsOf(recorded)).to.deep.equal([11]);
      expect(recorded.starts).to.deep.equal([position(10), position(10)]);
      expect(recorded.errors[0]).to.be.instanceOf(IpledgerError).that.includes({ code: 'UNAVAILABLE' });
      expect(recorded.errors[0]).not.to.be.instanceOf(PositionMismatch);
    });

  for (const [what, invalid] of [
    ['ends before the known position', keepalive(position(9))],
    ['has another event at the known position', keepalive(position(10, { hash: 'other' }))],
    ['continues from another event', reply([event(11, { prev: 'other' })])],
    ['has a broken hash chain', reply([event(11), event(12, { prev: 'other' })])],
  ] as const)
    it(`Event subscription reports a mismatch when the ledger ${what}`, async () => {
      const recorded = await subscribe(position(10), [[invalid]]);
      expect(recorded.replies).to.deep.equal([]);
      expect(recorded.errors[0]).to.be.instanceOf(PositionMismatch);
    });

  it('Event subscription accepts any first event when it has no position, and checks the events after it', async () => {
    const recorded = await subscribe(position(0, { hash: '' }), [
      [keepalive(position(950)), reply([event(900)]), reply([event(901, { prev: 'other' })])],
    ]);
    expect(seqsOf(recorded)).to.deep.equal([900]);
    expect(recorded.replies[0]?.position.seq).to.equal(0);
    expect(recorded.errors[0]).to.be.instanceOf(PositionMismatch);
  });

  it('Event subscription starts at the head of the ledger when it has no position to continue from', async () => {
    const recorded = await subscribe(undefined, [[keepalive(position(42)), unavailable], [reply([event(43)])]]);
    expect(recorded.starts).to.deep.equal([undefined, position(42)]);
    expect(seqsOf(recorded)).to.deep.equal([43]);
  });

  it('event subscription of a filtered stream checks the order, and continues after the events left out', async () => {
    const recorded = await subscribe(
      position(10),
      [
        [keepalive(position(40)), unavailable],
        [keepalive(position(40)), reply([event(15), event(30)], position(35)), keepalive(position(40)), unavailable],
        [reply([event(44), event(41)], position(44))],
      ],
      true,
    );
    expect(seqsOf(recorded)).to.deep.equal([15, 30]);
    expect(recorded.starts.map((start) => start?.seq)).to.deep.equal([10, 10, 40]);
    expect(recorded.errors.at(-1)).to.have.property(
      'message',
      'event 41 arrived after event 44: events are missing or out of order; reconnecting',
    );
  });

  it('Event subscription counts failures in a row until it receives more than a first keepalive', async () => {
    const first = keepalive(position(10));
    const { failures } = await subscribe(position(10), [
      [first, unavailable],
      [first, unavailable],
      [first, reply([event(11)]), unavailable],
      [keepalive(position(11)), keepalive(position(11)), unavailable],
    ]);
    expect(failures).to.deep.equal([0, 1, 0, 0]);
  });

  it('Event subscription ends with the error that its failure handler throws', async () => {
    const fatal = new Error('fatal');
    const ended: unknown = await subscribeEvents({
      position: () => position(10),
      async *watch() {
        await Promise.resolve();
        yield keepalive(position(10));
      },
      apply: () => {
        throw fatal;
      },
      onFailure: (error) => {
        throw error;
      },
      signal: new AbortController().signal,
    }).catch((error: unknown) => error);
    expect(ended).to.equal(fatal);
  });
});
