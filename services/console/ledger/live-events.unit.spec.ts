import { expect } from 'chai';
import { pino } from 'pino';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { decode, encode } from '../../../proto/codec.ts';
import type { Event, WatchReply } from '../../../proto/generated/ipledger.ts';
import { LiveEvents } from './live-events.ts';

const event = (seq: number): Event =>
  decode(
    'Event',
    encode('Event', { seq, type: 'KeyRotated', keyRotated: {}, prev: `h${seq - 1}`, hash: `h${seq}` }),
  ) as Event;
const reply = (seqs: readonly number[], head: number): WatchReply => ({
  position: { epoch: 1, seq: head, hash: `h${head}` },
  events: seqs.map(event),
});

/** Follows these replies. Returns the events, and the number of streams that were opened. */
async function follow(
  replies: readonly WatchReply[],
): Promise<{ events: LiveEvents; opened: number; received: number[] }> {
  const events = new LiveEvents();
  const ending = new AbortController();
  const received: number[] = [];
  events.subscribe((rows) => received.push(...rows.map(({ seq }) => seq)));
  let opened = 0;
  const client = fakeLedgerClient({
    async *watchReplies() {
      opened++;
      await Promise.resolve();
      yield* replies;
      ending.abort();
    },
  });
  await events.follow(client, pino({ level: 'silent' }), ending.signal);
  return { events, opened, received };
}

describe('LiveEvents', () => {
  it('LiveEvents passes new events on, and returns the events after the last that a browser has seen', async () => {
    const { events, opened, received } = await follow([reply([], 10), reply([11, 12], 12), reply([13], 13)]);
    expect([opened, received, events.position?.seq]).to.deep.equal([1, [11, 12, 13], 13]);
    expect(events.after(11).map(({ seq }) => seq)).to.deep.equal([12, 13]);
    expect(events.after(13)).to.deep.equal([]);
    expect(events.after(10)).to.have.length(3);
  });

  it('LiveEvents reports a gap for events before its start, and for events beyond its limit', async () => {
    const many = Array.from({ length: 6_000 }, (_, index) => 11 + index);
    const { events } = await follow([reply([], 10), reply(many, 6_010)]);
    expect(() => events.after(9)).to.throw('load the list again');
    expect(() => events.after(1_009)).to.throw('load the list again');
    expect(events.after(1_010)).to.have.length(5_000);
  });

  it('LiveEvents drops the events of a ledger that was restored, reports the restore, and follows the restored ledger', async () => {
    const events = new LiveEvents();
    const ending = new AbortController();
    let lost = 0;
    events.subscribeLost(() => lost++);
    const streams = [[reply([], 10), reply([11], 11)], [reply([], 5)], [reply([], 5), reply([6], 6)]];
    const client = fakeLedgerClient({
      async *watchReplies() {
        await Promise.resolve();
        yield* streams.shift() ?? [];
        if (streams.length === 0) ending.abort();
      },
    });
    await events.follow(client, pino({ level: 'silent' }), ending.signal);
    expect([lost, events.position?.seq, events.after(5).map(({ seq }) => seq)]).to.deep.equal([1, 6, [6]]);
    expect(() => events.after(4)).to.throw('load the list again');
  });
});
