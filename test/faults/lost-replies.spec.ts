/**
 * A reply that is lost after what it tells of has happened: whoever asked does not know, asks again or looks, and all is as if
 * nothing had been lost. First between a client and the allocator, then between the allocator and etcd.
 */
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import type { Input, Method } from '../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../proto/ipledger.ts';
import { eventually } from '../e2e/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { type Proxy, startProxy } from '../harness/proxy.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';
import { readStory } from './story.ts';
import { scale } from './scale.ts';

const lost = 100;
const timeoutMs = 20_000;

describe('faults: lost replies', function () {
  this.timeout(scale.timeoutMs);
  let run: Run;
  let etcd: Etcd;
  /** Which of the two stands where something is lost. */
  let proxy: Proxy;
  let client: Connection;
  /** Past the proxy, to see what has happened. */
  let witness: Connection;
  beforeEach(async () => {
    run = openRun();
    etcd = await startEtcd(run);
  });
  afterEach(async () => {
    client?.close();
    witness?.close();
    await run.end();
  });

  const ask = <Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply> =>
    call(client, method, request, { timeoutMs });

  const configure = () =>
    ask(SubnetsService.applySubnet, { name: 'lan', spec: { cidrBlock: '10.9.0.0/16', provider: 'lan.default' } });

  /** One Pod's whole life: what is asked, in order, and what the answer must be when it is asked the first time. */
  function lifeOf(pod: string) {
    const namespace = 'default';
    const podUid = `uid-${pod}`;
    const sandbox = { namespace, pod, provider: 'lan.default', containerId: `container-of-${pod}`, interface: 'net1' };
    const attachments = [{ provider: 'lan.default', subnets: ['lan'] }];
    const allocate = async () => {
      const reply = await ask(IpamService.allocate, { pod: { namespace, name: pod, uid: podUid }, attachments });
      return reply.allocations[0]?.addresses[0]?.address;
    };
    const bind = async () => {
      const { allocation } = await ask(IpamService.bind, { ...sandbox, podUid, node: 'node-1', bootId: 'boot-1' });
      return allocation?.addresses[0]?.address;
    };
    const unbind = async () => (await ask(IpamService.unbind, sandbox)).unbound;
    const release = async () =>
      (await ask(IpamService.release, { namespace, pod, podUid, cause: 'RELEASE_CAUSE_POD_DELETED' })).released;
    return [allocate, bind, unbind, release] as const;
  }

  const typesInOrder = ['AddressAllocated', 'AddressBound', 'AddressUnbound', 'AddressReleased'];

  /** The log tells of each of these lives once, and of nothing else. */
  async function expectEachOnce(pods: readonly string[]): Promise<void> {
    const { wrongs, tenures, bound } = await readStory(etcd);
    expect(wrongs).to.deep.equal([]);
    expect(bound).to.deep.equal([]);
    expect(tenures.map(({ uid }) => uid)).to.deep.equal(pods.map((pod) => `uid-${pod}`));
    expect(tenures.every(({ end }) => end === 'pod-deleted')).to.be.true;
    const printed = await etcd.etcdctl(['get', '--prefix', '--print-value-only', '/ipledger/v1/log/']);
    const types = [...printed.matchAll(/"type":"(Address\w+)"/g)].map(([, type]) => type);
    expect(types).to.deep.equal(pods.flatMap(() => typesInOrder));
  }

  const seqOf = async (): Promise<number> =>
    (JSON.parse(await etcd.etcdctl(['get', '--print-value-only', '/ipledger/v1/head'])) as { seq: number }).seq;
  const pods = Array.from({ length: lost / typesInOrder.length }, (_, index) => `pod-${index}`);

  it(`of ${lost} between client and allocator all are resolved rightly: the repeat is answered, and nothing happens twice`, async () => {
    const allocator = await startAllocator(run, { etcd });
    proxy = await startProxy(run, allocator.endpoint);
    client = connect(proxy.endpoint, undefined);
    witness = connect(allocator.endpoint, undefined);
    const { position } = await configure();
    let seq = position?.seq ?? 0;
    let repeated = 0;
    for (const pod of pods) {
      let address: unknown;
      for (const work of lifeOf(pod)) {
        proxy.swallow('replies');
        const unheard = work().catch((error: unknown) => error);
        seq += 1;
        await reaches(seq);
        proxy.mend();
        expect(IpledgerError.from(await unheard)).to.have.property('code', 'UNAVAILABLE');
        const answer = await eventually<string | number | undefined>(work);
        // What ends something finds it ended; what gives something gives the same.
        if (typeof answer === 'string') address ??= answer;
        expect(answer).to.be.oneOf([address, 0]);
        repeated += 1;
      }
    }
    expect(repeated).to.equal(lost);
    await expectEachOnce(pods);
  });

  /** Waits until the ledger has come so far. */
  async function reaches(seq: number): Promise<void> {
    for (;;) {
      const { position } = await call(witness, SubnetsService.listSubnets, {}, { timeoutMs });
      if ((position?.seq ?? 0) >= seq) return;
    }
  }

  it(`of ${lost} between allocator and etcd all are resolved rightly: each caller gets the answer to what happened`, async () => {
    proxy = await startProxy(run, etcd.endpoint);
    const allocator = await startAllocator(run, { etcd: { endpoint: `http://${proxy.endpoint}` } });
    client = connect(allocator.endpoint, undefined);
    await configure();
    let seq = await seqOf();
    for (const pod of pods) {
      let address: unknown;
      for (const [index, work] of lifeOf(pod).entries()) {
        proxy.swallow('replies');
        const waiting = work();
        seq += 1;
        await eventually(async () => expect(await seqOf()).to.equal(seq));
        proxy.mend();
        const answer = await waiting;
        if (index === 0) address = answer;
        expect(answer).to.equal(index < 2 ? address : 1);
      }
    }
    await expectEachOnce(pods);
  });
});
