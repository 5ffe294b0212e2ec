/**
 * etcd forgets its old revisions while somebody reads: whoever pages through the ledger at one of them goes on, or is told
 * where to begin. The load never stops, and etcd is compacted again and again, with nothing left of what was.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3, IRangeRequest, IRangeResponse } from 'etcd3';
import { call, connect, type Connection, stream } from '../../lib/rpc.ts';
import { type Event, IpamService, LedgerService, SubnetsService } from '../../proto/ipledger.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { eventually } from '../e2e/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, startAllocator } from '../harness/services.ts';
import { openDice } from './dice.ts';
import { scale } from './scale.ts';
import { readStory } from './story.ts';

const timeoutMs = 20_000;
const writers = 16;
/** How often one address comes and goes. */
const historyOf = 60;
/** Between two compactions, at most: a reader of several pages is hardly ever done before the next. */
const usualRestMs = 200;

describe('faults: compaction under a reader', function () {
  this.timeout(scale.timeoutMs);
  let run: Run;
  let etcd: Etcd;
  let allocator: Allocator;
  let client: Connection;
  let raw: Etcd3;
  /** Ends load and compaction. */
  let over: AbortController;
  let going: Promise<unknown>;
  let compactions = 0;
  let mostRestMs = usualRestMs;
  let pod = 0;

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    allocator = await startAllocator(run, { etcd });
    client = connect(allocator.endpoint, undefined);
    raw = connectEtcd([etcd.endpoint]);
    const spec = { cidrBlock: '10.0.0.0/8', provider: 'lan.default', cooldownMs: 0 };
    await call(client, SubnetsService.applySubnet, { name: 'lan', spec }, { timeoutMs });
    // A history of one address that takes several pages, and a log that takes many.
    for (let times = 0; times < historyOf; times++) await comeAndGo('10.1.2.3');
    await Promise.all(
      Array.from({ length: writers }, async () => {
        while (pod < scale.events) await comes(`pod-${++pod}`);
      }),
    );
    over = new AbortController();
    going = Promise.all([load(), compactAllTheTime()]);
    going.catch(() => over.abort());
  });
  after(async () => {
    over?.abort();
    client?.close();
    raw?.close();
    await run?.end();
  });

  const comes = (name: string, address?: string) => {
    const candidates = address === undefined ? [] : [{ addresses: [address] }];
    const attachments = [{ provider: 'lan.default', subnets: ['lan'], candidates }];
    const asked = { pod: { namespace: 'default', name, uid: `uid-${name}` }, attachments };
    return eventually(() => call(client, IpamService.allocate, asked, { timeoutMs }));
  };
  const goes = (name: string) =>
    eventually(() =>
      call(
        client,
        IpamService.release,
        { namespace: 'default', pod: name, podUid: `uid-${name}`, cause: 'RELEASE_CAUSE_POD_DELETED' },
        { timeoutMs },
      ),
    );
  async function comeAndGo(address?: string): Promise<void> {
    const name = `guest-${++pod}`;
    await comes(name, address);
    await goes(name);
  }

  async function load(): Promise<void> {
    while (!over.signal.aborted) await comeAndGo();
  }

  /** All that etcd need not keep is thrown away, at any moment. */
  async function compactAllTheTime(): Promise<void> {
    const dice = openDice('compaction');
    while (!over.signal.aborted) {
      const { header } = await raw.kv.range({ key: Buffer.from('/ipledger/v1/head') });
      const done = await raw.kv.compact({ revision: header.revision, physical: true }).then(
        () => true,
        () => false, // it was compacted there already
      );
      if (done) compactions++;
      await sleep(dice.below(mostRestMs));
    }
  }

  /** Compaction is rare while this is done: what needs all of its pages at one revision comes to its end. */
  async function rarely<T>(work: () => Promise<T>): Promise<T> {
    mostRestMs = 50 * usualRestMs;
    try {
      return await work();
    } finally {
      mostRestMs = usualRestMs;
    }
  }

  /** Follows the log from its first event on up to `to`, as the pod-watcher does: whenever it breaks, it goes on where it was. */
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

  const headOf = async (): Promise<number> =>
    (await call(client, SubnetsService.listSubnets, {}, { timeoutMs })).position?.seq ?? 0;

  function expectDense(events: readonly Event[]): void {
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
    for (const [index, { prev }] of events.entries()) expect(prev).to.equal(events[index - 1]?.hash ?? '');
  }

  /** etcd as a slow reader meets it: it is compacted before each further page. */
  function slowly(client: Etcd3): Etcd3 {
    const range = async (request: IRangeRequest): Promise<IRangeResponse> => {
      const reply = await client.kv.range(request);
      const enough = compactions + 2;
      // Pages of the log are asked for to the key: that more follow, etcd does not say.
      if (reply.kvs.length > 1) await eventually(() => expect(compactions).to.be.at.least(enough));
      return reply;
    };
    return { kv: { range } } as unknown as Etcd3;
  }
  const compacted = /^etcd could not be read: .*required revision has been compacted$/;

  it('between any two pages, a reader of the log reads on to its end and misses nothing', async () => {
    const ledger = new EtcdLedger(slowly(raw));
    const seqs: number[] = [];
    let pages = 0;
    const [to, before] = [await headOf(), compactions];
    for await (const lines of ledger.read(1, run.signal)) {
      for (const { text } of lines) seqs.push((JSON.parse(text) as { seq: number }).seq);
      pages++;
      if (seqs.length >= to) break;
    }
    expect(pages, 'pages').to.be.greaterThan(1);
    expect(compactions - before, 'compactions').to.be.at.least(2 * (pages - 1));
    expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1));
  });

  it('between two pages who loads the claims, which must be of one revision, is told so and begins again', async () => {
    const failed = await new EtcdLedger(slowly(raw)).load(run.signal).catch((error: unknown) => error);
    expect(failed).to.have.property('code', 'UNAVAILABLE');
    expect(failed).to.have.property('message').that.matches(compacted);
    const { claims } = await rarely(() => eventually(() => new EtcdLedger(raw).load(run.signal)));
    expect(claims.length).to.be.at.least(scale.events - historyOf);
  });

  it('followers read the whole log, each event once', async () => {
    const to = await headOf();
    const all = await Promise.all([1, 2, 3].map(() => follow(allocator.endpoint, to)));
    for (const { events } of all) expectDense(events.slice(0, to));
  });

  it('an allocator loads the ledger and serves what is in it', async () => {
    for (let times = 0; times < 2; times++) {
      const known = await headOf();
      await allocator.restart();
      expect(await eventually(headOf)).to.be.at.least(known);
    }
    const { events } = await follow(allocator.endpoint, await headOf());
    expectDense(events);
  });

  it('a second allocator begins to load again and again, and is there once it had the time', async () => {
    const starting = startAllocator(run, { etcd, name: 'second' });
    await eventually(() => {
      const log = readFileSync(join(run.folder, 'second.log'), 'utf8');
      expect(log).to.match(/required revision has been compacted.*the ledger cannot be loaded yet|"msg":"listening"/);
    });
    const second = await rarely(() => starting);
    const to = await headOf();
    expectDense((await follow(second.endpoint, to)).events);
    await second.stop();
  });

  it('a history is told to its beginning, page by page', async () => {
    const events: Event[] = [];
    let pageToken = '';
    do {
      const asked = { address: '10.1.2.3', pageSize: 7, pageToken };
      const page = await call(client, LedgerService.history, asked, { timeoutMs });
      events.push(...page.events);
      ({ nextPageToken: pageToken } = page);
    } while (pageToken !== '');
    expect(events).to.have.length(2 * historyOf);
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map(({ seq }) => seq).toSorted((a, b) => b - a));
  });

  it('it was compacted all the while, and the log is whole', async () => {
    over.abort();
    await going;
    expect(compactions).to.be.greaterThan(10);
    expect((await readStory(etcd)).wrongs).to.deep.equal([]);
  });
});
