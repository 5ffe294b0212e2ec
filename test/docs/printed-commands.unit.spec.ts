/** Checks the commands of `ipledger` in the sentences of errors, Events, logs and answers. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCommandCheck } from '../../cli/testing/verb-parser.ts';
import { root } from '../harness/paths.ts';

const files = globSync(['{services,ledger,cli,lib}/**/*.ts', 'cni/*.go'], {
  cwd: root,
  exclude: ['**/*.spec.ts', '**/testing/**', 'cni/*_test.go'],
});
const isCode = (line: string): boolean => !/^\s*(?:\/\/|\/?\*)/.test(line);

/** A command up to the end of the text, the quote or the clause. */
const command =
  /(?:\b[Rr]un:? |\\?`|kubectl |^ {2}\w* *|decision: |address: )ipledger ([a-z](?:\$\{[^}]*\}|[^`'"\n;,])*)/gm;
/** Texts that begin like a command: the text of a key rotation, and a sentence about ipledger. */
const otherTexts = /^(?:key rotation|is removed)/;

const printed = files.flatMap((file) => {
  const code = readFileSync(join(root, file), 'utf8').split('\n').filter(isCode).join('\n');
  return [...code.matchAll(command)].flatMap(([, text = '']) => {
    // A placeholder of a template counts as one word
    const words = text.replaceAll(/\$\{[^}]*\}+/g, 'VALUE').replace(/[.\\)]+(?:\s.*)?$/, '');
    return otherTexts.test(text) ? [] : [{ file, words: words.trim().split(/\s+/) }];
  });
});

describe('The commands in the sentences of the programs', () => {
  it('The commands in the sentences of the programs have existing verbs, and existing options with their values', async () => {
    expect(printed).to.have.length.greaterThan(50);
    const check = await createCommandCheck({ prose: true });
    const wrong = printed.flatMap(({ file, words }) => {
      const problem = check(words);
      return problem === undefined ? [] : `${file}: ${words.join(' ')}: ${problem}`;
    });
    expect(wrong).to.deep.equal([]);
  });
});
