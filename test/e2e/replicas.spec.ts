import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { IpamService, LedgerService } from '../../proto/ipledger.ts';
import { type Dice, openDice } from '../faults/dice.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { say } from '../harness/say.ts';
import { type Allocator, startAllocator } from '../harness/services.ts';
import { auditedLog, configureSubnet, expectKept, openWork, type Work } from './allocator-work.ts';
import { connectEverywhere, isWriter } from './allocators.ts';
import { eventually } from './eventually.ts';

const pods = 200;
const clients = 12;
/** Shorter than a takeover, so that calls are repeated elsewhere while it lasts. */
const timeoutMs = 1_000;

describe('Three allocators on one ledger, asked at random', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let replicas: readonly Allocator[];
  let dice: Dice;
  let work: Work;
  beforeEach(async function () {
    run = openRun();
    etcd = await startEtcd(run);
    replicas = await Promise.all(['one', 'two', 'three'].map((name) => startAllocator(run, { etcd, name })));
    await configureSubnet(replicas[0] as Allocator);
    dice = openDice(this.currentTest?.title ?? '');
    work = openWork(replicas, { dice, timeoutMs });
  });
  afterEach(async () => {
    work.close();
    await run.end();
  });

  /** The writer's key as etcd has it: who, and since which revision. */
  async function office(): Promise<{ name: string; since: number } | undefined> {
    const { kvs } = JSON.parse(await etcd.etcdctl(['get', '-w', 'json', '/ipledger/v1/writer'])) as {
      kvs?: { value: string; create_revision: number }[];
    };
    if (!kvs?.[0]) return undefined;
    const { replica } = JSON.parse(Buffer.from(kvs[0].value, 'base64').toString()) as { replica: string };
    return { name: replica, since: kvs[0].create_revision };
  }
  const writer = async (): Promise<Allocator> => {
    const name = (await office())?.name;
    const found = replicas.find((replica) => replica.name === name);
    if (!found) throw new Error(`the writer is ${name ?? 'nobody'}`);
    return found;
  };

  /** Has the Pods served; when a third is, `harm` comes to the writer. Resolves to it, and when it came. */
  async function serveThrough(harm: (writer: Allocator) => Promise<void> | void) {
    let harmed: { readonly victim: Allocator; readonly at: number } | undefined;
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    await work.serve(names, clients, async (done) => {
      if (done !== Math.floor(pods / 3)) return;
      const victim = await writer();
      harmed = { victim, at: performance.now() };
      await harm(victim);
    });
    if (!harmed) throw new Error('no harm came to the writer');
    return harmed;
  }

  /** Everything that was acknowledged is there and stays: in the log, and in what each replica answers. */
  async function expectAllKept(): Promise<void> {
    expectKept(await auditedLog(etcd), work.acknowledged);
    const held = [...work.acknowledged.values()].flatMap(({ allocation, released }) => (released ? [] : allocation));
    for (const replica of replicas.filter(({ alive }) => alive)) {
      const client = connectEverywhere([replica]);
      const { allocations } = await client.call(IpamService.list, { pageSize: 1_000 });
      client.close();
      expect(allocations, `what ${replica.name} lists`).to.have.deep.members(held);
    }
  }

  function report(what: string, at: number): void {
    const paused = (work.firstAnswerSince(at) ?? Infinity) - at;
    const failed = [...work.failures].map(([code, count]) => `${code} ${count}`).join(', ') || 'none';
    say(`${what}: the next write was acknowledged after ${Math.round(paused)} ms; calls repeated: ${failed}`);
  }

  it('lose nothing and change no answer when the writer is killed', async () => {
    const before = await office();
    const { victim, at } = await serveThrough((found) => found.kill());
    report('writer killed', at);
    const after = await office();
    expect(after?.name).to.not.equal(before?.name);
    await victim.start();
    expect(await isWriter(victim)).to.be.false;
    await expectAllKept();
    expect(await office(), 'one takeover, and no other').to.deep.equal(after);
  });

  it('keep whom the writer’s loss makes wait waiting, until another has taken over', async () => {
    const victim = await writer();
    const standby = replicas.find(({ name }) => name !== victim.name) as Allocator;
    const connection = connect(standby.endpoint, undefined);
    await victim.kill();
    const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
    const request = { pod: { namespace: 'default', name: 'a', uid: 'uid-a' }, attachments };
    const { allocations } = await call(connection, IpamService.allocate, request, { timeoutMs: 10_000 });
    connection.close();
    expect(allocations[0]?.addresses[0]?.address).to.equal('172.17.0.2');
    expect((await office())?.name).to.not.equal(victim.name);
  });

  it('fail nobody when the writer is told to stop: it hands over, and who asks it or another waits for that', async () => {
    work.close();
    // Each client knows all of them, and begins with another one.
    const endpoints = replicas.map(({ endpoint }) => endpoint);
    const rotations = endpoints.map((_, first) => ({
      endpoint: [...endpoints, ...endpoints].slice(first, first + 3).join(),
    }));
    work = openWork(rotations, { dice, timeoutMs: 10_000 });
    const { victim, at } = await serveThrough((found) => void found.stop());
    report('writer told to stop', at);
    expect(Object.fromEntries(work.failures)).to.deep.equal({});
    await eventually(() => expect(victim.alive).to.be.false);
    expect((await office())?.name).to.not.equal(victim.name);
    await victim.start();
    expect(await isWriter(victim)).to.be.false;
    await expectAllKept();
  });

  it('have the writer step down that was suspended past its lease, and answers nothing wrong when it goes on', async () => {
    const { victim, at } = await serveThrough((found) => found.freeze());
    report('writer suspended', at);
    const after = await office();
    expect(after?.name).to.not.equal(victim.name);
    const more = Array.from({ length: 60 }, (_, index) => `later-${index}`);
    await work.serve(more, clients, (done) => {
      if (done === 20) victim.thaw();
      return Promise.resolve();
    });
    await eventually(async () => expect(await isWriter(victim)).to.be.false);
    await expectAllKept();
    expect(await office(), 'one takeover, and no other').to.deep.equal(after);
  });

  it('go on through one loss after another', async () => {
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    let [losses, back] = [0, Promise.resolve()];
    await work.serve(names, clients, async (done) => {
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

  it('tell who asks as of now all that was acknowledged, also when they were suspended while it was', async () => {
    const writing = await writer();
    const standby = replicas.find(({ name }) => name !== writing.name) as Allocator;
    const [there, here] = [connect(writing.endpoint, undefined), connect(standby.endpoint, undefined)];
    for (let round = 0; round < 20; round++) {
      await call(here, IpamService.list, {}, { timeoutMs: 10_000 });
      standby.freeze();
      const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
      const pod = { namespace: 'default', name: `pod-${round}`, uid: `uid-${round}` };
      const given = await call(there, IpamService.allocate, { pod, attachments }, { timeoutMs: 10_000 });
      const asked = call(here, IpamService.list, { pod: pod.name }, { timeoutMs: 10_000 });
      standby.thaw();
      expect((await asked).allocations).to.deep.equal(given.allocations);
    }
    there.close();
    here.close();
  });

  it('show each other’s writes at once to who asks as of now, and stream them', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `pod-${index}`);
    const streamed = replicas.map(({ endpoint }) => {
      const connection = connect(endpoint, undefined);
      const seqs: number[] = [];
      const calling = connection.current.makeServerStreamRequest(
        LedgerService.watch.path,
        LedgerService.watch.requestSerialize,
        LedgerService.watch.responseDeserialize,
        { fromSeq: 1 },
      );
      calling.on('error', () => undefined);
      calling.on('data', ({ events }: { events: { seq: number }[] }) => seqs.push(...events.map(({ seq }) => seq)));
      return { seqs, stop: () => (calling.cancel(), connection.close()) };
    });
    await work.serve(names, clients);
    const log = await auditedLog(etcd);
    for (const { seqs, stop } of streamed) {
      await eventually(() => expect(seqs).to.have.length.at.least(log.length));
      stop();
      expect(seqs).to.deep.equal(log.map((_, index) => index + 1));
    }
    await expectAllKept();
  });
});
