/**
 * Finds prose that the glossary rejects: words to avoid, and sentences of documents that are too
 * long. Pure: text in, findings out.
 */

/** A word to avoid, or a sentence that is too long, in one line of a file. */
export interface ProseFinding {
  readonly line: number;
  readonly problem: string;
}

/** A word of the glossary's last table, with what to write instead. */
export interface AvoidedWord {
  readonly word: string;
  readonly instead: string;
}

/** The most words of a sentence in a document. Longer sentences are split. */
export const maxSentenceWords = 30;

/**
 * Reads the table "Words to avoid".
 *
 * @param glossary docs/glossary.md
 */
export function parseAvoidedWords(glossary: string): AvoidedWord[] {
  const [, table = ''] = glossary.split('\n## Words to avoid\n');
  return table
    .split('\n')
    .map((line) => /^\| (?!word |---)(.+?) \| (.+) \|$/.exec(line))
    .flatMap((row) => (row ? (row[1] ?? '').split(', ').map((word) => ({ word, instead: row[2] ?? '' })) : []));
}

/**
 * Finds each avoided word in each line. A name in camelCase is one word. A quoted single word is a
 * key or a label of another format.
 */
export function findAvoidedWords(text: string, words: readonly AvoidedWord[]): ProseFinding[] {
  const pattern = new RegExp(`(?<![\\w$])(?!(?<=')\\w+')(${words.map(({ word }) => word).join('|')})(?![\\w(])`, 'gi');
  const insteadOf = new Map(words.map(({ word, instead }) => [word, instead]));
  return text.split('\n').flatMap((line, at) =>
    [...line.matchAll(pattern)].map(([word]) => ({
      line: at + 1,
      problem: `"${word}" is a word to avoid: write ${insteadOf.get(word.toLowerCase()) ?? 'another'}`,
    })),
  );
}

/**
 * Finds each sentence of a Markdown document with more than {@link maxSentenceWords} words. Code
 * blocks do not count.
 */
export function findLongSentences(markdown: string): ProseFinding[] {
  return paragraphsOf(markdown).flatMap(({ line, text }) =>
    sentencesOf(text)
      .map((sentence) => ({ sentence, words: sentence.split(/\s+/).filter((word) => /\w/.test(word)).length }))
      .filter(({ words }) => words > maxSentenceWords)
      .map(({ sentence, words }) => ({
        line,
        problem: `a sentence has ${words} words, at most ${maxSentenceWords} are allowed: "${sentence.slice(0, 60)}…"`,
      })),
  );
}

interface Paragraph {
  readonly line: number;
  readonly text: string;
}

/** Splits a document into paragraphs, list items and table cells, each with its first line. */
function paragraphsOf(markdown: string): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let isCode = false;
  let open: { line: number; text: string } | undefined;
  const close = (): void => {
    if (open) paragraphs.push(open);
    open = undefined;
  };
  for (const [at, line] of markdown.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    const text = line.trim();
    if (isCode || text === '' || /^(#|```|~~~)/.test(text)) close();
    else if (text.startsWith('|')) {
      close();
      paragraphs.push(...text.split(/(?<!\\)\|/).map((cell) => ({ line: at + 1, text: cell })));
    } else if (open && !/^([-*+]|\d+\.)\s/.test(text)) open.text += ` ${text}`;
    else {
      close();
      open = { line: at + 1, text };
    }
  }
  close();
  return paragraphs;
}

/** Splits a text at sentences and `<br>`. A code span is one word, and a link is its text. */
function sentencesOf(text: string): string[] {
  const plain = text.replaceAll(/`[^`]*`/g, 'code').replaceAll(/\]\([^)]*\)/g, ']');
  return plain.split(/(?<=[.!?:;])\s+|<br>/);
}
