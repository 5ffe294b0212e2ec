/** Selects the lines and columns of a command's output. */

export function splitLines(output: string): string[] {
  return output.split('\n').filter((line) => line !== '');
}

export type OutputFilter = (lines: readonly string[]) => readonly string[];

export const allLines: OutputFilter = (lines) => lines;

export function firstLines(count: number): OutputFilter {
  return (lines) => lines.slice(0, count);
}

export function lastLines(count: number): OutputFilter {
  return (lines) => lines.slice(-count);
}

/** Selects the lines that match, without their indentation. */
export function matchingLines(pattern: RegExp): OutputFilter {
  return (lines) => lines.filter((line) => pattern.test(line)).map((line) => line.trim());
}

/** Removes the columns of these names from a table. */
export function withoutColumns(...names: readonly string[]): OutputFilter {
  return (lines) => names.reduce<readonly string[]>(withoutColumn, lines);
}

function withoutColumn(lines: readonly string[], name: string): readonly string[] {
  const head = lines[0] ?? '';
  const from = head.search(new RegExp(`\\b${name}\\b`));
  if (from < 0) return lines;
  const width = /^\S+\s*/.exec(head.slice(from))?.[0].length ?? 0;
  const isLast = from + width >= head.length;
  return lines.map((line) => (isLast ? line.slice(0, from) : line.slice(0, from) + line.slice(from + width)).trimEnd());
}
