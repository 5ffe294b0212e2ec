/**
 * Fails when a tracked file has a word that docs/glossary.md avoids, or a document has a sentence
 * that is too long. Part of `make check`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findAvoidedWords, findLongSentences, parseAvoidedWords } from './prose.ts';

const root = join(import.meta.dirname, '../..');
const glossary = 'docs/glossary.md';

/** Files that are generated, recorded or copied: their words are not ours. */
const foreign =
  /^(proto\/generated\/|test\/(golden|manifests|tools|history)\/|test\/conformance\/\w+\.json|package-lock\.json|LICENSE)/;
const prose = /(\.(ts|go|proto|md|yaml|yml|json)|\/[\w-]+|^Makefile)$/;

const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => prose.test(file) && !foreign.test(file));
const words = parseAvoidedWords(readFileSync(join(root, glossary), 'utf8'));

let count = 0;
for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8');
  const found = file === glossary ? [] : findAvoidedWords(text, words);
  if (file.endsWith('.md')) found.push(...findLongSentences(text));
  for (const { line, problem } of found) console.error(`${file}:${line}: ${problem}`);
  count += found.length;
}
if (count > 0) {
  console.error(`${count} problems of language; docs/glossary.md has the words`);
  process.exitCode = 1;
}
