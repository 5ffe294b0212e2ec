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

const streams = 32;
const pods = 1_000;
const msPerMessage = 0.1;
const now = performance.now.bind(performance);
const method: { responseSerialize: typeof LedgerService.watch.responseSerialize } = LedgerService.watch;
const serialize = method.responseSerialize;

/** A clock that only encoded messages advance, so that costs are equal on any machine. */
describe('With 1,000 events, 32 streams from the first one, and 0.1 ms to encode each', () => {
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
    it(`all streams of ${who} together encode about ${messages} events in a turn of the event loop, and each reaches the head`, async () => {
      const mostInTurn = await followAll(actor);
      // The slice that begins before the end of their share, and the keepalive and position of each
      // stream.
      expect(mostInTurn).to.be.below(messages + 10 + 2 * streams);
    });

  /** Follows all streams to the head. Resolves to the most messages of one turn. */
  async function followAll(actor: string): Promise<number> {
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
    const { watch } = ledgerHandlers(allocator) as Required<ReturnType<typeof ledgerHandlers>>;
    const request = LedgerService.watch.requestDeserialize(LedgerService.watch.requestSerialize({ fromSeq: 1 }));
    const context = { actor, signal: stopping.signal };
    let mostInTurn = 0;
    const watching = new AbortController();
    const counting = (async () => {
      for (let before = encoded; !watching.signal.aborted; before = encoded) {
        await turn();
        mostInTurn = Math.max(mostInTurn, encoded - before);
      }
    })();
    const follow = async (): Promise<number> => {
      let events = 0;
      for await (const reply of watch(request, context)) {
        if (Buffer.isBuffer(reply)) events += LedgerService.watch.responseDeserialize(reply).events.length;
        if (events >= replica.head.seq) break;
      }
      return events;
    };
    const seen = await Promise.all(Array.from({ length: streams }, follow));
    watching.abort();
    await counting;
    expect(new Set(seen)).to.deep.equal(new Set([replica.head.seq]));
    return mostInTurn;
  }
});
