import { expect } from 'chai';
import type { Head } from '../../log/chain/chain.ts';
import { parseCheckpoint, parseCheckpoints, parseReadableCheckpoints, signCheckpoint } from './checkpoint.ts';
import { generateKey, parseSignerKey, parseVerifierKey } from './signing-key.ts';
import { type Note, parseNote, verifiedSigners, signNote } from './signed-note.ts';
import { signRotation, verifyRotation } from './key-rotation.ts';

/** A known result of Go's golang.org/x/mod/sumdb/note, the first implementation of the format. */
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
  it('a signed note equals the output of the reference implementation, byte for byte', () => {
    expect(signNote(known.text, parseSignerKey(known.signer))).to.equal(`${known.text}\n${known.signature}`);
  });

  it('A signed note is verified by the key that signed it', () => {
    const key = parseVerifierKey(known.verifier);
    expect(verifiedSigners(parseNote(`${known.text}\n${known.signature}`), [key])).to.deep.equal([key]);
  });

  for (const [which, { text, signature, name, keyId }] of Object.entries(examples))
    it(`A signed note is parsed as the specification requires: the ${which}`, () => {
      const note = parseNote(`${text}\n${signature}`);
      expect(note.text).to.equal(text);
      expect(note.signatures.map((each) => [each.name, each.keyId, each.bytes.length])).to.deep.equal([
        [name, keyId, 64],
      ]);
    });

  it('A signed note is rejected when its text or signature was changed', () => {
    const key = parseVerifierKey(known.verifier);
    const other = parseNote(`${known.text.replace('you', 'they')}\n${known.signature}`);
    expect(() => verifiedSigners(other, [key])).to.throw(
      /the signature of PeterNeumann \(key c74f20a3\) does not match this text/,
    );
    const wrong = parseNote(`${known.text}\n${known.signature.replace('ZJku', 'ZJkv')}`);
    expect(() => verifiedSigners(wrong, [key])).to.throw(/does not match this text/);
  });

  it('verifiedSigners returns no signer for unknown keys, even if a name or an id matches', () => {
    const note = parseNote(`${known.text}\n${known.signature}`);
    const other = parseVerifierKey(generateKey('PeterNeumann').verifier);
    expect(verifiedSigners(note, [other])).to.deep.equal([]);
    expect(verifiedSigners(note, [])).to.deep.equal([]);
  });

  const malformed: Record<string, string> = {
    'has no signature': known.text,
    'has no empty line': known.text + known.signature,
    'has a control character': `${known.text.replace(' ', '\t')}\n${known.signature}`,
    'ends without a newline': `${known.text}\n${known.signature}`.trimEnd(),
    'has a hyphen for the dash': `${known.text}\n${known.signature.replace('—', '-')}`,
    'has a signature that is not base64': `${known.text}\n— PeterNeumann x08g!\n`,
    'has a signature of a key id alone': `${known.text}\n— PeterNeumann x08gow==\n`,
  };
  for (const [what, message] of Object.entries(malformed))
    it(`A signed note is rejected when it ${what}`, () => {
      expect(() => parseNote(message)).to.throw(/^this (is no|note)/);
    });
});

