import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, stream } from '../../lib/grpc/client.ts';
import { IpamService, LedgerService, type StateAtReply, SubnetsService } from '../../proto/generated/ipledger.ts';
import { type ReplicaClient, connectReplicas } from '../e2e/support/replica-client.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../harness/services.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';

/** The steps of sealing, in order; a repeated step has its number. */
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
/** The lengths of segments. A crash happens also between the two deletions of the long one. */
const [shortSegment, longSegment] = [200, 1_100];
/** The last event of each segment. */
const segmentEnds: number[] = [];
for (const step of steps)
  segmentEnds.push((segmentEnds.at(-1) ?? 0) + (step.startsWith('pruned') ? longSegment : shortSegment));
const lastSealed = segmentEnds.at(-1) ?? 0;
const concurrency = 64;
const silenceMs = 60_000;

describe('Sealing with a writer that is killed', function () {
  this.timeout(300_000);
  let run: Run;
  let etcd: Etcd;
  let folder: string;
  let allocator: AllocatorServer;
  let client: ReplicaClient;
  /**
   * All lines of the log, and replies to queries of the past, before the first segment is sealed.
   */
  let lines: string[];
  let answers: object[];

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    folder = join(run.folder, 'archive');
    mkdirSync(folder);
    // The allocator reads the archive. It has too few events to seal a segment itself
    allocator = await startAllocator(run, { etcd, archive: { location: folder } });
    client = connectReplicas([allocator]);
    const spec = { cidrBlock: '172.17.0.0/24', gateway: '172.17.0.1', provider: 'macvlan.default', cooldownMs: 0 };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
    const pods = Array.from({ length: lastSealed / 2 }, (_, index) => `pod-${index}`);
    await forEachConcurrent(pods, concurrency, runPod);
    lines = await readLines(1);
    answers = await queryHistory();
  });
  after(async () => {
    client.close();
    await run.end();
  });

  async function runPod(name: string): Promise<void> {
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

  /** Reads the lines that a follower receives from this event on. */
  async function readLines(fromSeq: number): Promise<string[]> {
    const head = (await client.call(SubnetsService.listSubnets, {})).position?.seq ?? 0;
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
        if (found.length >= head - fromSeq + 1) return found;
      }
    } finally {
      stop.abort();
      connection.close();
    }
    throw new Error(`the stream ended after ${found.length} events`);
  }

  async function queryHistory(): Promise<object[]> {
    const found: object[] = [];
    for (const address of ['172.17.0.2', '172.17.0.40', '172.17.0.200']) {
      const { events } = await client.call(LedgerService.history, { address, pageSize: 1_000 });
      found.push(events.map(({ stored }) => stored));
    }
    for (const seq of [700, 2_222, lastSealed - 9]) found.push(await stateAt(seq));
    return found;
  }

  async function stateAt(seq: number): Promise<object> {
    const connection = connect(allocator.endpoint, undefined);
    const received: StateAtReply[] = [];
    try {
      const replies = stream(
        connection,
        LedgerService.stateAt,
        { pointInTime: { seq } },
        { signal: run.signal, silenceMs },
      );
      for await (const reply of replies) received.push(reply);
    } finally {
      connection.close();
    }
    return { at: received.at(-1)?.at, records: received.flatMap(({ records }) => records) };
  }

  /** Seals with a writer. Returns the signal that ended it; null when it finished. */
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
    expect((await readLines(1)).slice(0, lines.length)).to.deep.equal(lines);
    expect(await queryHistory()).to.deep.equal(answers);
  }

  steps.forEach((step, index) => {
    it(`a seal whose writer is killed at "${step}" loses no event, changes no reply, and is completed by the next writer`, async () => {
      const to = segmentEnds[index] ?? 0;
      expect(await sealUpTo(to, step)).to.equal('SIGKILL');
      await expectNothingLost();
      expect(await sealUpTo(to)).to.equal(null);
      const head = (await client.call(SubnetsService.listSubnets, {})).position?.seq ?? 0;
      expect(await liveEvents()).to.equal(head - to);
      await expectNothingLost();
    });
  });

  it('Sealing with a writer that is killed produces consecutive segments, each sealed one time', async () => {
    const keys = (await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/segment/', '--print-value-only'])).trim();
    const segments = keys.split('\n').map((text) => JSON.parse(text) as { from: number; to: number });
    expect(segments.map(({ from, to }) => [from, to])).to.deep.equal(
      segmentEnds.map((end, index) => [(segmentEnds[index - 1] ?? 0) + 1, end]),
    );
  });

  it('Sealing with a writer that is killed returns the start of the history on a replica without the archive', async () => {
    const withoutArchive = await startAllocator(run, { etcd, name: 'without-archive' });
    const other = connectReplicas([withoutArchive]);
    try {
      const request = { address: '172.17.0.2', pageSize: 1_000 };
      const { events, subnets, nextPageToken: pageToken } = await other.call(LedgerService.history, request);
      expect({ events, subnets }, 'what is known without the history').to.deep.equal({
        events: [],
        subnets: ['macvlan'],
      });
      const error = await other.call(LedgerService.history, { ...request, pageToken }).then(
        () => new Error('the query succeeded'),
        (thrown: unknown) => thrown as Error,
      );
      const logStart = lastSealed + 1;
      expect(error).to.have.property('code', 'POSITION_GONE');
      expect(error.message).to.match(
        new RegExp(`The first event in etcd is ${logStart} of 20.*Begin with event ${logStart}`),
      );
    } finally {
      other.close();
      await withoutArchive.stop();
    }
  });
});
