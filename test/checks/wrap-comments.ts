/** Wraps comments of TypeScript at a width. Lines of code, tables and drawings stay as they are. */

/** Lines of a comment that belong together, with the indentation of the lines after the first. */
interface Paragraph {
  readonly lines: string[];
  readonly indent: string;
}

/** Returns the source with its comments wrapped; equal if none is wider. */
export function wrapComments(source: string, width: number): string {
  const lines = source.split('\n');
  const wrapped: string[] = [];
  for (let at = 0; at < lines.length;) {
    const end = endOfComment(lines, at);
    const comment = lines.slice(at, Math.max(end, at + 1));
    const isWide = end > at && comment.some((line) => line.length > width);
    wrapped.push(...(isWide ? wrapComment(comment, width) : comment));
    at += comment.length;
  }
  return wrapped.join('\n');
}

/** Returns the line after the comment that begins at a line; the line itself without a comment. */
function endOfComment(lines: readonly string[], at: number): number {
  const line = lines[at] ?? '';
  if (/^\s*\/\*\* .*\*\/$/.test(line)) return at + 1;
  const isPart = /^\s*\/\*\*$/.test(line) ? (each: string) => !/^\s*\*\/$/.test(each) : isLineComment;
  let end = at;
  while (end < lines.length && isPart(lines[end] ?? '')) end++;
  return isPart === isLineComment ? end : end + 1;
}

const isLineComment = (line: string): boolean => /^\s*\/\/ (?!oxlint|prettier|@ts-)/.test(line);

function wrapComment(comment: readonly string[], width: number): string[] {
  const indent = /^\s*/.exec(comment[0] ?? '')?.[0] ?? '';
  if (isLineComment(comment[0] ?? '')) {
    const body = comment.map((line) => line.slice(indent.length + 3));
    return wrapParagraphs(body, `${indent}// `, width);
  }
  const [first = ''] = comment;
  const body =
    comment.length === 1
      ? first.slice(indent.length + 4, -3).split(/ (?=@(?:param|throws|returns) )/)
      : comment.slice(1, -1).map((line) => line.replace(/^\s*\* ?/, ''));
  return [`${indent}/**`, ...wrapParagraphs(body, `${indent} * `, width), `${indent} */`];
}

function wrapParagraphs(body: readonly string[], prefix: string, width: number): string[] {
  const paragraphs: Paragraph[] = [];
  for (const line of body) {
    const [, outer = '', mark] = /^(\s*)(@|- |\d+\. )?/.exec(line) ?? [];
    const present = paragraphs.at(-1);
    const continues =
      present && line !== '' && mark === undefined && outer === present.indent && present.lines[0] !== '';
    if (continues && !isDrawing(line)) present.lines.push(line);
    else paragraphs.push({ lines: [line], indent: mark === undefined || mark === '@' ? outer : `${outer}  ` });
  }
  return paragraphs.flatMap(({ lines, indent }) => {
    const isWide = lines.some((line) => prefix.length + line.length > width) && !lines.some(isDrawing);
    const text = isWide
      ? fill(lines.map((line) => line.trim()).join(' '), width - prefix.length - indent.length)
      : lines;
    const [, outer = ''] = /^(\s*)/.exec(lines[0] ?? '') ?? [];
    const whole = isWide ? text.map((line, at) => `${at === 0 ? outer : indent}${line}`) : text;
    return whole.map((line) => `${prefix}${line}`.trimEnd());
  });
}

const isDrawing = (line: string): boolean => /[─►│]|^\s*\||\S {3,}\S/.test(line);

/** Fills lines with words up to a width. A longer word has a line of its own. */
function fill(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
