/** How a server is started, as data: the same for one that ends with a test and for one that `make up` leaves running. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 50;
const probeTimeoutMs = 2_000;
const tailBytes = 8_192;
const tailLines = 15;

export interface Launch {
  /** Names its log and pid file. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** On top of a clean environment; see `childEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Set when the program only starts the server, as a child, and waits for its end: then signals are for the child. */
  readonly waitsForChild?: boolean;
  /** Resolves when it serves; throws, saying what it saw, while it does not. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly readyWithinMs: number;
}

/** What a terminal that sourced the env file of `make up` has set; a server started here must not take it for its own. */
const foreign = /^(IPLEDGER_|ETCDCTL_|CNI_|KUBE|NETCONFPATH$)/;

/** Our environment without what would point a child at somebody else's servers, and with `own`. */
export function childEnvironment(own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(inherited), ...own };
}

export interface Awaited {
  readonly launch: Launch;
  readonly log: string;
  readonly isAlive: () => boolean;
  readonly signal: AbortSignal;
}

/**
 * Waits until a started server is ready.
 * @throws Error with the last lines of its log when it ends meanwhile or is not ready in time; at once on abort.
 */
export async function untilReady({ launch, log, isAlive, signal }: Awaited): Promise<void> {
  const deadline = Date.now() + launch.readyWithinMs;
  for (;;) {
    signal.throwIfAborted();
    if (!isAlive()) throw new Error(`${launch.name} ended while starting; ${log} ends with\n${logTail(log)}`);
    try {
      await launch.ready(AbortSignal.any([signal, AbortSignal.timeout(probeTimeoutMs)]));
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        const seen = error instanceof Error ? error.message : String(error);
        const late = `${launch.name} is not ready after ${launch.readyWithinMs / 1_000} s (${seen})`;
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
