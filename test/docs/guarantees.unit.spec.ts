/** Checks that the documents about promises, attackers and bugs name existing test files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');

/** The rows of all tables of docs/guarantees.md, without their headings. */
const rows = readFileSync(join(root, 'docs/guarantees.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| promise'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, promise = '', suites = '', plantedBugs = '']) => ({
    promise,
    plantedBugs,
    suites: suites.split(', ').map((each) => each.replaceAll('`', '')),
  }));

/** The test files that a document names. */
const suitesIn = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/`([\w/.-]+(?:\.spec\.ts|_test\.go))`/g)].map(
    ([, suite = '']) => suite,
  );

for (const [file, least] of [
  ['docs/threat-model.md', 15],
  ['docs/track-record.md', 15],
  ['docs/verification.md', 2],
] as const)
  describe(file, () => {
    it('docs/verification.md names existing test files', () => {
      expect(suitesIn(file)).to.have.length.greaterThan(least);
      expect(suitesIn(file).filter((suite) => !existsSync(join(root, suite)))).to.deep.equal([]);
    });
  });

describe('docs/guarantees.md', () => {
  it('docs/guarantees.md names existing test files for each promise', () => {
    expect(rows).to.have.length.greaterThan(30);
    const missing = rows.flatMap(({ promise, suites }) =>
      suites
        .filter((suite) => !/(\.spec\.ts|_test\.go)$/.test(suite) || !existsSync(join(root, suite)))
        .map((suite) => `${promise}: ${suite}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('docs/guarantees.md has a number of planted bugs or a dash for each promise', () => {
    expect(rows.filter(({ plantedBugs }) => !/^(?:\d+|–)$/.test(plantedBugs))).to.deep.equal([]);
  });
});
