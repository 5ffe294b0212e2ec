/**
 * Judges a history by test/tools/history-checker, a program that shares no code with the ledger.
 */
import { mustRun } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';

export interface HistoryReport {
  readonly operations: number;
  /** The operations without an answer. */
  readonly unknown: number;
  readonly events: number;
  readonly claims: number;
  readonly deliveries: number;
  /** The addresses, Pod names and Subnets, each of which was checked by itself. */
  readonly partitions: number;
  readonly violations: readonly string[];
}

const timeoutMs = 30 * 60_000;

/** @param lines as the checker reads them */
export async function checkHistory(lines: readonly string[]): Promise<HistoryReport> {
  const program = await findProgram('history-checker');
  return JSON.parse(await mustRun(program, [], { input: lines.join('\n'), timeoutMs })) as HistoryReport;
}
