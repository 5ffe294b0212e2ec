import { expect } from 'chai';
import type { Archive } from '../../archive/archive.ts';
import { failureOf, never } from '../../log/testing/running-writer.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { signCheckpoint } from '../checkpoints/checkpoint.ts';
import { generateKey, parseSignerKey } from '../checkpoints/signing-key.ts';
import { readMark, saveMark } from './verification-mark.ts';

const head = { ledger: '01KG9AG8M00000000000000001', epoch: 2, seq: 42, hash: 'ab'.repeat(32), at: 1_769_846_496_036 };
const signer = parseSignerKey(generateKey('allocator.example').signer);
const other = parseSignerKey(generateKey('allocator.example').signer);

describe('The mark of a verification', () => {
  const files = new Map<string, Buffer>();
  const archive: Archive = {
    location: 'memory',
    put: async (name, content) => void files.set(name, content),
    get: async (name) => files.get(name),
  };
  beforeEach(() => files.clear());
  const read = (ledger = head.ledger) => readMark(archive, ledger, signer.verifier, never);
  const [name, text] = [`${head.ledger}/verified.note`, signCheckpoint(head, signer, 'ipledger-verified')];

  it('readMark returns the saved mark, which the next mark replaces', async () => {
    expect(await read()).to.equal(undefined);
    await saveMark(archive, head, signer, never);
    expect(await read()).to.deep.equal(head);
    await saveMark(archive, { ...head, seq: 43 }, signer, never);
    expect(await read()).to.include({ seq: 43 });
  });

  for (const [what, content] of [
    ['of another key', signCheckpoint(head, other, 'ipledger-verified')],
    ['with another event', text.replace('\n42\n', '\n41\n')],
    ['that is a checkpoint, which states no verification', signCheckpoint(head, signer)],
    [
      'of another ledger',
      signCheckpoint({ ...head, ledger: '01KG9AG8M00000000000000002' }, signer, 'ipledger-verified'),
    ],
    ['that is not a note', 'verified'],
  ] as const)
    it(`readMark ignores a file ${what}`, async () => {
      files.set(name, Buffer.from(content));
      expect(await read()).to.equal(undefined);
    });

  it('readMark returns nothing for a damaged file, and throws during an outage', async () => {
    for (const code of ['LEDGER_DAMAGED', 'UNAVAILABLE'] as const) {
      const failing: Archive = { ...archive, get: () => Promise.reject(new IpledgerError(code, 'no')) };
      const mark = readMark(failing, head.ledger, signer.verifier, never);
      if (code === 'LEDGER_DAMAGED') expect(await mark).to.equal(undefined);
      else expect(await failureOf(mark)).to.have.property('code', code);
    }
  });
});
