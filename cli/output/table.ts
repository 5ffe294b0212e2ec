/** Formats rows as a table, in the style of kubectl, and as CSV (RFC 4180). */
import { escapeControlCharacters } from './control-characters.ts';
import { formatTime, type TimeZone } from '../time/times.ts';

export interface Column {
  readonly name: string;
  /** Whether the cells are times, RFC 3339. */
  readonly time?: boolean;
  /** Printed only with `-o wide`, and in CSV. */
  readonly wide?: boolean;
  /** The minimal width in characters, for rows that arrive later. */
  readonly minWidth?: number;
}

type Row = readonly string[];

/** Rows, with one cell per column. */
export interface Listing {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** Formats rows as they arrive. The first call includes the header. */
export type RowWriter = (rows: readonly Row[]) => string;

export type TableWidth = 'table' | 'wide';

/** Writes the header and the rows. An empty cell is "-", so that `awk` can count columns. */
export function createTableWriter(columns: readonly Column[], zone: TimeZone, width: TableWidth = 'table'): RowWriter {
  const chosen = columns.flatMap((column, index) => (width === 'wide' || !column.wide ? [{ ...column, index }] : []));
  const cells = (row: Row): string[] =>
    chosen.map(({ index, time }) => {
      const cell = row[index] ?? '';
      return escapeControlCharacters(time ? formatTime(cell, zone, width === 'wide') : cell) || '-';
    });
  // The widths of all lines so far: columns only grow
  let widths: number[] | undefined;
  return (rows) => {
    const lines = rows.map(cells);
    if (!widths) lines.unshift(chosen.map(({ name }) => name));
    widths = chosen.map(({ minWidth = 0 }, at) =>
      lines.reduce((longest, line) => Math.max(longest, line[at]?.length ?? 0), widths?.[at] ?? minWidth),
    );
    return layout(widths, lines);
  };
}

/** Pads cells without a package: the package that was tried took a minute for 50,000 rows. */
const layout = (widths: readonly number[], lines: readonly Row[]): string =>
  lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');

export const formatTable = ({ columns, rows }: Listing, zone: TimeZone, width?: TableWidth): string =>
  createTableWriter(columns, zone, width)(rows);

export const textColumns = (...names: readonly string[]): Column[] => names.map((name) => ({ name }));

/** A complete table of plain text. */
export const formatTextTable = (head: readonly string[], rows: readonly Row[]): string =>
  formatTable({ columns: textColumns(...head), rows }, 'local');

/** Writes CSV: all columns, times as RFC 3339 in UTC. */
export function createCsvWriter(columns: readonly Column[]): RowWriter {
  let header: Row[] = [columns.map(({ name }) => name.toLowerCase().replaceAll(' ', '_'))];
  return (rows) => {
    const lines = [...header, ...rows];
    header = [];
    return lines.map((line) => `${line.map(quote).join(',')}\r\n`).join('');
  };
}

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
