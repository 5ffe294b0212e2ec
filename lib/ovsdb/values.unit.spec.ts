/**
 * Tests the forms of values that a server sends, and the values that a server would not accept or
 * survive.
 */
import { expect } from 'chai';
import { OvsdbError } from './ovsdb-error.ts';
import type { ColumnType } from './schema.ts';
import {
  applyDifference,
  areEqual,
  decodeValue,
  defaultValue,
  encodeValue,
  type NewValue,
  zeroUuid,
} from './values.ts';

const uuid = '01234567-89ab-cdef-0123-456789abcdef';
const text: ColumnType = { key: 'string', min: 1, max: 1 };
const optional: ColumnType = { key: 'string', min: 0, max: 1 };
const texts: ColumnType = { key: 'string', min: 0, max: Infinity };
const uuids: ColumnType = { key: 'uuid', min: 0, max: Infinity };
const labels: ColumnType = { key: 'string', value: 'string', min: 0, max: Infinity };

const codeOf = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error instanceof OvsdbError ? error.code : error;
  }
};

describe('Values of OVSDB', () => {
  it('Values of OVSDB are decoded from a set with one element that arrives without its tag', () => {
    expect(decodeValue(texts, 'a')).to.deep.equal(new Set(['a']));
    expect(decodeValue(uuids, ['uuid', uuid])).to.deep.equal(new Set([uuid]));
    expect(decodeValue(texts, ['set', ['a', 'b']])).to.deep.equal(new Set(['a', 'b']));
    expect(decodeValue(optional, 'a')).to.equal('a');
    expect(decodeValue(optional, ['set', []])).to.equal(undefined);
  });

  it('Values of OVSDB have the default of their type when a server does not send them', () => {
    const scalar = (key: ColumnType['key']): unknown => defaultValue({ key, min: 1, max: 1 });
    expect([scalar('integer'), scalar('real'), scalar('boolean'), scalar('string'), scalar('uuid')]).to.deep.equal([
      0,
      0,
      false,
      '',
      zeroUuid,
    ]);
    expect(defaultValue(optional)).to.equal(undefined);
    expect(defaultValue(texts)).to.deep.equal(new Set());
    expect(defaultValue(labels)).to.deep.equal(new Map());
    expect(defaultValue({ ...texts, min: 1 })).to.deep.equal(new Set(['']));
    expect(defaultValue({ ...labels, min: 1 })).to.deep.equal(new Map([['', '']]));
  });

  it('applyDifference changes sets and maps', () => {
    expect(applyDifference(texts, new Set(['a', 'b']), ['set', ['b', 'c']])).to.deep.equal(new Set(['a', 'c']));
    const before = new Map([
      ['kept', '1'],
      ['changed', '1'],
      ['removed', '1'],
    ]);
    const difference = [
      'map',
      [
        ['changed', '2'],
        ['removed', '1'],
        ['added', '1'],
      ],
    ];
    expect(applyDifference(labels, before, difference)).to.deep.equal(
      new Map([
        ['kept', '1'],
        ['changed', '2'],
        ['added', '1'],
      ]),
    );
    expect(applyDifference(optional, 'a', ['set', []])).to.equal(undefined);
  });

  it('Values of OVSDB are rejected when a server sends another type', () => {
    const sent: [ColumnType, unknown][] = [
      [text, 1],
      [text, null],
      [texts, ['set', [1]]],
      [texts, ['set', 'a']],
      [uuids, ['uuid', 'no-uuid']],
      [uuids, uuid],
      [labels, ['set', []]],
      [labels, ['map', [['a']]]],
    ];
    for (const [type, json] of sent)
      expect(
        codeOf(() => decodeValue(type, json)),
        JSON.stringify(json),
      ).to.equal('PROTOCOL');
  });

  it('values are not sent if a server would reject them or close the connection', () => {
    const written: [ColumnType, NewValue][] = [
      [text, 'a\0b'],
      [text, '\ud800'],
      [text, undefined],
      [texts, 'a'],
      [texts, new Set([1])],
      [labels, new Set(['a'])],
      [labels, new Map([['a', 1]])],
      [uuids, new Set(['no-uuid'])],
      [uuids, new Set([{ uuidName: 'with-dash' }])],
      [{ key: 'integer', min: 1, max: 1 }, 2 ** 53],
      [{ key: 'integer', min: 1, max: 1 }, 1.5],
      [{ key: 'real', min: 1, max: 1 }, NaN],
      [{ key: 'boolean', min: 1, max: 1 }, 'true'],
    ];
    for (const [type, value] of written)
      expect(
        codeOf(() => encodeValue(type, value, 'Item.column')),
        `${type.key} ${typeof value}`,
      ).to.equal('INVALID_REQUEST');
  });

  it('OVSDB sets and maps are equal in any order', () => {
    expect(areEqual(new Set(['a', 'b']), new Set(['b', 'a']))).to.equal(true);
    expect(areEqual(new Map([['a', '1']]), new Map([['a', '2']]))).to.equal(false);
    expect(areEqual(new Set(), new Map())).to.equal(false);
    expect(areEqual(undefined, undefined)).to.equal(true);
  });
});
