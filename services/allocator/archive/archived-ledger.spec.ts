import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeState } from '../domain/describe.ts';
import { beginning, fold } from '../ledger/fold.ts';
import { endOf, floorKey, floorText, headKey, logKey, logPrefix } from '../ledger/keys.ts';
import type { KeyPage } from '../ledger/ledger.ts';
import { Replica } from '../ledger/replica.ts';
import { describeFold, failureOf, logOf, never } from '../ledger/specification.ts';
import { verifyKeys } from '../verify/verify.ts';
import { ArchivedLedger } from './archived-ledger.ts';
import { FolderArchive } from './folder.ts';
import { prune, seal } from './seal.ts';
import { ledgerWithPast, live, newFolder, type Past, sealingBy } from './specification.ts';

describe('A ledger whose past is in the archive', () => {
  let past: Past;
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
    await seal(past.sealing, 20, never);
    await seal(past.sealing, 45, never);
  };

  it('is read from any place on as if nothing had been sealed', async () => {
    await sealTwice();
    expect(past.memory.get(logKey(45)), 'gone from etcd').to.equal(undefined);
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

  it('gives single events from both sides of the seam, in the order asked for', async () => {
    await sealTwice();
    const wanted = [50, 1, 45, 46, 999, 20, 21];
    const lines = await past.ledger.readEach(wanted, never);
    expect(lines.map((line) => line?.text)).to.deep.equal(wanted.map((seq) => texts[seq - 1]));
  });

  it('is read by whoever began before it was sealed', async () => {
    const reader = new ArchivedLedger(past.memory, past.archive);
    expect(await textsOf(reader)).to.deep.equal(texts);
    await sealTwice();
    expect((await textsOf(reader)).slice(0, texts.length)).to.deep.equal(texts);
    const [line] = await reader.readEach([3], never);
    expect(line?.text).to.equal(texts[2]);
  });

  it('is read on in the archive where it is sealed while it is read', async () => {
    const { memory } = past;
    const read = memory.read.bind(memory);
    memory.read = async function* (from, signal) {
      memory.read = read;
      for await (const page of read(from, signal)) {
        yield page.slice(0, 10);
        break;
      }
      await seal(past.sealing, 20, never);
      yield* read(11, signal);
    };
    expect((await textsOf(past.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  it('is loaded without the archive: equal to the fold of all', async () => {
    await sealTwice();
    const { state } = await Replica.load(past.memory, never);
    expect(describeState(state)).to.deep.equal(describeFold(await logOf(past.ledger)));
  });

  it('is at any event of the past what it was', async () => {
    const events = await logOf(past.ledger);
    await sealTwice();
    for (const seq of [5, 20, 21, 45, 46, 60]) {
      const start = await past.ledger.placeBefore({ seq }, never);
      const { state, head } = await fold(past.ledger, start, { seq }, { signal: never });
      expect(head.seq).to.equal(seq);
      expect(describeState(state), `at ${seq}`).to.deep.equal(describeFold(events.slice(0, seq)));
    }
  });

  it('spares whoever goes back the way from the beginning', async () => {
    await sealTwice();
    const reached = async (until: Parameters<ArchivedLedger['placeBefore']>[0]) =>
      (await past.ledger.placeBefore(until, never)).head.seq;
    expect(await reached({ seq: 19 })).to.equal(0);
    expect(await reached({ seq: 20 })).to.equal(20);
    expect(await reached({ seq: 60 })).to.equal(45);
    expect(await reached('end')).to.equal(45);
    const at = Date.parse((JSON.parse(texts[29] as string) as { at: string }).at);
    expect(await reached({ at: at - 3_600_000 })).to.equal(0);
    expect((await past.ledger.placeBefore({ seq: 5 }, never)).head).to.deep.equal(beginning().head);
  });

  it('verifies, all of it', async () => {
    await sealTwice();
    const { findings, head } = await verifyKeys(past.ledger, { signal: never });
    expect(findings).to.deep.equal([]);
    expect(head.seq).to.equal(texts.length + 2);
    const keys: string[] = [];
    for await (const page of past.ledger.keys({ from: logPrefix, end: endOf(logPrefix) }, never))
      keys.push(...page.keys.map(({ key }) => key));
    expect(keys).to.deep.equal(Array.from({ length: texts.length + 2 }, (_, index) => logKey(index + 1)));
  });

  it('shows the log of a revision as it was then, though more of it was sealed since', async () => {
    const pages = past.memory.keys({ from: headKey, end: `${headKey}\0` }, never);
    const { revision } = (await pages[Symbol.asyncIterator]().next()).value as KeyPage;
    await live(past.working, 'later');
    await seal(past.sealing, texts.length + 3, never);
    const keys: string[] = [];
    for await (const page of past.ledger.keys({ from: logKey(60), end: endOf(logPrefix) }, never, revision))
      keys.push(...page.keys.map(({ key }) => key));
    expect(keys).to.deep.equal([60, 61, 62, 63].map(logKey));
  });

  it('shows what somebody put back below the floor', async () => {
    await sealTwice();
    past.memory.put(logKey(30), (texts[29] ?? '').replace('container-of-pod-4', 'another'));
    const { findings } = await verifyKeys(past.ledger, { signal: never });
    expect(findings.map(({ key }) => key)).to.deep.equal([logKey(30)]);
    past.memory.put(logKey(30), texts[29] ?? '');
    expect((await verifyKeys(past.ledger, { signal: never })).findings).to.deep.equal([]);
  });

  it('goes on being sealed by the next writer, also where the one before did not come to delete', async () => {
    const { submit } = past.sealing;
    await failureOf(seal({ ...past.sealing, after: (step) => step === 'sealed' && stopHere() }, 20, never));
    expect(past.memory.get(logKey(20))).to.equal(texts[19]);
    await prune({ ...past.sealing, submit }, never);
    expect(past.memory.get(logKey(20))).to.equal(undefined);
    await live(past.working, 'later');
    await seal(past.sealing, 40, never);
    expect((await textsOf(past.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  it('loses nothing to a writer that was given another archive', async () => {
    await failureOf(seal({ ...past.sealing, after: (step) => step === 'sealed' && stopHere() }, 20, never));
    const folder = newFolder();
    const archive = new FolderArchive(folder);
    const elsewhere = { ...past.sealing, archive, ledger: new ArchivedLedger(past.memory, archive) };
    expect((await failureOf(prune(elsewhere, never))).message).to.match(
      /^the archive: .*\.manifest\.json could not be read/,
    );
    mkdirSync(join(folder, past.working.replica.head.ledger));
    expect((await failureOf(prune(elsewhere, never))).message).to.match(
      /\.manifest\.json of the archive can't be used/,
    );
    rmSync(folder, { recursive: true });
    expect(past.memory.get(logKey(1))).to.equal(texts[0]);
  });

  it('stays where it is while the archive’s folder is not there, as a share that is not mounted', async () => {
    const folder = join(past.folder, 'share');
    const archive = new FolderArchive(folder);
    const away = sealingBy({ ...past, archive, ledger: new ArchivedLedger(past.memory, archive) });
    const { code, message } = await failureOf(seal(away, 20, never));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(/^the archive: .*\/share\/.* could not be written: ENOENT/);
    expect(existsSync(folder)).to.equal(false);
    expect(past.memory.get(logKey(1))).to.equal(texts[0]);
    mkdirSync(folder);
    await seal(away, 20, never);
    expect((await textsOf(away.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  it('loses nothing to a floor that somebody raised', async () => {
    await sealTwice();
    past.memory.put(floorKey, floorText(60));
    const error = await failureOf(prune(past.sealing, never));
    expect(error).to.have.property('code', 'LEDGER_DAMAGED');
    expect(error.message).to.match(/^event 46 is below the floor and in no segment/);
    expect(past.memory.get(logKey(46))).to.equal(texts[45]);
  });

  it('is never sealed twice: who comes late is told so, and nothing is lost', async () => {
    const late = sealingBy({ ...past, ledger: new ArchivedLedger(past.memory, past.archive) });
    let [meanwhile, arrived] = [Promise.resolve(), Promise.resolve()];
    const submit: typeof late.submit = async (segment) => {
      meanwhile = seal(past.sealing, 25, never).then(() => undefined);
      await meanwhile;
      arrived = late.submit(segment);
      await arrived;
    };
    const error = await failureOf(seal({ ...late, submit }, 20, never));
    expect(error).to.have.property('code', 'SEGMENT_SEALED');
    expect(error.message).to.contain('event 25 is the last that is');
    expect((await textsOf(past.ledger)).slice(0, texts.length)).to.deep.equal(texts);
  });

  describe('whose archive is damaged', () => {
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
      it(`says so: ${kind} ${content === undefined ? 'is gone' : 'is another'}`, async () => {
        await sealTwice();
        damage(kind, content);
        const fresh = new ArchivedLedger(past.memory, past.archive);
        const error = await failureOf(textsOf(fresh));
        expect(error).to.have.property('code', 'LEDGER_DAMAGED');
        expect(error.message).to.match(/of the archive can't be used: .*Restore it from a copy/);
      });

    it('is not sealed on: what was not read back is no segment', async () => {
      const lossy = { ...past.archive, location: 'lossy', put: async () => undefined, get: past.archive.get };
      const archive = { ...lossy, get: async () => Buffer.from('something else') };
      const error = await failureOf(seal({ ...past.sealing, archive }, 20, never));
      expect(error).to.have.property('code', 'LEDGER_DAMAGED');
      expect(await past.ledger.floor(never)).to.equal(1);
      expect(past.memory.get(logKey(1))).to.equal(texts[0]);
    });
  });
});

function stopHere(): never {
  throw new Error('stopped');
}
