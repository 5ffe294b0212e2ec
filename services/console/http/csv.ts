/** CSV of lists: RFC 4180, one column for each field, and no text that a spreadsheet computes. */
import { escapeUnprintable } from '../../../lib/unprintable.ts';

/** Also of a value that begins with a blank: some programs skip it. */
const formula = /^\s*[=+\-@\t\r]/;

/** Rows of plain objects. Nested objects have columns "pod.name"; lists are joined by blanks. */
export function formatCsv(rows: Iterable<object>): string {
  const flat = [...rows].map((row) => new Map(flatten(row, '')));
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  const lines = flat.map((row) => columns.map((column) => cell(row.get(column))).join(','));
  return [columns.map(cell).join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

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
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
