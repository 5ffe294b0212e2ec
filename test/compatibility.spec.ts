import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '..');

/** A line of a table of docs/compatibility.md: what it is about, what it says of it, and the tests that show it. */
interface Row {
  readonly about: string;
  readonly says: string;
  readonly shown: readonly string[];
}

const rows = readFileSync(join(root, 'docs/compatibility.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (behaviour|issue) /.test(line))
  .map((line): Row => {
    const [about = '', says = '', ...shown] = line.slice(2, -2).split(' | ');
    return { about, says, shown: shown.join(' | ').split(' <br> ') };
  });

const lessons = rows.filter(({ about }) => /^[A-Za-z]+-\d+/.test(about));
const behaviours = rows.filter((row) => !lessons.includes(row));

/** Why a test cannot be the one that is meant: "`file` › title". */
function whyNoTest(test: string): string | undefined {
  const [, file = '', title = ''] = /^`([^`]+\.spec\.ts)` › (.+)$/.exec(test) ?? [];
  if (file === '') return 'want `file` › title';
  if (!existsSync(join(root, file))) return `there is no ${file}`;
  const source = readFileSync(join(root, file), 'utf8');
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${title.trim()}${quote}`);
  return quoted.some((text) => source.includes(text)) ? undefined : `${file} has no such test`;
}

describe('docs/compatibility.md', () => {
  it('says of each behaviour whether it is the same, better or not there, and how or why', () => {
    expect(behaviours).to.have.length.greaterThan(90);
    const unclear = behaviours.filter(({ says }) => !/^(same|same[:;,] .+|better: .+|not: .+)$/.test(says));
    expect(unclear.map(({ about, says }) => `${about}: ${says}`)).to.deep.equal([]);
  });

  it('names tests that exist', () => {
    const missing = rows.flatMap(({ shown }) =>
      shown.flatMap((test) => {
        const why = whyNoTest(test);
        return why === undefined ? [] : [`${test}: ${why}`];
      }),
    );
    expect(missing).to.deep.equal([]);
  });

  it('names for each lesson a test that is named after it', () => {
    expect(lessons).to.have.length.greaterThan(30);
    const unnamed = lessons.flatMap(({ about, shown }) =>
      about.split(', ').filter((issue) => !shown.some((test) => test.includes(`› ${issue} `))),
    );
    expect(unnamed).to.deep.equal([]);
  });
});
