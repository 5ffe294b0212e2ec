/** Runs the command line `ipledger` in tests. */
import { join } from 'node:path';
import { runInProcess } from '../../cli/testing/run-in-process.ts';
import type { TlsFiles } from '../../lib/tls/credentials.ts';
import { root } from './paths.ts';
import { type CommandResult, runCommand } from './processes/command.ts';
import { childEnvironment } from './processes/launch.ts';
import { tlsVariables } from './services.ts';

export interface CommandLineOptions {
  readonly allocator?: { readonly endpoint: string };
  readonly tls?: TlsFiles;
  /** The cluster for the verbs that need one. */
  readonly kubeconfig?: string;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command line in this process: the executable takes a second to start. Calls run one after
 * the other.
 */
export async function runIpledger(args: readonly string[], options: CommandLineOptions = {}): Promise<CommandResult> {
  const { status: code, stdout, stderr } = await runInProcess(args, environmentOf(options));
  return { code, stdout, stderr };
}

/** Runs the executable, for calls that have to run at the same time. */
export function executeIpledger(args: readonly string[], options: CommandLineOptions = {}): Promise<CommandResult> {
  return runCommand(join(root, 'cli', 'ipledger'), args, { env: environmentOf(options) });
}

function environmentOf({ allocator, tls, kubeconfig, env }: CommandLineOptions): NodeJS.ProcessEnv {
  return childEnvironment({
    HOME: '', // the command line must not read a developer's kubeconfig
    ...(allocator && { IPLEDGER_ENDPOINT: allocator.endpoint }),
    ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
    ...tlsVariables(tls),
    ...env,
  });
}
