import { expect } from 'chai';
import { pino } from 'pino';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import type { Event, GetStatusReply, Position, WatchReply } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { FatalLedgerError, followLedger, UnknownEvent } from './follow-ledger.ts';
import { fakeLedgerClient } from './testing/fake-ledger-client.ts';

const position = (seq: number, epoch = 1): Position => ({ epoch, seq, hash: `hash-${seq}` });
const event = (seq: number, fields: MessageInput<Event> = {}): Event =>
  decode('Event', encode('Event', { seq, prev: `hash-${seq - 1}`, hash: `hash-${seq}`, ...fields })) as Event;
const reply = (...events: Event[]): WatchReply => ({ position: position(events.at(-1)?.seq ?? 0), events });
const keepalive = (seq: number, epoch = 1, hash = `hash-${seq}`): WatchReply => ({
  position: { epoch, seq, hash },
  events: [],
});
const lost = new IpledgerError('UNAVAILABLE', 'connection lost');
const gone = new IpledgerError('POSITION_GONE', 'another epoch');
const frozen = new IpledgerError('LEDGER_FROZEN', 'event 10 is not in the ledger');

interface Follower {
  /**
   * The calls in order: snapshots, events, the position after each reply, and the start of each
   * stream.
   */
  readonly received: string[];
  readonly alarms: (string | undefined)[];
  readonly levels: string[];
}

interface World {
  /** The content of each stream. The follower is stopped after the last, and after a warning. */
  readonly streams: (WatchReply | Error)[][];
  /** The positions of the snapshots; the last one is repeated. */
  readonly snapshots?: number[];
  /** The number of snapshots that fail at first. */
  readonly failedSnapshots?: number;
  readonly lastKnownPosition?: Position;
  /** The answers to GetStatus; the last one is repeated. Default: not frozen. */
  readonly statuses?: MessageInput<GetStatusReply>[];
  /** Runs for each applied event, after the event is recorded. */
  readonly onEvent?: (event: Event) => void;
}

