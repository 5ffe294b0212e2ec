/** An answer in the format that was asked for. */
import { stringify } from 'yaml';

export const outputFormats = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface Answer {
  /** The reply's content under the names of the API: what JSON and YAML show. */
  readonly content: object;
  /** The same for a person, ending in a newline; '' when there is nothing to show. */
  readonly table: () => string;
  /** What a person should know beside the table, on stderr. */
  readonly note?: string | undefined;
}

/** Prints on stdout; `note` goes to stderr, and only with a table. */
export function print(format: OutputFormat, { content, table, note }: Answer): void {
  switch (format) {
    case 'json':
      process.stdout.write(`${JSON.stringify(content, null, 2)}\n`);
      break;
    case 'yaml':
      process.stdout.write(stringify(content));
      break;
    case 'table':
      process.stdout.write(table());
      if (note) process.stderr.write(`${note}\n`);
  }
}

/** "1 Pod", "2 Pods". */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
