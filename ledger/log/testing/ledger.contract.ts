/**
 * The contract of every Ledger. Both implementations pass it, so what a spec shows with the ledger
 * in memory also holds for etcd.
 */
import { expect } from 'chai';
import { subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import type { Event } from '../../domain/events/event.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import { loadAll } from './load-all.ts';
import { batchOf, failureOf, never } from './running-writer.ts';
import { endedPerChunk } from '../../domain/state/ended-pods.ts';
import { endedText } from '../store/ended-keys.ts';
import { addressKey, droppedKey, endedKey, headKey, logKey, poolKey, subnetKey, writerKey } from '../store/keys.ts';
import { claimText, droppedText, headText, poolText } from '../store/stored-values.ts';
import type { Batch } from '../store/ledger.ts';
import { describeReads } from './reading.contract.ts';
import { describeSealing } from './sealing.contract.ts';
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

/** @param make creates a ledger on an empty store, before each test */
export function describeLedger(title: string, make: () => Promise<LedgerUnderTest>): void {
  describe(title, () => {
    let store: LedgerUnderTest;
    let ledger: LedgerUnderTest['ledger'];
    beforeEach(async () => {
      store = await make();
      ({ ledger } = store);
    });

    /** Expects that the append has this outcome and changes nothing. */
    async function expectNotAppended(batch: Batch, outcome: object): Promise<void> {
      const before = await store.everything();
      expect(await ledger.append(batch)).to.deep.include(outcome);
      expect(await store.everything()).to.deep.equal(before);
    }

    describeReads(() => store);
    describeSealing(() => store);

    describe('append', () => {
      it('append writes all keys of a batch', async () => {
        const batch = batchOf(emptyHead, [created, configured, allocatedEvent], {
          claims: [{ name, text: claimText(claim), knownRevision: 0n }],
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

      it('append returns the revision that the next append must compare', async () => {
        const firstBatch = batchOf(emptyHead, [created]);
        await appended(ledger, firstBatch);
        const first = allocation(firstBatch.head.after, 0n);
        const { revision } = await appended(ledger, first);
        await expectNotAppended(allocation(first.head.after, 0n), { kind: 'fenced', claims: [name] });
        await appended(ledger, allocation(first.head.after, revision));
      });

      it('append drops a claim, and the next claim of the address requires that the key does not exist', async () => {
        const firstBatch = batchOf(emptyHead, [created, allocatedEvent], {
          claims: [{ name, text: claimText(claim), knownRevision: 0n }],
        });
        const { revision } = await appended(ledger, firstBatch);
        const drop: Event = {
          type: 'ClaimsDropped',
          subnet: name.subnet,
          data: { addresses: [name.address], previous: [] },
        };
        const dropOf = (knownRevision: bigint): Batch =>
          batchOf(firstBatch.head.after, [drop], {
            claims: [{ name, text: undefined, knownRevision }],
            dropped: [{ name: name.subnet, text: droppedText([3]) }],
          });
        await expectNotAppended(dropOf(revision + 1n), { kind: 'fenced', claims: [name] });
        const batch = dropOf(revision);
        await appended(ledger, batch);
        expect(await store.everything()).to.not.have.property(addressKey(name));
        expect((await store.everything())[droppedKey(name.subnet)]).to.equal('{"seqs":[3]}');
        const loaded = await loadAll(ledger, never);
        expect(loaded.claims).to.deep.equal([]);
        expect(loaded.dropped).to.deep.equal([{ subnet: name.subnet, seqs: [3] }]);
        await expectNotAppended(allocation(batch.head.after, revision), { kind: 'fenced', claims: [name] });
        await appended(ledger, allocation(batch.head.after, 0n));
      });

      it('append writes and deletes chunks of ended Pods', async () => {
        const [full, other] = [Array<string>(endedPerChunk).fill('0123456789abcdef'), ['fedcba9876543210']];
        const first = batchOf(emptyHead, [created], {
          ended: [
            { index: 0, text: endedText(full) },
            { index: 1, text: endedText(other) },
          ],
        });
        await appended(ledger, first);
        const chunks = [
          { index: 0, pods: full },
          { index: 1, pods: other },
        ];
        expect((await loadAll(ledger, never)).ended).to.deep.equal(chunks);
        await appended(ledger, batchOf(first.head.after, [allocatedEvent], { ended: [{ index: 0, text: undefined }] }));
        expect(await store.everything()).to.not.have.property(endedKey(0));
        expect(await failureOf(ledger.load(never)))
          .to.have.property('message')
          .that.contains(`${endedKey(0)} is missing`);
      });

      it('append writes claims without events, and the head of a replay that has not ended', async () => {
        const { head, ...batch } = batchOf(emptyHead, [created, allocatedEvent]);
        const pending: Head = { ...head.after, claims: 0 };
        await appended(ledger, { ...batch, head: { before: head.before, after: pending } });
        for (const reading of [ledger.head(never), ledger.load(never)])
          expect(await failureOf(reading)).to.have.property('code', 'UNAVAILABLE');
        expect((await ledger.load(never, 'any')).head).to.deep.equal(pending);
        await expectNotAppended(allocation(head.after, 0n), { kind: 'moved' });

        const claims = [{ name, text: claimText(claim), knownRevision: 0n }];
        await appended(ledger, { ...batch, events: [], claims, head: { before: pending, after: head.after } });
        expect(await loadAll(ledger, never))
          .to.have.property('head')
          .that.deep.equals(head.after);
        expect(await store.everything()).to.have.property(addressKey(name), claimText(claim));
      });

      it('append retires a Subnet', async () => {
        const firstBatch = batchOf(emptyHead, [created, configured], {
          subnets: [{ name: 'macvlan', text: specText }],
        });
        await appended(ledger, firstBatch);
        const retired: Event = { type: 'SubnetRetired', subnet: 'macvlan', data: {} };
        const subnets = [{ name: 'macvlan', text: undefined }];
        await appended(ledger, batchOf(firstBatch.head.after, [retired], { subnets }));
        expect(await store.everything()).to.not.have.property(subnetKey('macvlan'));
        expect((await loadAll(ledger, never)).subnets).to.deep.equal([]);
      });

      it('append configures and retires a pool', async () => {
        const spec = { subnet: 'macvlan', ips: ['172.17.0.20'], namespaces: [] };
        const pooled: Event = { type: 'PoolConfigured', subnet: 'macvlan', data: { pool: 'blue', spec } };
        const firstBatch = batchOf(emptyHead, [created, pooled], {
          pools: [{ name: 'blue', text: poolText({ spec }) }],
        });
        await appended(ledger, firstBatch);
        expect((await store.everything())[poolKey('blue')]).to.equal(poolText({ spec }));
        expect((await loadAll(ledger, never)).pools).to.deep.equal([{ name: 'blue', spec }]);
        const retired: Event = { type: 'PoolRetired', subnet: 'macvlan', data: { pool: 'blue' } };
        await appended(
          ledger,
          batchOf(firstBatch.head.after, [retired], { pools: [{ name: 'blue', text: undefined }] }),
        );
        expect((await loadAll(ledger, never)).pools).to.deep.equal([]);
      });

      it('append returns moved when the head differs', async () => {
        await expectNotAppended(batchOf({ ...emptyHead, seq: 7, hash: 'x' }, [allocatedEvent]), { kind: 'moved' });
        const firstBatch = batchOf(emptyHead, [created]);
        await appended(ledger, firstBatch);
        await expectNotAppended(batchOf(emptyHead, [created]), { kind: 'moved' });
        await appended(ledger, batchOf(firstBatch.head.after, [configured]));
        await expectNotAppended(batchOf(firstBatch.head.after, [configured]), { kind: 'moved' });
      });

      it('only one of many batches with the same head succeeds', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, () => ledger.append(batchOf(emptyHead, [created]))),
        );
        const kinds = outcomes.map(({ kind }) => kind).toSorted();
        expect(kinds).to.deep.equal(['appended', ...Array.from({ length: 19 }, () => 'moved')]);
      });

      it('append returns deposed when another replica is the writer', async () => {
        await expectNotAppended(batchOf(emptyHead, [created], { writer: 1n }), { kind: 'deposed' });
        await store.put(writerKey, '{"replica":"other"}');
        const writer = await store.created(writerKey);
        await expectNotAppended(batchOf(emptyHead, [created], { writer: writer + 1n }), { kind: 'deposed' });
        await appended(ledger, batchOf(emptyHead, [created], { writer }));
      });

      it('append returns fenced with the claims that were edited manually', async () => {
        const [a, b, c] = ['172.17.0.11', '172.17.0.12', '172.17.0.13'].map((address) => ({ ...name, address }));
        const [first, second, third] = [a, b, c].map((each) => ({ name: each ?? name, text: claimText(claim) }));
        if (!first || !second || !third) throw new Error('three');
        const firstBatch = batchOf(emptyHead, [created, allocatedEvent], {
          claims: [{ ...second, knownRevision: 0n }],
        });
        const { revision } = await appended(ledger, firstBatch);
        await store.put(addressKey(first.name), claimText(claim));
        await store.put(addressKey(second.name), claimText(claim));
        const claims = [
          { ...first, knownRevision: 0n },
          { ...second, knownRevision: revision },
          { ...third, knownRevision: 0n },
        ];
        await expectNotAppended(batchOf(firstBatch.head.after, [allocatedEvent], { claims }), {
          kind: 'fenced',
          claims: [first.name, second.name],
        });
      });

      it('append returns moved instead of overwriting an event that another program wrote', async () => {
        await store.put(logKey(2), '{"forged":true}');
        await expectNotAppended(batchOf(emptyHead, [created, configured]), { kind: 'moved' });
      });

      it('append returns frozen until the ledger is unfrozen, unless the batch is allowed while frozen', async () => {
        const reason = { epoch: 1, seq: 99, hash: 'h', by: 'client', at: '2026-01-31T08:00:00.000Z' };
        expect(await ledger.readFreeze(never)).to.equal(undefined);
        await ledger.freeze(reason, emptyHead, never);
        for (const position of [{}, { seq: 98 }, { epoch: 0, seq: 100 }])
          await ledger.freeze({ ...reason, ...position, by: 'another' }, emptyHead, never);
        expect(await ledger.readFreeze(never)).to.deep.equal(reason);
        await expectNotAppended(batchOf(emptyHead, [created]), { kind: 'frozen' });
        const firstBatch = batchOf(emptyHead, [created], { requiresUnfrozen: false });
        await appended(ledger, firstBatch);
        await expectNotAppended(batchOf(emptyHead, [configured]), { kind: 'moved' });
        await expectNotAppended(batchOf(firstBatch.head.after, [configured]), { kind: 'frozen' });
        await ledger.unfreeze(never);
        await ledger.unfreeze(never);
        await appended(ledger, batchOf(firstBatch.head.after, [configured]));
      });

      it('the freeze of a frozen ledger gets a later position, and keeps the time and the head of the first report', async () => {
        const found = { epoch: 1, seq: 5, hash: 'h5', at: '2026-01-31T07:59:00.000Z' };
        const first = { epoch: 1, seq: 5, hash: 'h5', by: 'allocator', at: '2026-01-31T08:00:00.000Z', found };
        await ledger.freeze(first, emptyHead, never);
        const later = { by: 'watcher', at: '2026-01-31T09:00:00.000Z', found: { ...found, seq: 6, hash: 'h6' } };
        for (const position of [
          { epoch: 1, seq: 9, hash: 'h9' },
          { epoch: 2, seq: 7, hash: 'h7' },
        ]) {
          await ledger.freeze({ ...position, ...later }, emptyHead, never);
          expect(await ledger.readFreeze(never)).to.deep.equal({ ...first, ...position, by: 'watcher' });
        }
      });

      it('append ignores a freeze that belongs to another epoch', async () => {
        const reason = { epoch: 1, seq: 99, hash: 'h', by: 'client', at: '2026-01-31T08:00:00.000Z' };
        const firstBatch = batchOf(emptyHead, [created]);
        await appended(ledger, firstBatch);
        const data = { epoch: 12, seq: 1, hash: 'h', lostSeq: 1, reason: 'a backup' };
        const restored = batchOf(firstBatch.head.after, [{ type: 'LedgerRestored', subnet: '', data }]);
        await appended(ledger, restored);
        const current = restored.head.after;
        for (const found of [
          emptyHead,
          firstBatch.head.after,
          { ...current, epoch: 2 },
          { ...current, ledger: 'other' },
        ]) {
          await ledger.freeze(reason, found, never);
          expect(await ledger.readFreeze(never), JSON.stringify(found)).to.equal(undefined);
        }
        await appended(ledger, batchOf(current, [configured]));
        await ledger.freeze(reason, current, never);
        expect(await ledger.readFreeze(never)).to.deep.equal(reason);
      });

      it('append returns rejected for a batch that is too large for one transaction', async () => {
        const many = Array.from({ length: ledger.limits.ops }, () => created);
        await expectNotAppended(batchOf(emptyHead, many), { kind: 'rejected' });
        for (const length of [1_600_000, 3_000_000]) {
          const long = subnetConfigured('macvlan', { provider: 'x'.repeat(length) });
          await expectNotAppended(batchOf(emptyHead, [long]), { kind: 'rejected' });
        }
        await appended(ledger, batchOf(emptyHead, many.slice(1)));
      });
    });

    describe('watchHead', () => {
      it('watchHead yields after each change', async () => {
        const controller = new AbortController();
        const headWatch = ledger.watchHead(controller.signal)[Symbol.asyncIterator]();
        let head = emptyHead;
        for (let round = 0; round < 5; round++) {
          const batch = batchOf(head, [created]);
          await appended(ledger, batch);
          head = batch.head.after;
          // A late watch result already includes the change. After an early one, another follows.
          do expect((await headWatch.next()).done).to.not.equal(true);
          while ((await ledger.head(never)).seq < head.seq);
        }
        controller.abort();
      });

      it('watchHead ends when its signal is aborted, even while it waits for a change', async () => {
        const controller = new AbortController();
        const headWatch = ledger.watchHead(controller.signal)[Symbol.asyncIterator]();
        const ended = (async () => {
          while (!(await headWatch.next()).done);
        })();
        setTimeout(() => controller.abort(), 10);
        await ended;
        const aborted = ledger.watchHead(AbortSignal.abort())[Symbol.asyncIterator]();
        expect((await aborted.next()).done).to.equal(true);
      });
    });
  });
}
