import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { type Allocation, IpamService, SubnetsService } from '../../proto/ipledger.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, startAllocator } from '../harness/services.ts';
import { connectEverywhere, type Everywhere, isWriter } from './allocators.ts';

const pod = (name: string, address?: string) => ({
  pod: { namespace: 'default', name, uid: `uid-${name}` },
  attachments: [
    {
      provider: 'macvlan.default',
      subnets: ['macvlan'],
      candidates: address === undefined ? [] : [{ addresses: [address] }],
    },
  ],
});

describe('Two allocators as processes', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let first: Allocator;
  let second: Allocator;
  let client: Everywhere;
  beforeEach(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    first = await startAllocator(run, { etcd, name: 'first' });
    second = await startAllocator(run, { etcd, name: 'second' });
    client = connectEverywhere([first, second]);
    const spec = { cidrBlock: '172.17.0.0/16', provider: 'macvlan.default' };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
  });
  afterEach(async () => {
    client.close();
    await run.end();
  });

  const allocate = async (name: string): Promise<Allocation> => {
    const { allocations } = await client.call(IpamService.allocate, pod(name));
    return allocations[0] as Allocation;
  };
  const writerName = async (): Promise<string> => {
    const value = await etcd.etcdctl(['get', '--print-value-only', '/ipledger/v1/writer']);
    return value === '' ? 'nobody' : (JSON.parse(value) as { replica: string }).replica;
  };

  /** What was acknowledged is there, once; asking again says the same; nothing else is held. */
  async function assertKept(acknowledged: ReadonlyMap<string, Allocation>): Promise<void> {
    const addresses = [...acknowledged.values()].map(({ addresses: [assigned] }) => assigned?.address);
    expect(new Set(addresses).size).to.equal(acknowledged.size);
    for (const [name, allocation] of acknowledged) expect(await allocate(name)).to.deep.equal(allocation);
    const { allocations } = await client.call(IpamService.list, { pageSize: 1_000 });
    expect(allocations).to.have.deep.members([...acknowledged.values()]);
  }

  it('are one writer and one standby, and either answers', async () => {
    expect(await writerName()).to.equal('first');
    expect(await Promise.all([first, second].map(isWriter))).to.deep.equal([true, false]);
    const standby = connect(second.endpoint, undefined);
    const { allocations } = await call(standby, IpamService.allocate, pod('a'), { timeoutMs: 20_000 });
    const listed = await call(standby, IpamService.list, {}, { timeoutMs: 20_000 });
    standby.close();
    expect(listed.allocations).to.deep.equal(allocations);
  });

  it('lose nothing that was acknowledged, and change no answer, when the writer is killed at work', async () => {
    const acknowledged = new Map<string, Allocation>();
    const names = Array.from({ length: 300 }, (_, index) => `pod-${index}`);
    const queue = [...names];
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        acknowledged.set(name, await allocate(name));
        if (acknowledged.size === 100) await first.kill();
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    expect([...acknowledged.keys()]).to.have.members(names);
    expect(await writerName()).to.equal('second');
    expect(await isWriter(second)).to.be.true;
    await assertKept(acknowledged);

    await first.start();
    expect(await isWriter(first)).to.be.false;
    await second.kill();
    acknowledged.set('later', await allocate('later'));
    await assertKept(acknowledged);
  });

  it('hand over at once when the writer is told to stop', async () => {
    const acknowledged = new Map([['a', await allocate('a')]]);
    await first.stop();
    expect(await writerName(), 'its lease would have lasted longer').to.be.oneOf(['nobody', 'second']);
    await assertKept(acknowledged);
  });

  it('answer nothing wrong when the writer is stopped past its lease and goes on: it steps down', async () => {
    const acknowledged = new Map([['a', await allocate('a')]]);
    const old = connect(first.endpoint, undefined);
    await call(old, IpamService.list, {}, { timeoutMs: 20_000 });
    first.freeze();
    // On its way before anybody else is the writer; decided, if at all, after.
    const asked = call(old, IpamService.allocate, pod('late', '172.17.0.100'), { timeoutMs: 60_000 });
    const listed = call(old, IpamService.list, {}, { timeoutMs: 60_000 });
    while ((await writerName()) !== 'second') await sleep(50);
    const { allocations } = await client.call(IpamService.allocate, pod('b', '172.17.0.100'));
    acknowledged.set('b', allocations[0] as Allocation);
    first.thaw();
    const answers = await Promise.allSettled([asked, listed]);
    for (const answer of answers) {
      // Refused with the truth, or not answered at all; never with what was true when it was frozen.
      if (answer.status === 'rejected')
        expect(answer.reason).to.have.property('code').that.is.oneOf(['NOT_WRITER', 'ADDRESS_IN_USE', 'UNAVAILABLE']);
      else expect(answer.value.allocations).to.have.deep.members([...acknowledged.values()]);
    }
    while (await isWriter(first)) await sleep(20);
    expect(await writerName()).to.equal('second');
    old.close();
    await assertKept(acknowledged);
  });

  it('stop writing while etcd is away, and go on when it is back', async () => {
    const acknowledged = new Map([['a', await allocate('a')]]);
    await etcd.kill();
    const waiting = allocate('b');
    await sleep(7_000); // longer than any lease
    await etcd.start();
    acknowledged.set('b', await waiting);
    await assertKept(acknowledged);
  });
});
