/** What every ledger must honour. Each adapter's spec runs it, so that a spec on the memory ledger says something of etcd. */
import { expect } from 'chai';
import { allocated, subnetConfigured } from '../domain/specification.ts';
import type { Event } from '../domain/event.ts';
import { emptyHead, type Head } from './chain.ts';
import { batchOf, failureOf, never } from './specification.ts';
import { addressKey, claimText, headKey, headText, logKey, subnetKey, writerKey } from './keys.ts';
import type { Appended, Batch, Ledger, Revision } from './ledger.ts';

/** An adapter on an empty store, with a way past the rules, as somebody with etcdctl has. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  put(key: string, text: string): Promise<void>;
  /** Everything that is stored. */
  everything(): Promise<Record<string, string>>;
  /** The create revision of a key. */
  created(key: string): Promise<Revision>;
}

const name = { subnet: 'macvlan', address: '172.17.0.11' };
const claim = { last: 2, lastAt: 1_000, bindings: [] };
const created = { type: 'LedgerCreated', subnet: '', data: { ledger: '01J00000000000000000000000' } } as const;
const given: Event = allocated('samplepod', name.address);
const configured = subnetConfigured();
const specText = JSON.stringify(configured.data);

/** One allocation, of an address whose key was last written at `known`. */
const allocation = (before: Head, known: Revision): Batch =>
  batchOf(before, [given], { claims: [{ name, text: claimText({ ...claim, last: before.seq + 1 }), known }] });

