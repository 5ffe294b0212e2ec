/** Prints an answer in the requested format. */
import { asCalled } from '../called-as.ts';
import {
  type Column,
  createCsvWriter,
  type Listing,
  type RowWriter,
  formatTable,
  type TableWidth,
  createTableWriter,
} from './table.ts';
import type { TimeZone } from '../time/times.ts';

export const outputFormats = ['table', 'wide', 'json', 'yaml', 'csv'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The format, and the time zone of printed times. */
export interface OutputStyle {
  readonly output: OutputFormat;
  readonly zone: TimeZone;
}

export interface Answer {
  /** The document of JSON and YAML, with the API's field names. */
  readonly content: object;
  /** The answer for people, ending in a newline; '' for an empty answer. */
  readonly table: (zone: TimeZone, width: TableWidth) => string;
  /** The rows of CSV. Every answer has them, so no format fails after the operation is done. */
  readonly listing: () => Listing;
  /** Text that is printed on stderr beside the table. */
  readonly note?: string | undefined;
}

/** An answer that is one table. */
export const createTableAnswer = (listing: Listing, rest: Pick<Answer, 'content' | 'note'>): Answer => ({
  ...rest,
  listing: () => listing,
  table: (zone, width) => (listing.rows.length > 0 ? formatTable(listing, zone, width) : ''),
});

/** Prints on stdout. `note` goes to stderr, and only with `table` and `wide`. */
export async function printAnswer(
  { output, zone }: OutputStyle,
  { content, table, listing, note }: Answer,
): Promise<void> {
  switch (output) {
    case 'json':
      process.stdout.write(`${JSON.stringify(content, null, 2)}\n`);
      return;
    case 'yaml':
      process.stdout.write((await loadYamlFormat())(content));
      return;
    case 'csv':
      process.stdout.write(csvOf(listing()));
      return;
    case 'wide':
    case 'table':
      process.stdout.write(asCalled(table(zone, output)));
      if (note) process.stderr.write(`${asCalled(note)}\n`);
  }
}

const csvOf = ({ columns, rows }: Listing): string => createCsvWriter(columns)(rows);

/** Writes rows as they arrive. Undefined for JSON and YAML, which are one document. */
export function createRowWriter({ output, zone }: OutputStyle, columns: readonly Column[]): RowWriter | undefined {
  switch (output) {
    case 'json':
    case 'yaml':
      return undefined;
    case 'csv':
      return createCsvWriter(columns);
    case 'wide':
    case 'table':
      return createTableWriter(columns, zone, output);
  }
}

/** Formats a count with its noun: "1 Pod", "2 Pods". */
export const formatCount = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * Loads the YAML package, which takes 5 % of the start of a verb. YAML 1.1 readers parse its
 * documents alike: without quotes, 52:54:00:12:34:56 is a number for them, and a time is not a
 * string.
 */
export async function loadYamlFormat(): Promise<(content: unknown) => string> {
  const { stringify } = await import('yaml');
  return (content) => stringify(content, { compat: 'yaml-1.1' });
}
