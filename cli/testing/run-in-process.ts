/** Runs a command line in the process of a test, with an environment and streams of its own. */
import { runCommandLine } from '../main.ts';

/** The result of a command line. */
export interface CliResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line with this environment. Returns its exit status and output. */
export function runInProcess(args: readonly string[], env: NodeJS.ProcessEnv): Promise<CliResult> {
  const running = previous.then(() => run(args, env));
  previous = running.catch(() => undefined);
  return running;
}

/** The run before: runs follow each other, because the process has one environment and stdout. */
let previous: Promise<unknown> = Promise.resolve();

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<CliResult> {
  const [ownEnv, { exitCode }] = [{ ...process.env }, process];
  const listeners = process.listeners('SIGINT');
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  setEnvironment(env);
  try {
    const status = await runCommandLine(args);
    return { status, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout[Symbol.dispose]();
    stderr[Symbol.dispose]();
    setEnvironment(ownEnv);
    process.exitCode = exitCode;
    for (const listener of process.listeners('SIGINT'))
      if (!listeners.includes(listener)) process.off('SIGINT', listener);
  }
}

/** Sets each variable in place: Node applies a new time zone only then. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
}

/**
 * Collects what is written to a stream of this process, as a pipe does, until it is disposed of.
 */
function capture(stream: NodeJS.WriteStream) {
  const chunks: string[] = [];
  const { write, isTTY } = stream;
  stream.isTTY = false;
  stream.write = (chunk: string | Uint8Array): boolean => {
    chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return true;
  };
  return {
    text: (): string => chunks.join(''),
    [Symbol.dispose]: (): void => void Object.assign(stream, { write, isTTY }),
  };
}
