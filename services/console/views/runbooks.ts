/** The remedies of alarms: the sections of docs/runbooks.md, as plain text. */
import { readFileSync } from 'node:fs';

/** The paragraphs and steps of a runbook, by the name of its alert. */
export type Runbooks = (alert: string) => readonly string[];

/** @throws Error for a file without runbooks */
export function readRunbooks(file: string): Runbooks {
  const sections = readFileSync(file, 'utf8').split(/^## /m).slice(1);
  if (sections.length === 0) throw new Error(`${file} has no runbook`);
  const byAlert = new Map(
    sections.map((section) => {
      const [name = '', ...lines] = section.split('\n');
      return [name.trim(), paragraphsOf(lines)];
    }),
  );
  return (alert) => byAlert.get(alert) ?? [];
}

/**
 * Makes each step of a list a paragraph, joins the lines of others, and keeps the text of links.
 */
function paragraphsOf(lines: readonly string[]): string[] {
  const paragraphs: string[] = [];
  let isNew = true;
  for (const line of lines) {
    const text = line
      .trim()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('**', '')
      .replaceAll('`', '');
    if (text === '') isNew = true;
    else if (isNew || /^\d+\. |^- /.test(text)) paragraphs.push(text);
    else paragraphs[paragraphs.length - 1] += ` ${text}`;
    if (text !== '') isNew = false;
  }
  return paragraphs;
}
