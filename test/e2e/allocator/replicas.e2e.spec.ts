import { ChannelCredentials, Client } from '@grpc/grpc-js';
import { expect } from 'chai';
import { call, connect } from '../../../lib/grpc/client.ts';
import { IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { type SeededRandom, createSeededRandom } from '../../faults/seeded-random.ts';
import { type Etcd, startEtcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { printProgress } from '../../harness/progress.ts';
import { type AllocatorServer, startAllocator } from '../../harness/services.ts';
import {
  readVerifiedLog,
  configureSubnet,
  expectAcknowledgedInLog,
  openWorkload,
  type Workload,
} from '../support/allocator-workload.ts';
import { connectReplicas, listAllocations, isWriter } from '../support/replica-client.ts';
import { eventually } from '../support/eventually.ts';

const pods = 200;
const clients = 12;
/** A timeout below a takeover's, so that clients repeat calls at other replicas. */
const timeoutMs = 1_000;

describe('Three allocators on one ledger, called at random', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let replicas: readonly AllocatorServer[];
  let random: SeededRandom;
  let work: Workload;
  beforeEach(async function () {
    run = openRun();
    etcd = await startEtcd(run);
    replicas = await Promise.all(['one', 'two', 'three'].map((name) => startAllocator(run, { etcd, name })));
    await configureSubnet(replicas[0] as AllocatorServer);
    random = createSeededRandom(this.currentTest?.title ?? '');
    work = openWorkload(replicas, { random, timeoutMs });
  });
  afterEach(async () => {
    work.close();
    await run.end();
  });

  /** Reads the writer's key in etcd: the name of the replica, and the revision of its election. */
  async function readElection(): Promise<{ name: string; since: number } | undefined> {
    const { kvs } = JSON.parse(await etcd.etcdctl(['get', '-w', 'json', '/ipledger/v1/writer'])) as {
      kvs?: { value: string; create_revision: number }[];
    };
    if (!kvs?.[0]) return undefined;
    const { replica } = JSON.parse(Buffer.from(kvs[0].value, 'base64').toString()) as { replica: string };
    return { name: replica, since: kvs[0].create_revision };
  }
  const writer = async (): Promise<AllocatorServer> => {
    const name = (await readElection())?.name;
    const found = replicas.find((replica) => replica.name === name);
    if (!found) throw new Error(`the writer is ${name ?? 'no replica'}`);
    return found;
  };

  /**
   * Serves the Pods, and disrupts the writer after a third of them. Returns that writer and the
   * time of the disruption.
   */
  async function serveDuring(disrupt: (writer: AllocatorServer) => Promise<void> | void) {
    let disruption: { readonly victim: AllocatorServer; readonly at: number } | undefined;
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    await work.runPods(names, clients, async (done) => {
      if (done !== Math.floor(pods / 3)) return;
      const victim = await writer();
      disruption = { victim, at: performance.now() };
      await disrupt(victim);
    });
    if (!disruption) throw new Error('the writer was not disrupted');
    return disruption;
  }

  /** Expects each acknowledged allocation in the log and in the replies of all replicas. */
  async function expectAllKept(): Promise<void> {
    expectAcknowledgedInLog(await readVerifiedLog(etcd), work.acknowledged);
    const held = [...work.acknowledged.values()].flatMap(({ allocation, released }) => (released ? [] : allocation));
    for (const replica of replicas.filter(({ isAlive }) => isAlive)) {
      const client = connectReplicas([replica]);
      const allocations = await listAllocations(client);
      client.close();
      expect(allocations, `the allocations that ${replica.name} lists`).to.have.deep.members(held);
    }
  }

  function report(event: string, at: number): void {
    const paused = (work.firstWriteSince(at) ?? Infinity) - at;
    const failed = [...work.failures].map(([code, count]) => `${code} ${count}`).join(', ') || 'none';
    printProgress(
      `${event}: the next write was acknowledged after ${Math.round(paused)} ms; calls repeated: ${failed}`,
    );
  }

  it('Three allocators lose and change no acknowledged reply when the writer is killed', async () => {
    const before = await readElection();
    const { victim, at } = await serveDuring((found) => found.kill());
    report('writer killed', at);
    const after = await readElection();
    expect(after?.name).to.not.equal(before?.name);
    await victim.start();
    expect(await isWriter(victim)).to.be.false;
    await expectAllKept();
    expect(await readElection(), 'exactly one takeover').to.deep.equal(after);
  });

  it('Three allocators hold a request while there is no writer, until another replica has taken over', async () => {
    const victim = await writer();
    const standby = replicas.find(({ name }) => name !== victim.name) as AllocatorServer;
    const connection = connect(standby.endpoint, undefined);
    await victim.kill();
    const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
    const request = { pod: { namespace: 'default', name: 'a', uid: 'uid-a' }, attachments };
    const { allocations } = await call(connection, IpamService.allocate, request, { timeoutMs: 10_000 });
    connection.close();
    expect(allocations[0]?.addresses[0]?.address).to.equal('172.17.0.2');
    expect((await readElection())?.name).to.not.equal(victim.name);
  });

  it('Three allocators fail no request when the writer is stopped, because requests to any replica wait for the hand-over', async () => {
    work.close();
    // Gives each client the addresses of all replicas, in an order of its own.
    const endpoints = replicas.map(({ endpoint }) => endpoint);
    const rotations = endpoints.map((_, first) => ({
      endpoint: [...endpoints, ...endpoints].slice(first, first + 3).join(),
    }));
    work = openWorkload(rotations, { random, timeoutMs: 10_000 });
    const { victim, at } = await serveDuring((found) => void found.stop());
    report('writer stopped', at);
    expect(Object.fromEntries(work.failures)).to.deep.equal({});
    await eventually(() => expect(victim.isAlive).to.be.false);
    expect((await readElection())?.name).to.not.equal(victim.name);
    await victim.start();
    expect(await isWriter(victim)).to.be.false;
    await expectAllKept();
  });

  it('A suspended writer steps down after its lease has expired, without a wrong reply', async () => {
    const { victim, at } = await serveDuring((found) => found.freeze());
    report('writer suspended', at);
    const after = await readElection();
    expect(after?.name).to.not.equal(victim.name);
    const more = Array.from({ length: 60 }, (_, index) => `later-${index}`);
    await work.runPods(more, clients, (done) => {
      if (done === 20) victim.resume();
      return Promise.resolve();
    });
    await eventually(async () => expect(await isWriter(victim)).to.be.false);
    expect(victim.isAlive, 'it continues without a restart').to.be.true;
    await expectAllKept();
    expect(await readElection(), 'exactly one takeover').to.deep.equal(after);
  });

  it('Three allocators serve all requests when one writer after another is killed', async () => {
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    let [losses, back] = [0, Promise.resolve()];
    await work.runPods(names, clients, async (done) => {
      if (done % 100 !== 50) return;
      losses++;
      const victim = await eventually(writer);
      await victim.kill();
      back = victim.start();
      await back;
    });
    await back;
    expect(losses).to.equal(2);
    await expectAllKept();
  });

  it('A linearizable read of a standby includes all acknowledged writes, also after the standby was suspended', async () => {
    const writing = await writer();
    const standby = replicas.find(({ name }) => name !== writing.name) as AllocatorServer;
    const [toWriter, toStandby] = [connect(writing.endpoint, undefined), connect(standby.endpoint, undefined)];
    for (let round = 0; round < 20; round++) {
      await call(toStandby, IpamService.listAllocations, {}, { timeoutMs: 10_000 });
      standby.freeze();
      const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
      const pod = { namespace: 'default', name: `pod-${round}`, uid: `uid-${round}` };
      const allocated = await call(toWriter, IpamService.allocate, { pod, attachments }, { timeoutMs: 10_000 });
      const listed = call(toStandby, IpamService.listAllocations, { pod: pod.name }, { timeoutMs: 10_000 });
      standby.resume();
      expect((await listed).allocations).to.deep.equal(allocated.allocations);
    }
    toWriter.close();
    toStandby.close();
  });

  it('Three allocators include each other’s writes in linearizable reads, and stream them', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `pod-${index}`);
    const streamed = replicas.map(({ endpoint }) => {
      const client = new Client(endpoint, ChannelCredentials.createInsecure());
      const seqs: number[] = [];
      const calling = client.makeServerStreamRequest(
        LedgerService.watch.path,
        LedgerService.watch.requestSerialize,
        LedgerService.watch.responseDeserialize,
        { fromSeq: 1 },
      );
      calling.on('error', () => undefined);
      calling.on('data', ({ events }: { events: { seq: number }[] }) => seqs.push(...events.map(({ seq }) => seq)));
      return { seqs, stop: () => (calling.cancel(), client.close()) };
    });
    await work.runPods(names, clients);
    const log = await readVerifiedLog(etcd);
    for (const { seqs, stop } of streamed) {
      await eventually(() => expect(seqs).to.have.length.at.least(log.length));
      stop();
      expect(seqs).to.deep.equal(log.map((_, index) => index + 1));
    }
    await expectAllKept();
  });
});
