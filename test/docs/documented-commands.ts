/**
 * The examples of the documents: blocks of commands, YAML and JSON that a reader copies. Specs run
 * them.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/paths.ts';

export interface DocumentedExample {
  readonly file: string;
  /** The nearest heading before it. */
  readonly section: string;
  /** The name of the marker `<!-- run: NAME -->` before it. */
  readonly name: string | undefined;
  readonly language: string;
  readonly text: string;
}

/** Matches headings and blocks, so that each block follows its heading. */
const parts = /^#+ ([^\n]*)$|(?:^<!-- run: (\S+) -->\n+)?^```(\w*)\n(.*?)^```$/gms;

/** The blocks of a document. Diagrams and answers of programs have the language `text` or none. */
export function documentedExamples(file: string): DocumentedExample[] {
  let section = '';
  return [...readFileSync(join(root, file), 'utf8').matchAll(parts)].flatMap(
    ([, heading, name, language = '', text = '']) => {
      if (heading !== undefined) section = heading;
      return heading === undefined ? [{ file, section, name, language, text }] : [];
    },
  );
}

/** README.md and everything below docs/. */
export const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].sort();

/** The block after the marker `<!-- run: NAME -->` of a document. @throws Error without it */
export function documentedCommands(file: string, name: string): string {
  const found = documentedExamples(file).find((example) => example.name === name);
  if (!found) throw new Error(`${file} has no block after <!-- run: ${name} -->`);
  return found.text;
}
