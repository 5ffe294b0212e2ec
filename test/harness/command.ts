/** Other programs, run to their end. */
import { execFile } from 'node:child_process';

const outputLimitBytes = 64 << 20;
const defaultTimeoutMs = 60_000;

export interface CommandOptions {
  /** Written to its stdin, which is then closed. */
  readonly input?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  /** It is killed after this time (default one minute). */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface CommandResult {
  /** Exit status; 128 + the signal's number is not made up: a killed program has -1. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program and says how it ended, whatever its exit status.
 * @throws Error when it can't be started, was killed (also after `timeoutMs`), or `signal` was aborted.
 */
export function runCommand(
  program: string,
  args: readonly string[],
  { input, env, folder, timeoutMs = defaultTimeoutMs, signal }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const options = {
      env: env ?? process.env,
      cwd: folder,
      timeout: timeoutMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: outputLimitBytes,
      signal,
    };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else if (error?.killed === true && signal?.aborted !== true)
        reject(
          new Error(`${describe(program, args)}: killed after ${timeoutMs} ms\n${tail(stderr)}`, { cause: error }),
        );
      else reject(new Error(`${describe(program, args)}: ${error?.message ?? 'killed'}`, { cause: error }));
    });
    // A program that ends without reading its input closes the pipe: no error of ours.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/**
 * Runs a program that has to succeed; gives its stdout.
 * @throws Error with the command and its last lines of stderr when it exits with anything but 0, and as `runCommand`.
 */
export async function mustRun(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(program, args, options);
  if (code !== 0) throw new Error(`${describe(program, args)}: exit ${code}\n${tail(stderr || stdout)}`);
  return stdout;
}

function describe(program: string, args: readonly string[]): string {
  const text = [program, ...args].join(' ');
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function tail(text: string): string {
  return text.trimEnd().split('\n').slice(-15).join('\n');
}
