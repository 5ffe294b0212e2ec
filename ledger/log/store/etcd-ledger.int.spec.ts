import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import type { Etcd } from '../../../test/harness/etcd.ts';
import { type TcpProxy, startTcpProxy } from '../../../test/harness/network/tcp-proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { emptyHead } from '../chain/chain.ts';
import { EtcdLedger } from './etcd-ledger.ts';
import { connectEtcd } from './etcd-client.ts';
import { addressPrefix, logKey, logPrefix, logStartKey, memberPrefix, prefixEnd, subnetPrefix } from './keys.ts';
import { RangeReader } from './range-reader.ts';
import { logStartText } from './stored-values.ts';
import { describeLedger } from '../testing/ledger.contract.ts';
import { Replica } from '../reader/replica.ts';
import {
  requestFor,
  batchOf,
  submitAll,
  createLedger,
  describeFold,
  failureOf,
  logOf,
  macvlan,
  never,
  startWriter,
  typesOf,
} from '../testing/running-writer.ts';
import { startEtcdAndClient } from '../testing/etcd-and-client.ts';

const firstBatch = batchOf(emptyHead, [{ type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } }]);

describe('EtcdLedger on a real etcd', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  beforeEach(() => client.delete().all());
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    ({ etcd, client } = await startEtcdAndClient(run));
  });
  after(() => run.end());

  describeLedger('keeps the Ledger contract', () =>
    Promise.resolve({
      ledger: new EtcdLedger(client),
      put: async (key, text) => void (await client.put(key).value(text)),
      everything: () => client.getAll().strings(),
      created: async (key) => BigInt((await client.get(key).exec()).kvs[0]?.create_revision ?? 0),
    }),
  );

  it('EtcdLedger on a real etcd reads keys of any size in pages of at most 4 MiB', async function () {
    this.timeout(60_000);
    const ledger = new EtcdLedger(client);
    // 37 MiB: more than the client accepts in one reply.
    for (let seq = 1; seq <= 300; seq++) await client.put(logKey(seq)).value('x'.repeat(128 << 10));
    let [lines, largest] = [0, 0];
    for await (const page of ledger.read(1, never)) {
      lines += page.length;
      largest = Math.max(largest, page.length);
    }
    expect(lines).to.equal(300);
    expect(largest * (128 << 10)).to.be.at.most(4 << 20);
  });

  it('RangeReader reads the start of the log for a range of the log only', async () => {
    const reader = new RangeReader(client);
    const got: string[] = [];
    const get = reader.get.bind(reader);
    reader.get = (key, signal) => (got.push(key), get(key, signal));
    const readAll = async (prefix: string): Promise<number> => {
      let keys = 0;
      for await (const page of reader.pages({ from: prefix, end: prefixEnd(prefix) }, never)) keys += page.keys.length;
      return keys;
    };
    for (const prefix of [memberPrefix, subnetPrefix, addressPrefix]) expect(await readAll(prefix)).to.equal(0);
    expect(got).to.deep.equal([]);
    await client.put(logKey(1)).value('event 1');
    expect(await readAll(logPrefix)).to.equal(1);
    expect(got).to.deep.equal([logStartKey]);
  });

  it('EtcdLedger on a real etcd reads a log to its end while etcd compacts the revision, and reports if the log was sealed in the meantime', async function () {
    this.timeout(20_000);
    const ledger = new EtcdLedger(client);
    const put = (key: string, value: string) => ({ request_put: { key: Buffer.from(key), value: Buffer.from(value) } });
    const perTransaction = 100;
    // Enough for a third page, which is requested after the first two are read.
    for (let seq = 1; seq <= 5_000; seq += perTransaction) {
      const success = Array.from({ length: perTransaction }, (_, index) =>
        put(logKey(seq + index), `event ${seq + index}`),
      );
      await client.kv.txn({ compare: [], success, failure: [] });
    }
    /** Reads texts. After the first page, `change` runs and etcd compacts all earlier revisions. */
    async function readWhile(change: () => Promise<unknown>): Promise<string[]> {
      const texts: string[] = [];
      for await (const page of ledger.read(1, never)) {
        texts.push(...page.map(({ text }) => text));
        if (texts.length > page.length) continue;
        await change();
        const { header } = await client.kv.put({ key: Buffer.from('other'), value: Buffer.from('') });
        await client.kv.compact({ revision: header.revision });
      }
      return texts;
    }
    const all = Array.from({ length: 5_000 }, (_, index) => `event ${index + 1}`);
    expect(await readWhile(() => Promise.resolve())).to.deep.equal(all);

    const first = JSON.stringify(JSON.parse(firstBatch.events[0]?.text ?? ''));
    const sealedWhileRead = readWhile(async () => {
      await client.put(logStartKey).value(logStartText(4_900));
      await client.put(logKey(4_900)).value(first);
      await client.kv.deleteRange({ key: Buffer.from(logKey(1)), range_end: Buffer.from(logKey(4_900)) });
    });
    expect(await failureOf(sealedWhileRead)).to.have.property('code', 'POSITION_GONE');
  });

  it('EtcdLedger on a real etcd reports changes of the head by a watch, and uses the timer only when the watch fails', async function () {
    this.timeout(20_000); // with the timer alone, 60 changes would take a minute
    const ledger = new EtcdLedger(client);
    const controller = new AbortController();
    const headWatch = ledger.watchHead(controller.signal)[Symbol.asyncIterator]();
    let head = emptyHead;
    for (let round = 0; round < 60; round++) {
      const batch = batchOf(head, [{ type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } }]);
      await ledger.append(batch);
      head = batch.head.after;
      await headWatch.next();
    }
    controller.abort();
  });

  for (const [alarm, refusal] of [
    ['Nospace', 'etcd is full'],
    ['Corrupt', 'etcd has the alarm CORRUPT'],
  ] as const)
    it(`EtcdLedger on a real etcd is written by one writer before and after any number of appends that etcd refuses (alarm ${alarm})`, async () => {
      const refusals = new Set<string | undefined>();
      let attempts = 0;
      const ledger = new EtcdLedger(client);
      const working = await startWriter(ledger);
      await submitAll(working.writer, createLedger(), macvlan);
      const append = ledger.append.bind(ledger);
      ledger.append = async (batch) => {
        const outcome = await append(batch);
        if (outcome.kind === 'unknown') refusals.add(outcome.refusal?.split(':')[0]);
        if (++attempts === 110) await etcd.etcdctl(['alarm', 'disarm']);
        return outcome;
      };
      const { header } = await client.maintenance.status();
      await client.maintenance.alarm({ action: 'Activate', memberID: header.member_id, alarm });
      expect((await working.writer.submit(requestFor(allocate('a')))).answer.events).to.equal(1);
      expect([...refusals]).to.deep.equal([refusal]);
      await working.stop();
      expect(typesOf(await logOf(ledger))).to.deep.equal(['LedgerCreated', 'SubnetConfigured', 'AddressAllocated']);
    });

  describe('behind a faulty network', () => {
    let proxy: TcpProxy;
    let proxied: Etcd3;
    let ledger: EtcdLedger;
    beforeEach(async () => {
      proxy = await startTcpProxy(run, etcd.endpoint);
      proxied = connectEtcd([`http://${proxy.endpoint}`]);
      ledger = new EtcdLedger(proxied);
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
    });
    afterEach(() => proxied.close());

    it('EtcdLedger returns unknown for an append whose reply is lost; the log shows that it happened', async () => {
      proxy.dropBytes('replies');
      const lost = ledger.append(firstBatch);
      // Waits for the append itself, because the first dropped bytes may belong to HTTP/2 instead.
      const direct = new EtcdLedger(client);
      while ((await direct.head(never)).seq === 0) await turn();
      proxy.cut();
      expect(await lost).to.have.property('kind', 'unknown');
      proxy.restore();
      expect(await ledger.head(never)).to.deep.equal(firstBatch.head.after);
      const [line] = await ledger.readEach([1], never);
      expect(line?.text).to.equal(firstBatch.events[0]?.text);
      expect(await ledger.append(firstBatch), 'a second append').to.deep.equal({ kind: 'moved' });
    });

    it('EtcdLedger returns unknown for an append whose request is lost; it did not happen', async () => {
      proxy.dropBytes('requests');
      const lost = ledger.append(firstBatch);
      while (proxy.droppedBytes === 0) await turn();
      proxy.cut();
      expect(await lost).to.have.property('kind', 'unknown');
      proxy.restore();
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
    });

    it('EtcdLedger returns unknown for an append without a reply before its deadline; it may happen later', async () => {
      proxy.delayBytes('requests');
      const outcome = await ledger.append(firstBatch);
      expect(outcome).to.have.property('kind', 'unknown');
      expect(outcome).to.have.property('reason').that.contains('Deadline exceeded');
      proxy.restore();
      const { seq } = await ledger.head(never);
      expect(seq).to.be.oneOf([0, 1]);
    });

    it('EtcdLedger throws UNAVAILABLE for a read without a reply before its deadline', async () => {
      proxy.delayBytes('replies');
      const error = await failureOf(ledger.head(never));
      expect(error).to.have.property('code', 'UNAVAILABLE');
      expect(error.message).to.match(/^etcd could not be read: Deadline exceeded/);
    });

    it('EtcdLedger on a real etcd behind a faulty network ends an aborted read immediately, without waiting for etcd', async () => {
      proxy.delayBytes('replies');
      const controller = new AbortController();
      const reading = failureOf(ledger.head(controller.signal));
      await turn();
      const reason = new Error('elected');
      controller.abort(reason);
      expect(await reading).to.equal(reason);
    });

    it('EtcdLedger reports changes of the head after its watch was cut, and while etcd refuses connections', async () => {
      const controller = new AbortController();
      const headWatch = ledger.watchHead(controller.signal)[Symbol.asyncIterator]();
      proxy.refuse();
      proxy.cut();
      await headWatch.next();
      proxy.restore();
      await new EtcdLedger(client).append(firstBatch);
      do await headWatch.next();
      while ((await ledger.head(never)).seq === 0);
      controller.abort();
    });

    it('EtcdLedger resolves 100 lost replies: each caller receives one answer, and each address is allocated once', async () => {
      const direct = new EtcdLedger(client);
      const { writer, replica, stop } = await startWriter(ledger);
      await submitAll(writer, createLedger(), macvlan);
      for (let round = 0; round < 100; round++) {
        proxy.dropBytes('replies');
        const submitted = writer.submit(requestFor(allocate(`pod-${round}`)));
        while ((await direct.head(never)).seq < 3 + round);
        proxy.cut();
        proxy.restore();
        const { answer, head } = await submitted;
        expect(answer).to.deep.equal({ events: 1, addresses: [`172.17.0.${11 + round}`] });
        expect(head.seq).to.equal(3 + round);
      }
      await stop();
      const log = await logOf(ledger);
      expect(typesOf(log).filter((type) => type === 'AddressAllocated')).to.have.length(100);
      expect(describeState(replica.state)).to.deep.equal(describeFold(log));
      expect(describeState((await Replica.load(ledger, never)).state)).to.deep.equal(describeFold(log));
    });
  });
});
