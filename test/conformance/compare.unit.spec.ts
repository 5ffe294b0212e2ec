import { expect } from 'chai';
import { describeDifferences, findDifferences } from './compare.ts';
import type { Json } from '../harness/json.ts';

describe('Comparison', () => {
  const matches: readonly (readonly [title: string, expected: Json, got: Json])[] = [
    ['an object with more fields than expected', { a: 1 }, { a: 1, b: 2 }],
    ['an equal list, whose objects have more fields', [1, { a: 'x' }], [1, { a: 'x', b: 'y' }]],
    ['an absent field for null', { routes: null }, {}],
    ['null for "absent"', { routes: 'absent' }, { routes: null }],
    ['any text for "*"', { mac: '*' }, { mac: '02:00:00:00:00:01' }],
    ['a text that matches a regular expression', { mac: { regex: '^02:' } }, { mac: '02:00:00:00:00:01' }],
    ['a number as text', { count: 254 }, { count: '254' }],
    [
      'an error that contains the expected text',
      { error: 'AddressConflict' },
      { error: 'AddressConflict: 10.0.0.1 is in use' },
    ],
    ['one of several errors', { errorContains: ['this', 'that'] }, { error: 'it was that' }],
    ['an error that matches a pattern', { errorMatches: '^it was th[ai]t$' }, { error: 'it was that' }],
    ['any error for true', { error: true }, { error: 'any' }],
    ['no error for null', { error: null }, {}],
    ['an empty error where none is expected', { v4: '10.0.0.1' }, { v4: '10.0.0.1', error: '' }],
    ['an error where a denial is expected', { denied: true }, { denied: true, error: 'immutable' }],
  ];
  for (const [title, expected, got] of matches)
    it(`Comparison accepts ${title}`, () => {
      expect(findDifferences(expected, got)).to.deep.equal([]);
    });

  const mismatches: readonly (readonly [title: string, expected: Json, got: Json, at: string])[] = [
    ['a field that is missing', { a: { b: 1 } }, { a: {} }, 'a.b'],
    ['a field of another value', { a: 'x' }, { a: 'y' }, 'a'],
    ['a longer list', { ips: ['a'] }, { ips: ['a', 'b'] }, 'ips'],
    ['another element', { ips: ['a', 'b'] }, { ips: ['a', 'c'] }, 'ips[1]'],
    ['a value for null', { routes: null }, { routes: [] }, 'routes'],
    ['an empty text for "*"', { mac: '*' }, { mac: '' }, 'mac'],
    ['a regular expression that does not match', { mac: { regex: '^02:' } }, { mac: '03:' }, 'mac'],
    ['another number', { count: 254 }, { count: '255' }, 'count'],
    ['an unexpected error', { v4: '10.0.0.1' }, { v4: '10.0.0.1', error: 'x' }, 'error'],
    ['an error where success is expected', {}, { error: 'NoAvailableAddress' }, 'error'],
    ['success where an error is expected', { error: 'NoAvailableAddress' }, { v4: '10.0.0.1' }, 'error'],
    ['another error', { errorContains: 'this' }, { error: 'that' }, 'errorContains'],
    ['no denial', { denied: true }, { denied: false }, 'denied'],
    ['a text for an object', { a: {} }, { a: 'text' }, 'a'],
  ];
  for (const [title, expected, got, at] of mismatches)
    it(`Comparison finds ${title}`, () => {
      expect(findDifferences(expected, got).map((each) => each.path)).to.deep.equal([at]);
    });

  it('Comparison describes both sides in one line', () => {
    const found = findDifferences({ a: 1, b: [true] }, { a: 2, b: [false] });
    expect(describeDifferences(found)).to.deep.equal({ expected: 'a 1; b[0] true', got: 'a 2; b[0] false' });
  });
});
