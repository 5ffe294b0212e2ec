/** Runs the program for its specs: in this process, or as an executable. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type CliResult, runInProcess } from './run-in-process.ts';

export type { CliResult } from './run-in-process.ts';

/** The executable. */
export const ipledgerPath = join(import.meta.dirname, '../ipledger');

/** The environment without settings for ipledger and Kubernetes, in UTC. */
export function cleanEnvironment(added: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(IPLEDGER_|KUBE|HOME$)/.test(name));
  return { ...Object.fromEntries(inherited), TZ: 'UTC', ...added };
}

/** Runs a command line in this process, which is faster than the executable. */
export const runProgram = (args: readonly string[], added?: Record<string, string>): Promise<CliResult> =>
  runInProcess(args, cleanEnvironment(added));

/** Runs the executable, or another program. */
export function startProgram(
  args: readonly string[],
  added?: Record<string, string>,
  program = ipledgerPath,
): Promise<CliResult> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { env: cleanEnvironment(added), maxBuffer: 64 << 20 },
      (_error, stdout, stderr) => {
        resolve({ status: child.exitCode ?? -1, stdout, stderr });
      },
    );
  });
}
