/** Runs commands of the documents as printed. */
import { dirname, join } from 'node:path';
import { root } from '../harness/paths.ts';
import { type CommandResult, runCommand } from '../harness/processes/command.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import type { Run } from '../harness/run.ts';

/**
 * Runs commands in a folder of the run, with the command line, kubectl and etcdctl on PATH. Stops
 * at the first failure.
 */
export async function runDocumented(
  run: Run,
  commands: string,
  env: Readonly<Record<string, string>>,
  { shell = 'sh', options = '-euc', folder = run.folder } = {},
): Promise<CommandResult> {
  const programs = await Promise.all((['kubectl', 'etcdctl', 'grpcurl'] as const).map((name) => findProgram(name)));
  const PATH = [join(root, 'cli'), ...programs.map((file) => dirname(file)), process.env['PATH']].join(':');
  const variables = childEnvironment({ HOME: run.folder, PATH, ...env });
  return runCommand(shell, [options, commands], { folder, env: variables, signal: run.signal });
}
