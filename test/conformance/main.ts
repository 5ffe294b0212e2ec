/**
 * `make conformance`: runs all cases. Exits with 1 when a case fails, and with 2 when the cases
 * cannot be run.
 */
import { join } from 'node:path';
import { type Case, readCases } from './case.ts';
import { formatFailure, formatSummary, formatTable } from './report.ts';
import { type Result, runCases } from './run-cases.ts';

const [file = join(import.meta.dirname, 'cases.json')] = process.argv.slice(2);

function printFailure(result: Result): void {
  const line = formatFailure(result);
  if (line !== undefined) console.log(line);
}

try {
  const cases: readonly Case[] = readCases(file);
  const results = await runCases(cases, printFailure);
  console.log('');
  for (const line of formatTable(results)) console.log(line);
  console.log('');
  process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
  // Printed at exit, as the last line: programs that stop may print before.
  process.once('exit', () => console.log(formatSummary(results)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
