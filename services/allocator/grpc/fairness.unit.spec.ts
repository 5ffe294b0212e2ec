import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';
import type { Event } from '../../../ledger/domain/events/event.ts';
import { bound, allocated, subnetConfigured } from '../../../ledger/domain/testing/event-fixtures.ts';
import { VisitCounter } from '../../../ledger/domain/testing/count-visits.ts';
import { evolve } from '../../../ledger/domain/events/registry.ts';
import { permanent } from '../../../ledger/domain/state/undo-log.ts';
import { Follower } from '../../../ledger/log/reader/follower.ts';
import { MemoryLedger } from '../../../ledger/log/testing/memory-ledger.ts';
import {
  createLedger,
  never,
  type RunningWriter,
  silentLog,
  startWriter,
  submitAll,
} from '../../../ledger/log/testing/running-writer.ts';
import type { AllocatorContext } from './allocator-context.ts';
import { ipamHandlers } from './ipam/ipam-service.ts';
import { PodWaiters } from './ipam/pod-waiters.ts';
import { runInThisThread } from '../threads/testing/run-in-this-thread.ts';
import { PositionWaits } from './position-waits.ts';
import { RateLimiter } from './rate-limiter.ts';
import { sandboxOf } from './testing/served-allocator.ts';

const pods = 4_000;
const msPerVisit = 0.005;
const now = performance.now.bind(performance);

/** Answers reads of the head in a later turn of the event loop, as etcd does. */
class RemoteLedger extends MemoryLedger {
  override async head(signal?: AbortSignal): ReturnType<MemoryLedger['head']> {
    await turn();
    return super.head(signal as AbortSignal);
  }
}

