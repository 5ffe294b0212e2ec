import { expect } from 'chai';
import { csvPieces, tableOf } from './csv.ts';

const formatCsv = (rows: readonly object[]): string => [...csvPieces(tableOf(rows))].join('');

describe('CSV', () => {
  it('CSV writes a column for each field, also of nested objects, and joins lists', () => {
    const rows = [
      { seq: 1, pod: { name: 'web' }, addresses: ['10.0.0.1', 'fd00::1'] },
      { seq: 2, pod: null, addresses: [], more: true },
    ];
    expect(formatCsv(rows)).to.equal('seq,pod.name,addresses,pod,more\r\n1,web,10.0.0.1 fd00::1,,\r\n2,,,,true\r\n');
  });

  it('CSV quotes commas, quotes and surrounding blanks, and escapes control characters', () => {
    expect(formatCsv([{ a: 'x,y', b: 'write "no"', c: 'one\ntwo\u202e', d: ' x' }])).to.equal(
      'a,b,c,d\r\n"x,y","write ""no""",one\\u000atwo\\u202e," x"\r\n',
    );
  });

  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', ' =1'])
    it(`CSV makes ${JSON.stringify(text)} a text that a spreadsheet does not compute`, () => {
      expect(formatCsv([{ a: text }])).to.contain(`'${text}`);
    });

  it('CSV keeps a negative number a number, and neutralises names of columns', () => {
    expect(formatCsv([{ '=a': -1 }])).to.equal("'=a\r\n-1\r\n");
  });

  it('CSV neutralises a formula that would begin a cell after a semicolon', () => {
    expect(formatCsv([{ a: 'x;=1+1' }, { a: 'x; @SUM(A1)' }, { a: 'x;y' }])).to.equal(
      `a\r\n"x;'=1+1"\r\n"x;' @SUM(A1)"\r\n"x;y"\r\n`,
    );
  });

  it('CSV reads the rows of a long table piece by piece', () => {
    let read = 0;
    function* rows() {
      for (; read < 1_000_000; read++) yield { address: '10.0.0.1' };
    }
    const pieces = csvPieces({ columns: ['address', 'state'], rows: rows() });
    expect(pieces.next().value).to.match(/^address,state\r\n10\.0\.0\.1,\r\n/);
    expect(read).to.be.at.most(1_000);
  });
});
