import { expect } from 'chai';
import { faultFinder } from './shape.ts';

interface Value {
  readonly name: string;
  readonly list: readonly number[];
  readonly isOn?: boolean;
}

describe('faultFinder', () => {
  const find = faultFinder<Value>({ name: 'text', list: ['number'], isOn: { optional: 'flag' } });
  const value = { name: 'a', list: [0, 7] };

  it('faultFinder finds nothing in a value of the form, with or without what is optional, and with other fields', () => {
    for (const more of [{}, { isOn: true }, { isOn: undefined }, { later: 1 }])
      expect(find({ ...value, ...more }), JSON.stringify(more)).to.equal(undefined);
  });

  it('faultFinder names the field and its fault', () => {
    for (const [fault, change] of [
      ['.name is not a text', { name: 7 }],
      ['.list is not a list', { list: { length: 1 } }],
      ['.list.1 is not a whole number', { list: [0, -1] }],
      ['.list.0 is not a whole number', { list: [0.5] }],
      ['.isOn is not true or false', { isOn: null }],
    ] as const)
      expect(find({ ...value, ...change })).to.equal(fault);
  });

  it('faultFinder finds that a value is not an object', () => {
    for (const other of [undefined, null, 5, 'text', [value]])
      expect(find(other), JSON.stringify(other)).to.equal(' is not an object');
  });
});
