/**
 * Calls to a cluster in which one or two members lose packets. Three proxies to one etcd stand for
 * the three members.
 */
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Etcd, startEtcd } from '../../../test/harness/etcd.ts';
import { type TcpProxy, startTcpProxy } from '../../../test/harness/network/tcp-proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { emptyHead } from '../chain/chain.ts';
import { batchOf, never, silentLog } from '../testing/running-writer.ts';
import { campaign } from '../writer/election.ts';
import { connectEtcd, type EtcdClient } from './etcd-client.ts';
import { EtcdLedger } from './etcd-ledger.ts';
import { writerKey } from './keys.ts';

const created = { type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } } as const;

describe('connectEtcd with three members', function () {
  this.timeout(30_000);
  let run: Run;
  let etcd: Etcd;
  let proxies: readonly TcpProxy[];
  let client: EtcdClient;
  let ledger: EtcdLedger;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
  });
  beforeEach(async () => {
    await etcd.etcdctl(['del', '', '--from-key']);
    proxies = await Promise.all([1, 2, 3].map(() => startTcpProxy(run, etcd.endpoint)));
    client = connectEtcd(proxies.map(({ endpoint }) => `http://${endpoint}`));
    ledger = new EtcdLedger(client);
    await untilAnswering(true, true, true);
  });
  afterEach(() => client.close());
  after(() => run.end());

  const answering = (): boolean[] => (client.health?.members ?? []).map(({ answers }) => answers);

  /** Resolves when exactly these members answer, and each proxy has a connection. */
  async function untilAnswering(...expected: readonly boolean[]): Promise<void> {
    while (answering().join() !== expected.join() || proxies.some(({ connections }) => connections === 0)) await turn();
  }

  const faults: Readonly<Record<string, (proxy: TcpProxy) => void>> = {
    'whose packets are lost': (proxy) => proxy.dropBytes(),
    'whose requests are lost': (proxy) => proxy.dropBytes('requests'),
    'whose replies are lost': (proxy) => proxy.dropBytes('replies'),
    'that is frozen': (proxy) => proxy.delayBytes('requests'),
    'that is killed': (proxy) => {
      proxy.refuse();
      proxy.cut();
    },
  };
  for (const [fault, cause] of Object.entries(faults))
    it(`etcd reads are answered, and the term lasts, with one member ${fault}, and afterwards the member is used again`, async () => {
      const life = new AbortController();
      const term = await campaign(client, { replica: 'one', address: '' }, life.signal, silentLog);
      const [first, ...others] = proxies as [TcpProxy, ...TcpProxy[]];
      cause(first);
      for (let reads = 0; reads < 300 || answering()[0]; reads++)
        expect(await ledger.head(never)).to.deep.equal(emptyHead);
      expect(answering()).to.deep.equal([false, true, true]);
      expect(term.signal.aborted).to.be.false;
      first.restore();
      await untilAnswering(true, true, true);
      for (const other of others) other.dropBytes();
      await untilAnswering(true, false, false);
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
      life.abort();
    });

  it('a read at a member that becomes silent goes to the next member', async () => {
    for (const proxy of proxies) proxy.delayBytes('replies');
    const reading = ledger.head(never);
    await turn();
    proxies[1]?.restore();
    expect(await reading).to.deep.equal(emptyHead);
  });

  it('an append at a member that becomes silent is sent once, and its outcome is unknown before its deadline', async () => {
    for (const proxy of proxies) proxy.delayBytes('requests');
    const batch = batchOf(emptyHead, [created]);
    const appends = Promise.all(Array.from({ length: 12 }, () => ledger.append(batch)));
    await turn();
    proxies[1]?.restore();
    const outcomes = await appends;
    for (const outcome of outcomes)
      if (outcome.kind === 'unknown') expect(outcome.reason).to.match(/is silent, and other members of etcd answer$/);
      else expect(outcome.kind).to.be.oneOf(['appended', 'moved']);
    expect(outcomes.map(({ kind }) => kind)).to.include('unknown');
    for (const proxy of proxies) proxy.restore();
  });

  it('the term lasts while two of three members are silent', async () => {
    const life = new AbortController();
    const term = await campaign(client, { replica: 'one', address: '' }, life.signal, silentLog);
    const ended = once(term.signal, 'abort').then(() => 'ended');
    const { kvs } = await client.kv.range({ key: Buffer.from(writerKey) });
    const ID = kvs[0]?.lease ?? '0';
    for (const proxy of proxies.slice(1)) proxy.dropBytes();
    let renewals = 0;
    const renewed = async (): Promise<string> => {
      for (let last = 5; renewals < 4;) {
        const reply = await client.leaseClient.leaseTimeToLive({ ID }).catch(() => undefined);
        if (Number(reply?.TTL ?? last) > last) renewals++;
        last = Number(reply?.TTL ?? last);
      }
      return 'renewed';
    };
    expect(await Promise.race([ended, renewed()])).to.equal('renewed');
    life.abort();
  });

  it('a watch moves away from a silent member', async () => {
    const controller = new AbortController();
    const changes = ledger.watchHead(controller.signal)[Symbol.asyncIterator]();
    await changes.next();
    for (const proxy of proxies.slice(1)) proxy.dropBytes();
    await untilAnswering(true, false, false);
    let head = emptyHead;
    // With the timer alone these changes would take longer than the test.
    for (let round = 0; round < 50; round++) {
      const batch = batchOf(head, [created]);
      await ledger.append(batch);
      head = batch.head.after;
      await changes.next();
    }
    controller.abort();
  });
});
