/** The CLI as a person runs it. */
import { join } from 'node:path';
import { type CommandResult, runCommand } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';

const withinMs = 60_000;

/** Runs `ipledger` with these arguments. */
export const ipledger = (args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  runCommand(join(root, 'cli/ipledger'), args, { env: childEnvironment(env), signal: AbortSignal.timeout(withinMs) });
