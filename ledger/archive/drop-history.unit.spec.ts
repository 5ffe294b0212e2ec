import { expect } from 'chai';
import { generateKey, parseSignerKey } from '../audit/checkpoints/signing-key.ts';
import { parseCheckpoints, signCheckpoint } from '../audit/checkpoints/checkpoint.ts';
import { CheckpointVerifier } from '../audit/verification/checkpoint-verifier.ts';
import { type VerificationResult, verifyLedger } from '../audit/verification/verify-ledger.ts';
import { describeState } from '../domain/testing/describe-state.ts';
import { historyStart } from '../domain/values/ledger.ts';
import type { Head } from '../log/chain/chain.ts';
import { fold } from '../log/reader/fold.ts';
import { replay } from '../log/reader/replay.ts';
import { logKey, segmentKey, segmentPrefix } from '../log/store/keys.ts';
import { MemoryLedger } from '../log/testing/memory-ledger.ts';
import { failureOf, logOf, never, requestFor, startWriter } from '../log/testing/running-writer.ts';
import { ArchivedLedger } from './archived-ledger.ts';
import { deleteDropped, dropNext, type DroppingContext, dropOldestSegments } from './drop-history.ts';
import { sealOldestEvents } from './seal.ts';
import { MemoryArchive } from './testing/memory-archive.ts';
import { ledgerWithPastIn, type SealedLedger } from './testing/sealed-ledger.ts';

const textsOf = async (ledger: ArchivedLedger): Promise<string[]> => (await logOf(ledger)).map(({ text }) => text);

