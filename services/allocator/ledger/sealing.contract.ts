/** What every ledger must honour whose log is sealed from its beginning on: a part of ledger.contract.ts. */
import { expect } from 'chai';
import type { Event, Segment, SegmentSealed, Seq } from '../domain/event.ts';
import { emptyHead, type Head } from './chain.ts';
import { floorKey, floorText, logKey, segmentKey, segmentText } from './keys.ts';
import type { Batch, Ledger, SealedLog } from './ledger.ts';
import { batchOf, failureOf, never } from './specification.ts';
import { appended, created, type LedgerUnderTest } from './store.contract.ts';

/** @param storeOf the store of the test that runs. */
export function describeSealing(storeOf: () => LedgerUnderTest): void {
  describe('seals', () => {
    let store: LedgerUnderTest;
    let ledger: Ledger & SealedLog;
    let head: Head;
    beforeEach(async () => {
      store = storeOf();
      ({ ledger } = store);
      const begun = batchOf(emptyHead, [created, created, created, created, created, created]);
      await appended(ledger, begun);
      head = begun.head.after;
    });

    const sealed = (from: Seq, to: Seq): SegmentSealed => ({
      type: 'SegmentSealed',
      subnet: '',
      data: { from, to, since: 'then', until: 'later', hash: `h${to}`, manifest: `m${to}`, archive: 'folder /archive' },
    });

    /** The transaction of one event that seals. */
    function sealing(from: Seq, to: Seq): { batch: Batch; segment: Segment } {
      const event: Event = sealed(from, to);
      const segment = { seq: head.seq + 1, ...event.data };
      return { batch: batchOf(head, [event], { segments: [segment] }), segment };
    }

    async function seal(from: Seq, to: Seq): Promise<Segment> {
      const { batch, segment } = sealing(from, to);
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

    it('nothing at first: all is above the floor', async () => {
      expect(await ledger.floor(never)).to.equal(1);
      expect(await ledger.segments(1, never)).to.deep.equal([]);
      expect(await ledger.prune(never)).to.be.false;
      expect(await seqsFrom(1)).to.have.length(6);
      expect(await ledger.load(never)).to.deep.include({ segments: [] });
    });

    it('a stretch with its event, and the floor rises with it, before anything is deleted', async () => {
      const segment = await seal(1, 3);
      expect(await store.everything()).to.include({
        [segmentKey(1)]: segmentText(segment),
        [floorKey]: floorText(4),
      });
      expect(await ledger.floor(never)).to.equal(4);
      expect(await ledger.segments(1, never)).to.deep.equal([segment]);
      expect(await ledger.load(never)).to.deep.include({ segments: [segment] });
      expect(await seqsFrom(1), 'still at hand').to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
    });

    it('one stretch after the other, and gives those from a place on', async () => {
      const segments = [await seal(1, 2), await seal(3, 4), await seal(5, 6)];
      expect(await ledger.segments(1, never)).to.deep.equal(segments);
      expect(await ledger.segments(3, never)).to.deep.equal(segments.slice(1));
      expect(await ledger.floor(never)).to.equal(7);
    });

    it('no stretch twice, whoever tries', async () => {
      await seal(1, 3);
      const before = await store.everything();
      expect(await ledger.append(sealing(1, 2).batch)).to.have.property('kind', 'rejected');
      expect(await store.everything()).to.deep.equal(before);
    });

    it('and deletes what is below the floor, and nothing else', async () => {
      await seal(1, 4);
      while (await ledger.prune(never));
      expect(await seqsFrom(5)).to.deep.equal([5, 6, 7]);
      expect(Object.keys(await store.everything())).to.include.members([logKey(5), logKey(6), logKey(7)]);
      for (const seq of [1, 2, 3, 4]) expect(await store.everything()).to.not.have.property(logKey(seq));
    });

    it('and tells a reader who asks for what is gone where to begin', async () => {
      await seal(1, 4);
      while (await ledger.prune(never));
      const { at } = JSON.parse((await store.everything())[logKey(5)] as string) as { at: string };
      const failures = [failureOf(seqsFrom(1)), failureOf(seqsFrom(4)), failureOf(ledger.readEach([6, 4], never))];
      for (const error of await Promise.all(failures)) {
        expect(error).to.have.property('code', 'POSITION_GONE');
        expect(error.message).to.contain(`the first live one is event 5 of ${at}. Begin there`);
      }
      const lines = await ledger.readEach([5, 999, 0], never);
      expect(lines.map((line) => line !== undefined)).to.deep.equal([true, false, false]);
    });

    it('and says so when the floor, or a segment, is none', async () => {
      await store.put(segmentKey(1), '{"seq":1}');
      expect(await failureOf(ledger.segments(1, never))).to.have.property('code', 'LEDGER_DAMAGED');
      expect(await failureOf(ledger.load(never))).to.have.property('code', 'LEDGER_DAMAGED');
      await store.put(floorKey, '{"seq":"2"}');
      expect(await failureOf(ledger.floor(never))).to.have.property('code', 'LEDGER_DAMAGED');
    });
  });
}
