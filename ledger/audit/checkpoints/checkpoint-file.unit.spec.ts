import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Head } from '../../log/chain/chain.ts';
import { signCheckpoint } from './checkpoint.ts';
import { readLastCheckpoint } from './checkpoint-file.ts';
import { generateKey, parseSignerKey, type SignerKey } from './signing-key.ts';

const newSigner = (): SignerKey => parseSignerKey(generateKey('example').signer);

describe('readLastCheckpoint', () => {
  const ledger = '01KG9AG8M00000000000000001';
  const [signer, other] = [newSigner(), newSigner()];
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-checkpoint-file-'));
    file = join(folder, 'checkpoints');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const head = (seq: number, of = ledger): Head => ({ ledger: of, epoch: 1, seq, hash: 'ab'.repeat(32), at: 1_000 });
  const keep = (seq: number, by = signer, of = ledger): void =>
    appendFileSync(file, `${signCheckpoint(head(seq, of), by)}\n`);
  /** Returns the result in a short form. */
  function lastCheckpoint(): object {
    const { last, isSigned, faults } = readLastCheckpoint(file, ledger, signer.verifier);
    return { seq: last?.head.seq, isSigned, faults };
  }

  it('readLastCheckpoint returns nothing before the first checkpoint', () => {
    expect(lastCheckpoint()).to.deep.equal({ seq: undefined, isSigned: false, faults: [] });
    writeFileSync(file, '');
    expect(lastCheckpoint()).to.deep.equal({ seq: undefined, isSigned: false, faults: [] });
  });

  it('readLastCheckpoint returns the last checkpoint of the ledger with a signature of the given key', () => {
    for (const seq of [5, 9, 7]) keep(seq);
    keep(20, other);
    keep(30, signer, 'another');
    expect(lastCheckpoint()).to.deep.equal({ seq: 7, isSigned: true, faults: [] });
  });

  it('readLastCheckpoint returns a checkpoint that another key signed, or that was changed, as unsigned', () => {
    keep(20, other);
    keep(30, signer, 'another');
    expect(lastCheckpoint()).to.deep.equal({ seq: 20, isSigned: false, faults: [] });
    writeFileSync(file, signCheckpoint(head(5), signer).replace('\n5\n', '\n6\n'));
    expect(lastCheckpoint()).to.deep.equal({ seq: 6, isSigned: false, faults: [] });
  });

  it('readLastCheckpoint reads only the end of a long file', () => {
    for (let seq = 1; seq <= 400; seq++) keep(seq);
    expect(lastCheckpoint()).to.deep.equal({ seq: 400, isSigned: true, faults: [] });
  });

  it('readLastCheckpoint continues after an incomplete checkpoint, and reports its line', () => {
    keep(1);
    appendFileSync(file, signCheckpoint(head(2), signer).slice(0, 90));
    expect(lastCheckpoint()).to.deep.include({ seq: 1, isSigned: true });
    expect(lastCheckpoint())
      .to.have.nested.property('faults[0]')
      .that.matches(/checkpoints, line 9: this is not a signed note/);
  });

  it('readLastCheckpoint reads a mounted ConfigMap: a folder with a file for each checkpoint, behind symbolic links', () => {
    mkdirSync(join(file, '..data-1'), { recursive: true });
    expect(lastCheckpoint()).to.deep.equal({ seq: undefined, isSigned: false, faults: [] });
    for (const seq of [...Array.from({ length: 300 }, (_, index) => index + 1), 1_000]) {
      const name = String(seq).padStart(16, '0');
      writeFileSync(join(file, '..data-1', name), signCheckpoint(head(seq), signer));
      symlinkSync(join('..data-1', name), join(file, name));
    }
    expect(lastCheckpoint()).to.deep.equal({ seq: 1_000, isSigned: true, faults: [] });
  });

  it('readLastCheckpoint reads only the end of each file in a folder, and skips folders and FIFOs in it', () => {
    mkdirSync(join(file, '0000000000000009'), { recursive: true });
    execFileSync('mkfifo', [join(file, '0000000000000008')]);
    writeFileSync(join(file, '0000000000000007'), `${' '.repeat(1 << 20)}\n${signCheckpoint(head(7), signer)}`);
    expect(lastCheckpoint()).to.deep.include({ seq: 7, isSigned: true });
  });

  it('readLastCheckpoint reports an unreadable file', () => {
    symlinkSync('checkpoints', file);
    expect(lastCheckpoint).to.throw(/^the checkpoint file .*\/checkpoints is not readable: ELOOP/);
  });
});
