import { expect } from 'chai';
import { formatCsv } from './csv.ts';

describe('formatCsv', () => {
  it('writes a column for each field, also of nested objects, and joins lists', () => {
    const rows = [
      { seq: 1, pod: { name: 'web' }, addresses: ['10.0.0.1', 'fd00::1'] },
      { seq: 2, pod: null, addresses: [], more: true },
    ];
    expect(formatCsv(rows)).to.equal('seq,pod.name,addresses,pod,more\r\n1,web,10.0.0.1 fd00::1,,\r\n2,,,,true\r\n');
  });

  it('quotes commas, quotes and surrounding blanks, and escapes control characters', () => {
    expect(formatCsv([{ a: 'x,y', b: 'write "no"', c: 'one\ntwo\u202e', d: ' x' }])).to.equal(
      'a,b,c,d\r\n"x,y","write ""no""",one\\u000atwo\\u202e," x"\r\n',
    );
  });

  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', ' =1'])
    it(`makes ${JSON.stringify(text)} a text that a spreadsheet does not compute`, () => {
      expect(formatCsv([{ a: text }])).to.contain(`'${text}`);
    });

  it('keeps a negative number a number, and neutralises names of columns', () => {
    expect(formatCsv([{ '=a': -1 }])).to.equal("'=a\r\n-1\r\n");
  });
});
