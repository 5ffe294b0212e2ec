/** A command's output by lines, and what of it is shown where all of it would be noise. */

export function linesOf(output: string): string[] {
  return output.split('\n').filter((line) => line !== '');
}

export type Trim = (lines: readonly string[]) => readonly string[];

export const whole: Trim = (lines) => lines;

export function firstLines(count: number): Trim {
  return (lines) => lines.slice(0, count);
}

export function lastLines(count: number): Trim {
  return (lines) => lines.slice(-count);
}

/** Lines that match, without their indentation. */
export function only(pattern: RegExp): Trim {
  return (lines) => lines.filter((line) => pattern.test(line)).map((line) => line.trim());
}

/** A table without some of its columns. */
export function withoutColumns(...names: readonly string[]): Trim {
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
