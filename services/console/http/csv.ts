/** CSV of lists: RFC 4180, one column for each field, and no text that a spreadsheet computes. */
import { escapeUnprintable } from '../../../lib/unprintable.ts';

/** Matches a formula, also after blanks: some programs skip them. */
const formula = /^\s*[=+\-@\t\r]/;
/** Matches a formula after a semicolon, at which some programs begin a cell. */
const formulaAfterSemicolon = /;(?=\s*[=+\-@])/g;
const rowsPerPiece = 1_000;

/** Rows of plain objects. Nested objects have columns "pod.name"; lists are joined by blanks. */
export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: Iterable<object>;
}

/** Builds the table of a page, which is short, with the columns that any of its rows has. */
export const tableOf = (rows: readonly object[]): CsvTable => ({
  columns: [...new Set(rows.flatMap((row) => [...flatten(row, '')].map(([column]) => column)))],
  rows,
});

/** Yields the text in pieces: a long table does not delay other requests. */
export function* csvPieces({ columns, rows }: CsvTable): Generator<string> {
  let lines = [columns.map(cell).join(',')];
  for (const row of rows) {
    const cells = new Map(flatten(row, ''));
    lines.push(columns.map((column) => cell(cells.get(column))).join(','));
    if (lines.length < rowsPerPiece) continue;
    yield textOf(lines);
    lines = [];
  }
  if (lines.length > 0) yield textOf(lines);
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('');

function* flatten(row: object, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(row) as [string, unknown][])
    if (isObject(value)) yield* flatten(value, `${prefix}${name}.`);
    else yield [prefix + name, value];
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function cell(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = escapeUnprintable(Array.isArray(value) ? value.map(plain).join(' ') : plain(value));
  const safe = (formula.test(text) ? `'${text}` : text).replaceAll(formulaAfterSemicolon, ";'");
  return /[",;\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
