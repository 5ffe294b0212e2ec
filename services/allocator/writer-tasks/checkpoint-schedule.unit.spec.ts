import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { parseCheckpoint, signCheckpoint } from '../../../ledger/audit/checkpoints/checkpoint.ts';
import { generateKey, parseSignerKey, type SignerKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { CheckpointSchedule } from './checkpoint-schedule.ts';
import { allocate } from '../../../ledger/domain/testing/event-fixtures.ts';
import { freezeKey, logStartKey, headKey, logKey } from '../../../ledger/log/store/keys.ts';
import { logStartText, headText } from '../../../ledger/log/store/stored-values.ts';
import { MemoryLedger } from '../../../ledger/log/testing/memory-ledger.ts';
import { Replica } from '../../../ledger/log/reader/replica.ts';
import {
  submitAll,
  createLedger,
  logOf,
  macvlan,
  never,
  silentLog,
  startWriter,
  typesOf,
  type RunningWriter,
} from '../../../ledger/log/testing/running-writer.ts';

/** A log line. */
interface Line {
  readonly msg: string;
}

describe('The checkpoint schedule', () => {
  let folder: string;
  let keyFile: string;
  let memory: MemoryLedger;
  let writing: RunningWriter;
  let stopping: AbortController;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-checkpoints-'));
    keyFile = join(folder, 'key');
    memory = new MemoryLedger();
    writing = await startWriter(memory);
    stopping = new AbortController();
    await submitAll(writing.writer, createLedger(), macvlan, allocate('a'));
  });
  afterEach(async () => {
    stopping.abort();
    await writing.stop();
    rmSync(folder, { recursive: true });
  });

  function putKey(): SignerKey {
    const { signer } = generateKey('example');
    writeFileSync(`${keyFile}.new`, signer);
    renameSync(`${keyFile}.new`, keyFile);
    return parseSignerKey(signer);
  }

  interface RunningSchedule {
    readonly checkpoints: CheckpointSchedule;
    /** Resolves with the next printed checkpoint. */
    printed(): Promise<string>;
  }

  function createSchedule(
    replica: Replica,
    writer: RunningWriter['writer'] | undefined,
    file = '',
    log = silentLog,
  ): RunningSchedule {
    let print: (note: string) => void = () => undefined;
    const settings = { checkpointKey: keyFile, checkpointFile: file, checkpointEvery: 0.001 };
    const options = { replica, writer: () => writer, log, print: (note: string) => print(note) };
    const checkpoints = CheckpointSchedule.create(settings, options) as CheckpointSchedule;
    return { checkpoints, printed: () => new Promise((resolve) => (print = resolve)) };
  }

  it('The checkpoint schedule signs with the key of the log on every replica, after one replica has rotated it', async () => {
    putKey();
    const standby = await Replica.load(memory, never);
    const [here, there] = [createSchedule(writing.replica, writing.writer), createSchedule(standby, undefined)];
    const next = putKey();
    const printed = here.printed();
    void here.checkpoints.run(stopping.signal);
    const { note } = parseCheckpoint((await printed).replace(/\n$/, ''));
    expect(note.signatures[0]?.keyId).to.equal(next.verifier.id);
    await standby.catchUp(never);
    expect(there.checkpoints.signer?.verifier.text).to.equal(next.verifier.text);
    expect(typesOf(await logOf(memory)).filter((type) => type === 'KeyRotated')).to.have.length(1);
  });

  it('The checkpoint schedule signs nothing on a replica without the key of the log', async () => {
    putKey();
    const standby = await Replica.load(memory, never);
    const here = createSchedule(writing.replica, writing.writer);
    const there = createSchedule(standby, undefined);
    putKey();
    const printed = here.printed();
    void here.checkpoints.run(stopping.signal);
    await printed;
    stopping.abort();
    writeFileSync(keyFile, generateKey('third').signer);
    await standby.catchUp(never);
    expect(there.checkpoints.signer).to.equal(undefined);
  });

  it('The checkpoint schedule rejects a checkpoint file without a key', () => {
    const settings = { checkpointKey: '', checkpointFile: join(folder, 'kept'), checkpointEvery: 1 };
    const options = { replica: writing.replica, writer: () => undefined, log: silentLog };
    expect(() => CheckpointSchedule.create(settings, options)).to.throw(/--checkpoint-file.*--checkpoint-key/);
    expect(CheckpointSchedule.create({ ...settings, checkpointFile: '' }, options)).to.equal(undefined);
  });

  it('The checkpoint schedule prints a checkpoint even if its file cannot be written', async () => {
    putKey();
    const { checkpoints, printed } = createSchedule(writing.replica, writing.writer, join(folder, 'no', 'folder'));
    const next = printed();
    void checkpoints.run(stopping.signal);
    expect(await next).to.match(/^ipledger\//);
  });

  it('The checkpoint schedule writes a checkpoint to its file as soon as the file can be written, without new events', async () => {
    putKey();
    const file = join(folder, 'later', 'checkpoints');
    const { checkpoints, printed } = createSchedule(writing.replica, writing.writer, file);
    const first = printed();
    void checkpoints.run(stopping.signal);
    const note = await first;
    mkdirSync(join(folder, 'later'));
    const second = printed();
    expect(await second).to.equal(note);
    expect(readFileSync(file, 'utf8')).to.equal(note);
  });

  describe('at the start', () => {
    let file: string;
    let signer: SignerKey;
    beforeEach(() => {
      file = join(folder, 'kept');
      signer = putKey();
    });

    const writeCheckpoint = (by = signer): void => writeFileSync(file, signCheckpoint(writing.replica.head, by));
    /** Runs the check of a new replica. Returns the reporter of the freeze. */
    async function checkAndReadFreeze(): Promise<string | undefined> {
      const replica = await Replica.load(memory, never);
      await createSchedule(replica, undefined, file).checkpoints.checkRollback(memory, 'ipledger://allocator/a', never);
      return (await memory.readFreeze(never))?.by;
    }
    /** Removes the newest event, as a restore of etcd does. */
    async function rewind(): Promise<void> {
      const before = writing.replica.head;
      await submitAll(writing.writer, allocate('b'));
      writeCheckpoint();
      memory.remove(logKey(before.seq + 1));
      memory.put(headKey, headText(before));
    }

    it('The check at the start freezes a rewound ledger', async () => {
      await rewind();
      expect(await checkAndReadFreeze()).to.equal('ipledger://allocator/a');
      expect(memory.get(freezeKey)).to.contain('"seq":4');
    });

    it('At the start, the checkpoint schedule accepts a ledger that continues from the checkpoint, and a checkpoint of another ledger', async () => {
      expect(await checkAndReadFreeze(), 'without a checkpoint').to.equal(undefined);
      writeCheckpoint();
      expect(await checkAndReadFreeze()).to.equal(undefined);
      await submitAll(writing.writer, allocate('b'));
      expect(await checkAndReadFreeze()).to.equal(undefined);
      writeFileSync(file, signCheckpoint({ ...writing.replica.head, ledger: 'another', seq: 99 }, signer));
      expect(await checkAndReadFreeze()).to.equal(undefined);
    });

    it('At the start, the checkpoint schedule warns that nothing was compared if the file is missing or empty although the ledger is not new', async () => {
      const warnings: unknown[] = [];
      const log = pino({ level: 'warn' }, { write: (line) => void warnings.push((JSON.parse(line) as Line).msg) });
      const start = async (ledger: MemoryLedger): Promise<void> => {
        const replica = await Replica.load(ledger, never);
        await createSchedule(replica, undefined, file, log).checkpoints.checkRollback(ledger, 'by', never);
      };
      await start(new MemoryLedger());
      writeCheckpoint();
      await start(memory);
      expect(warnings).to.deep.equal([]);
      writeFileSync(file, '');
      await start(memory);
      rmSync(file);
      await start(memory);
      expect(warnings).to.have.length(2);
      for (const message of warnings) expect(message).to.match(/^the checkpoint file has no checkpoint/);
    });

    it('the check ignores a checkpoint that another key has signed', async () => {
      await rewind();
      writeCheckpoint(parseSignerKey(generateKey('other').signer));
      expect(await checkAndReadFreeze()).to.equal(undefined);
    });

    it('At the start, the checkpoint schedule accepts a ledger in which the events of the checkpoint are sealed', async () => {
      writeCheckpoint();
      await submitAll(writing.writer, allocate('b'), allocate('c'));
      for (const seq of [1, 2, 3, 4]) memory.remove(logKey(seq));
      memory.put(logStartKey, logStartText(5));
      expect(await checkAndReadFreeze()).to.equal(undefined);
    });

    it('The check at the start accepts an unreadable checkpoint file', async () => {
      await rewind();
      writeFileSync(file, 'no checkpoint');
      expect(await checkAndReadFreeze()).to.equal(undefined);
      rmSync(file);
      file = folder;
      expect(await checkAndReadFreeze()).to.equal(undefined);
    });
  });
});
