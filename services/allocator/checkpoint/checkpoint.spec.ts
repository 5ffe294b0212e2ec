import { expect } from 'chai';
import type { Head } from '../ledger/chain.ts';
import { parseCheckpoint, parseCheckpoints, readCheckpoints, signCheckpoint } from './checkpoint.ts';
import { generateKey, parseSignerKey, parseVerifierKey } from './key.ts';
import { type Note, parseNote, signersOf, signNote } from './note.ts';
import { rotate, rotatedTo } from './rotation.ts';

/** The known answer of the format's first implementation, Go's golang.org/x/mod/sumdb/note. */
const known = {
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  signer: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};

/** The examples of c2sp.org/signed-note and c2sp.org/tlog-checkpoint. */
const examples = {
  poem: {
    text: 'Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n',
    signature:
      '— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n',
    name: 'quasimodo.example/salvatore',
    keyId: '367ba04b',
  },
  checkpoint: {
    text: 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n',
    signature:
      '— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n',
    name: 'example.com/behind-the-sofa',
    keyId: '033de0ae',
  },
};

describe('A signed note', () => {
  it('is, byte for byte, what the format’s own implementation makes', () => {
    expect(signNote(known.text, parseSignerKey(known.signer))).to.equal(`${known.text}\n${known.signature}`);
  });

  it('is believed of the key that signed it', () => {
    const key = parseVerifierKey(known.verifier);
    expect(signersOf(parseNote(`${known.text}\n${known.signature}`), [key])).to.deep.equal([key]);
  });

  for (const [which, { text, signature, name, keyId }] of Object.entries(examples))
    it(`is read as the specification has it: the ${which}`, () => {
      const note = parseNote(`${text}\n${signature}`);
      expect(note.text).to.equal(text);
      expect(note.signatures.map((each) => [each.name, each.keyId, each.bytes.length])).to.deep.equal([
        [name, keyId, 64],
      ]);
    });

  it('of which the text or the signature was changed is refused', () => {
    const key = parseVerifierKey(known.verifier);
    const other = parseNote(`${known.text.replace('you', 'they')}\n${known.signature}`);
    expect(() => signersOf(other, [key])).to.throw(
      /the signature of PeterNeumann \(key c74f20a3\) is not of this text/,
    );
    const wrong = parseNote(`${known.text}\n${known.signature.replace('ZJku', 'ZJkv')}`);
    expect(() => signersOf(wrong, [key])).to.throw(/is not of this text/);
  });

  it('of unknown keys alone is signed by nobody, though a name or an id is known', () => {
    const note = parseNote(`${known.text}\n${known.signature}`);
    const other = parseVerifierKey(generateKey('PeterNeumann').verifier);
    expect(signersOf(note, [other])).to.deep.equal([]);
    expect(signersOf(note, [])).to.deep.equal([]);
  });

  const malformed: Record<string, string> = {
    'has no signature': known.text,
    'has no empty line': known.text + known.signature,
    'has a control character': `${known.text.replace(' ', '\t')}\n${known.signature}`,
    'ends without a newline': `${known.text}\n${known.signature}`.trimEnd(),
    'has a hyphen for the dash': `${known.text}\n${known.signature.replace('—', '-')}`,
    'has a signature that is no base64': `${known.text}\n— PeterNeumann x08g!\n`,
    'has a signature of a key id alone': `${known.text}\n— PeterNeumann x08gow==\n`,
  };
  for (const [what, message] of Object.entries(malformed))
    it(`is none when it ${what}`, () => {
      expect(() => parseNote(message)).to.throw(/^this (is no|note)/);
    });
});

describe('A key of checkpoints', () => {
  it('is written so that it can be read again, and signs for its verifier', () => {
    const { signer, verifier } = generateKey('example.com/ipledger');
    expect(parseSignerKey(`${signer}\n`).verifier.text).to.equal(verifier);
    const note = parseNote(signNote('hello\n', parseSignerKey(signer)));
    expect(signersOf(note, [parseVerifierKey(verifier)]).map(({ name }) => name)).to.deep.equal([
      'example.com/ipledger',
    ]);
  });

  it('that was altered is refused, and a signer is never repeated', () => {
    expect(() => parseVerifierKey(known.verifier.replace('c74f', 'c74e'))).to.throw(
      /^the key id of PeterNeumann is c74f20a3/,
    );
    expect(() => parseVerifierKey('Peter Neumann')).to.throw(/^this is no Ed25519 verifier key/);
    expect(() => parseSignerKey(known.verifier)).to.throw(/^this is no signer key/);
    expect(() => parseSignerKey(known.signer.slice(0, -8))).to.throw(
      /^this is no Ed25519 signer key: it would be <name>/,
    );
    expect(() => generateKey('two words')).to.throw(/without spaces/);
  });
});

