import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { decode, encode } from '../../../proto/codec.ts';
import type { Allocation, Event, WatchReply } from '../../../proto/generated/ipledger.ts';
import { followLedger, OtherLedger } from './follow-ledger.ts';
import type { ProjectorLedgerClient } from './ledger-client.ts';
import { UnknownEvent } from './ledger-model.ts';

const position = (seq: number, epoch = 1) => ({ epoch, seq, hash: `hash-${seq}` });
const event = (seq: number): Event =>
  decode('Event', encode('Event', { seq, hash: `hash-${seq}`, prev: `hash-${seq - 1}`, subnetRetired: {} })) as Event;
const allocation = (seq: number): Allocation => decode('Allocation', encode('Allocation', { seq })) as Allocation;
const reply = (seq: number): WatchReply => ({ position: position(seq), events: [event(seq)] });
const keepalive = (seq: number, epoch = 1): WatchReply => ({ position: position(seq, epoch), events: [] });

/** Plays one script for each watch, and aborts after the last. The pages of the list are of these positions. */
async function play(scripts: (WatchReply | Error)[][], pages = [10], ledgers = ['01LEDGER']): Promise<string[]> {
  const received: string[] = [];
  const stop = new AbortController();
  const allocator: ProjectorLedgerClient = {
    status: () =>
      Promise.resolve({
        ledger: (ledgers.length > 1 ? ledgers.shift() : ledgers[0]) ?? '',
        at: '',
        oldestSeq: 1,
        oldestAt: '',
        logStartSeq: 1,
        ledgerTime: '',
      }),
    listAllocations: (token) => {
      const page = Number(token);
      const nextPageToken = page + 1 < pages.length ? String(page + 1) : '';
      return Promise.resolve({ position: position(pages[page] ?? 0), allocations: [allocation(page)], nextPageToken });
    },
    listSubnets: () => Promise.resolve({ position: position(pages.at(-1) ?? 0), subnets: [] }),
    async *watch(after) {
      received.push(`watch after ${after.seq}`);
      const script = scripts.shift();
      if (!script) return stop.abort();
      for (const each of script) {
        await Promise.resolve();
        if (each instanceof Error) throw each;
        yield each;
      }
    },
  };
  await followLedger({
    allocator,
    subscriber: {
      onSnapshot: ({ allocations }, ledger) => void received.push(`snapshot of ${ledger}: ${allocations.length}`),
      onEvents: (events) => void received.push(...events.map(({ seq }) => `event ${seq}`)),
      onReply: (at) => void received.push(at ? `at ${at.seq}` : 'incomplete'),
    },
    log: pino({ level: 'silent' }),
    signal: stop.signal,
  });
  return received;
}

describe('The follower of the ledger', () => {
  it('delivers a snapshot, the events after it, and the position after each reply', async () => {
    expect(await play([[keepalive(10), reply(11)]])).to.deep.equal([
      'snapshot of 01LEDGER: 1',
      'watch after 10',
      'at 10',
      'event 11',
      'at 11',
      'watch after 11',
    ]);
  });

  it('reports no position before it has the events of the last page', async () => {
    expect(
      (await play([[keepalive(12), reply(11), reply(12)]], [10, 12])).filter((each) => !each.startsWith('watch')),
    ).to.deep.equal(['snapshot of 01LEDGER: 2', 'incomplete', 'event 11', 'incomplete', 'event 12', 'at 12']);
  });

  it('continues after a failure where it was', async () => {
    const scripts = [[reply(11), new IpledgerError('UNAVAILABLE', 'lost')], [reply(12)]];
    expect((await play(scripts)).filter((each) => each.startsWith('watch'))).to.deep.equal([
      'watch after 10',
      'watch after 11',
      'watch after 12',
    ]);
  });

  for (const [what, cause] of [
    ['the ledger was recovered', keepalive(10, 2)],
    ['its position is gone', new IpledgerError('POSITION_GONE', 'gone')],
  ] as const)
    it(`takes a new snapshot when ${what}`, async () => {
      const snapshots = (await play([[cause], [keepalive(10)]])).filter((each) => each.startsWith('snapshot'));
      expect(snapshots).to.have.length(2);
    });

  it('ends when the allocator serves another ledger', async () => {
    const gone = new IpledgerError('POSITION_GONE', 'gone');
    const error: unknown = await play([[gone]], [10], ['01LEDGER', '02LEDGER']).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OtherLedger).with.property('message').that.contains('serves ledger 02LEDGER');
  });

  it('ends at an event of unknown type', async () => {
    const error: unknown = await play([[new UnknownEvent('Strange')]]).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UnknownEvent);
  });
});
