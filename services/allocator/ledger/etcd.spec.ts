import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { type Etcd, startEtcd } from '../../../test/harness/etcd.ts';
import { type Proxy, startProxy } from '../../../test/harness/proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { describeState } from '../domain/describe.ts';
import { allocate } from '../domain/specification.ts';
import { emptyHead } from './chain.ts';
import { EtcdLedger } from './etcd.ts';
import { connectEtcd } from './etcd-client.ts';
import { floorKey, floorText, logKey } from './keys.ts';
import { describeLedger } from './ledger.contract.ts';
import { Replica } from './replica.ts';
import {
  ask,
  batchOf,
  carryOut,
  createLedger,
  describeFold,
  failureOf,
  logOf,
  macvlan,
  never,
  startWriter,
  typesOf,
} from './specification.ts';

const begun = batchOf(emptyHead, [{ type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } }]);

describe('On a real etcd', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  beforeEach(() => client.delete().all());
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    etcd = await startEtcd(run);
    client = connectEtcd([etcd.endpoint]);
  });
  after(async () => {
    client.close();
    await run.end();
  });

  describeLedger('the etcd ledger', () =>
    Promise.resolve({
      ledger: new EtcdLedger(client),
      put: async (key, text) => void (await client.put(key).value(text)),
      everything: () => client.getAll().strings(),
      created: async (key) => BigInt((await client.get(key).exec()).kvs[0]?.create_revision ?? 0),
    }),
  );

  it('reads keys of any size in pages that stay small', async function () {
    this.timeout(60_000);
    const ledger = new EtcdLedger(client);
    // 37 MiB: more than the client takes in one answer.
    for (let seq = 1; seq <= 300; seq++) await client.put(logKey(seq)).value('x'.repeat(128 << 10));
    let [lines, largest] = [0, 0];
    for await (const page of ledger.read(1, never)) {
      lines += page.length;
      largest = Math.max(largest, page.length);
    }
    expect(lines).to.equal(300);
    expect(largest * (128 << 10)).to.be.at.most(4 << 20);
  });

  it('reads a log to its end, though etcd compacts what is being read, and gives way to who seals it meanwhile', async function () {
    this.timeout(20_000);
    const ledger = new EtcdLedger(client);
    const put = (key: string, value: string) => ({ request_put: { key: Buffer.from(key), value: Buffer.from(value) } });
    const atOnce = 100;
    // So many that there is a third page, which is asked for when the first two have been read.
    for (let seq = 1; seq <= 5_000; seq += atOnce) {
      const success = Array.from({ length: atOnce }, (_, index) => put(logKey(seq + index), `event ${seq + index}`));
      await client.kv.txn({ compare: [], success, failure: [] });
    }
    /** What is read, while this is done after the first page and etcd compacts all that was before. */
    async function readWhile(happens: () => Promise<unknown>): Promise<string[]> {
      const texts: string[] = [];
      for await (const page of ledger.read(1, never)) {
        texts.push(...page.map(({ text }) => text));
        if (texts.length > page.length) continue;
        await happens();
        const { header } = await client.kv.put({ key: Buffer.from('other'), value: Buffer.from('') });
        await client.kv.compact({ revision: header.revision });
      }
      return texts;
    }
    const all = Array.from({ length: 5_000 }, (_, index) => `event ${index + 1}`);
    expect(await readWhile(() => Promise.resolve())).to.deep.equal(all);

    const first = JSON.stringify(JSON.parse(begun.events[0]?.text ?? ''));
    const sealed = readWhile(async () => {
      await client.put(floorKey).value(floorText(4_900));
      await client.put(logKey(4_900)).value(first);
      await client.kv.deleteRange({ key: Buffer.from(logKey(1)), range_end: Buffer.from(logKey(4_900)) });
    });
    expect(await failureOf(sealed)).to.have.property('code', 'POSITION_GONE');
  });

  it('rings the bell by a watch, and needs the timer only when that fails', async function () {
    this.timeout(20_000); // 60 rings by the timer would take a minute
    const ledger = new EtcdLedger(client);
    const controller = new AbortController();
    const bell = ledger.bell(controller.signal)[Symbol.asyncIterator]();
    let head = emptyHead;
    for (let round = 0; round < 60; round++) {
      const batch = batchOf(head, [{ type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } }]);
      await ledger.append(batch);
      head = batch.head.after;
      await bell.next();
    }
    controller.abort();
  });

  describe('behind a bad network', () => {
    let proxy: Proxy;
    let far: Etcd3;
    let ledger: EtcdLedger;
    beforeEach(async () => {
      proxy = await startProxy(run, etcd.endpoint);
      far = connectEtcd([`http://${proxy.endpoint}`]);
      ledger = new EtcdLedger(far);
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
    });
    afterEach(() => far.close());

    it('an append whose reply is lost is of unknown outcome; the log shows that it happened', async () => {
      proxy.swallow('replies');
      const lost = ledger.append(begun);
      // Until it happened, and not until the first bytes back are swallowed: these may be HTTP/2's own, about no request.
      const near = new EtcdLedger(client);
      while ((await near.head(never)).seq === 0) await turn();
      proxy.cut();
      expect(await lost).to.have.property('kind', 'unknown');
      proxy.mend();
      expect(await ledger.head(never)).to.deep.equal(begun.head.after);
      const [line] = await ledger.readEach([1], never);
      expect(line?.text).to.equal(begun.events[0]?.text);
      expect(await ledger.append(begun), 'and it never happens twice').to.deep.equal({ kind: 'moved' });
    });

    it('an append that gets lost is of unknown outcome; it did not happen', async () => {
      proxy.swallow('requests');
      const lost = ledger.append(begun);
      while (proxy.swallowedBytes === 0) await turn();
      proxy.cut();
      expect(await lost).to.have.property('kind', 'unknown');
      proxy.mend();
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
    });

    it('an append that nobody answers is of unknown outcome when its time is up; it may happen later', async () => {
      proxy.hold('requests');
      const outcome = await ledger.append(begun);
      expect(outcome).to.have.property('kind', 'unknown');
      expect(outcome).to.have.property('reason').that.contains('Deadline exceeded');
      proxy.mend();
      const { seq } = await ledger.head(never);
      expect(seq).to.be.oneOf([0, 1]);
    });

    it('a read that nobody answers is UNAVAILABLE when its time is up', async () => {
      proxy.hold('replies');
      const error = await failureOf(ledger.head(never));
      expect(error).to.have.property('code', 'UNAVAILABLE');
      expect(error.message).to.match(/^etcd could not be read: Deadline exceeded/);
    });

    it('a read that is not wanted any more ends at once, though etcd keeps it waiting', async () => {
      proxy.hold('replies');
      const controller = new AbortController();
      const reading = failureOf(ledger.head(controller.signal));
      await turn();
      const why = new Error('elected');
      controller.abort(why);
      expect(await reading).to.equal(why);
    });

    it('the bell rings again after its watch was cut, also while it can’t be opened', async () => {
      const controller = new AbortController();
      const bell = ledger.bell(controller.signal)[Symbol.asyncIterator]();
      proxy.refuse();
      proxy.cut();
      await bell.next();
      proxy.mend();
      await new EtcdLedger(client).append(begun);
      do await bell.next();
      while ((await ledger.head(never)).seq === 0);
      controller.abort();
    });

    it('100 lost replies of 100 are resolved rightly: everybody is answered once, nothing is given twice', async () => {
      const near = new EtcdLedger(client);
      const { writer, replica, stop } = await startWriter(ledger);
      await carryOut(writer, createLedger(), macvlan);
      for (let round = 0; round < 100; round++) {
        proxy.swallow('replies');
        const asked = writer.submit(ask(allocate(`pod-${round}`)));
        while ((await near.head(never)).seq < 3 + round);
        proxy.cut();
        proxy.mend();
        const { answer, head } = await asked;
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
