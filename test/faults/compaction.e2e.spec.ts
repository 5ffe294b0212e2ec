/**
 * Compaction of etcd during reads: a reader that pages through the ledger at a compacted revision
 * continues at a later one, or starts again. The load does not stop, and etcd is compacted all the
 * time.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { call, connect, type Connection, stream } from '../../lib/grpc/client.ts';
import { type Event, IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { loadAll } from '../../ledger/log/testing/load-all.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { decodeRangeReply } from '../../ledger/log/store/range-decoding.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../harness/services.ts';
import { createSeededRandom } from './seeded-random.ts';
import { testSize } from './test-size.ts';
import { checkLog } from './log-checker.ts';

const timeoutMs = 20_000;
const writers = 16;
/** Allocations of one address. */
const historyLength = 60;
/** Longest pause between two compactions: shorter than a read of several pages. */
const defaultPauseMs = 200;

/** The member of the client package over which the ledger sends its reads. */
interface ClientConnections {
  readonly pool: {
    withConnection(service: string, send: (connection: unknown) => Promise<Buffer>, order?: unknown): Promise<Buffer>;
  };
}

describe('faults: compaction under a reader', function () {
  this.timeout(testSize.timeoutMs);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let client: Connection;
  let raw: Etcd3;
  /** Ends load and compaction. */
  let stop: AbortController;
  let background: Promise<unknown>;
  let compactions = 0;
  let maxPauseMs = defaultPauseMs;
  let pod = 0;

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    allocator = await startAllocator(run, { etcd });
    client = connect(allocator.endpoint, undefined);
    raw = connectEtcd([etcd.endpoint]);
    const spec = { cidrBlock: '10.0.0.0/8', provider: 'lan.default', cooldownMs: 0 };
    await call(client, SubnetsService.applySubnet, { name: 'lan', spec }, { timeoutMs });
    // The history of one address has several pages, and the log has many
    for (let times = 0; times < historyLength; times++) await allocateAndRelease('10.1.2.3');
    await Promise.all(
      Array.from({ length: writers }, async () => {
        while (pod < testSize.events) await allocate(`pod-${++pod}`);
      }),
    );
    stop = new AbortController();
    background = Promise.all([load(), compactRepeatedly()]);
    background.catch(() => stop.abort());
  });
  after(async () => {
    stop?.abort();
    client?.close();
    raw?.close();
    await run?.end();
  });

  const allocate = (name: string, address?: string) => {
    const candidates = address === undefined ? [] : [{ addresses: [address] }];
    const attachments = [{ provider: 'lan.default', subnets: ['lan'], candidates }];
    const request = { pod: { namespace: 'default', name, uid: `uid-${name}` }, attachments };
    return eventually(() => call(client, IpamService.allocate, request, { timeoutMs }));
  };
  const release = (name: string) =>
    eventually(() =>
      call(
        client,
        IpamService.release,
        { namespace: 'default', pod: name, podUid: `uid-${name}`, cause: 'RELEASE_CAUSE_POD_DELETED' },
        { timeoutMs },
      ),
    );
  async function allocateAndRelease(address?: string): Promise<void> {
    const name = `guest-${++pod}`;
    await allocate(name, address);
    await release(name);
  }

  async function load(): Promise<void> {
    while (!stop.signal.aborted) await allocateAndRelease();
  }

  /** Compacts etcd to its current revision, at random times. */
  async function compactRepeatedly(): Promise<void> {
    const random = createSeededRandom('compaction');
    while (!stop.signal.aborted) {
      const { header } = await raw.kv.range({ key: Buffer.from('/ipledger/v1/head') });
      const isCompacted = await raw.kv.compact({ revision: header.revision, physical: true }).then(
        () => true,
        () => false, // this revision is compacted already
      );
      if (isCompacted) compactions++;
      await sleep(random.nextInt(maxPauseMs));
    }
  }

  /** Runs `work` while compaction is rare: a read of all pages at one revision can finish. */
  async function withRareCompaction<T>(work: () => Promise<T>): Promise<T> {
    maxPauseMs = 50 * defaultPauseMs;
    try {
      return await work();
    } finally {
      maxPauseMs = defaultPauseMs;
    }
  }

  /**
   * Follows the log from its first event to `to`, as the pod-watcher does: after an error it
   * continues at the same event.
   */
  async function follow(endpoint: string, to: number): Promise<{ events: Event[]; breaks: string[] }> {
    const reader = connect(endpoint, undefined);
    const events: Event[] = [];
    const breaks: string[] = [];
    const options = { silenceMs: timeoutMs, signal: run.signal };
    try {
      while (events.length < to) {
        try {
          for await (const reply of stream(reader, LedgerService.watch, { fromSeq: events.length + 1 }, options)) {
            events.push(...reply.events);
            if (events.length >= to) break;
          }
        } catch (error) {
          breaks.push(String(error));
          await sleep(50);
        }
      }
      return { events, breaks };
    } finally {
      reader.close();
    }
  }

  const readHead = async (): Promise<number> =>
    (await call(client, SubnetsService.listSubnets, {}, { timeoutMs })).position?.seq ?? 0;

  function expectDense(events: readonly Event[]): void {
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
    for (const [index, { prev }] of events.entries()) expect(prev).to.equal(events[index - 1]?.hash ?? '');
  }

  /** Slows a client of etcd: etcd is compacted before each further page. */
  function slowClient(client: Etcd3): Etcd3 {
    const { pool } = client as unknown as ClientConnections;
    const withConnection: ClientConnections['pool']['withConnection'] = async (service, send, order) => {
      const reply = await pool.withConnection(service, send, order);
      const enough = compactions + 2;
      // The request for a page of the log has an end key, so etcd does not report that more pages
      // follow
      if (decodeRangeReply(reply).keys.length > 1) await eventually(() => expect(compactions).to.be.at.least(enough));
      return reply;
    };
    return { pool: Object.assign(Object.create(pool) as object, { withConnection }) } as unknown as Etcd3;
  }
  const compacted = /^etcd could not be read: .*required revision has been compacted$/;

  it('Compaction does not stop a reader of the log between two pages, which reads all events', async () => {
    const ledger = new EtcdLedger(slowClient(raw));
    const seqs: number[] = [];
    let pages = 0;
    const [to, before] = [await readHead(), compactions];
    for await (const lines of ledger.read(1, run.signal)) {
      for (const { text } of lines) seqs.push((JSON.parse(text) as { seq: number }).seq);
      pages++;
      if (seqs.length >= to) break;
    }
    expect(pages, 'pages').to.be.greaterThan(1);
    expect(compactions - before, 'compactions').to.be.at.least(2 * (pages - 1));
    expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1));
  });

  it('Compaction fails a load of the claims, which needs a single revision, and the repeated load succeeds', async () => {
    const failed = await loadAll(new EtcdLedger(slowClient(raw)), run.signal).catch((error: unknown) => error);
    expect(failed).to.have.property('code', 'UNAVAILABLE');
    expect(failed).to.have.property('message').that.matches(compacted);
    const { claims } = await withRareCompaction(() => eventually(() => loadAll(new EtcdLedger(raw), run.signal)));
    expect(claims.length).to.be.at.least(testSize.events - historyLength);
  });

  it('Compaction does not stop followers, which read each event once', async () => {
    const to = await readHead();
    const all = await Promise.all([1, 2, 3].map(() => follow(allocator.endpoint, to)));
    for (const { events } of all) expectDense(events.slice(0, to));
  });

  it('Compaction does not stop an allocator that loads the ledger', async () => {
    for (let times = 0; times < 2; times++) {
      const known = await readHead();
      await allocator.restart();
      expect(await eventually(readHead)).to.be.at.least(known);
    }
    const { events } = await follow(allocator.endpoint, await readHead());
    expectDense(events);
  });

  it('Compaction delays a second allocator, which repeats the load until it succeeds', async () => {
    const starting = startAllocator(run, { etcd, name: 'second' });
    await eventually(() => {
      const log = readFileSync(join(run.folder, 'second.log'), 'utf8');
      expect(log).to.match(/required revision has been compacted.*the ledger cannot be loaded yet|"msg":"listening"/);
    });
    const second = await withRareCompaction(() => starting);
    const to = await readHead();
    expectDense((await follow(second.endpoint, to)).events);
    await second.stop();
  });

  it('Compaction does not shorten a history that is read page by page', async () => {
    const events: Event[] = [];
    let pageToken = '';
    do {
      const request = { address: '10.1.2.3', pageSize: 7, pageToken };
      const page = await call(client, LedgerService.history, request, { timeoutMs });
      events.push(...page.events);
      ({ nextPageToken: pageToken } = page);
    } while (pageToken !== '');
    expect(events).to.have.length(2 * historyLength);
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map(({ seq }) => seq).toSorted((a, b) => b - a));
  });

  it('Compaction leaves a complete log after more than ten compactions', async () => {
    stop.abort();
    await background;
    expect(compactions).to.be.greaterThan(10);
    expect((await checkLog(etcd)).violations).to.deep.equal([]);
  });
});
