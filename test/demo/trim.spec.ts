import { expect } from 'chai';
import { linesOf, only, withoutColumns } from './trim.ts';

describe("what the demo shows of a command's output", () => {
  const table = ['SEQ  UID      EVENT   ACTOR', '12   5f8c80e  Bound   me', '4    -        Freed   you'];

  it('is a table without some of its columns, the last one, too', () => {
    expect(withoutColumns('UID', 'ACTOR')(table)).to.deep.equal(['SEQ  EVENT', '12   Bound', '4    Freed']);
  });
  it('is the whole table when it has no such column', () => {
    expect(withoutColumns('EVE')(table)).to.deep.equal(table);
  });
  it('is the lines that match, without their indentation', () => {
    expect(only(/"b"/)(linesOf('{\n  "a": 1,\n  "b": 2\n}\n'))).to.deep.equal(['"b": 2']);
  });
});