/** A clock that only visits of claims advance, so that costs are equal on any machine. */
describe('With 4,000 claims, and 5 µs for each visit of one', () => {
  let working: RunningWriter;
  let counter: VisitCounter;
  let allocator: AllocatorContext;
  let handlers: Required<ReturnType<typeof ipamHandlers>>;
  /** The most visits of claims in one turn of the event loop. */
  let mostInTurn: number;
  let watching: AbortController;

  beforeEach(async () => {
    working = await startWriter(new RemoteLedger());
    await submitAll(working.writer, createLedger());
    const { replica, writer } = working;
    let seq = 1_000;
    const apply = (event: Event): void => evolve(replica.state, { ...event, seq: ++seq, at: 0 }, permanent);
    apply(subnetConfigured());
    for (let index = 0; index < pods; index++) {
      const node = index < pods - 1 ? 'node-1' : 'node-2';
      const pod = allocated(`pod-${index}`, `172.17.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`, { node });
      apply(pod);
      if (node === 'node-1') apply(bound(pod, seq, { containerId: `container-${index}`, node }));
    }
    allocator = {
      replica,
      writer: () => writer,
      follower: () => undefined,
      writerAddress: () => undefined,
      positionWaits: new PositionWaits(replica),
      threads: runInThisThread({ ledger: replica.ledger, archived: undefined }),
      freezeStore: working.replica.ledger as MemoryLedger,
      findWriteObstacle: () => Promise.resolve(undefined),
      signer: () => undefined,
      rateLimiter: new RateLimiter({ agentRate: 20, agentBurst: 2_000 }, silentLog, () => 0),
    };
    handlers = ipamHandlers(allocator, new PodWaiters(replica));
    counter = new VisitCounter();
    performance.now = () => counter.visits * msPerVisit;
    mostInTurn = 0;
    watching = new AbortController();
    void (async () => {
      for (let before = 0; !watching.signal.aborted; before = counter.visits) {
        await turn();
        mostInTurn = Math.max(mostInTurn, counter.visits - before);
      }
    })();
  });
  afterEach(async () => {
    watching.abort();
    performance.now = now;
    counter[Symbol.dispose]();
    await working.stop();
  });

  const agent = (node: string): CallContext => ({ actor: `ipledger://agent/${node}`, ownNode: node, signal: never });
  const viewer: CallContext = { actor: 'ipledger://viewer', signal: never };
  const pageOf = { pageToken: '', pageSize: 0, minSeq: 0, consistency: 'CONSISTENCY_LINEARIZABLE' } as const;
  const list = (context: CallContext) => handlers.listBindings({ ...pageOf, node: context.ownNode ?? '' }, context);
  const listPods = (context: CallContext) =>
    handlers.listAllocations({ ...pageOf, node: context.ownNode ?? '', subnet: '', namespace: '', pod: '' }, context);
  async function visitsOfLongestTurn(): Promise<number> {
    await turn();
    await turn();
    return mostInTurn;
  }
  /** A turn of 10 ms has 2,000 visits. A page that begins before its end has about 760 more. */
  const maxInTurn = 3 * 2_760;

  it('a turn of the writer ends after 10 ms of decisions, so that a timer, such as that of its lease, is not delayed for longer', async () => {
    const all = Array.from({ length: 30 }, () => list(viewer));
    await Promise.all(all);
    expect(counter.visits).to.be.above(2 * maxInTurn);
    expect(await visitsOfLongestTurn()).to.be.below(maxInTurn);
  });

  it('a turn of a standby ends after 10 ms of reads', async () => {
    const follower = new Follower(working.replica, silentLog);
    const stopping = new AbortController();
    const following = follower.run(stopping.signal);
    Object.assign(allocator, { writer: () => undefined, follower: () => follower });
    await Promise.all(Array.from({ length: 30 }, () => listPods(viewer)));
    expect(await visitsOfLongestTurn()).to.be.below(maxInTurn);
    stopping.abort();
    await following;
  });

  it('large pages are answered in several turns, and small pages together', async () => {
    const answeredAt: number[] = [];
    let turns = 0;
    void (async () => {
      for (; !watching.signal.aborted; turns++) await turn();
    })();
    await Promise.all(Array.from({ length: 30 }, () => listPods(viewer).then(() => answeredAt.push(turns))));
    const largest = Math.max(...[...Map.groupBy(answeredAt, (at) => at).values()].map(({ length }) => length));
    expect(largest).to.be.at.most(3);
  });

  it('an agent at its limits delays the Attach of another agent by a bounded number of visits', async () => {
    const greedy = agent('node-1');
    const outcomes: Promise<PromiseSettledResult<unknown>[]>[] = [];
    const flood = (): void =>
      void outcomes.push(
        Promise.allSettled([
          ...Array.from({ length: 2_000 }, () => list(greedy)),
          ...Array.from({ length: 2_000 }, () => listPods(greedy)),
          ...Array.from({ length: 2_000 }, (_, index) =>
            handlers.unbind(
              {
                ...sandboxOf('unknown'),
                containerId: `unknown-${index}`,
                cause: 'UNBIND_CAUSE_CONTAINER_DELETED',
                evidence: '',
              },
              greedy,
            ),
          ),
        ]),
      );
    flood();
    await turn();
    flood();
    const before = counter.visits;
    const sandbox = { ...sandboxOf(`pod-${pods - 1}`), node: 'node-2', bootId: 'boot-1', timeoutMs: 1_000 };
    const { allocation } = await handlers.attach(sandbox, agent('node-2'));
    const waited = counter.visits - before;
    expect(allocation?.podUid).to.equal(`uid-pod-${pods - 1}`);
    // Eight pages of 1,000 with their bindings, and the surplus of an index bucket.
    expect(waited).to.be.below(50_000);
    const settled = (await Promise.all(outcomes)).flat();
    expect(settled.some(({ status }) => status === 'rejected')).to.be.true;
    expect(await visitsOfLongestTurn()).to.be.below(maxInTurn);
  });

  it('an agent cannot exceed its rate with pages of any size', async () => {
    const greedy = agent('node-1');
    let read = 0;
    for (let count = 0; count < 1_000; count++) {
      const page = await listPods(greedy).catch(() => undefined);
      read += page?.allocations?.length ?? 0;
    }
    // A burst of 5,000 tokens and the bucket's possible debt, with ten claims for each token.
    expect(read).to.be.below(60_000);
    expect(read).to.be.above(40_000);
  });
});
