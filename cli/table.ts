/** Rows as kubectl prints them: columns two spaces apart, no lines, nothing behind the last word of a row. And as CSV (RFC 4180). */
import { printable } from './printable.ts';
import { showTime, type Zone } from './times.ts';

export interface Column {
  readonly name: string;
  /** Its cells are instants, as the API writes them. */
  readonly time?: boolean;
  /** Only with `-o wide`, and in CSV. */
  readonly wide?: boolean;
  /** No narrower than so many characters, for rows that come later. */
  readonly atLeast?: number;
}

type Row = readonly string[];

/** Rows with a cell for each column. */
export interface Listing {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** Makes text of rows as they come; the first have the head above them. */
export type RowWriter = (rows: readonly Row[]) => string;

export type TableWidth = 'table' | 'wide';

/** One line for the head and each row, in those columns that are not `wide`, or in all. An empty cell shows as "-", so that columns can be counted by `awk`. */
export function tableWriter(columns: readonly Column[], zone: Zone, width: TableWidth = 'table'): RowWriter {
  const chosen = columns.flatMap((column, index) => (width === 'wide' || !column.wide ? [{ ...column, index }] : []));
  const cells = (row: Row): string[] =>
    chosen.map(({ index, time }) => {
      const cell = row[index] ?? '';
      return printable(time ? showTime(cell, zone, width === 'wide') : cell) || '-';
    });
  // Of all lines so far: columns only ever grow.
  let widths: number[] | undefined;
  return (rows) => {
    const lines = rows.map(cells);
    if (!widths) lines.unshift(chosen.map(({ name }) => name));
    widths = chosen.map(({ atLeast = 0 }, at) =>
      lines.reduce((most, line) => Math.max(most, line[at]?.length ?? 0), widths?.[at] ?? atLeast),
    );
    return layout(widths, lines);
  };
}

/** Laid out here because a package for it looked at every row for each row: 50,000 of them took it a minute. */
const layout = (widths: readonly number[], lines: readonly Row[]): string =>
  lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');

/** The whole table. */
export const tableOf = ({ columns, rows }: Listing, zone: Zone, width?: TableWidth): string =>
  tableWriter(columns, zone, width)(rows);

/** Columns of text alone. */
export const columnsOf = (...names: readonly string[]): Column[] => names.map((name) => ({ name }));

/** One of text alone. */
export const table = (head: readonly string[], rows: readonly Row[]): string =>
  tableOf({ columns: columnsOf(...head), rows }, 'local');

/** The rows for a program, with all columns; instants as the API writes them. */
export function csvWriter(columns: readonly Column[]): RowWriter {
  let head: Row[] = [columns.map(({ name }) => name.toLowerCase().replaceAll(' ', '_'))];
  return (rows) => {
    const lines = [...head, ...rows];
    head = [];
    return lines.map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
  };
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
