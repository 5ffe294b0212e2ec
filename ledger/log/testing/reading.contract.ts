/** The reading part of the ledger contract. */
import { expect } from 'chai';
import { emptyHead } from '../chain/chain.ts';
import { addressKey, headKey, logKey, subnetKey } from '../store/keys.ts';
import { claimText } from '../store/stored-values.ts';
import type { Ledger } from '../store/ledger.ts';
import { loadAll } from './load-all.ts';
import { batchOf, failureOf, never } from './running-writer.ts';
import {
  allocation,
  appended,
  claim,
  configured,
  created,
  allocatedEvent,
  type LedgerUnderTest,
  name,
  specText,
} from './ledger-under-test.ts';

/** @param storeOf returns the store of the current test. */
export function describeReads(storeOf: () => LedgerUnderTest): void {
  let store: LedgerUnderTest;
  let ledger: Ledger;
  beforeEach(() => {
    store = storeOf();
    ({ ledger } = store);
  });

  describe('load', () => {
    it('load returns an empty snapshot at the empty head for an empty ledger', async () => {
      const empty = {
        ledger: '',
        segments: [],
        head: emptyHead,
        claims: [],
        dropped: [],
        ended: [],
        revisions: [],
        unreadable: [],
        subnets: [],
        pools: [],
      };
      expect(await loadAll(ledger, never)).to.deep.equal(empty);
      expect(await ledger.head(never)).to.deep.equal(emptyHead);
    });

    it('load returns head, claims with their revisions, and Subnets', async () => {
      const firstBatch = batchOf(emptyHead, [created, configured], { subnets: [{ name: 'macvlan', text: specText }] });
      const first = await appended(ledger, firstBatch);
      const second = await appended(ledger, allocation(firstBatch.head.after, 0n));
      expect(second.revision > first.revision).to.be.true;
      const { head, claims, revisions, subnets, ledger: id } = await loadAll(ledger, never);
      expect(id).to.equal(created.data.ledger);
      expect(head).to.include({ ledger: id, epoch: 1, seq: 3 });
      expect(claims.map(({ subnet, address, claim: loaded }) => ({ subnet, address, claim: loaded }))).to.deep.equal([
        { ...name, claim: { ...claim, last: 3 } },
      ]);
      expect(revisions.map(({ revision }) => revision)).to.deep.equal([second.revision]);
      expect(subnets).to.deep.equal([{ name: 'macvlan', ...configured.data }]);
    });

    it('load returns the state of one revision while another client appends', async () => {
      const appending = (async () => {
        let head = emptyHead;
        for (let round = 0; round < 200; round++) {
          const claims = [{ name: { ...name, address: `10.1.0.${round}` }, text: claimText(claim), knownRevision: 0n }];
          const batch = batchOf(head, [allocatedEvent], { claims });
          await appended(ledger, batch);
          head = batch.head.after;
        }
        return true;
      })();
      do {
        const { head, claims } = await loadAll(ledger, never);
        expect(claims.length, 'one claim per event').to.equal(head.seq);
      } while (!(await Promise.race([appending, Promise.resolve(false)])));
    });

    it('load returns any number of claims', async () => {
      let head = emptyHead;
      const count = 2_100;
      const addresses = Array.from({ length: count }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
      for (let first = 0; first < count; first += 100) {
        const part = addresses.slice(first, first + 100);
        const claims = part.map((address) => ({
          name: { ...name, address },
          text: claimText(claim),
          knownRevision: 0n,
        }));
        const batch = batchOf(head, [allocatedEvent], { claims });
        await appended(ledger, batch);
        head = batch.head.after;
      }
      const { claims, revisions } = await loadAll(ledger, never);
      expect(claims.map(({ address }) => address)).to.have.members(addresses);
      expect(revisions).to.have.length(count);
    });

    it('load throws LEDGER_DAMAGED when the head is not valid', async () => {
      for (const text of ['', '{}', '{"ledger":"x","epoch":1,"seq":1,"hash":"y","at":"yesterday"}', 'null']) {
        await store.put(headKey, text);
        expect(await failureOf(loadAll(ledger, never))).to.have.property('code', 'LEDGER_DAMAGED');
        expect(await failureOf(ledger.head(never))).to.have.property('code', 'LEDGER_DAMAGED');
      }
    });

    it('load throws LEDGER_DAMAGED when a Subnet is not valid', async () => {
      await store.put(subnetKey('macvlan'), '{"oops":');
      const error = await failureOf(loadAll(ledger, never));
      expect(error).to.have.property('code', 'LEDGER_DAMAGED');
      expect(error.message).to.contain(subnetKey('macvlan'));
    });

    it('load lists addresses whose keys hold no claim separately', async () => {
      await store.put(addressKey(name), '{"oops":');
      const { unreadable, claims } = await loadAll(ledger, never);
      expect(unreadable).to.deep.equal([name]);
      expect(claims.map(({ address }) => address)).to.not.include(name.address);
    });

    it('load lists an address whose claim has networks that are not a list of texts', async () => {
      for (const networks of ['null', '5', '{}', 'true', '"x"', '[5]']) {
        await store.put(
          addressKey(name),
          `{"last":1,"at":"2026-11-24T10:00:00.000Z","networks":${networks},"bindings":[]}`,
        );
        expect((await loadAll(ledger, never)).unreadable, networks).to.deep.equal([name]);
      }
    });

    it('load lists a key that names no address as unreadable', async () => {
      const odd = { subnet: 'macvlan', address: 'everything' };
      await store.put(addressKey(odd), '{"last":1,"at":"2026-11-24T10:00:00.000Z","networks":[],"bindings":[]}');
      expect((await loadAll(ledger, never)).unreadable).to.deep.equal([odd]);
    });
  });

  describe('read and readEach', () => {
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

    it('read and readEach return nothing from an empty log', async () => {
      expect(await seqsFrom(1)).to.deep.equal([]);
    });

    it('read and readEach return the events from any number, in order, in pages', async () => {
      const count = 4_321;
      await fill(count);
      for (const from of [1, 2, 2_000, 2_001, count, count + 1, count + 50])
        expect(await seqsFrom(from)).to.deep.equal(
          Array.from({ length: Math.max(0, count - from + 1) }, (_, index) => from + index),
        );
    });

    it('read and readEach return events after the head, and on both sides of a gap', async () => {
      await fill(3);
      for (const seq of [3, 4, 6]) await store.put(logKey(seq), JSON.stringify({ seq }));
      expect(await seqsFrom(2)).to.deep.equal([2, 3, 4, 6]);
    });

    it('read and readEach return each event with the revision of its claims', async () => {
      const firstBatch = batchOf(emptyHead, [created, allocatedEvent], {
        claims: [{ name, text: claimText(claim), knownRevision: 0n }],
      });
      const { revision } = await appended(ledger, firstBatch);
      for await (const page of ledger.read(1, never))
        expect(page.map((line) => line.revision)).to.deep.equal([revision, revision]);
      expect((await loadAll(ledger, never)).revisions.map((known) => known.revision)).to.deep.equal([revision]);
    });

    it('read and readEach return single events in the given order, and undefined for a missing event', async () => {
      await fill(130);
      const requested = [130, 1, 999, 2, ...Array.from({ length: 100 }, (_, index) => index + 1), 0];
      const lines = await ledger.readEach(requested, never);
      const seqs = lines.map((line) => line && (JSON.parse(line.text) as { seq: number }).seq);
      expect(seqs).to.deep.equal(requested.map((seq) => (seq >= 1 && seq <= 130 ? seq : undefined)));
      expect(await ledger.readEach([], never)).to.deep.equal([]);
    });

    it('the head contains each appended event', async () => {
      let head = emptyHead;
      for (let round = 0; round < 50; round++) {
        const batch = batchOf(head, [created]);
        await appended(ledger, batch);
        head = batch.head.after;
        expect(await ledger.head(never)).to.deep.equal(head);
      }
    });

    it('read and readEach throw AbortError when the signal is aborted', async () => {
      const aborted = AbortSignal.abort();
      expect(await failureOf(loadAll(ledger, aborted))).to.have.property('name', 'AbortError');
      expect(await failureOf(ledger.head(aborted))).to.have.property('name', 'AbortError');
      expect(await failureOf(ledger.readEach([1], aborted))).to.have.property('name', 'AbortError');
      const reading = ledger.read(1, aborted)[Symbol.asyncIterator]();
      expect(await failureOf(reading.next())).to.have.property('name', 'AbortError');
    });
  });
}
