/** Checks that docs/guarantees.md and docs/threat-model.md name existing test files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');

/** The rows of all tables of docs/guarantees.md, without their headings. */
const rows = readFileSync(join(root, 'docs/guarantees.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| promise'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, promise = '', suites = '']) => ({
    promise,
    suites: suites.split(', ').map((each) => each.replaceAll('`', '')),
  }));

/** The test files that docs/threat-model.md names. */
const attacks = [
  ...readFileSync(join(root, 'docs/threat-model.md'), 'utf8').matchAll(/`([\w/.-]+(?:\.spec\.ts|_test\.go))`/g),
].map(([, suite = '']) => suite);

describe('docs/threat-model.md', () => {
  it('names existing test files', () => {
    expect(attacks).to.have.length.greaterThan(20);
    expect(attacks.filter((suite) => !existsSync(join(root, suite)))).to.deep.equal([]);
  });
});

describe('docs/guarantees.md', () => {
  it('names existing test files for each promise', () => {
    expect(rows).to.have.length.greaterThan(30);
    const missing = rows.flatMap(({ promise, suites }) =>
      suites
        .filter((suite) => !/(\.spec\.ts|_test\.go)$/.test(suite) || !existsSync(join(root, suite)))
        .map((suite) => `${promise}: ${suite}`),
    );
    expect(missing).to.deep.equal([]);
  });
});