describe('A checkpoint', () => {
  const head: Head = {
    ledger: '01KG9AG8M00000000000000001',
    epoch: 2,
    seq: 42,
    hash: '0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62',
    at: Date.parse('2026-01-31T08:00:41.000Z'),
  };
  const signer = parseSignerKey(known.signer);

  it('says which ledger was how long, with which hash, in which epoch and when', () => {
    const text =
      'ipledger/01KG9AG8M00000000000000001\n42\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\nepoch 2\ntime 2026-01-31T08:00:41.000Z\n';
    const { note, head: read } = parseCheckpoint(signCheckpoint(head, signer));
    expect(note.text).to.equal(text);
    expect(read).to.deep.equal(head);
    expect(signersOf(note, [signer.verifier])).to.have.length(1);
  });

  it('stands beside others in a file, with empty lines between them or without', () => {
    const notes = [1, 2, 3].map((seq) => signCheckpoint({ ...head, seq }, signer));
    for (const between of ['', '\n', '\n\n\n'])
      expect(parseCheckpoints(notes.join(between)).map((each) => each.head.seq)).to.deep.equal([1, 2, 3]);
    expect(parseCheckpoints('')).to.deep.equal([]);
  });

  it('is found behind one that was cut off, of which the line is told', () => {
    const notes = [1, 2, 3].map((seq) => signCheckpoint({ ...head, seq }, signer));
    const torn = `${notes[0]}\n${notes[1]?.slice(0, 90)}\n${notes[2]}\n`;
    const { checkpoints, faults } = readCheckpoints(torn);
    expect(checkpoints.map((each) => each.head.seq)).to.deep.equal([1, 3]);
    expect(faults).to.have.length(1);
    expect(() => parseCheckpoints(torn)).to.throw(/^line 9: this is no signed note/);
    expect(() => parseCheckpoints('hello')).to.throw(/^line 1: this is no signed note/);
  });

  it('may come with the lines of another system', () => {
    const [read] = parseCheckpoints(signCheckpoint(head, signer).replaceAll('\n', '\r\n'));
    expect(signersOf(read?.note as Note, [signer.verifier])).to.have.length(1);
  });

  it('of another log is refused', () => {
    const { text, signature } = examples.checkpoint;
    expect(() => parseCheckpoint(`${text}\n${signature}`)).to.throw(/^this note is no checkpoint of ipledger/);
  });
});

describe('A rotation of keys', () => {
  const ledger = '01KG9AG8M00000000000000001';
  const old = parseSignerKey(known.signer);
  const next = parseVerifierKey(generateKey('next').verifier);

  it('is believed when the old key signed the new one for this ledger', () => {
    const data = rotate(ledger, old, next);
    expect(data).to.include({ publicKey: next.text, keyId: next.id, previousKeyId: 'c74f20a3' });
    expect(rotatedTo(ledger, old.verifier, data)?.text).to.equal(next.text);
  });

  it('is not for another ledger, of another key, or to another than was signed', () => {
    const data = rotate(ledger, old, next);
    const other = parseVerifierKey(generateKey('other').verifier);
    expect(rotatedTo('another', old.verifier, data)).to.equal(undefined);
    expect(rotatedTo(ledger, other, data)).to.equal(undefined);
    expect(rotatedTo(ledger, old.verifier, { ...data, publicKey: other.text })).to.equal(undefined);
    expect(rotatedTo(ledger, old.verifier, { ...data, keyId: other.id })).to.equal(undefined);
    const { signature: _, ...unsigned } = data;
    expect(rotatedTo(ledger, old.verifier, unsigned as typeof data)).to.equal(undefined);
  });
});
