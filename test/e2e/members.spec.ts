/** What an allocator makes of what other replicas say of themselves, these being written by hand. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { IpamService, SubnetsService } from '../../proto/ipledger.ts';
import { eventVersions } from '../../services/allocator/ledger/upcast.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, startAllocator } from '../harness/services.ts';
import { connectEverywhere, type Everywhere, isWriter } from './allocators.ts';
import { eventually } from './eventually.ts';

const newest = eventVersions.at(-1);

describe('An allocator among others', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Allocator;
  let client: Everywhere;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    allocator = await startAllocator(run, { etcd });
    client = connectEverywhere([allocator]);
    const spec = { cidrBlock: '172.17.0.0/16', provider: 'macvlan.default' };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
  });
  after(async () => {
    client.close();
    await run.end();
  });

  let pods = 0;
  /** The schema version of the next event. */
  async function versionWritten(): Promise<number> {
    const pod = { namespace: 'default', name: `pod-${++pods}`, uid: `uid-${pods}` };
    const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
    const { position } = await client.call(IpamService.allocate, { pod, attachments });
    const key = `/ipledger/v1/log/${String(position?.seq).padStart(16, '0')}`;
    return (JSON.parse(await etcd.etcdctl(['get', '--print-value-only', key])) as { v: number }).v;
  }
  const say = (replica: string, more: object): Promise<string> => {
    const member = { replica, address: '127.0.0.1:1', reads: eventVersions, ...more };
    return etcd.etcdctl(['put', `/ipledger/v1/member/${replica}`, JSON.stringify(member)]);
  };
  const forget = (replica: string): Promise<string> => etcd.etcdctl(['del', `/ipledger/v1/member/${replica}`]);

  it('writes events that the oldest of them can read, for as long as that one is there', async () => {
    expect(await versionWritten()).to.equal(newest);
    await say('old', { reads: [1] });
    await eventually(async () => expect(await versionWritten()).to.equal(1));
    await forget('old');
    await eventually(async () => expect(await versionWritten()).to.equal(newest));
  });

  it('does not write while its clock is far off those of two others, and does again when they agree', async () => {
    let aheadMs = 3_600_000;
    const telling = new AbortController();
    const told = (async () => {
      while (!telling.signal.aborted) {
        const at = new Date(Date.now() + aheadMs).toISOString();
        await Promise.all(['two', 'three'].map((replica) => say(replica, { at })));
        await sleep(500);
      }
    })();
    await eventually(async () => expect(await isWriter(allocator)).to.be.false);
    expect(await etcd.etcdctl(['get', '/ipledger/v1/writer'])).to.equal('');
    aheadMs = 0;
    await eventually(async () => expect(await isWriter(allocator)).to.be.true);
    expect(await versionWritten()).to.equal(newest);
    telling.abort();
    await told;
  });
});
