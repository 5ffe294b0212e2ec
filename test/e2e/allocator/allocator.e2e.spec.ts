import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { type CommandResult, mustRun, runCommand } from '../../harness/processes/command.ts';
import { type Etcd, startEtcd } from '../../harness/etcd.ts';
import { childEnvironment } from '../../harness/processes/launch.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../../harness/services.ts';
import { connectReplicas, type ReplicaClient } from '../support/replica-client.ts';

const pod = (name: string) => ({
  pod: { namespace: 'default', name, uid: `uid-${name}` },
  attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'] }],
});

describe('The allocator process', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let client: ReplicaClient;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    allocator = await startAllocator(run, { etcd });
    client = connectReplicas([allocator]);
  });
  after(async () => {
    client.close();
    await run.end();
  });

  /** Calls the allocator with a gRPC client that uses only the server's reflection. */
  const grpcurl = async (...args: string[]): Promise<CommandResult> =>
    runCommand(await findProgram('grpcurl'), ['-plaintext', ...args], { signal: run.signal });
  const callByReflection = async (method: string, request: object): Promise<unknown> => {
    const { stdout, stderr } = await grpcurl('-d', JSON.stringify(request), allocator.endpoint, method);
    if (stderr !== '') throw new Error(stderr);
    return JSON.parse(stdout);
  };

  it('The allocator process lists and describes its services by reflection', async () => {
    const { stdout } = await grpcurl(allocator.endpoint, 'list');
    expect(stdout.split('\n')).to.include.members([
      'grpc.health.v1.Health',
      'ipledger.v1.Ipam',
      'ipledger.v1.Ledger',
      'ipledger.v1.Subnets',
    ]);
    const { stdout: described } = await grpcurl(allocator.endpoint, 'describe', 'ipledger.v1.Ipam.Wait');
    expect(described).to.contain('rpc Wait ( .ipledger.v1.WaitRequest ) returns ( .ipledger.v1.WaitReply )');
  });

  it('The allocator process reports SERVING as its health', async () => {
    expect(await callByReflection('grpc.health.v1.Health/Check', {})).to.deep.equal({ status: 'SERVING' });
  });

  it('The allocator process allocates an address for a client that uses only reflection', async () => {
    const spec = { cidr_block: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default' };
    await callByReflection('ipledger.v1.Subnets/ApplySubnet', { name: 'macvlan', spec });
    const reply = (await callByReflection('ipledger.v1.Ipam/Allocate', pod('first'))) as { allocations: object[] };
    expect(reply).to.have.nested.property('position.epoch', '1');
    expect(reply.allocations[0]).to.deep.include({
      pod_uid: 'uid-first',
      cause: 'ALLOCATION_CAUSE_DYNAMIC',
      addresses: [{ address: '172.17.0.2', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }],
    });
  });

  it('The allocator process returns the reason of a refusal to a client that uses only reflection', async () => {
    const request = pod('late');
    const attachments = [{ ...request.attachments[0], candidates: [{ addresses: ['172.17.0.2'] }] }];
    const body = JSON.stringify({ ...request, attachments });
    const { code, stderr } = await grpcurl('-d', body, allocator.endpoint, 'ipledger.v1.Ipam/Allocate');
    expect(code).to.not.equal(0);
    expect(stderr).to.contain('Code: AlreadyExists');
    expect(stderr).to.contain('172.17.0.2 of subnet macvlan is in use by Pod default/first');
  });

  it('KO-1840 The allocator process keeps allocations and Subnets when it is killed and started again', async () => {
    const before = await client.call(IpamService.allocate, pod('a'));
    await allocator.kill();
    await allocator.start();
    const { position: _, ...again } = await client.call(IpamService.allocate, pod('a'));
    expect(again.allocations).to.deep.equal(before.allocations);
    const { subnets } = await client.call(SubnetsService.listSubnets, {});
    expect(subnets.map(({ name, usage }) => [name, usage[0]?.inUse])).to.deep.equal([['macvlan', '2']]);
    expect((await client.call(IpamService.allocate, pod('b'))).allocations[0]?.addresses[0]?.address).to.equal(
      '172.17.0.4',
    );
  });

  it('The allocator process writes a log that has no gaps, is hash-chained, and ends at the head', async () => {
    const value = (key: string) => etcd.etcdctl(['get', '--print-value-only', key]);
    const stored = await etcd.etcdctl(['get', '--prefix', '--print-value-only', '/ipledger/v1/log/']);
    let [seq, hash] = [0, ''];
    for (const line of stored.trimEnd().split('\n')) {
      const event = JSON.parse(line) as { seq: number; prev: string };
      expect(event).to.include({ seq: seq + 1, prev: hash });
      seq = event.seq;
      hash = createHash('sha256').update(line).digest('hex');
    }
    expect(seq).to.be.at.least(6);
    expect(JSON.parse(await value('/ipledger/v1/head'))).to.include({ seq, hash });
  });

  it('The allocator process writes values that etcdctl and jq can read', async () => {
    const etcdctl = await findProgram('etcdctl');
    const jq = (prefix: string, filter: string): Promise<string> =>
      mustRun('sh', ['-c', `"${etcdctl}" get --prefix ${prefix} --print-value-only | jq -r '${filter}'`], {
        env: childEnvironment({ ETCDCTL_ENDPOINTS: etcd.endpoint }),
        signal: run.signal,
      });
    expect(
      (await jq('/ipledger/v1/log/', '"\\(.seq) \\(.type) \\(.data.uid // "")"')).trim().split('\n').slice(0, 4),
    ).to.deep.equal([
      '1 LedgerCreated ',
      '2 SubnetConfigured ',
      '3 AddressAllocated uid-first',
      '4 AllocationRefused uid-late',
    ]);
    expect(await jq('/ipledger/v1/addr/macvlan/', '.holder.attachment.pod')).to.equal('first\na\nb\n');
    expect(await jq('/ipledger/v1/subnet/', '.spec.cidrBlock')).to.equal('172.17.0.0/16\n');
  });

  it('The allocator process exits with the reason when it cannot listen', async () => {
    const env = childEnvironment({ IPLEDGER_ETCD: etcd.endpoint, IPLEDGER_LISTEN: allocator.endpoint });
    const { code, stderr } = await runCommand(process.execPath, ['services/allocator/main.ts'], {
      env,
      signal: run.signal,
    });
    expect(code).to.equal(1);
    expect(stderr).to.contain(`No address added out of total 1 resolved`);
  });

  it('The allocator process refuses to listen beyond loopback without TLS, before it reads the ledger, and names the remedies', async () => {
    const env = childEnvironment({ IPLEDGER_ETCD: etcd.endpoint, IPLEDGER_LISTEN: '0.0.0.0:0' });
    const { code, stderr } = await runCommand(process.execPath, ['services/allocator/main.ts'], {
      env,
      signal: run.signal,
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/--listen 0\.0\.0\.0:0: .*TLS is off.*--insecure/);
    expect(stderr).to.not.contain('ledger loaded');
  });
});
