import { expect } from 'chai';
import { describe as inWords, differences } from './compare.ts';
import type { Json } from './json.ts';

describe('what is expected against what is seen', () => {
  const agrees: readonly (readonly [title: string, expected: Json, got: Json])[] = [
    ['an object may have more than is expected', { a: 1 }, { a: 1, b: 2 }],
    ['a list is expected whole', [1, { a: 'x' }], [1, { a: 'x', b: 'y' }]],
    ['null is nothing', { routes: null }, {}],
    ['"absent" is nothing', { routes: 'absent' }, { routes: null }],
    ['"*" is any text', { mac: '*' }, { mac: '02:00:00:00:00:01' }],
    ['a regular expression', { mac: { regex: '^02:' } }, { mac: '02:00:00:00:00:01' }],
    ['a number may be text', { count: 254 }, { count: '254' }],
    [
      'an error is part of what was said',
      { error: 'AddressConflict' },
      { error: 'AddressConflict: 10.0.0.1 is in use' },
    ],
    ['an error of several', { errorContains: ['this', 'that'] }, { error: 'it was that' }],
    ['an error by its pattern', { errorMatches: '^it was th[ai]t$' }, { error: 'it was that' }],
    ['any error', { error: true }, { error: 'whatever' }],
    ['no error', { error: null }, {}],
    ['an empty error is none', { v4: '10.0.0.1' }, { v4: '10.0.0.1', error: '' }],
    ['who expects a refusal need not quote it', { denied: true }, { denied: true, error: 'immutable' }],
  ];
  for (const [title, expected, got] of agrees)
    it(title, () => {
      expect(differences(expected, got)).to.deep.equal([]);
    });

  const differs: readonly (readonly [title: string, expected: Json, got: Json, at: string])[] = [
    ['a field that is missing', { a: { b: 1 } }, { a: {} }, 'a.b'],
    ['a field of another value', { a: 'x' }, { a: 'y' }, 'a'],
    ['a list that is longer', { ips: ['a'] }, { ips: ['a', 'b'] }, 'ips'],
    ['an element', { ips: ['a', 'b'] }, { ips: ['a', 'c'] }, 'ips[1]'],
    ['something where there should be nothing', { routes: null }, { routes: [] }, 'routes'],
    ['"*" and nothing', { mac: '*' }, { mac: '' }, 'mac'],
    ['a regular expression that does not match', { mac: { regex: '^02:' } }, { mac: '03:' }, 'mac'],
    ['another number', { count: 254 }, { count: '255' }, 'count'],
    ['an error that nobody expects', { v4: '10.0.0.1' }, { v4: '10.0.0.1', error: 'x' }, 'error'],
    ['an error where success is expected', {}, { error: 'NoAvailableAddress' }, 'error'],
    ['success where an error is expected', { error: 'NoAvailableAddress' }, { v4: '10.0.0.1' }, 'error'],
    ['another error', { errorContains: 'this' }, { error: 'that' }, 'errorContains'],
    ['no refusal', { denied: true }, { denied: false }, 'denied'],
    ['an object that is none', { a: {} }, { a: 'text' }, 'a'],
  ];
  for (const [title, expected, got, at] of differs)
    it(`finds ${title}`, () => {
      expect(differences(expected, got).map((each) => each.at)).to.deep.equal([at]);
    });

  it('says both sides in one line', () => {
    const found = differences({ a: 1, b: [true] }, { a: 2, b: [false] });
    expect(inWords(found)).to.deep.equal({ expected: 'a 1; b[0] true', got: 'a 2; b[0] false' });
  });
});
