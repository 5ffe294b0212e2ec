/** What every ledger must honour. Each adapter's spec runs it, so that a spec on the memory ledger says something of etcd. */
import { expect } from 'chai';
import { subnetConfigured } from '../domain/specification.ts';
import type { Event } from '../domain/event.ts';
import { emptyHead } from './chain.ts';
import { batchOf, never } from './specification.ts';
import {
  addressKey,
  claimText,
  droppedKey,
  droppedText,
  headKey,
  headText,
  logKey,
  poolKey,
  poolText,
  subnetKey,
  writerKey,
} from './keys.ts';
import type { Batch } from './ledger.ts';
import { describeReading } from './reading.contract.ts';
import { describeSealing } from './sealing.contract.ts';
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

/** @param make an adapter on an empty store; called before each test. */
export function describeLedger(title: string, make: () => Promise<LedgerUnderTest>): void {
  describe(title, () => {
    let store: LedgerUnderTest;
    let ledger: LedgerUnderTest['ledger'];
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

    describeReading(() => store);
    describeSealing(() => store);

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

      it('the drop of a claim, after which its key must not exist', async () => {
        const begun = batchOf(emptyHead, [created, given], { claims: [{ name, text: claimText(claim), known: 0n }] });
        const { revision } = await appended(ledger, begun);
        const drop: Event = {
          type: 'ClaimsDropped',
          subnet: name.subnet,
          data: { addresses: [name.address], previous: [] },
        };
        const dropOf = (known: bigint): Batch =>
          batchOf(begun.head.after, [drop], {
            claims: [{ name, text: undefined, known }],
            dropped: [{ name: name.subnet, text: droppedText([3]) }],
          });
        await turnsDown(dropOf(revision + 1n), { kind: 'fenced', claims: [name] });
        const batch = dropOf(revision);
        await appended(ledger, batch);
        expect(await store.everything()).to.not.have.property(addressKey(name));
        expect((await store.everything())[droppedKey(name.subnet)]).to.equal('{"seqs":[3]}');
        const loaded = await ledger.load(never);
        expect(loaded.claims).to.deep.equal([]);
        expect(loaded.dropped).to.deep.equal([{ subnet: name.subnet, seqs: [3] }]);
        await turnsDown(allocation(batch.head.after, revision), { kind: 'fenced', claims: [name] });
        await appended(ledger, allocation(batch.head.after, 0n));
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

      it('a pool in force, and its retirement', async () => {
        const spec = { subnet: 'macvlan', ips: ['172.17.0.20'], namespaces: [] };
        const pooled: Event = { type: 'PoolConfigured', subnet: 'macvlan', data: { pool: 'blue', spec } };
        const begun = batchOf(emptyHead, [created, pooled], { pools: [{ name: 'blue', text: poolText({ spec }) }] });
        await appended(ledger, begun);
        expect((await store.everything())[poolKey('blue')]).to.equal(poolText({ spec }));
        expect((await ledger.load(never)).pools).to.deep.equal([{ name: 'blue', spec }]);
        const retired: Event = { type: 'PoolRetired', subnet: 'macvlan', data: { pool: 'blue' } };
        await appended(ledger, batchOf(begun.head.after, [retired], { pools: [{ name: 'blue', text: undefined }] }));
        expect((await ledger.load(never)).pools).to.deep.equal([]);
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

      it('nothing while it is frozen, but what may happen even then, until it is thawed', async () => {
        const why = { epoch: 1, seq: 99, hash: 'h', by: 'somebody', at: '2026-01-31T08:00:00.000Z' };
        expect(await ledger.frozen(never)).to.equal(undefined);
        await ledger.freeze(why, emptyHead, never);
        await ledger.freeze({ ...why, by: 'another' }, emptyHead, never);
        expect(await ledger.frozen(never)).to.deep.equal(why);
        await turnsDown(batchOf(emptyHead, [created]), { kind: 'frozen' });
        const begun = batchOf(emptyHead, [created], { notWhileFrozen: false });
        await appended(ledger, begun);
        await turnsDown(batchOf(emptyHead, [configured]), { kind: 'moved' });
        await turnsDown(batchOf(begun.head.after, [configured]), { kind: 'frozen' });
        await ledger.thaw(never);
        await ledger.thaw(never);
        await appended(ledger, batchOf(begun.head.after, [configured]));
      });

      it('no freeze by somebody who looked at it in another epoch', async () => {
        const why = { epoch: 1, seq: 99, hash: 'h', by: 'somebody', at: '2026-01-31T08:00:00.000Z' };
        const begun = batchOf(emptyHead, [created]);
        await appended(ledger, begun);
        const data = { epoch: 12, seq: 1, hash: 'h', lostSeq: 1, reason: 'a backup' };
        const restored = batchOf(begun.head.after, [{ type: 'LedgerRestored', subnet: '', data }]);
        await appended(ledger, restored);
        const there = restored.head.after;
        for (const found of [emptyHead, begun.head.after, { ...there, epoch: 2 }, { ...there, ledger: 'other' }]) {
          await ledger.freeze(why, found, never);
          expect(await ledger.frozen(never), JSON.stringify(found)).to.equal(undefined);
        }
        await appended(ledger, batchOf(there, [configured]));
        await ledger.freeze(why, there, never);
        expect(await ledger.frozen(never)).to.deep.equal(why);
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
