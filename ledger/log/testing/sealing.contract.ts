/** The sealing part of the ledger contract. */
import { expect } from 'chai';
import type { Event, SegmentSealed } from '../../domain/events/event.ts';
import type { Segment, Seq } from '../../domain/values/ledger.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import { logStartKey, logKey, segmentKey } from '../store/keys.ts';
import { logStartText, segmentText } from '../store/stored-values.ts';
import type { Batch, Ledger, SealedLog } from '../store/ledger.ts';
import { batchOf, failureOf, never } from './running-writer.ts';
import { loadAll } from './load-all.ts';
import { appended, created, type LedgerUnderTest } from './ledger-under-test.ts';

/** @param storeOf returns the store of the current test. */
export function describeSealing(storeOf: () => LedgerUnderTest): void {
  describe('sealing', () => {
    let store: LedgerUnderTest;
    let ledger: Ledger & SealedLog;
    let head: Head;
    beforeEach(async () => {
      store = storeOf();
      ({ ledger } = store);
      const firstBatch = batchOf(emptyHead, [created, created, created, created, created, created]);
      await appended(ledger, firstBatch);
      head = firstBatch.head.after;
    });

    const sealed = (from: Seq, to: Seq): SegmentSealed => ({
      type: 'SegmentSealed',
      subnet: '',
      data: { from, to, since: 'then', until: 'later', hash: `h${to}`, manifest: `m${to}`, archive: 'folder /archive' },
    });

    /** A batch with one event, which seals a segment. */
    function sealingBatch(from: Seq, to: Seq): { batch: Batch; segment: Segment } {
      const event: Event = sealed(from, to);
      const segment = { seq: head.seq + 1, ...event.data };
      return { batch: batchOf(head, [event], { segments: [segment] }), segment };
    }

    async function seal(from: Seq, to: Seq): Promise<Segment> {
      const { batch, segment } = sealingBatch(from, to);
      await appended(ledger, batch);
      head = batch.head.after;
      return segment;
    }

    const seqsFrom = async (from: Seq): Promise<Seq[]> => {
      const seqs: Seq[] = [];
      for await (const page of ledger.read(from, never))
        seqs.push(...page.map(({ text }) => (JSON.parse(text) as { seq: Seq }).seq));
      return seqs;
    };

    it('A new ledger has no segments and log start 1', async () => {
      expect(await ledger.logStart(never)).to.equal(1);
      expect(await ledger.segments(1, never)).to.deep.equal([]);
      expect(await ledger.prune(never)).to.be.false;
      expect(await seqsFrom(1)).to.have.length(6);
      expect(await loadAll(ledger, never)).to.deep.include({ segments: [] });
    });

    it('append writes the segment and moves the log start together with the event, before events are deleted', async () => {
      const segment = await seal(1, 3);
      expect(await store.everything()).to.include({
        [segmentKey(1)]: segmentText(segment),
        [logStartKey]: logStartText(4),
      });
      expect(await ledger.logStart(never)).to.equal(4);
      expect(await ledger.segments(1, never)).to.deep.equal([segment]);
      expect(await loadAll(ledger, never)).to.deep.include({ segments: [segment] });
      expect(await seqsFrom(1), 'not deleted yet').to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
    });

    it('segments returns the appended segments from a given event on', async () => {
      const segments = [await seal(1, 2), await seal(3, 4), await seal(5, 6)];
      expect(await ledger.segments(1, never)).to.deep.equal(segments);
      expect(await ledger.segments(3, never)).to.deep.equal(segments.slice(1));
      expect(await ledger.logStart(never)).to.equal(7);
    });

    it('append rejects a segment that is already sealed', async () => {
      await seal(1, 3);
      const before = await store.everything();
      expect(await ledger.append(sealingBatch(1, 2).batch)).to.have.property('kind', 'rejected');
      expect(await store.everything()).to.deep.equal(before);
    });

    it('append moves the history start together with its event: it rewrites the key of that segment and deletes earlier ones', async () => {
      const segments = [await seal(1, 2), await seal(3, 4), await seal(5, 5)];
      const data = { to: 4, until: 'later', hash: 'h4', reason: 'full' };
      const historyStart = { ...(segments[1] as Segment), dropped: head.seq + 1 };
      const drop: Event = { type: 'HistoryDropped', subnet: '', data };
      await appended(ledger, batchOf(head, [drop], { historyStart }));
      expect(await ledger.segments(1, never)).to.deep.equal([historyStart, segments[2]]);
      expect(await store.everything()).to.not.have.property(segmentKey(1));
      expect(await ledger.logStart(never)).to.equal(6);
      while (await ledger.prune(never));
      for (const read of [seqsFrom(1), ledger.readEach([4], never)])
        expect((await failureOf(read)).message).to.match(/^the history begins with event 5, after later: /);
      expect((await failureOf(seqsFrom(5))).message).to.match(/^event 5 is sealed/);
    });

    it('prune deletes exactly the events before the log start', async () => {
      await seal(1, 4);
      while (await ledger.prune(never));
      expect(await seqsFrom(5)).to.deep.equal([5, 6, 7]);
      expect(Object.keys(await store.everything())).to.include.members([logKey(5), logKey(6), logKey(7)]);
      for (const seq of [1, 2, 3, 4]) expect(await store.everything()).to.not.have.property(logKey(seq));
    });

    it('A read of pruned events is rejected with the log start', async () => {
      await seal(1, 4);
      while (await ledger.prune(never));
      const { at } = JSON.parse((await store.everything())[logKey(5)] as string) as { at: string };
      const reads = [seqsFrom(1), seqsFrom(4), ledger.readEach([6, 4], never), ledger.readEach([1], never)];
      for (const error of await Promise.all(reads.map(failureOf))) {
        expect(error).to.have.property('code', 'POSITION_GONE');
        expect(error.message).to.contain(`The first event in etcd is 5 of ${at}. Begin with event 5`);
      }
      const lines = await ledger.readEach([5, 999, 0], never);
      expect(lines.map((line) => line !== undefined)).to.deep.equal([true, false, false]);
    });

    it('A ledger throws LEDGER_DAMAGED when the log start or a segment is not valid', async () => {
      await store.put(segmentKey(1), '{"seq":1}');
      expect(await failureOf(ledger.segments(1, never))).to.have.property('code', 'LEDGER_DAMAGED');
      expect(await failureOf(loadAll(ledger, never))).to.have.property('code', 'LEDGER_DAMAGED');
      await store.put(logStartKey, '{"seq":"2"}');
      expect(await failureOf(ledger.logStart(never))).to.have.property('code', 'LEDGER_DAMAGED');
    });
  });
}
