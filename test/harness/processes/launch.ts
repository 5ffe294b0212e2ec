/** The launch of a server as data, for tests and for `make up`. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 50;
const probeTimeoutMs = 2_000;
const tailBytes = 8_192;
const tailLines = 15;

export interface Launch {
  /** Name of its log and pid file. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Additional variables; see `childEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the program waits for the server, its child. Signals then go to the child. */
  readonly waitsForChild?: boolean;
  /** Resolves if the server is ready. Throws the reason if it is not. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly readyWithinMs: number;
}

/** Variables of the env file of `make up`. A server of a test must not inherit them. */
const foreign = /^(IPLEDGER_|ETCDCTL_|CNI_|KUBE|NETCONFPATH$)/;

/** The environment of this process without the variables of other servers, and with `own`. */
export function childEnvironment(own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(inherited), ...own };
}

export interface ReadinessWait {
  readonly launch: Launch;
  readonly log: string;
  readonly isAlive: () => boolean;
  readonly signal: AbortSignal;
}

/**
 * Waits until a started server is ready.
 * @throws Error with the last lines of its log if it ends or is not ready in time; immediately on
 * abort.
 */
export async function waitUntilReady({ launch, log, isAlive, signal }: ReadinessWait): Promise<void> {
  const deadline = Date.now() + launch.readyWithinMs;
  for (;;) {
    signal.throwIfAborted();
    if (!isAlive()) throw new Error(`${launch.name} ended while starting; ${log} ends with\n${logTail(log)}`);
    try {
      await launch.ready(AbortSignal.any([signal, AbortSignal.timeout(probeTimeoutMs)]));
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        const reason = error instanceof Error ? error.message : String(error);
        const late = `${launch.name} is not ready after ${launch.readyWithinMs / 1_000} s (${reason})`;
        throw new Error(`${late}; ${log} ends with\n${logTail(log)}`, { cause: error });
      }
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** The last lines of a log. */
export function logTail(log: string): string {
  if (!existsSync(log)) return '(nothing)';
  const file = openSync(log, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').trimEnd().split('\n').slice(-tailLines).join('\n');
  } finally {
    closeSync(file);
  }
}
