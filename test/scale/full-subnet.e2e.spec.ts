/**
 * Fills a subnet to its last address, empties it and fills it again, without Kubernetes. Prints the
 * cost of an allocation at each fill level.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import { IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { testSize } from '../faults/test-size.ts';
import type { Etcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import type { AllocatorServer } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';
import { forEachConcurrent } from './for-each-concurrent.ts';
import { cpuSeconds, formatTable } from './resource-usage.ts';

const callerCount = 32;
const maxAttachments = 24;
const cooldownMs = 1_000;
const prefix = testSize.subnetPrefix;
/** The number of addresses without those of the network, the gateway and the broadcast. */
const size = 2 ** (32 - prefix) - 3;
/** The last address to allocate, before that of the broadcast. */
const lastAddress = `10.50.${2 ** (24 - prefix) - 1}.254`;
/**
 * The number of timed allocations at each fill level, one in each request: fewer than the last 2 %
 * of the subnet.
 */
const timedAllocations = Math.min(1_000, Math.floor(size / 100));

describe(`scale: a /${prefix} filled by ${callerCount} callers`, function () {
  this.timeout(testSize.timeoutMs);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let client: Connection;
  const measurements: string[][] = [['', 'ms an address', 'CPU of the allocator, ms']];
  /** Addresses by Pod name. */
  const heldByPod = new Map<string, readonly string[]>();
  let pods = 0;

  before(async () => {
    run = openRun();
    [etcd, allocator] = await startLedger(run);
    client = connect(allocator.endpoint, undefined);
    const spec = { cidrBlock: `10.50.0.0/${prefix}`, provider: 'big.default', cooldownMs };
    await call(client, SubnetsService.applySubnet, { name: 'big', spec }, { timeoutMs: 10_000 });
  });
  after(async () => {
    client?.close();
    await run?.end();
    console.log(`\n${formatTable(measurements)}\n`);
  });

  const addresses = (): string[] => [...heldByPod.values()].flat();

  async function allocate(attachments: number): Promise<void> {
    const name = `pod-${++pods}`;
    const requested = Array.from({ length: attachments }, (_, ordinal) => {
      return { provider: 'big.default', subnets: ['big'], ordinal };
    });
    const request = { pod: { namespace: 'default', name, uid: `uid-${name}` }, attachments: requested };
    const { allocations } = await call(client, IpamService.allocate, request, { timeoutMs: 30_000 });
    heldByPod.set(
      name,
      allocations.flatMap((allocation) => allocation.addresses.map(({ address }) => address)),
    );
  }

  /** Allocates addresses until `count` are held. */
  async function fillTo(count: number): Promise<void> {
    const missing = count - addresses().length;
    const requests = Array.from({ length: Math.ceil(missing / maxAttachments) }, (_, index) =>
      Math.min(maxAttachments, missing - index * maxAttachments),
    );
    await forEachConcurrent(requests, callerCount, allocate);
  }

  async function measureAllocations(when: string): Promise<void> {
    const [cpu, startedAt] = [cpuSeconds(allocator.pid), performance.now()];
    await forEachConcurrent(
      Array.from({ length: timedAllocations }, () => 1),
      callerCount,
      allocate,
    );
    const ms = (performance.now() - startedAt) / timedAllocations;
    const cpuMs = ((cpuSeconds(allocator.pid) - cpu) * 1_000) / timedAllocations;
    measurements.push([when, ms.toFixed(2), cpuMs.toFixed(2)]);
  }

  const refusal = (): Promise<IpledgerError> =>
    allocate(1).then(
      () => expect.fail('the full subnet allocated an address'),
      (error: unknown) => IpledgerError.from(error),
    );

  async function expectFull(): Promise<void> {
    expect(addresses()).to.have.length(size);
    expect(new Set(addresses()).size).to.equal(size);
    for (const error of await Promise.all(Array.from({ length: callerCount }, refusal))) {
      expect(error).to.include({ code: 'SUBNET_FULL', grpcStatus: status.RESOURCE_EXHAUSTED });
      expect(error.message).to.contain(`${size} of ${size} addresses in use`);
    }
    const { subnet } = await call(client, SubnetsService.getSubnet, { name: 'big' }, { timeoutMs: 10_000 });
    const counts = { total: String(size), inUse: String(size), available: '0', cooldown: '0' };
    expect(subnet?.usage[0]).to.include({ ...counts, inUseRange: `10.50.0.2-${lastAddress}`, availableRange: '' });
    const keys = await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/addr/big/', '--count-only', '-w', 'fields']);
    expect(keys).to.contain(`"Count" : ${size}`);
  }

  it('A Subnet that many callers fill allocates each address once, and then rejects every request as full', async () => {
    await measureAllocations('empty');
    await fillTo(Math.floor(size / 2));
    await measureAllocations('at 50 %');
    await fillTo(Math.floor(size * 0.98));
    await measureAllocations('at 98 %');
    await fillTo(size);
    await expectFull();
  });

  it('A Subnet that many callers fill is still full after the allocator crashed', async () => {
    await allocator.restart();
    await expectFull();
  });

  it('A Subnet that many callers fill allocates each address again after release and cooldown', async () => {
    await forEachConcurrent([...heldByPod.keys()], callerCount, (pod) => {
      heldByPod.delete(pod);
      const cause = 'RELEASE_CAUSE_OPERATOR';
      const request = {
        namespace: 'default',
        pod,
        podUid: `uid-${pod}`,
        cause,
        evidence: 'the subnet is emptied',
      } as const;
      return call(client, IpamService.release, request, { timeoutMs: 30_000 });
    });
    const { subnet } = await call(client, SubnetsService.getSubnet, { name: 'big' }, { timeoutMs: 10_000 });
    expect(subnet?.usage[0]).to.include({ inUse: '0', cooldown: String(size), inUseRange: '' });
    await sleep(cooldownMs);
    await measureAllocations('reused, empty');
    await fillTo(Math.floor(size * 0.98));
    await measureAllocations('reused, at 98 %');
    await fillTo(size);
    await expectFull();
  });
});
