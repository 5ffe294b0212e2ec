import { ChannelCredentials, Client } from '@grpc/grpc-js';
import { expect } from 'chai';
import { type Connection, stream } from '../../../../lib/grpc/client.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type Event, LedgerService, type WatchReply, type WatchRequest } from '../../../../proto/generated/ipledger.ts';
import { allocateAll } from '../../../../ledger/domain/testing/event-fixtures.ts';
import { logKey } from '../../../../ledger/log/store/keys.ts';
import { MemoryLedger } from '../../../../ledger/log/testing/memory-ledger.ts';
import { Replica } from '../../../../ledger/log/reader/replica.ts';
import { eventVersions } from '../../../../ledger/domain/events/schema-version.ts';
import {
  waitForRetries,
  submitAll,
  createLedger,
  failureOf,
  macvlan,
  never,
  startWriter,
} from '../../../../ledger/log/testing/running-writer.ts';
import { ledgerHandlers } from './ledger-service.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  release,
  type ServedAllocator,
  serveAllocator,
  unbind,
  watchReply,
  watchRequest,
} from '../testing/served-allocator.ts';

const silenceMs = 20_000;
const seqsOf = (events: readonly Event[]): number[] => events.map(({ seq }) => seq);
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('Ledger.Watch', () => {
  let served: ServedAllocator;
  let leaving: AbortController;
  beforeEach(async () => {
    leaving = new AbortController();
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(async () => {
    leaving.abort();
    await served[Symbol.asyncDispose]();
  });

  const watch = (
    request: MessageInput<WatchRequest> = {},
    client: Connection = served.client,
  ): AsyncGenerator<WatchReply> => stream(client, LedgerService.watch, request, { silenceMs, signal: leaving.signal });

  async function next(replies: AsyncGenerator<WatchReply>): Promise<WatchReply> {
    const step = await replies.next();
    if (step.done) throw new Error('the stream has ended');
    return step.value;
  }

  /** Reads the replies up to this event. */
  async function until(seq: number, replies: AsyncGenerator<WatchReply>): Promise<WatchReply[]> {
    const found: WatchReply[] = [];
    while ((found.at(-1)?.events.at(-1)?.seq ?? 0) < seq) found.push(await next(replies));
    return found;
  }

  it('Ledger.Watch starts with an empty reply at the head', async () => {
    const { epoch, seq, hash, ledger } = served.replica.head;
    expect(await next(watch())).to.deep.equal({ position: { epoch, seq, hash, ledger }, events: [] });
  });

  it('Ledger.Watch streams new events as they are committed', async () => {
    const replies = watch();
    await next(replies);
    await allocate(served, 'a');
    const first = await next(replies);
    expect(seqsOf(first.events)).to.deep.equal([3]);
    const { ledger } = served.replica.head;
    expect(first.position).to.deep.equal({ epoch: 1, seq: 3, hash: first.events[0]?.hash, ledger });
    await release(served, 'a');
    expect(seqsOf((await next(replies)).events)).to.deep.equal([4]);
  });

  it('Ledger.Watch streams the events from a position, then new events', async () => {
    await allocate(served, 'a');
    const replies = watch({ fromSeq: 2 });
    await next(replies);
    expect(seqsOf((await next(replies)).events)).to.deep.equal([2, 3]);
    await allocate(served, 'b');
    expect(seqsOf((await next(replies)).events)).to.deep.equal([4]);
  });

  it('Ledger.Watch reads old events from the log, with complete commands in each reply', async () => {
    const memory = new MemoryLedger(undefined, 7);
    const earlier = await startWriter(memory);
    await submitAll(earlier.writer, createLedger(), macvlan);
    const requests = Array.from({ length: 23 }, (_, ordinal) => ({ ordinal }));
    for (let pod = 0; pod < 52; pod++) await submitAll(earlier.writer, allocateAll(`pod-${pod}`, requests));
    await earlier.stop();
    const last = earlier.replica.head.seq;
    expect(last).to.equal(2 + 52 * 23);

    await using later = await serveAllocator(memory);
    expect(later.replica.recentFrom(1)).to.equal(undefined);
    const replies = watch({ fromSeq: 1 }, later.client);
    const found = await until(last, replies);
    const events = found.flatMap((reply) => reply.events);
    expect(seqsOf(events)).to.deep.equal(upTo(last));
    for (const { position, events: some } of found.slice(1)) {
      expect(some.at(-1)).to.deep.include({ part: some.at(-1)?.parts, seq: position?.seq, hash: position?.hash });
      expect(some.length).to.be.at.most(600);
    }
    await allocate(later, 'new');
    expect(seqsOf((await next(replies)).events)).to.deep.equal([last + 1]);
  });

  it('Ledger.Watch streams the events of one Subnet, with the position of all events', async () => {
    await applySubnet(served, 'other', { cidrBlock: '10.0.0.0/24' });
    const replies = watch({ fromSeq: 1, subnet: 'other' });
    await next(replies);
    expect((await next(replies)).events.map(({ seq, subnet }) => [seq, subnet])).to.deep.equal([[3, 'other']]);
    await allocate(served, 'a');
    const { events, position } = await next(replies);
    expect([events, position?.seq]).to.deep.equal([[], 4]);
  });

  it('a stream waits for the next event', async () => {
    const replies = watch({ fromSeq: 3 });
    await next(replies);
    await allocate(served, 'a');
    const [reply] = (await until(3, replies)).slice(-1);
    expect(seqsOf(reply?.events ?? [])).to.deep.equal([3]);
  });

  it('Ledger.Watch streams the events that match the filters, with the position of all events', async () => {
    await allocate(served, 'a', {}, { node: 'node-1' }); // 3
    await allocate(served, 'b'); // 4
    await bind(served, 'a'); // 5
    await bind(served, 'b'); // 6
    await unbind(served, 'a'); // 7
    await release(served, 'b'); // 8
    await allocate(served, 'c', {}, { namespace: 'other' }); // 9
    const cases: [MessageInput<WatchRequest>, number[]][] = [
      [{ namespace: 'default', pod: 'a' }, [3, 5, 7]],
      [{ namespace: 'other' }, [9]],
      [{ address: '172.17.0.12' }, [4, 6, 8]],
      [{ node: 'node-1' }, [3, 5, 6, 7]],
      [{ types: ['AddressReleased', 'AddressUnbound'] }, [7, 8]],
      [{ types: ['AddressReleased'], pod: 'a' }, []],
    ];
    for (const [request, seqs] of cases) {
      const replies = watch({ fromSeq: 1, ...request });
      await next(replies);
      const { events, position } = await next(replies);
      expect(seqsOf(events), JSON.stringify(request)).to.deep.equal(seqs);
      expect(position?.seq).to.equal(9);
    }
  });

  it('Ledger.Watch rejects an unknown event type and lists the types', async () => {
    const error = await failureOf(next(watch({ types: ['AddressReleased', 'AddressGiven'] })));
    expect(error).to.have.property('code', 'INVALID_REQUEST');
    expect(error.message).to.match(/^types: AddressGiven is not an event type: use LedgerCreated, .*, KeyRotated$/);
  });

  it('Ledger.Watch rejects a position beyond the ledger, as after a restore of etcd', async () => {
    const error = await failureOf(next(watch({ fromSeq: 5 })));
    expect(error).to.have.property('code', 'POSITION_GONE');
    expect(error.message).to.contain('event 5 is beyond the ledger, whose last event is 2');
  });

  it('Ledger.Watch sends a keepalive every few seconds, at a position that never goes back', async () => {
    // This replica does not follow the log, so it lags behind the log that it reads.
    const lagging = await Replica.load(served.memory, never);
    for (const pod of ['a', 'b', 'c']) await allocate(served, pod);
    const { watch: handler } = ledgerHandlers({ ...served.allocator, replica: lagging });
    if (!handler) throw new Error('Watch is served');
    const replies = handler(watchRequest(1), { actor: 'anonymous', signal: leaving.signal });
    const idleStream = watch();
    await next(idleStream);
    const positions: (number | undefined)[] = [];
    for await (const reply of replies) {
      const { position, events = [] } = watchReply(reply);
      positions.push(position?.seq);
      if (positions.length > 1 && events.length === 0) break;
    }
    expect(positions).to.deep.equal([2, 5, 5]);
    expect(await next(idleStream)).to.deep.include({ events: [] });
  });

  it('a slow reader delays no other client, and misses no event', async () => {
    const client = new Client(served.endpoint, ChannelCredentials.createInsecure());
    const slow = client.makeServerStreamRequest(
      LedgerService.watch.path,
      LedgerService.watch.requestSerialize,
      LedgerService.watch.responseDeserialize,
      { fromSeq: 1 },
    );
    slow.on('error', () => undefined);
    slow.pause();
    const quick = watch({ fromSeq: 1 });
    const routes = Array.from({ length: 64 }, () => ({ dst: '192.168.0.0/24', gw: '172.17.0.254' }));
    const pods = 300;
    for (let pod = 0; pod < pods; pod++) await allocate(served, `pod-${pod}`, { routes });
    await until(pods + 2, quick);
    expect((await allocate(served, 'another')).seq).to.equal(pods + 3);
    const seqs: number[] = [];
    for await (const reply of slow) {
      seqs.push(...seqsOf((reply as WatchReply).events));
      if (seqs.length >= pods + 3) break;
    }
    slow.cancel();
    client.close();
    expect(seqs).to.deep.equal(upTo(pods + 3));
  });

  it('Ledger.Watch removes its listener when the caller disconnects', async () => {
    const listening = new Set<object>();
    const { replica } = served;
    const listen = replica.onCommitted.bind(replica);
    replica.onCommitted = (listener) => {
      const stop = listen(listener);
      listening.add(listener);
      return () => {
        listening.delete(listener);
        stop();
      };
    };
    const all = Array.from({ length: 5 }, () => watch());
    await Promise.all(all.map(next));
    const waiting = all.map((replies) => replies.next());
    while (listening.size < 5) await waitForRetries();
    leaving.abort();
    await Promise.all(waiting);
    while (listening.size > 0) await waitForRetries();
  });

  const damages: [string, (memory: MemoryLedger) => void, object][] = [
    [
      'events that are no longer in etcd',
      (memory) => memory.remove(logKey(1)),
      { code: 'POSITION_GONE', message: 'event 1 is not in the log (any more): the first live one is 2' },
    ],
    [
      'a gap',
      (memory) => memory.remove(logKey(2)),
      { code: 'LEDGER_DAMAGED', message: 'the log is not dense: event 3 follows 1' },
    ],
    [
      'a log that ends too early',
      (memory) => memory.remove(logKey(3)),
      {
        code: 'LEDGER_DAMAGED',
        message: 'the log ends before event 3, which this replica has applied: run ipledger verify',
      },
    ],
    [
      'an event of a newer version',
      (memory) => memory.put(logKey(2), '{"v":99,"seq":2}'),
      {
        code: 'LEDGER_DAMAGED',
        message: `event 2 has schema version 99, but this program reads only ${eventVersions.join(', ')}: upgrade this program`,
      },
    ],
  ];
  for (const [what, damage, refusal] of damages)
    it(`Watch stops at ${what}`, async () => {
      await allocate(served, 'a');
      await using later = await serveAllocator(served.memory);
      damage(served.memory);
      const replies = watch({ fromSeq: 1 }, later.client);
      await next(replies);
      const error = await failureOf(
        (async () => {
          while (!(await replies.next()).done);
        })(),
      );
      expect(error).to.deep.include(refusal);
    });
});
