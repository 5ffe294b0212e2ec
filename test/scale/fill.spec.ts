/** A subnet filled to its last address, emptied and filled again, without Kubernetes: does a full one cost more than an empty one? */
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import { IpamService, SubnetsService } from '../../proto/ipledger.ts';
import type { Etcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import type { Allocator } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';
import { each } from './each.ts';
import { cpuSeconds, table } from './meter.ts';

const callers = 32;
const mostAttachments = 24;
const cooldownMs = 1_000;
/** A /16 less its network, broadcast and gateway. */
const size = 65_533;
/** So many are timed at each fill, one a request; what lies between is filled 24 a request. */
const timed = 1_000;

describe('scale: a /16 filled by 32 callers', function () {
  this.timeout(600_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Allocator;
  let client: Connection;
  const rows: string[][] = [['', 'ms an address', 'CPU of the allocator, ms']];
  /** Pods by name, with what each holds. */
  const held = new Map<string, readonly string[]>();
  let pods = 0;

  before(async () => {
    run = openRun();
    [etcd, allocator] = await startLedger(run);
    client = connect(allocator.endpoint, undefined);
    const spec = { cidrBlock: '10.50.0.0/16', provider: 'big.default', cooldownMs };
    await call(client, SubnetsService.applySubnet, { name: 'big', spec }, { timeoutMs: 10_000 });
  });
  after(async () => {
    client?.close();
    await run?.end();
    console.log(`\n${table(rows)}\n`);
  });

  const addresses = (): string[] => [...held.values()].flat();

  async function allocate(attachments: number): Promise<void> {
    const name = `pod-${++pods}`;
    const wanted = Array.from({ length: attachments }, (_, ordinal) => {
      return { provider: 'big.default', subnets: ['big'], ordinal };
    });
    const request = { pod: { namespace: 'default', name, uid: `uid-${name}` }, attachments: wanted };
    const { allocations } = await call(client, IpamService.allocate, request, { timeoutMs: 30_000 });
    held.set(
      name,
      allocations.flatMap((allocation) => allocation.addresses.map(({ address }) => address)),
    );
  }

  /** Takes addresses until so many are held. */
  async function fillTo(count: number): Promise<void> {
    const missing = count - addresses().length;
    const requests = Array.from({ length: Math.ceil(missing / mostAttachments) }, (_, index) =>
      Math.min(mostAttachments, missing - index * mostAttachments),
    );
    await each(requests, callers, allocate);
  }

  async function time(when: string): Promise<void> {
    const [cpu, startedAt] = [cpuSeconds(allocator.pid), performance.now()];
    await each(
      Array.from({ length: timed }, () => 1),
      callers,
      allocate,
    );
    const ms = (performance.now() - startedAt) / timed;
    const cpuMs = ((cpuSeconds(allocator.pid) - cpu) * 1_000) / timed;
    rows.push([when, ms.toFixed(2), cpuMs.toFixed(2)]);
  }

  const refusal = (): Promise<IpledgerError> =>
    allocate(1).then(
      () => expect.fail('an address was given'),
      (error: unknown) => IpledgerError.from(error),
    );

  async function expectFull(): Promise<void> {
    expect(addresses()).to.have.length(size);
    expect(new Set(addresses()).size).to.equal(size);
    for (const error of await Promise.all(Array.from({ length: callers }, refusal))) {
      expect(error).to.include({ code: 'SUBNET_FULL', grpcStatus: status.RESOURCE_EXHAUSTED });
      expect(error.message).to.contain(`${size} of ${size} addresses in use`);
    }
    const { subnet } = await call(client, SubnetsService.getSubnet, { name: 'big' }, { timeoutMs: 10_000 });
    const counts = { total: String(size), inUse: String(size), available: '0', resting: '0' };
    expect(subnet?.usage[0]).to.include({ ...counts, inUseRange: '10.50.0.2-10.50.255.254', availableRange: '' });
    const keys = await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/addr/big/', '--count-only', '-w', 'fields']);
    expect(keys).to.contain(`"Count" : ${size}`);
  }

  it('gives every address once, whoever asks, and then says that it is full', async () => {
    await time('empty');
    await fillTo(Math.floor(size / 2));
    await time('at 50 %');
    await fillTo(Math.floor(size * 0.98));
    await time('at 98 %');
    await fillTo(size);
    await expectFull();
  });

  it('says the same after a crash', async () => {
    await allocator.restart();
    await expectFull();
  });

  it('gives every address once more, when all were released and have rested', async () => {
    await each([...held.keys()], callers, (pod) => {
      held.delete(pod);
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
    expect(subnet?.usage[0]).to.include({ inUse: '0', resting: String(size), inUseRange: '' });
    await sleep(cooldownMs);
    await time('reused, empty');
    await fillTo(Math.floor(size * 0.98));
    await time('reused, at 98 %');
    await fillTo(size);
    await expectFull();
  });
});
