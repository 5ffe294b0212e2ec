/**
 * Measures processes from exec to their end, by the program process-timer, which adds as little
 * time as it can.
 */
import { mustRun } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';

/** The timeout: a peer takes minutes for hundreds of processes. */
const timeoutMs = 600_000;

export interface ProcessCall {
  readonly program: string;
  readonly args?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The text for its stdin; at most 64 KiB. */
  readonly input?: string;
}

export interface TimedProcess {
  readonly ms: number;
  /** Exit status. */
  readonly code: number;
  readonly stdout: string;
}

export interface TimedProcesses {
  /** The time from the first exec to the last end. */
  readonly ms: number;
  /** The results, in the order of the calls. */
  readonly calls: readonly TimedProcess[];
}

/**
 * Runs processes, one after the other or all at once.
 * @throws Error with the output of the first process that fails
 */
export async function timeProcesses(
  calls: readonly ProcessCall[],
  { atOnce = false }: { readonly atOnce?: boolean } = {},
): Promise<TimedProcesses> {
  const timer = await findProgram('process-timer');
  const batch = calls.map(({ program, args = [], env, input = '' }) => {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    return { program, args, env: variables, input };
  });
  const output = await mustRun(timer, [], { input: JSON.stringify({ atOnce, calls: batch }), timeoutMs });
  const timed = JSON.parse(output) as TimedProcesses;
  for (const [index, { code, stdout }] of timed.calls.entries())
    if (code !== 0) throw new Error(`${calls[index]?.program} ended with ${code}: ${stdout}`);
  return timed;
}
