/**
 * Loses replies after the request has taken effect: the sender repeats the request or reads the
 * result, and each request has one effect. First between a client and the allocator, then between
 * the allocator and etcd.
 */
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import type { MessageInput, Method } from '../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { type TcpProxy, startTcpProxy } from '../harness/network/tcp-proxy.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';
import { checkLog } from './log-checker.ts';
import { testSize } from './test-size.ts';

const lost = 100;
const timeoutMs = 20_000;
/** The time that the witness waits: less than the callers' timeout. */
const patienceMs = 5_000;

describe('faults: lost replies', function () {
  this.timeout(testSize.timeoutMs);
  let run: Run;
  let etcd: Etcd;
  /** The proxy that drops replies. */
  let proxy: TcpProxy;
  let client: Connection;
  /** A connection without the proxy, to observe the effect. */
  let witness: Connection | undefined;
  let raw: Etcd3;
  beforeEach(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    raw = connectEtcd([etcd.endpoint]);
  });
  afterEach(async () => {
    for (const each of [client, witness, raw]) each?.close();
    await run.end();
  });

  const send = <Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
  ): Promise<Reply> => call(client, method, request, { timeoutMs });

  const configure = () =>
    send(SubnetsService.applySubnet, { name: 'lan', spec: { cidrBlock: '10.9.0.0/16', provider: 'lan.default' } });

  /** Returns the requests for one Pod, in order. Each returns the value of its first reply. */
  function requestsFor(pod: string) {
    const namespace = 'default';
    const podUid = `uid-${pod}`;
    const sandbox = { namespace, pod, provider: 'lan.default', containerId: `container-of-${pod}`, interface: 'net1' };
    const attachments = [{ provider: 'lan.default', subnets: ['lan'] }];
    const allocate = async () => {
      const reply = await send(IpamService.allocate, { pod: { namespace, name: pod, uid: podUid }, attachments });
      return reply.allocations[0]?.addresses[0]?.address;
    };
    const bind = async () => {
      const { allocation } = await send(IpamService.bind, { ...sandbox, podUid, node: 'node-1', bootId: 'boot-1' });
      return allocation?.addresses[0]?.address;
    };
    const unbind = async () => (await send(IpamService.unbind, sandbox)).unbound;
    const release = async () =>
      (await send(IpamService.release, { namespace, pod, podUid, cause: 'RELEASE_CAUSE_POD_DELETED' })).released;
    return [allocate, bind, unbind, release] as const;
  }

  const typesInOrder = ['AddressAllocated', 'AddressBound', 'AddressUnbound', 'AddressReleased'];

  /** Expects the four events of each Pod once in the log, and no others. */
  async function expectEachOnce(pods: readonly string[]): Promise<void> {
    const { violations, allocationPeriods, openBindings } = await checkLog(etcd);
    expect(violations).to.deep.equal([]);
    expect(openBindings).to.deep.equal([]);
    expect(allocationPeriods.map(({ uid }) => uid)).to.deep.equal(pods.map((pod) => `uid-${pod}`));
    expect(allocationPeriods.every(({ end }) => end === 'pod-deleted')).to.be.true;
    const printed = await etcd.etcdctl(['get', '--prefix', '--print-value-only', '/ipledger/v1/log/']);
    const types = [...printed.matchAll(/"type":"(Address\w+)"/g)].map(([, type]) => type);
    expect(types).to.deep.equal(pods.flatMap(() => typesInOrder));
  }

  /** Reads the number of the last event from etcd. */
  async function readHeadSeq(): Promise<number> {
    const { kvs } = await raw.kv.range({ key: Buffer.from('/ipledger/v1/head') });
    return (JSON.parse(String(kvs[0]?.value)) as { seq: number }).seq;
  }
  const pods = Array.from({ length: lost / typesInOrder.length }, (_, index) => `pod-${index}`);

  it(`${lost} between client and allocator: each repeated request gets the same reply and has no second effect`, async () => {
    const allocator = await startAllocator(run, { etcd });
    proxy = await startTcpProxy(run, allocator.endpoint);
    client = connect(proxy.endpoint, undefined);
    witness = connect(allocator.endpoint, undefined);
    await configure();
    let seq = await readHeadSeq();
    let repeated = 0;
    for (const pod of pods) {
      let address: unknown;
      for (const work of requestsFor(pod)) {
        proxy.dropBytes('replies');
        const unanswered = work().catch((error: unknown) => error);
        seq += 1;
        // When the allocator has the event, its reply is sent and is lost with the connection
        while ((await call(witness, SubnetsService.listSubnets, {}, { timeoutMs })).position?.seq !== seq);
        proxy.cut();
        proxy.restore();
        expect(IpledgerError.from(await unanswered)).to.have.property('code', 'UNAVAILABLE');
        const answer = await eventually<string | number | undefined>(work);
        // A repeated unbind or release finds nothing to do; a repeated allocate or bind returns the
        // same address
        if (typeof answer === 'string') address ??= answer;
        expect(answer).to.be.oneOf([address, 0]);
        repeated += 1;
      }
    }
    expect(repeated).to.equal(lost);
    await expectEachOnce(pods);
  });

  it(`${lost} between allocator and etcd: each caller gets the reply to its request`, async () => {
    proxy = await startTcpProxy(run, etcd.endpoint);
    const allocator = await startAllocator(run, { etcd: { endpoint: `http://${proxy.endpoint}` } });
    client = connect(allocator.endpoint, undefined);
    await configure();
    let seq = await readHeadSeq();
    let [repeats, delays] = [0, 0];
    // A request that is blocked behind an earlier lost reply takes effect only after the cut
    const countDelay = (): void => {
      expect((delays += 1)).to.be.lessThan(lost / 2);
    };
    const repeat = (work: () => Promise<string | number | undefined>) => (error: unknown) => {
      // The writer's lease may end on a busy machine: the allocator returns UNAVAILABLE, and the
      // caller repeats its request
      expect(IpledgerError.from(error)).to.have.property('code', 'UNAVAILABLE');
      expect((repeats += 1)).to.be.lessThan(lost / 2);
      return eventually(work);
    };
    for (const pod of pods) {
      let address: unknown;
      for (const [index, work] of requestsFor(pod).entries()) {
        proxy.dropBytes('replies');
        const waiting = work();
        seq += 1;
        await eventually(async () => expect(await readHeadSeq()).to.equal(seq), patienceMs).catch(countDelay);
        proxy.cut();
        proxy.restore();
        const answer = await waiting.catch(repeat(work));
        if (index === 0) address = answer;
        // A repeated unbind or release finds nothing to do
        if (index < 2) expect(answer).to.equal(address);
        else expect(answer).to.be.oneOf(repeats > 0 ? [0, 1] : [1]);
      }
    }
    await expectEachOnce(pods);
  });
});
