import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, stream } from '../../lib/rpc.ts';
import { IpamService, LedgerService, type StateAtReply, SubnetsService } from '../../proto/ipledger.ts';
import { type Everywhere, connectEverywhere } from '../e2e/allocators.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/launch.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, startAllocator } from '../harness/services.ts';
import { each } from '../scale/each.ts';

/** More than are deleted at once, so that a crash also falls between two pages. */
const segmentEvents = 1_100;
/** All steps of sealing, in order; where one is taken several times, with its number. */
const steps = [
  'events-written',
  'state-written',
  'manifest-written',
  'read-back',
  'appending',
  'sealed',
  'pruned 1',
  'pruned 2',
];
const podsAtOnce = 64;
const silenceMs = 60_000;

describe('Sealing that is killed', function () {
  this.timeout(300_000);
  let run: Run;
  let etcd: Etcd;
  let folder: string;
  let allocator: Allocator;
  let client: Everywhere;
  /** Every line of the log, and what was asked of the past, before anything was sealed. */
  let lines: string[];
  let answers: object[];

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    folder = join(run.folder, 'archive');
    mkdirSync(folder);
    // It reads the archive, and has too few events to seal any itself.
    allocator = await startAllocator(run, { etcd, archive: { location: folder } });
    client = connectEverywhere([allocator]);
    const spec = { cidrBlock: '172.17.0.0/24', gateway: '172.17.0.1', provider: 'macvlan.default', cooldownMs: 0 };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
    const pods = Array.from({ length: (steps.length * segmentEvents) / 2 }, (_, index) => `pod-${index}`);
    await each(pods, podsAtOnce, live);
    lines = await linesFrom(1);
    answers = await answersOf();
  });
  after(async () => {
    client.close();
    await run.end();
  });

  async function live(name: string): Promise<void> {
    const pod = { namespace: 'default', name, uid: `uid-${name}` };
    await client.call(IpamService.allocate, {
      pod,
      attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'] }],
    });
    await client.call(IpamService.release, {
      namespace: 'default',
      pod: name,
      podUid: pod.uid,
      cause: 'RELEASE_CAUSE_POD_DELETED',
    });
  }

  /** As a follower sees them that begins there. */
  async function linesFrom(fromSeq: number): Promise<string[]> {
    const there = (await client.call(SubnetsService.listSubnets, {})).position?.seq ?? 0;
    const connection = connect(allocator.endpoint, undefined);
    const found: string[] = [];
    const stop = new AbortController();
    try {
      for await (const { events } of stream(
        connection,
        LedgerService.watch,
        { fromSeq },
        { signal: stop.signal, silenceMs },
      )) {
        found.push(...events.map(({ stored }) => stored));
        if (found.length >= there - fromSeq + 1) return found;
      }
    } finally {
      stop.abort();
      connection.close();
    }
    throw new Error(`the stream ended after ${found.length} events`);
  }

  async function answersOf(): Promise<object[]> {
    const found: object[] = [];
    for (const address of ['172.17.0.2', '172.17.0.40', '172.17.0.200']) {
      const { events } = await client.call(LedgerService.history, { address, pageSize: 1_000 });
      found.push(events.map(({ stored }) => stored));
    }
    for (const seq of [700, 2_222, segmentEvents * steps.length - 9]) found.push(await stateAt(seq));
    return found;
  }

  async function stateAt(seq: number): Promise<object> {
    const connection = connect(allocator.endpoint, undefined);
    const replies: StateAtReply[] = [];
    try {
      const asked = stream(connection, LedgerService.stateAt, { moment: { seq } }, { signal: run.signal, silenceMs });
      for await (const reply of asked) replies.push(reply);
    } finally {
      connection.close();
    }
    return { at: replies.at(-1)?.at, records: replies.flatMap(({ records }) => records) };
  }

  /** Gives the signal that ended it; null for one that did it all. */
  async function sealUpTo(to: number, deathStep = ''): Promise<NodeJS.Signals | null> {
    const program = join(import.meta.dirname, 'sealing-writer.ts');
    const child = spawn(process.execPath, [program, etcd.endpoint, folder, String(to), deathStep], {
      env: childEnvironment(),
      stdio: ['ignore', 'ignore', 'inherit'],
      signal: run.signal,
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (code) throw new Error(`sealing up to ${to}: exit ${code}`);
    return signal;
  }

  const liveEvents = async (): Promise<number> =>
    (await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--keys-only'])).match(/^\/ipledger/gm)?.length ?? 0;

  async function expectNothingLost(): Promise<void> {
    expect((await linesFrom(1)).slice(0, lines.length)).to.deep.equal(lines);
    expect(await answersOf()).to.deep.equal(answers);
  }

  steps.forEach((step, index) => {
    it(`at "${step}" loses no event, answers nothing wrongly, and is gone on with`, async () => {
      const to = segmentEvents * (index + 1);
      expect(await sealUpTo(to, step)).to.equal('SIGKILL');
      await expectNothingLost();
      expect(await sealUpTo(to)).to.equal(null);
      const head = (await client.call(SubnetsService.listSubnets, {})).position?.seq ?? 0;
      expect(await liveEvents()).to.equal(head - to);
      await expectNothingLost();
    });
  });

  it('leaves segments that follow one another, each sealed once', async () => {
    const keys = (await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/segment/', '--print-value-only'])).trim();
    const segments = keys.split('\n').map((text) => JSON.parse(text) as { from: number; to: number });
    expect(segments.map(({ from, to }) => [from, to])).to.deep.equal(
      steps.map((_, index) => [segmentEvents * index + 1, segmentEvents * (index + 1)]),
    );
  });

  it('tells a replica without the archive where its history begins', async () => {
    const poor = await startAllocator(run, { etcd, name: 'poor' });
    const other = connectEverywhere([poor]);
    try {
      const asked = other.call(LedgerService.history, { address: '172.17.0.2', pageSize: 1_000 });
      const error = await asked.then(
        () => new Error('it was answered'),
        (thrown: unknown) => thrown as Error,
      );
      const floor = segmentEvents * steps.length + 1;
      expect(error).to.have.property('code', 'POSITION_GONE');
      expect(error.message).to.match(new RegExp(`the first live one is event ${floor} of 20.*Begin there`));
    } finally {
      other.close();
      await poor.stop();
    }
  });
});