async function appended(ledger: Ledger, batch: Batch): Promise<Extract<Appended, { kind: 'appended' }>> {
  const outcome = await ledger.append(batch);
  if (outcome.kind !== 'appended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

/** @param make an adapter on an empty store; called before each test. */
export function describeLedger(title: string, make: () => Promise<LedgerUnderTest>): void {
  describe(title, () => {
    let store: LedgerUnderTest;
    let ledger: Ledger;
    beforeEach(async () => {
      store = await make();
      ({ ledger } = store);
    });

    /** Refused as expected, and nothing is different. */
    async function turnsDown(batch: Batch, outcome: object): Promise<void> {
      const before = await store.everything();
      expect(await ledger.append(batch)).to.deep.include(outcome);
      expect(await store.everything()).to.deep.equal(before);
    }

    describe('loads', () => {
      it('an empty ledger: nothing, at the head before all events', async () => {
        const empty = { ledger: '', head: emptyHead, claims: [], revisions: [], unreadable: [], subnets: [] };
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

    describe('appends', () => {
      it('all of a transaction', async () => {
        const batch = batchOf(emptyHead, [created, configured, given], {
          claims: [{ name, text: claimText(claim), known: 0n }],
          subnets: [{ name: 'macvlan', text: specText }],
        });
        await appended(ledger, batch);
        const [one, two, three] = batch.events.map(({ text }) => text);
        expect(await store.everything()).to.deep.equal({
          [headKey]: headText(batch.head.after),
          [logKey(1)]: one,
          [logKey(2)]: two,
          [logKey(3)]: three,
          [addressKey(name)]: claimText(claim),
          [subnetKey('macvlan')]: specText,
        });
      });

      it('with the revisions that the next append must know', async () => {
        const begun = batchOf(emptyHead, [created]);
        await appended(ledger, begun);
        const first = allocation(begun.head.after, 0n);
        const { revision } = await appended(ledger, first);
        await turnsDown(allocation(first.head.after, 0n), { kind: 'fenced', claims: [name] });
        await appended(ledger, allocation(first.head.after, revision));
      });

      it('the retirement of a subnet', async () => {
        const begun = batchOf(emptyHead, [created, configured], { subnets: [{ name: 'macvlan', text: specText }] });
        await appended(ledger, begun);
        const retired: Event = { type: 'SubnetRetired', subnet: 'macvlan', data: {} };
        const subnets = [{ name: 'macvlan', text: undefined }];
        await appended(ledger, batchOf(begun.head.after, [retired], { subnets }));
        expect(await store.everything()).to.not.have.property(subnetKey('macvlan'));
        expect((await ledger.load(never)).subnets).to.deep.equal([]);
      });

      it('nothing behind a head that is not there any more', async () => {
        await turnsDown(batchOf({ ...emptyHead, seq: 7, hash: 'x' }, [given]), { kind: 'moved' });
        const begun = batchOf(emptyHead, [created]);
        await appended(ledger, begun);
        await turnsDown(batchOf(emptyHead, [created]), { kind: 'moved' });
        await appended(ledger, batchOf(begun.head.after, [configured]));
        await turnsDown(batchOf(begun.head.after, [configured]), { kind: 'moved' });
      });

      it('exactly one of many that know the same head', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, () => ledger.append(batchOf(emptyHead, [created]))),
        );
        const kinds = outcomes.map(({ kind }) => kind).toSorted();
        expect(kinds).to.deep.equal(['appended', ...Array.from({ length: 19 }, () => 'moved')]);
      });

      it('nothing of a writer that is deposed', async () => {
        await turnsDown(batchOf(emptyHead, [created], { writer: 1n }), { kind: 'deposed' });
        await store.put(writerKey, '{"replica":"other"}');
        const writer = await store.created(writerKey);
        await turnsDown(batchOf(emptyHead, [created], { writer: writer + 1n }), { kind: 'deposed' });
        await appended(ledger, batchOf(emptyHead, [created], { writer }));
      });

      it('nothing where a claim was edited by hand, and names exactly those', async () => {
        const [a, b, c] = ['172.17.0.11', '172.17.0.12', '172.17.0.13'].map((address) => ({ ...name, address }));
        const [first, second, third] = [a, b, c].map((each) => ({ name: each ?? name, text: claimText(claim) }));
        if (!first || !second || !third) throw new Error('three');
        const begun = batchOf(emptyHead, [created, given], { claims: [{ ...second, known: 0n }] });
        const { revision } = await appended(ledger, begun);
        await store.put(addressKey(first.name), claimText(claim));
        await store.put(addressKey(second.name), claimText(claim));
        const claims = [
          { ...first, known: 0n },
          { ...second, known: revision },
          { ...third, known: 0n },
        ];
        await turnsDown(batchOf(begun.head.after, [given], { claims }), {
          kind: 'fenced',
          claims: [first.name, second.name],
        });
      });

      it('nothing over an event that somebody put into the log', async () => {
        await store.put(logKey(2), '{"forged":true}');
        await turnsDown(batchOf(emptyHead, [created, configured]), { kind: 'moved' });
      });

      it('nothing that is too much for one transaction', async () => {
        const many = Array.from({ length: ledger.limits.ops }, () => created);
        await turnsDown(batchOf(emptyHead, many), { kind: 'rejected' });
        for (const length of [1_600_000, 3_000_000]) {
          const long = subnetConfigured('macvlan', { provider: 'x'.repeat(length) });
          await turnsDown(batchOf(emptyHead, [long]), { kind: 'rejected' });
        }
        await appended(ledger, batchOf(emptyHead, many.slice(1)));
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

    describe('has a bell', () => {
      it('that rings after each change', async () => {
        const controller = new AbortController();
        const bell = ledger.bell(controller.signal)[Symbol.asyncIterator]();
        let head = emptyHead;
        for (let round = 0; round < 5; round++) {
          const batch = batchOf(head, [created]);
          await appended(ledger, batch);
          head = batch.head.after;
          // However late the ring, what it announces is there: and however early, one more follows.
          do expect((await bell.next()).done).to.not.equal(true);
          while ((await ledger.head(never)).seq < head.seq);
        }
        controller.abort();
      });

      it('that ends with its signal, also in the middle of a silence', async () => {
        const controller = new AbortController();
        const bell = ledger.bell(controller.signal)[Symbol.asyncIterator]();
        const ended = (async () => {
          while (!(await bell.next()).done);
        })();
        setTimeout(() => controller.abort(), 10);
        await ended;
        const silent = ledger.bell(AbortSignal.abort())[Symbol.asyncIterator]();
        expect((await silent.next()).done).to.equal(true);
      });
    });
  });
}
