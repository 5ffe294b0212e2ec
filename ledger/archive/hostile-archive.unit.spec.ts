/** Attacks by a client with write access to the archive, on the programs that read it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifyLedger } from '../audit/verification/verify-ledger.ts';
import { logKey } from '../log/store/keys.ts';
import { failureOf, logOf, never, silentLog } from '../log/testing/running-writer.ts';
import { ArchivedLedger } from './archived-ledger.ts';
import { packLines, unpackLines } from './gzip-lines.ts';
import { runSealSchedule } from './seal-schedule.ts';
import { pruneSealed, sealOldestEvents } from './seal.ts';
import { ledgerWithPast, type SealedLedger } from './testing/sealed-ledger.ts';

const kinds = ['manifest.json', 'events.ndjson.gz', 'state.ndjson.gz'] as const;

describe('A hostile archive', () => {
  let past: SealedLedger;
  beforeEach(async () => {
    past = await ledgerWithPast(10);
    await sealOldestEvents(past.sealing, 20, never);
  });
  afterEach(async () => {
    await past.working.stop();
    rmSync(past.folder, { recursive: true, force: true });
  });

  /** Returns the file of a kind in the first segment. */
  function fileOf(kind: string): string {
    const folder = join(past.folder, past.working.replica.head.ledger);
    const [name] = readdirSync(folder)
      .filter((file) => file.endsWith(kind))
      .toSorted();
    return join(folder, name ?? '');
  }
  const reader = (): ArchivedLedger => new ArchivedLedger(past.memory, past.archive);
  /** Writes each segment with an end state, so that sealing reads the last one. */
  const sealing = () => ({ ...past.sealing, ledger: reader(), canOmitEndState: () => false });

  const replacements = {
    'is a FIFO, whose reader would wait for ever': (file: string) => execFileSync('mkfifo', [file]),
    'is a link to an endless device': (file: string) => symlinkSync('/dev/zero', file),
    'is a folder': (file: string) => mkdirSync(file),
    'is larger than what was sealed': (file: string) => {
      writeFileSync(file, '');
      truncateSync(file, 1 << 30);
    },
  };
  for (const [what, replace] of Object.entries(replacements))
    it(`A hostile archive is rejected before it is read: a file ${what}`, async () => {
      for (const kind of kinds) {
        const file = fileOf(kind);
        const content = readFileSync(file);
        rmSync(file);
        replace(file);
        const read = kind === 'state.ndjson.gz' ? sealOldestEvents(sealing(), 45, never) : logOf(reader());
        const { code, message } = await failureOf(read);
        expect([kind, code]).to.deep.equal([kind, 'LEDGER_DAMAGED']);
        expect(message).to.match(
          / is damaged: it (?:is not a regular file|has 1073741824 bytes, and \d+ is the limit)/,
        );
        rmSync(file, { recursive: true });
        writeFileSync(file, content);
      }
      await sealOldestEvents(sealing(), 45, never);
    });

  it('verification finds a changed file even if the reader has the segment in memory', async () => {
    await logOf(past.ledger);
    for (const kind of kinds) {
      const file = fileOf(kind);
      const content = readFileSync(file);
      writeFileSync(file, Buffer.from(content).fill(0, 0, 1));
      const { findings } = await verifyLedger(past.ledger, { signal: never });
      expect(findings.map(({ what }) => what).join(), kind).to.match(
        new RegExp(`${kind.replaceAll('.', '\\.')} is damaged`),
      );
      writeFileSync(file, content);
    }
    expect((await verifyLedger(past.ledger, { signal: never })).findings).to.deep.equal([]);
  });

  it('a hostile archive loses no event: before events are deleted, they are read from the archive, not from memory', async () => {
    const stop = (step: string): void => {
      if (step === 'sealed') throw new Error('stopped');
    };
    await failureOf(sealOldestEvents({ ...past.sealing, after: stop }, 45, never));
    await past.ledger.lastEndState('end', never);
    await logOf(past.ledger);
    const folder = join(past.folder, past.working.replica.head.ledger);
    for (const name of readdirSync(folder))
      if (name.endsWith('events.ndjson.gz')) writeFileSync(join(folder, name), 'x');
    expect(await failureOf(pruneSealed(past.sealing, never))).to.have.property('code', 'LEDGER_DAMAGED');
    expect(past.memory.get(logKey(45))).to.not.equal(undefined);
  });

  it('a file is not unpacked beyond the limits of a segment', async () => {
    const bomb = await packLines(Array<string>(64).fill('x'.repeat(1 << 20)), never);
    expect(bomb.length).to.be.below(1 << 20);
    let unpacked = 0;
    const unpack = async (limits: Parameters<typeof unpackLines>[1]): Promise<void> => {
      for await (const lines of unpackLines(bomb, limits, never)) unpacked += lines.length;
    };
    expect((await failureOf(unpack({ maxBytes: 8 << 20, maxLineBytes: 2 << 20 }))).message).to.match(
      /more than 8388608 bytes/,
    );
    expect((await failureOf(unpack({ maxBytes: 1 << 30, maxLineBytes: 1 << 16 }))).message).to.match(
      /line of more than 65536/,
    );
    expect(unpacked).to.be.below(16);
  });

  it('a hostile archive makes sealing fail with an alarm, and the writer seals again when the file is restored', async () => {
    const file = fileOf('state.ndjson.gz');
    const content = readFileSync(file);
    rmSync(file);
    execFileSync('mkfifo', [file]);
    const stopping = new AbortController();
    const outcomes: string[] = [];
    const { promise: isFailing, resolve: fail } = Promise.withResolvers<void>();
    const { promise: isSealed, resolve: seal } = Promise.withResolvers<void>();
    const running = runSealSchedule(
      {
        ...sealing(),
        replica: past.working.replica,
        writer: () => past.working.writer,
        schedule: { keepEvents: 10, keepMs: 0, segmentEvents: 20 },
        log: silentLog,
        intervalMs: 1,
        onOutcome: (failure) => {
          outcomes.push(failure ?? 'OK');
          if (failure === undefined) seal();
          else if (outcomes.length > 1) fail();
        },
      },
      stopping.signal,
    );
    await isFailing;
    rmSync(file);
    writeFileSync(file, content);
    outcomes.length = 0;
    await isSealed;
    stopping.abort();
    await running;
    expect(outcomes.at(-1)).to.equal('OK');
    expect(await past.ledger.logStart(never)).to.be.above(21);
  });
});
