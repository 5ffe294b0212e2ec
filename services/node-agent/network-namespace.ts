/** Network namespaces of sandboxes: the check that one is not the node's own, or is deleted; and commands on links. Needs root. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { IpledgerError } from '../../lib/errors.ts';

/**
 * Protects the node's own links and routes from a runtime that names the node's namespace.
 * @throws IpledgerError SANDBOX_FAILED
 */
export async function rejectHostNamespace(netns: string): Promise<void> {
  const sandbox = await stat(netns).catch((error: unknown) => {
    throw new IpledgerError('SANDBOX_FAILED', `network namespace ${JSON.stringify(netns)}: ${String(error)}`);
  });
  const own = await stat('/proc/self/ns/net');
  if (sandbox.dev === own.dev && sandbox.ino === own.ino)
    throw new IpledgerError('SANDBOX_FAILED', `network namespace ${netns} is the node's own`);
}

/**
 * Whether a sandbox is deleted, by the path of its network namespace. Not for '': unknown.
 * @param exists whether a path exists
 */
export function isNamespaceDeleted(netns: string, exists: (path: string) => boolean = existsSync): boolean {
  // A folder that is absent may be one that is not mounted in this container
  return netns !== '' && !exists(netns) && exists(dirname(netns));
}

const run = promisify(execFile);

export interface CommandOptions {
  /** Written to stdin. */
  readonly input?: string;
  readonly signal: AbortSignal;
}

/** The output of a command that failed, or was killed when its signal was aborted. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly stdout: string;

  /** @param message stderr, or the reason why the command did not run */
  constructor(message: string, stdout: string, options: ErrorOptions) {
    super(message, options);
    this.stdout = stdout;
  }
}

/** Runs a command without a shell. Returns its stdout. @throws CommandError */
export async function runCommand(
  program: string,
  args: readonly string[],
  { input = '', signal }: CommandOptions,
): Promise<string> {
  const running = run(program, args, { signal, killSignal: 'SIGKILL', maxBuffer: 1 << 20 });
  const { stdin } = running.child;
  stdin?.on('error', () => undefined); // the command ended before it read its input, and its status has the reason
  stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new CommandError(stderr.trim() || String(error), stdout, { cause: error });
  }
}
