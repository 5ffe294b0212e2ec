import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readRunbooks } from './runbooks.ts';

const runbooks = readRunbooks(join(import.meta.dirname, '../../../docs/runbooks.md'));

describe('The runbooks', () => {
  it('The runbooks are paragraphs and steps of plain text', () => {
    const [meaning, ...rest] = runbooks('IpledgerSubnetFull');
    expect(meaning).to.match(/^Meaning\. /);
    expect(rest.some((each) => each.startsWith('1. '))).to.equal(true);
    for (const each of [meaning, ...rest]) expect(each).to.not.match(/\*\*|`|\]\(/);
  });

  it('The runbooks exist for each alarm that the console raises with the name of an alert', () => {
    const source = readFileSync(join(import.meta.dirname, 'alarms.ts'), 'utf8');
    const names = new Set(source.match(/Ipledger\w+(?=')/g));
    expect(names.size).to.be.above(4);
    for (const name of names) expect(runbooks(name), name).to.have.length.above(2);
  });

  it('The runbooks are empty for an unknown alert', () => {
    expect(runbooks('Other')).to.deep.equal([]);
  });
});