describe('A checkpoint key', () => {
  it('A checkpoint key is parsed from its text, and its signatures match its verifier key', () => {
    const { signer, verifier } = generateKey('example.com/ipledger');
    expect(parseSignerKey(`${signer}\n`).verifier.text).to.equal(verifier);
    const note = parseNote(signNote('hello\n', parseSignerKey(signer)));
    expect(verifiedSigners(note, [parseVerifierKey(verifier)]).map(({ name }) => name)).to.deep.equal([
      'example.com/ipledger',
    ]);
  });

  it('a changed key is rejected, and the error never contains a signer key', () => {
    expect(() => parseVerifierKey(known.verifier.replace('c74f', 'c74e'))).to.throw(
      /^the key PeterNeumann was changed: its key id is c74f20a3, not c74e20a3/,
    );
    expect(() => parseVerifierKey('Peter Neumann')).to.throw(/^this is not an Ed25519 verifier key/);
    expect(() => parseSignerKey(known.verifier)).to.throw(/^this is not a signer key/);
    expect(() => parseSignerKey(known.signer.slice(0, -8))).to.throw(
      /^this is not an Ed25519 signer key: expected <name>/,
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

  it('a checkpoint has ledger, number of events, hash, epoch and time', () => {
    const text =
      'ipledger/01KG9AG8M00000000000000001\n42\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\nepoch 2\ntime 2026-01-31T08:00:41.000Z\n';
    const { note, head: read } = parseCheckpoint(signCheckpoint(head, signer));
    expect(note.text).to.equal(text);
    expect(read).to.deep.equal(head);
    expect(verifiedSigners(note, [signer.verifier])).to.have.length(1);
  });

  it('checkpoints are parsed from a file of several, with or without empty lines between them', () => {
    const notes = [1, 2, 3].map((seq) => signCheckpoint({ ...head, seq }, signer));
    for (const between of ['', '\n', '\n\n\n'])
      expect(parseCheckpoints(notes.join(between)).map((each) => each.head.seq)).to.deep.equal([1, 2, 3]);
    expect(parseCheckpoints('')).to.deep.equal([]);
  });

  it('a checkpoint is parsed after an incomplete one, whose line is reported', () => {
    const notes = [1, 2, 3].map((seq) => signCheckpoint({ ...head, seq }, signer));
    const torn = `${notes[0]}\n${notes[1]?.slice(0, 90)}\n${notes[2]}\n`;
    const { checkpoints, faults } = parseReadableCheckpoints(torn);
    expect(checkpoints.map((each) => each.head.seq)).to.deep.equal([1, 3]);
    expect(faults).to.have.length(1);
    expect(() => parseCheckpoints(torn)).to.throw(/^line 9: this is not a signed note/);
    expect(() => parseCheckpoints('hello')).to.throw(/^line 1: this is not a signed note/);
  });

  it('A checkpoint is parsed from a file with the line ends of another system', () => {
    const [read] = parseCheckpoints(signCheckpoint(head, signer).replaceAll('\n', '\r\n'));
    expect(verifiedSigners(read?.note as Note, [signer.verifier])).to.have.length(1);
  });

  it('A checkpoint is rejected when it belongs to another log', () => {
    const { text, signature } = examples.checkpoint;
    expect(() => parseCheckpoint(`${text}\n${signature}`)).to.throw(/^this note is not a checkpoint of ipledger/);
  });
});

describe('A key rotation', () => {
  const ledger = '01KG9AG8M00000000000000001';
  const old = parseSignerKey(known.signer);
  const next = parseVerifierKey(generateKey('next').verifier);

  it('A key rotation is verified when the old key signed the new key for this ledger', () => {
    const data = signRotation(ledger, old, next);
    expect(data).to.include({ publicKey: next.text, keyId: next.id, previousKeyId: 'c74f20a3' });
    expect(verifyRotation(ledger, old.verifier, data)?.text).to.equal(next.text);
  });

  it('A key rotation is rejected for another ledger, from another key, or to another key', () => {
    const data = signRotation(ledger, old, next);
    const other = parseVerifierKey(generateKey('other').verifier);
    expect(verifyRotation('another', old.verifier, data)).to.equal(undefined);
    expect(verifyRotation(ledger, other, data)).to.equal(undefined);
    expect(verifyRotation(ledger, old.verifier, { ...data, publicKey: other.text })).to.equal(undefined);
    expect(verifyRotation(ledger, old.verifier, { ...data, keyId: other.id })).to.equal(undefined);
    const { signature: _, ...unsigned } = data;
    expect(verifyRotation(ledger, old.verifier, unsigned as typeof data)).to.equal(undefined);
  });
});
