import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const sources = globSync('{proto,lib,services,cli,cni,test}/**/*.{ts,go}', { cwd: root });

/** A file as the text calls it, which may be the end of its path, and what it is said to have. */
interface Mention {
  readonly file: string;
  readonly name: string;
}

/** `file` `name`, `name`: the names that follow a file are in it. */
function mentionsIn(text: string): Mention[] {
  return [...text.matchAll(/`([\w./-]+\.(?:ts|go))`((?:,? `(?![^`]*\.(?:ts|go)`)[^`]+`)*)/g)].flatMap(
    ([, file = '', names = '']) => {
      const said = [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      return [{ file, name: '' }, ...said.map((name) => ({ file, name }))];
    },
  );
}

/** Of a method the class and what comes behind the dot, each by itself. */
const isIn = (source: string, name: string): boolean =>
  name.split('.').every((part) => new RegExp(`(^|[^\\w#])${part}\\b`, 'm').test(source));

describe('docs/architecture.md', () => {
  const mentions = mentionsIn(read('docs/architecture.md'));

  it('names files that exist, and what is in them', () => {
    expect(mentions).to.have.length.greaterThan(40);
    const wrong = mentions.filter(({ file, name }) => {
      const meant = sources.filter((source) => source === file || source.endsWith(`/${file}`));
      return !meant.some((source) => isIn(read(source), name));
    });
    expect(wrong).to.deep.equal([]);
  });
});
