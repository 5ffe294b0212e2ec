/**
 * A reply that is lost after what it tells of has happened: whoever asked does not know, asks again or looks, and all is as if
 * nothing had been lost. First between a client and the allocator, then between the allocator and etcd.
 */
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import type { Input, Method } from '../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../proto/ipledger.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { eventually } from '../e2e/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { type Proxy, startProxy } from '../harness/proxy.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';
import { readStory } from './story.ts';
import { scale } from './scale.ts';

const lost = 100;
const timeoutMs = 20_000;
/** Less than the callers'. */
const patienceMs = 5_000;

describe('faults: lost replies', function () {
  this.timeout(scale.timeoutMs);
  let run: Run;
  let etcd: Etcd;
  /** Which of the two stands where something is lost. */
  let proxy: Proxy;
  let client: Connection;
  /** Past the proxy, to see what has happened. */
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

  /** How far the log has come, as etcd has it. */
  async function seqOf(): Promise<number> {
    const { kvs } = await raw.kv.range({ key: Buffer.from('/ipledger/v1/head') });
    return (JSON.parse(String(kvs[0]?.value)) as { seq: number }).seq;
  }
  const pods = Array.from({ length: lost / typesInOrder.length }, (_, index) => `pod-${index}`);

  it(`of ${lost} between client and allocator all are resolved rightly: the repeat is answered, and nothing happens twice`, async () => {
    const allocator = await startAllocator(run, { etcd });
    proxy = await startProxy(run, allocator.endpoint);
    client = connect(proxy.endpoint, undefined);
    witness = connect(allocator.endpoint, undefined);
    await configure();
    let seq = await seqOf();
    let repeated = 0;
    for (const pod of pods) {
      let address: unknown;
      for (const work of lifeOf(pod)) {
        proxy.swallow('replies');
        const unheard = work().catch((error: unknown) => error);
        seq += 1;
        // The allocator itself says so: then it has answered, and what is on its way still ends with the connection.
        while ((await call(witness, SubnetsService.listSubnets, {}, { timeoutMs })).position?.seq !== seq);
        proxy.cut();
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

  it(`of ${lost} between allocator and etcd all are resolved rightly: each caller gets the answer to what happened`, async () => {
    proxy = await startProxy(run, etcd.endpoint);
    const allocator = await startAllocator(run, { etcd: { endpoint: `http://${proxy.endpoint}` } });
    client = connect(allocator.endpoint, undefined);
    await configure();
    let seq = await seqOf();
    let [repeats, delays] = [0, 0];
    // What was on its way when replies began to be lost holds up what comes after it: that happens after the cut, then.
    const orLater = (): void => {
      expect((delays += 1)).to.be.lessThan(lost / 2);
    };
    const orAgain = (work: () => Promise<string | number | undefined>) => (error: unknown) => {
      // On a very busy machine the writer's lease ends meanwhile; it says so, and the caller repeats what it asked for.
      expect(IpledgerError.from(error)).to.have.property('code', 'UNAVAILABLE');
      expect((repeats += 1)).to.be.lessThan(lost / 2);
      return eventually(work);
    };
    for (const pod of pods) {
      let address: unknown;
      for (const [index, work] of lifeOf(pod).entries()) {
        proxy.swallow('replies');
        const waiting = work();
        seq += 1;
        await eventually(async () => expect(await seqOf()).to.equal(seq), patienceMs).catch(orLater);
        proxy.cut();
        proxy.mend();
        const answer = await waiting.catch(orAgain(work));
        if (index === 0) address = answer;
        // Repeated, what ends something finds it ended.
        if (index < 2) expect(answer).to.equal(address);
        else expect(answer).to.be.oneOf(repeats > 0 ? [0, 1] : [1]);
      }
    }
    await expectEachOnce(pods);
  });
});
