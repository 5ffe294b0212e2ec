/** Tests how an allocator reacts to the member keys of other replicas, which the test writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { eventVersions } from '../../../ledger/domain/events/schema-version.ts';
import { type Etcd, startEtcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../../harness/services.ts';
import { connectReplicas, type ReplicaClient, isWriter } from '../support/replica-client.ts';
import { eventually } from '../support/eventually.ts';

const newest = eventVersions.at(-1);

describe('An allocator with other members', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let client: ReplicaClient;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    await putMember('old', { reads: [1] });
    allocator = await startAllocator(run, { etcd });
    client = connectReplicas([allocator]);
    const spec = { cidrBlock: '172.17.0.0/16', provider: 'macvlan.default' };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
  });
  after(async () => {
    client.close();
    await run.end();
  });

  let pods = 0;
  /** Returns the schema version of the next event. */
  async function versionWritten(): Promise<number> {
    const pod = { namespace: 'default', name: `pod-${++pods}`, uid: `uid-${pods}` };
    const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
    const { position } = await client.call(IpamService.allocate, { pod, attachments });
    const key = `/ipledger/v1/log/${String(position?.seq).padStart(16, '0')}`;
    return (JSON.parse(await etcd.etcdctl(['get', '--print-value-only', key])) as { v: number }).v;
  }
  const putMember = (replica: string, more: object): Promise<string> => {
    const member = { replica, address: '127.0.0.1:1', reads: eventVersions, ...more };
    return etcd.etcdctl(['put', `/ipledger/v1/member/${replica}`, JSON.stringify(member)]);
  };
  const deleteMember = (replica: string): Promise<string> => etcd.etcdctl(['del', `/ipledger/v1/member/${replica}`]);

  /** Resolves when the allocator has read the members again. */
  async function untilRefreshed(): Promise<void> {
    const read = (): Promise<string> => etcd.etcdctl(['get', '/ipledger/v1/member/allocator']);
    const before = await read();
    await eventually(async () => expect(await read()).to.not.equal(before));
  }

  it('An allocator writes events in a version that the oldest member reads until that member is deleted, and never in an earlier version afterwards', async () => {
    expect(await versionWritten()).to.equal(1);
    await deleteMember('old');
    await eventually(async () => expect(await versionWritten()).to.equal(newest));
    await putMember('old', { reads: [1] });
    // Waits for two reads, because the first may have begun before the change.
    await untilRefreshed();
    await untilRefreshed();
    expect(await versionWritten()).to.equal(newest);
    await deleteMember('old');
  });

  it('An allocator stops writing while its clock differs from the clocks of two other members, and resumes when the clocks agree', async () => {
    let aheadMs = 3_600_000;
    const updating = new AbortController();
    const updated = (async () => {
      while (!updating.signal.aborted) {
        const at = new Date(Date.now() + aheadMs).toISOString();
        await Promise.all(['two', 'three'].map((replica) => putMember(replica, { at })));
        await sleep(500);
      }
    })();
    await eventually(async () => expect(await isWriter(allocator)).to.be.false);
    expect(await etcd.etcdctl(['get', '/ipledger/v1/writer'])).to.equal('');
    aheadMs = 0;
    await eventually(async () => expect(await isWriter(allocator)).to.be.true);
    expect(await versionWritten()).to.equal(newest);
    updating.abort();
    await updated;
  });
});
