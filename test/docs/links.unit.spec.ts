/**
 * Checks that links between documents lead to a file and a heading, and that the files of a recipe
 * exist.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const documents = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(root, file)));

/** The anchors of the headings, as GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

function isBroken(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#', 2);
  const target = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).includes(anchor);
}

/** Joins the lines of comments, so that a heading may be wrapped. */
const joinComments = (source: string): string => source.replaceAll(/\n\s*(?:\*|\/\/) /g, ' ');

describe('Documents', () => {
  it('Documents link to files and headings that exist', () => {
    const links = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link = '']) => ({ document, link })),
    );
    expect(links).to.have.length.greaterThan(300);
    expect(links.filter(({ document, link }) => isBroken(document, link))).to.deep.equal([]);
  });

  it('Documents exist with the name and the heading that a comment in the sources gives', () => {
    const sources = execFileSync('git', ['ls-files', '-z', '*.ts', '*.go', '*.yaml', 'Makefile'], { cwd: root });
    const mentions = sources
      .toString()
      .split('\0')
      .filter((file) => file !== '' && existsSync(join(root, file)))
      .flatMap((file) =>
        [...joinComments(read(file)).matchAll(/\b(docs\/[\w/-]+\.md)(?:, "([^"]+)")?/g)].map(
          ([, document = '', heading]) => ({
            file,
            document,
            heading,
          }),
        ),
      );
    expect(mentions).to.have.length.greaterThan(20);
    const wrong = mentions.filter(
      ({ document, heading }) =>
        !existsSync(join(root, document)) || (heading !== undefined && !read(document).includes(`# ${heading}\n`)),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('Documents name files that exist in each recipe for a change', () => {
    const named = [...read('docs/where-a-change-goes.md').matchAll(/`([\w.-]+(?:\/[\w.-]+)+)`/g)].map(
      ([, file = '']) => file,
    );
    expect(named).to.have.length.greaterThan(30);
    expect(named.filter((file) => !file.includes('NAME') && !existsSync(join(root, file)))).to.deep.equal([]);
  });
});
