/** Network namespaces of sandboxes: whether they exist, and commands in them. Needs root. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { IpledgerError } from '../../lib/errors.ts';

/**
 * Rejects a runtime's path to the node's own namespace, to protect the node's links and routes.
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

/** The place of a sandbox's network namespace, as the agent saw it. */
export interface NamespacePlace {
  /** The path; '' if it is not known. */
  readonly netns: string;
  /** The folder of the namespace as `device:inode:birth`; '' if it was never seen there. */
  readonly netnsFolder: string;
}

/** Cuts paths in evidence: usual paths have 60 characters, and the allocator accepts 1,024. */
const maxShownPath = 256;

export type NamespaceState = 'exists' | 'deleted' | 'unknown';

/** Records where a namespace is, so that its absence can be proven later. Excludes /proc. */
export function locateNamespace(netns: string): NamespacePlace {
  const isFile = isAbsolute(netns) && !netns.startsWith('/proc/');
  return { netns, netnsFolder: isFile && statOf(netns) ? folderOf(netns) : '' };
}

/**
 * Whether a sandbox exists, judged by the place of its network namespace. Only the folder in which
 * the namespace was seen proves its deletion: a path may also be missing because that folder was
 * unmounted, replaced, or hidden by another mount, or the agent runs in another container. A path
 * that another sandbox uses again counts as existing.
 */
export function namespaceState({ netns, netnsFolder }: NamespacePlace): NamespaceState {
  if (netnsFolder === '') return 'unknown';
  try {
    if (statOf(netns)) return 'exists';
    return folderOf(netns) === netnsFolder ? 'deleted' : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** Describes the evidence of a deleted sandbox. */
export const describeDeletion = ({ netns }: NamespacePlace): string =>
  `its network namespace ${netns.slice(0, maxShownPath)} is deleted`;

const statOf = (path: string) => statSync(path, { throwIfNoEntry: false, bigint: true });

/** Identifies the folder of a path by inode and birth; '' if it is absent or removed. */
function folderOf(path: string): string {
  const folder = statOf(dirname(path));
  return folder && folder.nlink > 0n ? `${folder.dev}:${folder.ino}:${folder.birthtimeNs}` : '';
}

const run = promisify(execFile);

export interface CommandOptions {
  /** The text for stdin. */
  readonly input?: string;
  readonly signal: AbortSignal;
}

/** A command failed, or was killed because its signal was aborted. Has its output. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly stdout: string;

  /** @param message stderr, or the reason why the command did not run */
  constructor(message: string, stdout: string, options: ErrorOptions) {
    super(message, options);
    this.stdout = stdout;
  }
}

/**
 * Runs a command without a shell. Returns its stdout. Settles after the end of the process, so that
 * an undo follows all that the command did: a killed process completes the call that it is in.
 * @throws CommandError
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  { input = '', signal }: CommandOptions,
): Promise<string> {
  const running = run(program, args, { signal, killSignal: 'SIGKILL', maxBuffer: 16 << 20 });
  const { stdin } = running.child;
  const ended = new Promise((resolve) => running.child.once('exit', resolve));
  stdin?.on('error', () => undefined); // ignores a command that ended before it read its input: its status has the reason
  stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    if (running.child.pid !== undefined) await ended;
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new CommandError(stderr.trim() || String(error), stdout, { cause: error });
  }
}
