/** What every ledger must honour when it is read: a part of ledger.contract.ts. */
import { expect } from 'chai';
import { emptyHead } from './chain.ts';
import { addressKey, claimText, headKey, logKey, subnetKey } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { batchOf, failureOf, never } from './specification.ts';
import {
  allocation,
  appended,
  claim,
  configured,
  created,
  given,
  type LedgerUnderTest,
  name,
  specText,
} from './store.contract.ts';

/** @param storeOf the store of the test that runs. */
export function describeReading(storeOf: () => LedgerUnderTest): void {
  let store: LedgerUnderTest;
  let ledger: Ledger;
  beforeEach(() => {
    store = storeOf();
    ({ ledger } = store);
  });

  describe('loads', () => {
    it('an empty ledger: nothing, at the head before all events', async () => {
      const empty = {
        ledger: '',
        segments: [],
        head: emptyHead,
        claims: [],
        dropped: [],
        revisions: [],
        unreadable: [],
        subnets: [],
        pools: [],
      };
      expect(await ledger.load(never)).to.deep.equal(empty);
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
    });

    it('what was appended: head, claims with their revisions, subnets', async () => {
      const begun = batchOf(emptyHead, [created, configured], { subnets: [{ name: 'macvlan', text: specText }] });
      const first = await appended(ledger, begun);
      const second = await appended(ledger, allocation(begun.head.after, 0n));
      expect(second.revision > first.revision).to.be.true;
      const { head, claims, revisions, subnets, ledger: id } = await ledger.load(never);
      expect(id).to.equal(created.data.ledger);
      expect(head).to.include({ ledger: id, epoch: 1, seq: 3 });
      expect(claims.map(({ subnet, address, claim: held }) => ({ subnet, address, claim: held }))).to.deep.equal([
        { ...name, claim: { ...claim, last: 3 } },
      ]);
      expect(revisions.map(({ revision }) => revision)).to.deep.equal([second.revision]);
      expect(subnets).to.deep.equal([{ name: 'macvlan', ...configured.data }]);
    });

    it('one moment, though somebody appends meanwhile', async () => {
      const appending = (async () => {
        let head = emptyHead;
        for (let round = 0; round < 200; round++) {
          const claims = [{ name: { ...name, address: `10.1.0.${round}` }, text: claimText(claim), known: 0n }];
          const batch = batchOf(head, [given], { claims });
          await appended(ledger, batch);
          head = batch.head.after;
        }
        return true;
      })();
      do {
        const { head, claims } = await ledger.load(never);
        expect(claims.length, 'each event brought a claim').to.equal(head.seq);
      } while (!(await Promise.race([appending, Promise.resolve(false)])));
    });

    it('however many claims there are', async () => {
      let head = emptyHead;
      const count = 2_100;
      const addresses = Array.from({ length: count }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
      for (let first = 0; first < count; first += 100) {
        const some = addresses.slice(first, first + 100);
        const claims = some.map((address) => ({ name: { ...name, address }, text: claimText(claim), known: 0n }));
        const batch = batchOf(head, [given], { claims });
        await appended(ledger, batch);
        head = batch.head.after;
      }
      const { claims, revisions } = await ledger.load(never);
      expect(claims.map(({ address }) => address)).to.have.members(addresses);
      expect(revisions).to.have.length(count);
    });

    it('says so, instead of guessing, when the head is none', async () => {
      for (const text of ['', '{}', '{"ledger":"x","epoch":1,"seq":1,"hash":"y","at":"yesterday"}', 'null']) {
        await store.put(headKey, text);
        expect(await failureOf(ledger.load(never))).to.have.property('code', 'LEDGER_DAMAGED');
        expect(await failureOf(ledger.head(never))).to.have.property('code', 'LEDGER_DAMAGED');
      }
    });

    it('says so when a subnet is none', async () => {
      await store.put(subnetKey('macvlan'), '{"oops":');
      const error = await failureOf(ledger.load(never));
      expect(error).to.have.property('code', 'LEDGER_DAMAGED');
      expect(error.message).to.contain(subnetKey('macvlan'));
    });

    it('names the addresses whose keys are no claims, and everything else as it is', async () => {
      await store.put(addressKey(name), '{"oops":');
      const { unreadable, claims } = await ledger.load(never);
      expect(unreadable).to.deep.equal([name]);
      expect(claims.map(({ address }) => address)).to.not.include(name.address);
    });
  });

  describe('reads', () => {
    async function fill(count: number): Promise<void> {
      let head = emptyHead;
      while (head.seq < count) {
        const events = Array.from({ length: Math.min(100, count - head.seq) }, () => created);
        const batch = batchOf(head, events);
        await appended(ledger, batch);
        head = batch.head.after;
      }
    }
    const seqsFrom = async (from: number): Promise<number[]> => {
      const seqs: number[] = [];
      for await (const page of ledger.read(from, never))
        seqs.push(...page.map(({ text }) => (JSON.parse(text) as { seq: number }).seq));
      return seqs;
    };

    it('nothing of an empty log', async () => {
      expect(await seqsFrom(1)).to.deep.equal([]);
    });

    it('the events from any place on, in order, page by page', async () => {
      const count = 4_321;
      await fill(count);
      for (const from of [1, 2, 2_000, 2_001, count, count + 1, count + 50])
        expect(await seqsFrom(from)).to.deep.equal(
          Array.from({ length: Math.max(0, count - from + 1) }, (_, index) => from + index),
        );
    });

    it('what somebody put behind the head, and what is left around a gap, too', async () => {
      await fill(3);
      for (const seq of [3, 4, 6]) await store.put(logKey(seq), JSON.stringify({ seq }));
      expect(await seqsFrom(2)).to.deep.equal([2, 3, 4, 6]);
    });

    it('each event with the revision that its claims have', async () => {
      const begun = batchOf(emptyHead, [created, given], { claims: [{ name, text: claimText(claim), known: 0n }] });
      const { revision } = await appended(ledger, begun);
      for await (const page of ledger.read(1, never))
        expect(page.map((line) => line.revision)).to.deep.equal([revision, revision]);
      expect((await ledger.load(never)).revisions.map((known) => known.revision)).to.deep.equal([revision]);
    });

    it('single events, in the order asked for, with a gap for each that is not there', async () => {
      await fill(130);
      const wanted = [130, 1, 999, 2, ...Array.from({ length: 100 }, (_, index) => index + 1), 0];
      const lines = await ledger.readEach(wanted, never);
      const seqs = lines.map((line) => line && (JSON.parse(line.text) as { seq: number }).seq);
      expect(seqs).to.deep.equal(wanted.map((seq) => (seq >= 1 && seq <= 130 ? seq : undefined)));
      expect(await ledger.readEach([], never)).to.deep.equal([]);
    });

    it('a head that is never behind what was appended', async () => {
      let head = emptyHead;
      for (let round = 0; round < 50; round++) {
        const batch = batchOf(head, [created]);
        await appended(ledger, batch);
        head = batch.head.after;
        expect(await ledger.head(never)).to.deep.equal(head);
      }
    });

    it('nothing when the signal is aborted', async () => {
      const gone = AbortSignal.abort();
      expect(await failureOf(ledger.load(gone))).to.have.property('name', 'AbortError');
      expect(await failureOf(ledger.head(gone))).to.have.property('name', 'AbortError');
      expect(await failureOf(ledger.readEach([1], gone))).to.have.property('name', 'AbortError');
      const reading = ledger.read(1, gone)[Symbol.asyncIterator]();
      expect(await failureOf(reading.next())).to.have.property('name', 'AbortError');
    });
  });
}
