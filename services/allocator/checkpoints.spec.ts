import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseCheckpoint, signCheckpoint } from './checkpoint/checkpoint.ts';
import { generateKey, parseSignerKey, type SignerKey } from './checkpoint/key.ts';
import { Checkpoints } from './checkpoints.ts';
import { allocate } from './domain/specification.ts';
import { frozenKey, floorKey, floorText, headKey, headText, logKey } from './ledger/keys.ts';
import { MemoryLedger } from './ledger/memory.ts';
import { Replica } from './ledger/replica.ts';
import {
  carryOut,
  createLedger,
  logOf,
  macvlan,
  never,
  silent,
  startWriter,
  typesOf,
  type Working,
} from './ledger/specification.ts';

describe('The checkpoints of an allocator', () => {
  let folder: string;
  let keyFile: string;
  let memory: MemoryLedger;
  let writing: Working;
  let stopping: AbortController;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-checkpoints-'));
    keyFile = join(folder, 'key');
    memory = new MemoryLedger();
    writing = await startWriter(memory);
    stopping = new AbortController();
    await carryOut(writing.writer, createLedger(), macvlan, allocate('a'));
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

  interface Kept {
    readonly checkpoints: Checkpoints;
    /** Resolves with the next that is printed. */
    printed(): Promise<string>;
  }

  function keep(replica: Replica, writer: Working['writer'] | undefined, file = ''): Kept {
    let print: (note: string) => void = () => undefined;
    const settings = { checkpointKey: keyFile, checkpointFile: file, checkpointEvery: 0.001 };
    const options = { replica, writer: () => writer, log: silent, print: (note: string) => print(note) };
    const checkpoints = Checkpoints.by(settings, options) as Checkpoints;
    return { checkpoints, printed: () => new Promise((resolve) => (print = resolve)) };
  }

  it('are signed by every replica with the key that the log says, once one of them replaced it', async () => {
    putKey();
    const standby = await Replica.load(memory, never);
    const [here, there] = [keep(writing.replica, writing.writer), keep(standby, undefined)];
    const next = putKey();
    const printed = here.printed();
    void here.checkpoints.run(stopping.signal);
    const { note } = parseCheckpoint((await printed).replace(/\n$/, ''));
    expect(note.signatures[0]?.keyId).to.equal(next.verifier.id);
    await standby.catchUp(never);
    expect(there.checkpoints.signer?.verifier.text).to.equal(next.verifier.text);
    expect(typesOf(await logOf(memory)).filter((type) => type === 'KeyRotated')).to.have.length(1);
  });

  it('are signed by no replica that has not the key that the log says', async () => {
    putKey();
    const standby = await Replica.load(memory, never);
    const here = keep(writing.replica, writing.writer);
    const there = keep(standby, undefined);
    putKey();
    const printed = here.printed();
    void here.checkpoints.run(stopping.signal);
    await printed;
    stopping.abort();
    writeFileSync(keyFile, generateKey('third').signer);
    await standby.catchUp(never);
    expect(there.checkpoints.signer).to.equal(undefined);
  });

  it('are not promised a file without a key to sign them with', () => {
    const settings = { checkpointKey: '', checkpointFile: join(folder, 'kept'), checkpointEvery: 1 };
    const options = { replica: writing.replica, writer: () => undefined, log: silent };
    expect(() => Checkpoints.by(settings, options)).to.throw(/--checkpoint-file.*--checkpoint-key/);
    expect(Checkpoints.by({ ...settings, checkpointFile: '' }, options)).to.equal(undefined);
  });

  it('are printed, also where their file cannot be written', async () => {
    putKey();
    const { checkpoints, printed } = keep(writing.replica, writing.writer, join(folder, 'no', 'folder'));
    const next = printed();
    void checkpoints.run(stopping.signal);
    expect(await next).to.match(/^ipledger\//);
  });

  it('are written to their file once that can be, though nothing happened meanwhile', async () => {
    putKey();
    const file = join(folder, 'later', 'checkpoints');
    const { checkpoints, printed } = keep(writing.replica, writing.writer, file);
    const first = printed();
    void checkpoints.run(stopping.signal);
    const note = await first;
    mkdirSync(join(folder, 'later'));
    const second = printed();
    expect(await second).to.equal(note);
    expect(readFileSync(file, 'utf8')).to.equal(note);
  });

  describe('hold the ledger to them', () => {
    let file: string;
    let signer: SignerKey;
    beforeEach(() => {
      file = join(folder, 'kept');
      signer = putKey();
    });

    const kept = (by = signer): void => writeFileSync(file, signCheckpoint(writing.replica.head, by));
    /** Starts anew, and gives why the ledger is frozen by then. */
    async function frozenBy(): Promise<string | undefined> {
      const replica = await Replica.load(memory, never);
      await keep(replica, undefined, file).checkpoints.holdLedger(memory, 'ipledger://allocator/a', never);
      return (await memory.frozen(never))?.by;
    }
    /** As if etcd held only what was there before. */
    async function rewound(): Promise<void> {
      const before = writing.replica.head;
      await carryOut(writing.writer, allocate('b'));
      kept();
      memory.remove(logKey(before.seq + 1));
      memory.put(headKey, headText(before));
    }

    it('and freeze one that was rewound', async () => {
      await rewound();
      expect(await frozenBy()).to.equal('ipledger://allocator/a');
      expect(memory.get(frozenKey)).to.contain('"seq":4');
    });

    it('and leave one that goes on from there, or is behind what was kept of another', async () => {
      expect(await frozenBy(), 'nothing was kept').to.equal(undefined);
      kept();
      expect(await frozenBy()).to.equal(undefined);
      await carryOut(writing.writer, allocate('b'));
      expect(await frozenBy()).to.equal(undefined);
      writeFileSync(file, signCheckpoint({ ...writing.replica.head, ledger: 'another', seq: 99 }, signer));
      expect(await frozenBy()).to.equal(undefined);
    });

    it('and believe nobody else’s', async () => {
      await rewound();
      kept(parseSignerKey(generateKey('other').signer));
      expect(await frozenBy()).to.equal(undefined);
    });

    it('and leave one in which what they attest is sealed', async () => {
      kept();
      await carryOut(writing.writer, allocate('b'), allocate('c'));
      for (const seq of [1, 2, 3, 4]) memory.remove(logKey(seq));
      memory.put(floorKey, floorText(5));
      expect(await frozenBy()).to.equal(undefined);
    });

    it('and say so, but go on, where they cannot be read', async () => {
      await rewound();
      writeFileSync(file, 'something else');
      expect(await frozenBy()).to.equal(undefined);
      rmSync(file);
      file = folder;
      expect(await frozenBy()).to.equal(undefined);
    });
  });
});
