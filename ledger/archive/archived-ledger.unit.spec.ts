import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeState } from '../domain/testing/describe-state.ts';
import { initialStateAtHead, fold } from '../log/reader/fold.ts';
import { prefixEnd, logStartKey, headKey, logKey, logPrefix } from '../log/store/keys.ts';
import { logStartText } from '../log/store/stored-values.ts';
import type { KeyPage } from '../log/store/ledger.ts';
import { Replica } from '../log/reader/replica.ts';
import { describeFold, failureOf, logOf, never } from '../log/testing/running-writer.ts';
import { verifyLedger } from '../audit/verification/verify-ledger.ts';
import { ArchivedLedger } from './archived-ledger.ts';
import { FolderArchive } from './folder-archive.ts';
import { pruneSealed, sealOldestEvents } from './seal.ts';
import {
  ledgerWithPast,
  runPodLife,
  createArchiveFolder,
  type SealedLedger,
  sealingContextOf,
} from './testing/sealed-ledger.ts';

describe('ArchivedLedger', () => {
  let past: SealedLedger;
  let texts: string[];
  const textsOf = async (ledger: ArchivedLedger): Promise<string[]> => (await logOf(ledger)).map(({ text }) => text);

  beforeEach(async () => {
    past = await ledgerWithPast(10);
    texts = await textsOf(past.ledger);
  });
  afterEach(async () => {
    await past.working.stop();
    rmSync(past.folder, { recursive: true, force: true });
  });

  const sealTwice = async (): Promise<void> => {
    await sealOldestEvents(past.sealing, 20, never);
    await sealOldestEvents(past.sealing, 45, never);
  };

  it('ArchivedLedger reads from any event as if no event were sealed', async () => {
    await sealTwice();
    expect(past.memory.get(logKey(45)), 'deleted from etcd').to.equal(undefined);
    const all = await textsOf(past.ledger);
    expect(all.slice(0, texts.length)).to.deep.equal(texts);
    expect(all.slice(texts.length).map((text) => (JSON.parse(text) as { type: string }).type)).to.deep.equal([
      'SegmentSealed',
      'SegmentSealed',
    ]);
    for (const from of [1, 2, 20, 21, 45, 46, 60, 66]) {
      const found: string[] = [];
      for await (const page of past.ledger.read(from, never)) found.push(...page.map(({ text }) => text));
      expect(found, `from ${from}`).to.deep.equal(all.slice(from - 1));
    }
  });

  it('ArchivedLedger returns single events from archive and etcd, in the given order', async () => {
    await sealTwice();
    const seqs = [50, 1, 45, 46, 999, 20, 21];
    const lines = await past.ledger.readEach(seqs, never);
    expect(lines.map((line) => line?.text)).to.deep.equal(seqs.map((seq) => texts[seq - 1]));
  });

  it('ArchivedLedger serves a reader that began before the events were sealed', async () => {
    const reader = new ArchivedLedger(past.memory, past.archive);
    expect(await textsOf(reader)).to.deep.equal(texts);
    await sealTwice();
    expect((await textsOf(reader)).slice(0, texts.length)).to.deep.equal(texts);
    const [line] = await reader.readEach([3], never);
    expect(line?.text).to.equal(texts[2]);
  });

  it('ArchivedLedger continues a read in the archive when its events are sealed during the read', async () => {
    const { memory } = past;
    const read = memory.read.bind(memory);
    memory.read = async function* (from, signal) {
      memory.read = read;
      for await (const page of read(from, signal)) {
        yield page.slice(0, 10);
        break;
      }
      await sealOldestEvents(past.sealing, 20, never);
      yield* read(11, signal);
    };
    expect((await textsOf(past.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  it('ArchivedLedger loads without the archive, equal to the fold of all events', async () => {
    await sealTwice();
    const { state } = await Replica.load(past.memory, never);
    expect(describeState(state)).to.deep.equal(describeFold(await logOf(past.ledger)));
  });

  it('ArchivedLedger folds to each past event', async () => {
    const events = await logOf(past.ledger);
    await sealTwice();
    for (const seq of [5, 20, 21, 45, 46, 60]) {
      const start = await past.ledger.lastEndState({ seq }, never);
      const { state, head } = await fold(past.ledger, start, { seq }, { signal: never });
      expect(head.seq).to.equal(seq);
      expect(describeState(state), `at ${seq}`).to.deep.equal(describeFold(events.slice(0, seq)));
    }
  });

  it('ArchivedLedger starts a fold at the last end state before it', async () => {
    for (const to of [20, 45]) await sealOldestEvents({ ...past.sealing, canOmitEndState: () => false }, to, never);
    await sealOldestEvents(past.sealing, 50, never);
    const reached = async (until: Parameters<ArchivedLedger['lastEndState']>[0]) =>
      (await past.ledger.lastEndState(until, never)).head.seq;
    expect(await reached({ seq: 19 })).to.equal(0);
    expect(await reached({ seq: 20 })).to.equal(20);
    expect(await reached({ seq: 60 })).to.equal(45);
    expect(await reached('end')).to.equal(45);
    const at = Date.parse((JSON.parse(texts[29] as string) as { at: string }).at);
    expect(await reached({ at: at - 3_600_000 })).to.equal(0);
    expect((await past.ledger.lastEndState({ seq: 5 }, never)).head).to.deep.equal(initialStateAtHead().head);
  });

  it('ArchivedLedger verifies completely', async () => {
    await sealTwice();
    const { findings, head } = await verifyLedger(past.ledger, { signal: never });
    expect(findings).to.deep.equal([]);
    expect(head.seq).to.equal(texts.length + 2);
    const keys: string[] = [];
    for await (const page of past.ledger.keys({ from: logPrefix, end: prefixEnd(logPrefix) }, never))
      if (!page.endState) keys.push(...page.keys.map(({ key }) => key));
    expect(keys).to.deep.equal(Array.from({ length: texts.length + 2 }, (_, index) => logKey(index + 1)));
  });

  it('keys shows the log at an older revision as it was then, although more was sealed since', async () => {
    const pages = past.memory.keys({ from: headKey, end: `${headKey}\0` }, never);
    const { revision } = (await pages[Symbol.asyncIterator]().next()).value as KeyPage;
    await runPodLife(past.working, 'later');
    await sealOldestEvents(past.sealing, texts.length + 3, never);
    const keys: string[] = [];
    for await (const page of past.ledger.keys({ from: logKey(60), end: prefixEnd(logPrefix) }, never, revision))
      keys.push(...page.keys.map(({ key }) => key));
    expect(keys).to.deep.equal([60, 61, 62, 63].map(logKey));
  });

  it('ArchivedLedger shows keys that another program wrote before the log start', async () => {
    await sealTwice();
    past.memory.put(logKey(30), (texts[29] ?? '').replace('container-of-pod-4', 'another'));
    const { findings } = await verifyLedger(past.ledger, { signal: never });
    expect(findings.map(({ key }) => key)).to.deep.equal([logKey(30)]);
    past.memory.put(logKey(30), texts[29] ?? '');
    expect((await verifyLedger(past.ledger, { signal: never })).findings).to.deep.equal([]);
  });

  it('ArchivedLedger is sealed further by the next writer, even if the last writer did not delete the sealed events', async () => {
    const { submit } = past.sealing;
    await failureOf(sealOldestEvents({ ...past.sealing, after: (step) => step === 'sealed' && stopHere() }, 20, never));
    expect(past.memory.get(logKey(20))).to.equal(texts[19]);
    await pruneSealed({ ...past.sealing, submit }, never);
    expect(past.memory.get(logKey(20))).to.equal(undefined);
    await runPodLife(past.working, 'later');
    await sealOldestEvents(past.sealing, 40, never);
    expect((await textsOf(past.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  it('ArchivedLedger loses no event when the writer gets another archive', async () => {
    await failureOf(sealOldestEvents({ ...past.sealing, after: (step) => step === 'sealed' && stopHere() }, 20, never));
    const folder = createArchiveFolder();
    const archive = new FolderArchive(folder);
    const elsewhere = { ...past.sealing, archive, ledger: new ArchivedLedger(past.memory, archive) };
    expect((await failureOf(pruneSealed(elsewhere, never))).message).to.match(
      /^the archive: .*\.manifest\.json could not be read/,
    );
    mkdirSync(join(folder, past.working.replica.head.ledger));
    expect((await failureOf(pruneSealed(elsewhere, never))).message).to.match(
      /archive file .*\.manifest\.json is damaged/,
    );
    rmSync(folder, { recursive: true });
    expect(past.memory.get(logKey(1))).to.equal(texts[0]);
  });

  it('nothing is sealed while the folder of the archive is missing, as on an unmounted share', async () => {
    const folder = join(past.folder, 'share');
    const archive = new FolderArchive(folder);
    const away = sealingContextOf({ ...past, archive, ledger: new ArchivedLedger(past.memory, archive) });
    const { code, message } = await failureOf(sealOldestEvents(away, 20, never));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(/^the archive: .*\/share\/.* could not be written: ENOENT/);
    expect(existsSync(folder)).to.equal(false);
    expect(past.memory.get(logKey(1))).to.equal(texts[0]);
    mkdirSync(folder);
    await sealOldestEvents(away, 20, never);
    expect((await textsOf(away.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  it('ArchivedLedger loses no event when another program moves the log start', async () => {
    await sealTwice();
    past.memory.put(logStartKey, logStartText(60));
    const error = await failureOf(pruneSealed(past.sealing, never));
    expect(error).to.have.property('code', 'LEDGER_DAMAGED');
    expect(error.message).to.match(/^event 46 is before the log start, but in no segment/);
    expect(past.memory.get(logKey(46))).to.equal(texts[45]);
  });

  it('the same events are never sealed twice: the second writer is rejected, and no event is lost', async () => {
    const late = sealingContextOf({ ...past, ledger: new ArchivedLedger(past.memory, past.archive) });
    let [first, arrived] = [Promise.resolve(), Promise.resolve()];
    const submit: typeof late.submit = async (segment) => {
      first = sealOldestEvents(past.sealing, 25, never).then(() => undefined);
      await first;
      arrived = late.submit(segment);
      await arrived;
    };
    const error = await failureOf(sealOldestEvents({ ...late, submit }, 20, never));
    expect(error).to.have.property('code', 'SEGMENT_SEALED');
    expect(error.message).to.contain('the last sealed event is 25');
    expect((await textsOf(past.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  describe('with a damaged archive', () => {
    const damage = (kind: string, content: string | undefined): void => {
      const folder = join(past.folder, past.working.replica.head.ledger);
      for (const name of readdirSync(folder).filter((file) => file.endsWith(kind)))
        if (content === undefined) rmSync(join(folder, name));
        else writeFileSync(join(folder, name), content);
    };

    for (const [kind, content] of [
      ['manifest.json', undefined],
      ['manifest.json', '{}'],
      ['events.ndjson.gz', undefined],
      ['events.ndjson.gz', 'oops'],
    ] as const)
      it(`ArchivedLedger throws LEDGER_DAMAGED: ${kind} is ${content === undefined ? 'missing' : 'changed'}`, async () => {
        await sealTwice();
        damage(kind, content);
        const fresh = new ArchivedLedger(past.memory, past.archive);
        const error = await failureOf(textsOf(fresh));
        expect(error).to.have.property('code', 'LEDGER_DAMAGED');
        expect(error.message).to.match(/^the archive file .* is damaged: .*Restore it from a copy/);
      });

    it('the writer seals no segment that it cannot read back', async () => {
      const lossy = { ...past.archive, location: 'lossy', put: async () => undefined, get: past.archive.get };
      const archive = { ...lossy, get: async () => Buffer.from('something else') };
      const error = await failureOf(sealOldestEvents({ ...past.sealing, archive }, 20, never));
      expect(error).to.have.property('code', 'LEDGER_DAMAGED');
      expect(await past.ledger.logStart(never)).to.equal(1);
      expect(past.memory.get(logKey(1))).to.equal(texts[0]);
    });
  });
});

function stopHere(): never {
  throw new Error('stopped');
}