describe('Dropping the oldest sealed segments', () => {
  let past: Omit<SealedLedger, 'folder'> & { readonly archive: MemoryArchive };
  let dropping: DroppingContext;
  /** All lines before the first drop. */
  let texts: string[];
  beforeEach(async () => {
    const archive = new MemoryArchive();
    past = await ledgerWithPastIn(archive, 12);
    for (const to of [15, 27, 39, 51])
      await sealOldestEvents({ ...past.sealing, canOmitEndState: () => to === 39 }, to, never);
    texts = await textsOf(past.ledger);
    const { writer, replica } = past.working;
    dropping = {
      archive,
      state: replica.state,
      submitDrop: async (to, reason) => {
        const request = requestFor({ type: 'DropHistory', to, reason }, never);
        await writer.submit({ ...request, answer: () => undefined });
      },
    };
  });
  afterEach(() => past.working.stop());

  const reader = (): ArchivedLedger => new ArchivedLedger(past.memory, past.archive);
  const verify = (ledger = reader()): Promise<VerificationResult> => verifyLedger(ledger, { signal: never });
  const froms = (): number[] => past.working.replica.state.segments.map(({ from }) => from);
  const segmentKeys = (): string[] =>
    Object.keys(past.memory.everything()).filter((key) => key.startsWith(segmentPrefix));
  const dropTo27 = () => dropNext(dropping, 'for the test', never);

  it('dropOldestSegments drops nothing within the limit', async () => {
    expect(await dropOldestSegments(dropping, never)).to.equal(undefined);
    expect(froms()).to.deep.equal([1, 16, 28, 40]);
  });

  it('dropOldestSegments drops as many segments as the limit requires, up to one with an end state, and keeps the last one', async () => {
    const size = await past.archive.size();
    past.archive.maxBytes = size - 1;
    expect(await dropOldestSegments(dropping, never)).to.equal(28);
    expect(froms()).to.deep.equal([16, 28, 40]);
    past.archive.maxBytes = 1;
    expect(await dropOldestSegments(dropping, never)).to.equal(52);
    expect(froms(), 'event 39 has no end state').to.deep.equal([40]);
    expect(segmentKeys()).to.deep.equal([segmentKey(40)]);
    expect([...past.archive.files.keys()].every((name) => name.includes('/0000000000000040-'))).to.equal(true);
  });

  it('Dropping the oldest sealed segments begins the history after the dropped segment, even for readers that know the earlier segments', async () => {
    const known = reader();
    await known.lastEndState('end', never);
    await dropTo27();
    for (const ledger of [known, reader()]) {
      for (const seq of [1, 15, 27]) {
        const { code, message } = await failureOf(ledger.readEach([seq, 60], never));
        expect(code).to.equal('POSITION_GONE');
        expect(message).to.match(
          new RegExp(
            `^the history begins with event 28, after 20.*Z: older events were dropped \\(archive: memory\\)\\. Event ${seq} is one of them$`,
          ),
        );
      }
      expect((await failureOf(textsOf(ledger))).code).to.equal('POSITION_GONE');
      const rest: string[] = [];
      for await (const page of ledger.read(28, never)) rest.push(...page.map(({ text }) => text));
      expect(rest.slice(0, texts.length - 27)).to.deep.equal(texts.slice(27));
    }
    expect((await failureOf(past.memory.readEach([5], never))).message, 'without the archive').to.match(
      /^the history begins with event 28/,
    );
  });

  it('past states are available from the end state of the dropped segment on, and earlier ones are rejected', async () => {
    await dropTo27();
    const stateAt = async (seq: number) =>
      fold(reader(), await reader().lastEndState({ seq }, never), { seq }, { signal: never });
    for (const seq of [27, 33, 45, 60]) expect((await stateAt(seq)).head.seq).to.be.within(seq, seq + 3);
    for (const seq of [1, 26]) expect((await failureOf(stateAt(seq))).code).to.equal('POSITION_GONE');
    const before = Date.parse((JSON.parse(texts[0] ?? '') as { at: string }).at);
    expect((await failureOf(reader().lastEndState({ at: before - 1 }, never))).code).to.equal('POSITION_GONE');
    const end = await fold(reader(), await reader().lastEndState('end', never), 'end', { signal: never });
    expect(describeState(end.state)).to.deep.equal(describeState(past.working.replica.state));
  });

  it('a drop is continued after a crash between its steps', async () => {
    const crash = {
      ...dropping,
      after: (): void => {
        throw new Error('crashed');
      },
    };
    await failureOf(dropNext(crash, 'for the test', never));
    expect([...past.archive.files.keys()].some((name) => name.includes('/0000000000000001-'))).to.equal(true);
    expect((await verify()).findings).to.deep.equal([]);
    await deleteDropped(dropping, never);
    expect([...past.archive.files.keys()].some((name) => name.includes('/0000000000000001-'))).to.equal(false);
    expect((await verify()).findings).to.deep.equal([]);
  });

  it('a drop is refused for an event that ends no segment, or is already dropped', async () => {
    for (const to of [26, 52]) expect((await failureOf(dropping.submitDrop(to, ''))).code).to.equal('SEGMENT_SEALED');
    await dropping.submitDrop(27, '');
    for (const to of [15, 27])
      expect((await failureOf(dropping.submitDrop(to, ''))).message).to.contain('It begins with event 28');
  });

  it('the next writer starts with the same history', async () => {
    await dropTo27();
    await past.working.stop();
    const next = await startWriter(reader());
    expect(next.replica.state.segments).to.deep.equal(past.working.replica.state.segments);
    expect(historyStart(next.replica.state.segments)).to.equal(28);
    await next.stop();
  });

  describe('verification', () => {
    beforeEach(dropTo27);

    it('verification begins at the end state of the dropped segment', async () => {
      const { findings, start, head } = await verify();
      expect(findings).to.deep.equal([]);
      expect(start).to.include({ seq: 27 });
      expect(head.seq).to.equal(past.working.replica.head.seq);
    });

    it('verification from a later state does not read the end state of the dropped segment', async () => {
      const ledger = reader();
      const start = await ledger.lastEndState({ seq: 60 }, never);
      const read: string[] = [];
      const { get } = past.archive;
      past.archive.get = (name: string, maxBytes: number) => {
        read.push(name);
        return get.call(past.archive, name, maxBytes);
      };
      expect((await verifyLedger(ledger, { signal: never, start })).findings).to.deep.equal([]);
      expect(start.head.seq).to.be.above(27);
      expect(read).to.deep.equal([]);
    });

    it('verification rejects an end state that differs from the sealed one', async () => {
      const [name = ''] = [...past.archive.files.keys()].filter(
        (each) => each.includes('-0000000000000027.') && each.includes('.state.'),
      );
      past.archive.files.set(name, Buffer.from('forged'));
      expect((await verify()).findings.map(({ what }) => what).join()).to.contain(`${name} is damaged`);
    });

    it('verification rejects a segment key that another program marked as dropped', async () => {
      const forged = (past.memory.get(segmentKey(40)) ?? '').replace(/\}$/, ',"dropped":60}');
      for (const from of [16, 28]) past.memory.remove(segmentKey(from));
      past.memory.put(segmentKey(40), forged);
      const { findings } = await verify();
      expect(findings.map(({ key }) => key)).to.deep.equal([segmentKey(40), segmentKey(16), segmentKey(28)]);
    });

    it('verification rejects a dropped segment whose key lost its mark', async () => {
      const key = segmentKey(16);
      past.memory.put(key, (past.memory.get(key) ?? '').replace(/,"dropped":\d+/, ''));
      expect((await verify()).findings).to.have.length.above(0);
    });

    it('verification rejects an event before the beginning of the history', async () => {
      past.memory.put(logKey(5), texts[4] ?? '');
      const { findings } = await verify();
      expect(findings).to.deep.equal([
        { key: logKey(5), what: 'the history begins with event 28: another program wrote this key' },
      ]);
    });

    it('verification without the archive fails, and reports no finding', async () => {
      const { code, message } = await failureOf(verifyLedger(past.memory, { signal: never }));
      expect([code, message.slice(0, 37)]).to.deep.equal(['POSITION_GONE', 'the history begins with event 28, aft']);
    });

    it('verification compares the checkpoints since the beginning of the history, and no earlier ones', async () => {
      const signer = parseSignerKey(generateKey('ledger').signer);
      const headAt = async (seq: number): Promise<Head> =>
        (await fold(reader(), await reader().lastEndState({ seq }, never), { seq }, { signal: never })).head;
      const checkpointOf = (head: Head) => signCheckpoint(head, signer);
      const verifyWith = async (...heads: Head[]) => {
        const notes = parseCheckpoints(heads.map(checkpointOf).join('\n'));
        const checkpointVerifier = new CheckpointVerifier(notes, [signer.verifier]);
        return (await verifyLedger(reader(), { signal: never, checkpointVerifier })).findings;
      };
      const [start, later] = [await headAt(27), await headAt(60)];
      expect(await verifyWith({ ...start, seq: 9, hash: 'e'.repeat(64) }, start, later)).to.deep.equal([]);
      for (const changed of [start, later])
        expect((await verifyWith({ ...changed, hash: 'f'.repeat(64) }))[0]?.key).to.equal(logKey(changed.seq));
    });
  });

  it('a ledger with dropped history is replayed from a complete export', async () => {
    await dropTo27();
    await past.working.stop();
    const lines = [...texts];
    for await (const page of reader().read(texts.length + 1, never)) lines.push(...page.map(({ text }) => text));
    const copy = new MemoryLedger();
    async function* all() {
      yield* lines;
    }
    await replay(copy, all(), { signal: never });
    const segmentsOf = (memory: MemoryLedger) =>
      Object.entries(memory.everything()).filter(([key]) => key.startsWith(segmentPrefix));
    expect(segmentsOf(copy)).to.have.deep.members(segmentsOf(past.memory));
  });
});
