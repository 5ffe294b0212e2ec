/** The examples of the documents: blocks of commands, YAML and JSON to copy. Specs run them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/paths.ts';

export interface DocumentedExample {
  readonly file: string;
  /** The heading above the example. */
  readonly section: string;
  /** The name of the marker `<!-- run: NAME -->` above the example. */
  readonly name: string | undefined;
  readonly language: string;
  readonly text: string;
}

/** Matches headings and blocks, so that each block follows its heading. */
const parts = /^#+ ([^\n]*)$|(?:^<!-- run: (\S+) -->\n+)?^```(\w*)\n(.*?)^```$/gms;

/** Reads the blocks of a document. Diagrams and outputs have the language `text` or none. */
export function documentedExamples(file: string): DocumentedExample[] {
  let section = '';
  return [...readFileSync(join(root, file), 'utf8').matchAll(parts)].flatMap(
    ([, heading, name, language = '', text = '']) => {
      if (heading !== undefined) section = heading;
      return heading === undefined ? [{ file, section, name, language, text }] : [];
    },
  );
}

/** The documents: README.md and everything below docs/. */
export const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].sort();

/** Returns the block after the marker `<!-- run: NAME -->`. @throws Error without the marker */
export function documentedCommands(file: string, name: string): string {
  const found = documentedExamples(file).find((example) => example.name === name);
  if (!found) throw new Error(`${file} has no block after <!-- run: ${name} -->`);
  return found.text;
}
