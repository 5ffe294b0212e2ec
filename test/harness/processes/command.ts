/** Runs programs until they end. */
import { execFile } from 'node:child_process';

const outputLimitBytes = 64 << 20;
const defaultTimeoutMs = 60_000;

export interface CommandOptions {
  /** The text for its stdin, which is then closed. */
  readonly input?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  /** The time after which it is killed (default: one minute). */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface CommandResult {
  /** Exit status. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program. Returns its exit status and output.
 * @throws Error if it cannot be started, is killed (also after `timeoutMs`), or `signal` is
 * aborted.
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
    // The pipe closes if a program ends without reading its input, which is no error
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/**
 * Runs a program that must succeed. Returns its stdout.
 * @throws Error with the command and the last lines of stderr if the exit status is not 0, and as
 * `runCommand`.
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
