/** `make conformance`: Kube-OVN's documented behaviour, case by case. Exit status 1 when a case fails, 2 when none could be run. */
import { join } from 'node:path';
import { type Case, readCases } from './case.ts';
import { lineOf, summaryOf, tableOf } from './report.ts';
import { type Result, run } from './run.ts';

const [file = join(import.meta.dirname, 'cases.json')] = process.argv.slice(2);

function tell(result: Result): void {
  const line = lineOf(result);
  if (line !== undefined) console.log(line);
}

try {
  const cases: readonly Case[] = readCases(file);
  const results = await run(cases, tell);
  console.log('');
  for (const line of tableOf(results)) console.log(line);
  console.log('');
  process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
  // As the process exits, so that nothing that is still being stopped prints behind it.
  process.once('exit', () => console.log(summaryOf(results)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
