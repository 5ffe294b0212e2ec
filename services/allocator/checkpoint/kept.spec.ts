import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Head } from '../ledger/chain.ts';
import { signCheckpoint } from './checkpoint.ts';
import { readKept } from './kept.ts';
import { generateKey, parseSignerKey, type SignerKey } from './key.ts';

const newSigner = (): SignerKey => parseSignerKey(generateKey('example').signer);

describe('The checkpoints that an allocator kept', () => {
  const ledger = '01KG9AG8M00000000000000001';
  const [signer, other] = [newSigner(), newSigner()];
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-kept-'));
    file = join(folder, 'checkpoints');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const head = (seq: number, of = ledger): Head => ({ ledger: of, epoch: 1, seq, hash: 'ab'.repeat(32), at: 1_000 });
  const keep = (seq: number, by = signer, of = ledger): void =>
    appendFileSync(file, `${signCheckpoint(head(seq, of), by)}\n`);
  /** What is found, in short. */
  function kept(): object {
    const { last, isSigned, faults } = readKept(file, ledger, signer.verifier);
    return { seq: last?.head.seq, isSigned, faults };
  }

  it('are none before the first', () => {
    expect(kept()).to.deep.equal({ seq: undefined, isSigned: false, faults: [] });
    writeFileSync(file, '');
    expect(kept()).to.deep.equal({ seq: undefined, isSigned: false, faults: [] });
  });

  it('are remembered by the last of the ledger that its own key signed', () => {
    for (const seq of [5, 9, 7]) keep(seq);
    keep(20, other);
    keep(30, signer, 'another');
    expect(kept()).to.deep.equal({ seq: 7, isSigned: true, faults: [] });
  });

  it('prove nothing where somebody else signed them, or they were altered', () => {
    keep(20, other);
    keep(30, signer, 'another');
    expect(kept()).to.deep.equal({ seq: 20, isSigned: false, faults: [] });
    writeFileSync(file, signCheckpoint(head(5), signer).replace('\n5\n', '\n6\n'));
    expect(kept()).to.deep.equal({ seq: 6, isSigned: false, faults: [] });
  });

  it('are read from the end of a file that is long', () => {
    for (let seq = 1; seq <= 400; seq++) keep(seq);
    expect(kept()).to.deep.equal({ seq: 400, isSigned: true, faults: [] });
  });

  it('go on behind one that was cut off, of which is said where it is', () => {
    keep(1);
    appendFileSync(file, signCheckpoint(head(2), signer).slice(0, 90));
    expect(kept()).to.deep.include({ seq: 1, isSigned: true });
    expect(kept())
      .to.have.nested.property('faults[0]')
      .that.matches(/checkpoints, line 9: this is no signed note/);
  });

  it('are missed where their file cannot be read: that is said, and which', () => {
    mkdirSync(file);
    expect(kept).to.throw(/^the checkpoints in .*\/checkpoints can't be read: EISDIR/);
  });
});