async function follow({
  streams,
  snapshots = [10],
  failedSnapshots = 0,
  lastKnownPosition,
  statuses = [{ position: position(10) }],
  onEvent,
}: World): Promise<Follower> {
  const { received, alarms, levels }: Follower = { received: [], alarms: [], levels: [] };
  const stop = new AbortController();
  const allocator = fakeLedgerClient({
    getStatus: () => (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? {},
    async *watchReplies({ fromSeq, after }) {
      received.push(`watch ${fromSeq} after ${after?.seq}`);
      const replies = streams.shift();
      if (!replies) return stop.abort();
      for (const each of replies) {
        await Promise.resolve();
        if (each instanceof Error) throw each;
        yield each;
      }
    },
  });
  const write = (line: string): void => {
    const { level } = JSON.parse(line) as { level: number };
    levels.push(pino.levels.labels[level] ?? '');
    if (levels.at(-1) === 'warn') stop.abort();
  };
  await followLedger({
    allocator,
    takeSnapshot: () => {
      if (failedSnapshots-- > 0) return Promise.reject(lost);
      const seq = (snapshots.length > 1 ? snapshots.shift() : snapshots[0]) ?? 0;
      received.push(`snapshot ${seq}`);
      return Promise.resolve({ position: position(seq), allocations: 3 });
    },
    apply: ({ events, position: { seq } }) => {
      for (const each of events) onEvent?.(each);
      received.push(...events.map((each) => `event ${each.seq}`), `at ${seq}`);
    },
    onFrozen: (reason) => void alarms.push(reason),
    ...(lastKnownPosition && { lastKnownPosition }),
    log: pino({ level: 'info' }, { write }),
    signal: stop.signal,
  });
  return { received, alarms, levels };
}

const watchesOf = ({ received }: Follower): string[] => received.filter((each) => each.startsWith('watch'));
const exceptWatches = ({ received }: Follower): string[] => received.filter((each) => !each.startsWith('watch'));

describe('The follower of the ledger', () => {
  it('The follower of the ledger delivers a snapshot, the events after it, and the position after each reply', async () => {
    const { received } = await follow({ streams: [[keepalive(10), reply(event(11), event(12)), reply(event(13))]] });
    expect(received).to.deep.equal([
      'snapshot 10',
      'watch 11 after 10',
      'at 10',
      'event 11',
      'event 12',
      'at 12',
      'event 13',
      'at 13',
      'watch 14 after 13',
    ]);
  });

  for (const [what, broken] of [
    ['the stream breaks', lost],
    ['an event is missing', reply(event(13))],
  ] as const)
    it(`The follower of the ledger continues after the last event, without another snapshot, when ${what}`, async () => {
      const follower = await follow({ streams: [[reply(event(11)), broken], [reply(event(12))]] });
      expect(exceptWatches(follower)).to.deep.equal(['snapshot 10', 'event 11', 'at 11', 'event 12', 'at 12']);
      expect(watchesOf(follower)).to.deep.equal(['watch 11 after 10', 'watch 12 after 11', 'watch 13 after 12']);
    });

  it('The follower of the ledger applies a reply again when its effect was not complete', async () => {
    let failures = 0;
    const onEvent = ({ seq }: Event): void => {
      if (seq === 12 && (failures += 1) === 1) throw new Error('not applied');
    };
    const replies = [reply(event(11)), reply(event(12))];
    const follower = await follow({ streams: [replies, [reply(event(12))]], onEvent });
    expect(exceptWatches(follower)).to.deep.equal(['snapshot 10', 'event 11', 'at 11', 'event 12', 'at 12']);
  });

  for (const [what, cause] of [
    ['its position is gone', gone],
    ['the epoch of the ledger changes', keepalive(10, 2)],
  ] as const)
    it(`The follower of the ledger takes a new snapshot when ${what}`, async () => {
      const follower = await follow({ streams: [[keepalive(10), cause], [reply(event(21))]], snapshots: [10, 20] });
      expect(exceptWatches(follower)).to.deep.equal(['snapshot 10', 'at 10', 'snapshot 20', 'event 21', 'at 21']);
      expect(watchesOf(follower).slice(0, 2)).to.deep.equal(['watch 11 after 10', 'watch 21 after 20']);
    });

  for (const [what, cause] of [
    ['the ledger ends before its position', keepalive(5)],
    ['another event has its position', keepalive(10, 1, 'other')],
    ['the hash chain is broken', reply(event(11, { prev: 'other' }))],
  ] as const)
    it(`The follower of the ledger applies nothing and requests its position again when ${what}`, async () => {
      const follower = await follow({ streams: [[keepalive(10), cause], [frozen], [keepalive(10)]] });
      expect(watchesOf(follower)).to.deep.equal(Array.from({ length: 4 }, () => 'watch 11 after 10'));
      expect(exceptWatches(follower)).to.deep.equal(['snapshot 10', 'at 10', 'at 10']);
      expect(follower.alarms).to.deep.equal([undefined, frozen.message, undefined]);
    });

  it('The follower of the ledger takes no snapshot of a ledger that lacks the last known position, until it is recovered', async () => {
    const streams = [[frozen], [gone], [reply(event(11))]];
    const follower = await follow({ streams, lastKnownPosition: position(99) });
    expect(watchesOf(follower).slice(0, 3)).to.deep.equal([
      'watch 100 after 99',
      'watch 100 after 99',
      'watch 11 after 10',
    ]);
    expect(exceptWatches(follower)).to.deep.equal(['snapshot 10', 'event 11', 'at 11']);
  });

  it('The follower of the ledger takes no snapshot of a frozen ledger until the recovery has ended, although it knows no lost event', async () => {
    const freeze = { known: position(10), head: position(10), reportedBy: 'ipledger://allocator/a' };
    const statuses = [{ position: position(10), freeze }, { position: position(11, 2), freeze }, {}];
    const follower = await follow({ streams: [[reply(event(11))]], statuses });
    expect(exceptWatches(follower)).to.deep.equal(['snapshot 10', 'event 11', 'at 11']);
    expect(follower.alarms).to.have.length(3);
    expect(follower.alarms[0]).to.match(/^the ledger is frozen, .* ipledger:\/\/allocator\/a has noticed the restore/);
    expect(follower.alarms[1]).to.equal(follower.alarms[0]);
  });

  it('The follower of the ledger takes a snapshot of a ledger that contains the last known position', async () => {
    const streams = [[keepalive(10)], [reply(event(11))]];
    const { received } = await follow({ streams, lastKnownPosition: position(9) });
    expect(received.slice(0, 3)).to.deep.equal(['watch 10 after 9', 'snapshot 10', 'watch 11 after 10']);
  });

  it('The follower of the ledger compares its last known position again when its snapshot failed, as the ledger may be rewound since', async () => {
    const streams = [[keepalive(99)], [frozen], [gone], [reply(event(11))]];
    const follower = await follow({ streams, lastKnownPosition: position(99), failedSnapshots: 1 });
    expect(watchesOf(follower).slice(0, 4)).to.deep.equal([
      'watch 100 after 99',
      'watch 100 after 99',
      'watch 100 after 99',
      'watch 11 after 10',
    ]);
  });

  it('The follower of the ledger logs failures in a row as warnings from the fourth on', async () => {
    const { levels } = await follow({ streams: [[lost], [lost], [lost], [lost]] });
    expect(levels).to.deep.equal(['info', 'info', 'info', 'info', 'warn']);
  });

  for (const error of [new UnknownEvent(event(11, { type: 'Strange' }), 'pod-watcher'), new FatalLedgerError('ended')])
    it(`The follower of the ledger ends with a ${error.name}, for which a retry does not help`, async () => {
      const onEvent = (): void => {
        throw error;
      };
      const ended: unknown = await follow({ streams: [[reply(event(11))]], onEvent }).catch(
        (thrown: unknown) => thrown,
      );
      expect(ended).to.equal(error);
    });

  it('The follower of the ledger names the remedy for an event of unknown type', () => {
    expect(new UnknownEvent(event(11, { type: 'Strange' }), 'pod-watcher').message).to.equal(
      "event 11 is of type Strange, which this pod-watcher does not know: upgrade it to the allocator's version",
    );
  });
});
