import { expect } from 'chai';
import { endedPerChunk, endedPodId, maxEndedChunks } from '../../domain/state/ended-pods.ts';
import { endedText, maxEndedBytes, parseEnded } from './ended-keys.ts';
import { endedKey } from './keys.ts';

const podsOf = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, at) => endedPodId('default', 'web-0', String(first + at)));
const keyOf = (index: number, count = endedPerChunk) => ({ key: endedKey(index), text: endedText(podsOf(count)) });

describe('parseEnded', () => {
  it('parseEnded reads the chunks that were written; the last chunk may have fewer Pods', () => {
    expect(parseEnded([])).to.deep.equal([]);
    expect(parseEnded([keyOf(0), keyOf(1, 3)])).to.deep.equal([
      { index: 0, pods: podsOf(endedPerChunk) },
      { index: 1, pods: podsOf(3) },
    ]);
    expect(parseEnded([keyOf(0, 1)])).to.deep.equal([{ index: 0, pods: podsOf(1) }]);
    const last = Array.from({ length: maxEndedChunks }, (_, at) => keyOf(at + 7));
    expect(parseEnded(last)[0]?.index).to.equal(7);
    for (const { key, text } of [keyOf(0)]) expect(key.length + text.length).to.equal(maxEndedBytes);
  });

  const damaged: Record<string, [keys: Parameters<typeof parseEnded>[0], message: string]> = {
    'a missing first key': [[keyOf(1)], `${endedKey(0)} is missing`],
    'a missing key': [[keyOf(0), keyOf(2)], `${endedKey(1)} is missing`],
    'an incomplete chunk before the last': [[keyOf(0, 3), keyOf(1)], `${endedKey(0)} has too few Pods`],
    'a chunk without Pods': [[keyOf(0, 0)], `${endedKey(0)} is not a list of 1 to 64 Pods`],
    'too many Pods': [[keyOf(0, 65)], 'is not a list'],
    'another number': [[{ ...keyOf(0), key: `${endedKey(0)}0` }], 'is not a list'],
    'another id': [[{ key: endedKey(0), text: '{"pods":["web-0"]}' }], 'is not a list'],
    'another id beside ids': [[{ key: endedKey(0), text: endedText([...podsOf(1), 'web-0']) }], 'is not a list'],
    'a value that is no list': [[{ key: endedKey(0), text: '{"pods":{"length":1}}' }], 'is not a list'],
    'a value that is not JSON': [[{ key: endedKey(0), text: 'x' }], 'is not a list'],
  };
  for (const [what, [keys, message]] of Object.entries(damaged))
    it(`parseEnded rejects ${what}, and names the key`, () => {
      expect(() => parseEnded(keys))
        .to.throw(message)
        .with.property('code', 'LEDGER_DAMAGED');
    });
});
