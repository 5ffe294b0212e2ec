import { expect } from 'chai';
import { findAvoidedWords, findLongSentences, maxSentenceWords, parseAvoidedWords } from './prose.ts';

describe('The prose check', () => {
  const words = [{ word: 'twaddle', instead: 'the fact' }];
  const sentence = (count: number): string => `${Array(count).fill('word').join(' ')}.`;

  it('The prose check reads each word of the table and what to write instead', () => {
    const glossary =
      '# G\n| term | meaning |\n\n## Words to avoid\n\n| word | write |\n|---|---|\n| a, b c | the noun |\n';
    expect(parseAvoidedWords(glossary)).to.deep.equal([
      { word: 'a', instead: 'the noun' },
      { word: 'b c', instead: 'the noun' },
    ]);
  });

  it('The prose check reports an avoided word with its line and the replacement, in any case', () => {
    expect(findAvoidedWords('fine\nno Twaddle here', words)).to.deep.equal([
      { line: 2, problem: '"Twaddle" is a word to avoid: write the fact' },
    ]);
  });

  it('The prose check accepts names that contain the word', () => {
    expect(findAvoidedWords('twaddleCount, untwaddle, #twaddled', words)).to.deep.equal([]);
  });

  it('The prose check accepts a quoted single word, such as a key of a stored format', () => {
    expect(findAvoidedWords("fields['twaddle']", words)).to.deep.equal([]);
    expect(findAvoidedWords("'twaddle here'", words)).to.have.length(1);
  });

  it('The prose check reports a sentence with more words than allowed, across lines', () => {
    const text = `Short.\n\n${sentence(maxSentenceWords)} ${sentence(maxSentenceWords).replace(' ', '\n')}\n`;
    expect(findLongSentences(text)).to.deep.equal([]);
    const [finding] = findLongSentences(`${text}\n${sentence(maxSentenceWords + 1)}`);
    expect(finding).to.include({ line: 6 });
  });

  it('The prose check counts each table cell and each line of a cell by itself, a code span as one word, and no code block', () => {
    const cells = `| ${sentence(20)} | ${Array(20).fill('word').join(' ')} <br> ${sentence(20)} |`;
    const span = `\`${sentence(40)}\` is code.`;
    expect(findLongSentences(`${cells}\n\n${span}\n\n\`\`\`\n${sentence(50)}\n\`\`\`\n`)).to.deep.equal([]);
  });
});
