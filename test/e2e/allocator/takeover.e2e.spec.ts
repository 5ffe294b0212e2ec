import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { call, connect } from '../../../lib/grpc/client.ts';
import { type Allocation, IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { type Etcd, startEtcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../../harness/services.ts';
import { connectReplicas, listAllocations, type ReplicaClient, isWriter } from '../support/replica-client.ts';

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

describe('Two allocator processes', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let first: AllocatorServer;
  let second: AllocatorServer;
  let client: ReplicaClient;
  beforeEach(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    first = await startAllocator(run, { etcd, name: 'first' });
    second = await startAllocator(run, { etcd, name: 'second' });
    client = connectReplicas([first, second]);
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
    return value === '' ? 'none' : (JSON.parse(value) as { replica: string }).replica;
  };

  /**
   * Expects that each acknowledged allocation exists once, that a repeated request returns it, and
   * that there are no other allocations.
   */
  async function assertKept(acknowledged: ReadonlyMap<string, Allocation>): Promise<void> {
    const addresses = [...acknowledged.values()].map(({ addresses: [assigned] }) => assigned?.address);
    expect(new Set(addresses).size).to.equal(acknowledged.size);
    for (const [name, allocation] of acknowledged) expect(await allocate(name)).to.deep.equal(allocation);
    const allocations = await listAllocations(client);
    expect(allocations).to.have.deep.members([...acknowledged.values()]);
  }

  it('Two allocator processes are one writer and one standby, and both reply', async () => {
    expect(await writerName()).to.equal('first');
    expect(await Promise.all([first, second].map((each) => isWriter(each)))).to.deep.equal([true, false]);
    const standby = connect(second.endpoint, undefined);
    const { allocations } = await call(standby, IpamService.allocate, pod('a'), { timeoutMs: 20_000 });
    const listed = await call(standby, IpamService.listAllocations, {}, { timeoutMs: 20_000 });
    standby.close();
    expect(listed.allocations).to.deep.equal(allocations);
  });

  it('Two allocator processes lose and change no acknowledged reply when the writer is killed', async () => {
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

  it('A writer that is stopped hands over before its lease expires', async () => {
    const acknowledged = new Map([['a', await allocate('a')]]);
    await first.stop();
    expect(await writerName(), 'its lease would have expired later').to.be.oneOf(['none', 'second']);
    await assertKept(acknowledged);
  });

  it('A suspended writer that resumes after its lease steps down, and returns no wrong reply', async () => {
    const acknowledged = new Map([['a', await allocate('a')]]);
    const old = connect(first.endpoint, undefined);
    await call(old, IpamService.listAllocations, {}, { timeoutMs: 20_000 });
    first.freeze();
    // Sends the request before the takeover. It is decided afterwards, if at all.
    const allocating = call(old, IpamService.allocate, pod('late', '172.17.0.100'), { timeoutMs: 60_000 });
    const listing = call(old, IpamService.listAllocations, {}, { timeoutMs: 60_000 });
    while ((await writerName()) !== 'second') await sleep(50);
    const { allocations } = await client.call(IpamService.allocate, pod('b', '172.17.0.100'));
    acknowledged.set('b', allocations[0] as Allocation);
    first.resume();
    const replies = await Promise.allSettled([allocating, listing]);
    for (const reply of replies) {
      // Expects a refusal for the present state or no answer, but no answer from the state before
      // the suspension.
      if (reply.status === 'rejected')
        expect(reply.reason).to.have.property('code').that.is.oneOf(['NOT_WRITER', 'ADDRESS_IN_USE', 'UNAVAILABLE']);
      else expect(reply.value.allocations).to.have.deep.members([...acknowledged.values()]);
    }
    while (await isWriter(first)) await sleep(20);
    expect(await writerName()).to.equal('second');
    old.close();
    await assertKept(acknowledged);
  });

  it('Two allocator processes stop writing while etcd is down, and resume after its restart', async () => {
    const acknowledged = new Map([['a', await allocate('a')]]);
    await etcd.kill();
    const waiting = allocate('b');
    await sleep(7_000); // exceeds the lease
    await etcd.start();
    acknowledged.set('b', await waiting);
    await assertKept(acknowledged);
  });
});
