/** An answer in the format that was asked for. */
import { stringify } from 'yaml';
import {
  type Column,
  csvWriter,
  type Listing,
  type RowWriter,
  tableOf,
  type TableWidth,
  tableWriter,
} from './table.ts';
import type { Zone } from './times.ts';

export const outputFormats = ['table', 'wide', 'json', 'yaml', 'csv'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** How it is to be printed. */
export interface Style {
  readonly output: OutputFormat;
  readonly zone: Zone;
}

export interface Answer {
  /** The reply's content under the names of the API: what JSON and YAML show. */
  readonly content: object;
  /** The same for a person, ending in a newline; '' when there is nothing to show. */
  readonly table: (zone: Zone, width: TableWidth) => string;
  /** What CSV is made of. Every answer has it: an operation that is done must not end with a format that it has not. */
  readonly listing: () => Listing;
  /** What a person should know beside the table, on stderr. */
  readonly note?: string | undefined;
}

/** An answer that is a table of rows, and nothing beside it. */
export const listed = (listing: Listing, rest: Pick<Answer, 'content' | 'note'>): Answer => ({
  ...rest,
  listing: () => listing,
  table: (zone, width) => (listing.rows.length > 0 ? tableOf(listing, zone, width) : ''),
});

/** Prints on stdout; `note` goes to stderr, and only with what a person reads. */
export function print({ output, zone }: Style, { content, table, listing, note }: Answer): void {
  switch (output) {
    case 'json':
      process.stdout.write(`${JSON.stringify(content, null, 2)}\n`);
      return;
    case 'yaml':
      process.stdout.write(yamlOf(content));
      return;
    case 'csv':
      process.stdout.write(csvOf(listing()));
      return;
    case 'wide':
    case 'table':
      process.stdout.write(table(zone, output));
      if (note) process.stderr.write(`${note}\n`);
  }
}

/** YAML that also a reader of YAML 1.1 takes as it is meant: for it 52:54:00:12:34:56 would be a number, and a time no text. */
export const yamlOf = (content: unknown): string => stringify(content, { compat: 'yaml-1.1' });

const csvOf = ({ columns, rows }: Listing): string => csvWriter(columns)(rows);

/** For rows that are printed as they come; undefined in formats that show an answer as a whole. */
export function rowWriter({ output, zone }: Style, columns: readonly Column[]): RowWriter | undefined {
  switch (output) {
    case 'json':
    case 'yaml':
      return undefined;
    case 'csv':
      return csvWriter(columns);
    case 'wide':
    case 'table':
      return tableWriter(columns, zone, output);
  }
}

/** "1 Pod", "2 Pods". */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
