/** Checks the rows and the named tests of docs/compatibility.md. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');

/**
 * A table row of docs/compatibility.md: behaviour or issue, verdict with reason, and the tests that
 * show it.
 */
interface Row {
  readonly subject: string;
  readonly verdict: string;
  readonly tests: readonly string[];
}

const [compared = '', excluded = ''] = readFileSync(join(root, 'docs/compatibility.md'), 'utf8').split(
  '### Not possible here',
);

const rows = compared
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (behaviour|issue) /.test(line))
  .map((line): Row => {
    const [subject = '', verdict = '', ...tests] = line.slice(2, -2).split(' | ');
    return { subject, verdict, tests: tests.join(' | ').split(' <br> ') };
  });

const lessons = rows.filter(({ subject }) => /^[A-Za-z]\w*-\d+/.test(subject));
const behaviours = rows.filter((row) => !lessons.includes(row));

/** Explains why "`file` › title" names no test, or returns undefined. */
function findTestProblem(test: string): string | undefined {
  const [, file = '', title = ''] = /^`([^`]+\.spec\.ts)` › (.+)$/.exec(test) ?? [];
  if (file === '') return 'expected `file` › title';
  if (!existsSync(join(root, file))) return `${file} does not exist`;
  const source = readFileSync(join(root, file), 'utf8');
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${title.trim()}${quote}`);
  return quoted.some((text) => source.includes(text)) ? undefined : `${file} has no such test`;
}

describe('docs/compatibility.md', () => {
  it('docs/compatibility.md marks each behaviour as same, better or not, with the reason', () => {
    expect(behaviours).to.have.length.greaterThan(90);
    const unclear = behaviours.filter(({ verdict }) => !/^(same|same[:;,] .+|better: .+|not: .+)$/.test(verdict));
    expect(unclear.map(({ subject, verdict }) => `${subject}: ${verdict}`)).to.deep.equal([]);
  });

  it('docs/compatibility.md names existing tests', () => {
    const missing = rows.flatMap(({ tests }) =>
      tests.flatMap((test) => {
        const why = findTestProblem(test);
        return why === undefined ? [] : [`${test}: ${why}`];
      }),
    );
    expect(missing).to.deep.equal([]);
  });

  it('docs/compatibility.md names for each lesson a test that is named after it', () => {
    expect(lessons).to.have.length.greaterThan(45);
    const unnamed = lessons.flatMap(({ subject, tests }) =>
      subject.split(', ').filter((issue) => !tests.some((test) => test.includes(`› ${issue} `))),
    );
    expect(unnamed).to.deep.equal([]);
  });

  it('docs/compatibility.md states for each issue that is not possible here why', () => {
    const reasons = excluded.split('\n').filter((line) => /^\| [A-Za-z]\w*-\d+/.test(line));
    expect(reasons).to.have.length.greaterThan(5);
    for (const line of reasons) expect(line.split(' | ')[2] ?? '', line).to.have.length.greaterThan(30);
  });
});
