import { expect } from 'chai';
import { splitLines, matchingLines, withoutColumns } from './output-filter.ts';

describe('The output filters of the demo', () => {
  const table = ['SEQ  UID      EVENT   ACTOR', '12   5f8c80e  Bound   me', '4    -        Freed   you'];

  it('The output filters of the demo remove columns of a table, also the last column', () => {
    expect(withoutColumns('UID', 'ACTOR')(table)).to.deep.equal(['SEQ  EVENT', '12   Bound', '4    Freed']);
  });
  it('The output filters of the demo keep a table that does not have the column', () => {
    expect(withoutColumns('EVE')(table)).to.deep.equal(table);
  });
  it('The output filters of the demo select the lines that match, without their indentation', () => {
    expect(matchingLines(/"b"/)(splitLines('{\n  "a": 1,\n  "b": 2\n}\n'))).to.deep.equal(['"b": 2']);
  });
});
