import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { allocate } from '../../../../ledger/domain/testing/event-fixtures.ts';
import { MemoryLedger } from '../../../../ledger/log/testing/memory-ledger.ts';
import {
  createLedger,
  macvlan,
  requestFor,
  type RunningWriter,
  silentLog,
  startWriter,
  submitAll,
} from '../../../../ledger/log/testing/running-writer.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { runInThisThread } from '../../threads/testing/run-in-this-thread.ts';
import { PositionWaits } from '../position-waits.ts';
import { RateLimiter } from '../rate-limiter.ts';
import { ledgerHandlers } from './ledger-service.ts';

type LedgerHandlers = Required<ReturnType<typeof ledgerHandlers>>;
/** Reads all events. Resolves to their number. */
type ReadEvents = (
  handlers: LedgerHandlers,
  context: { readonly actor: string; readonly signal: AbortSignal },
) => Promise<number>;

const streams = 32;
const searches = 4;
const pods = 1_000;
const msPerMessage = 0.1;
const now = performance.now.bind(performance);
const method: { responseSerialize: typeof LedgerService.watch.responseSerialize } = LedgerService.watch;
const serialize = method.responseSerialize;

/** A clock that only encoded and parsed events advance, so that costs are equal on any machine. */
describe('With 1,000 events, and 0.1 ms to encode or parse each', () => {
  let working: RunningWriter;
  let encoded: number;
  const stopping = new AbortController();

  before(async () => {
    working = await startWriter(new MemoryLedger());
    await submitAll(working.writer, createLedger(), macvlan);
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    await Promise.all(names.map((name) => working.writer.submit(requestFor(allocate(name)))));
    encoded = 0;
    performance.now = () => encoded * msPerMessage;
    method.responseSerialize = (message) => {
      if (message.events?.length) encoded++; // not a keepalive, and not the position of a reply
      return serialize(message);
    };
  });
  after(async () => {
    stopping.abort();
    performance.now = now;
    method.responseSerialize = serialize;
    await working.stop();
  });

  for (const { actor, who, messages } of [
    { actor: 'ipledger://read-model', who: 'programs', messages: 30 },
    { actor: 'ipledger://viewer', who: 'a viewer', messages: 5 },
  ])
    it(`32 streams of ${who} from the first event together encode about ${messages} events in a turn of the event loop, and each reaches the head`, async () => {
      const mostInTurn = await readInTurns(followToHead, actor);
      // The slice that begins before the end of their share, and the keepalive and position of each
      // stream.
      expect(mostInTurn).to.be.below(messages + 10 + 2 * streams);
    });

  it('Searches of a viewer together parse about 5 events in a turn of the event loop, each of the whole log', async () => {
    const parse = JSON.parse.bind(JSON);
    JSON.parse = (...args: Parameters<typeof parse>): unknown => {
      encoded++;
      return parse(...args) as unknown;
    };
    try {
      const mostInTurn = await readInTurns(readHistory, 'ipledger://viewer', searches);
      // Each search parses the first and the last event of a step alone.
      expect(mostInTurn).to.be.below(5 + 10 + 2 * searches);
    } finally {
      JSON.parse = parse;
    }
  });

  const readHistory: ReadEvents = async ({ history }, context) => {
    const { requestSerialize, requestDeserialize } = LedgerService.history;
    let [events, pageToken] = [0, ''];
    do {
      const page = await history(requestDeserialize(requestSerialize({ pageSize: 1_000, pageToken })), context);
      events += page.events?.length ?? 0;
      pageToken = page.nextPageToken ?? '';
    } while (pageToken !== '');
    return events;
  };

  const followToHead: ReadEvents = async ({ watch }, context) => {
    const request = LedgerService.watch.requestDeserialize(LedgerService.watch.requestSerialize({ fromSeq: 1 }));
    let events = 0;
    for await (const reply of watch(request, context)) {
      if (Buffer.isBuffer(reply)) events += LedgerService.watch.responseDeserialize(reply).events.length;
      if (events >= working.replica.head.seq) break;
    }
    return events;
  };

  /** Reads all events several times at once. Resolves to the most events of one turn. */
  async function readInTurns(read: ReadEvents, actor: string, concurrent = streams): Promise<number> {
    encoded = 0;
    const { replica, writer } = working;
    const allocator: AllocatorContext = {
      replica,
      writer: () => writer,
      follower: () => undefined,
      writerAddress: () => undefined,
      positionWaits: new PositionWaits(replica),
      threads: runInThisThread({ ledger: replica.ledger, archived: undefined }),
      freezeStore: replica.ledger as MemoryLedger,
      findWriteObstacle: () => Promise.resolve(undefined),
      signer: () => undefined,
      rateLimiter: new RateLimiter({ agentRate: 20, agentBurst: 2_000 }, silentLog, () => 0),
    };
    const handlers = ledgerHandlers(allocator) as LedgerHandlers;
    let mostInTurn = 0;
    const watching = new AbortController();
    const counting = (async () => {
      for (let before = encoded; !watching.signal.aborted; before = encoded) {
        await turn();
        mostInTurn = Math.max(mostInTurn, encoded - before);
      }
    })();
    const context = { actor, signal: stopping.signal };
    const seen = await Promise.all(Array.from({ length: concurrent }, () => read(handlers, context)));
    watching.abort();
    await counting;
    expect(new Set(seen)).to.deep.equal(new Set([replica.head.seq]));
    return mostInTurn;
  }
});
