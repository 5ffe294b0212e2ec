/** Checks that docs/architecture.md names existing files and symbols. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const sources = globSync('{proto,lib,ledger,services,cli,cni,test,local}/**/*.{ts,go}', { cwd: root });

/**
 * A file named by its path or the end of its path, and a symbol in it, or '' for the file alone.
 */
interface Mention {
  readonly file: string;
  readonly name: string;
}

/** Parses "`file` `name`, `name`": the names after a file are symbols in that file. */
function mentionsIn(text: string): Mention[] {
  return [...text.matchAll(/`([\w./-]+\.(?:ts|go))`((?:,? `(?![^`]*\.(?:ts|go)`)[^`]+`)*)/g)].flatMap(
    ([, file = '', names = '']) => {
      const symbols = [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      return [{ file, name: '' }, ...symbols.map((name) => ({ file, name }))];
    },
  );
}

/** Whether a source has each part of `Class.member`. */
const hasSymbol = (source: string, name: string): boolean =>
  name.split('.').every((part) => new RegExp(`(^|[^\\w#])${part}\\b`, 'm').test(source));

describe('docs/architecture.md', () => {
  const mentions = mentionsIn(read('docs/architecture.md'));

  it('docs/architecture.md names existing files and symbols', () => {
    expect(mentions).to.have.length.greaterThan(40);
    const wrong = mentions.filter(({ file, name }) => {
      const matching = sources.filter((source) => source === file || source.endsWith(`/${file}`));
      return !matching.some((source) => hasSymbol(read(source), name));
    });
    expect(wrong).to.deep.equal([]);
  });
});
