/**
 * A server process that ends with its run. Tests can kill, freeze and restart it on the same port.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment, type Launch, waitUntilReady } from './launch.ts';
import { tiedCommand } from './parent-death.ts';
import type { Run } from '../run.ts';

const stopWithinMs = 10_000;

export interface Server {
  readonly name: string;
  /** Log file of all its starts. */
  readonly log: string;
  /** Pid of the present process, or of the last one. */
  readonly pid: number;
  readonly isAlive: boolean;
  /** Starts it again with the same arguments, port and data. Resolves when it is ready. */
  start(): Promise<void>;
  /** Sends SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and SIGKILL after 10 s. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Kills and starts it. */
  restart(): Promise<void>;
  /** Sends SIGSTOP: it does not answer until `resume`. */
  freeze(): void;
  resume(): void;
}

/**
 * Starts a server with its log in the folder of the run. Resolves when it is ready.
 * @throws Error with the end of its log if it does not become ready.
 */
export async function startServer(run: Run, launch: Launch): Promise<Server> {
  const log = join(run.folder, `${launch.name}.log`);
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();

  const isAlive = (): boolean => child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const pid = (): number => {
    const started = child?.pid ?? 0;
    return (launch.waitsForChild === true && childOf(started)) || started;
  };
  const send = (signal: NodeJS.Signals): void => {
    if (isAlive()) signalTo(pid(), signal);
  };

  /**
   * nsenter stops itself when its child is stopped, perhaps after the child goes on. Then it would
   * not see the child's end.
   */
  const wakeParent = (): void => {
    if (launch.waitsForChild === true) child?.kill('SIGCONT');
  };

  const server: Server = {
    name: launch.name,
    log,
    get pid() {
      return pid();
    },
    get isAlive() {
      return isAlive();
    },
    async start() {
      if (isAlive()) throw new Error(`${launch.name} runs already`);
      const started = spawnTied(launch, log);
      child = started;
      ended = new Promise((resolve) => started.once('exit', () => resolve()).once('error', () => resolve()));
      await waitUntilReady({ launch, log, isAlive, signal: run.signal });
    },
    async kill() {
      send('SIGKILL');
      wakeParent();
      child?.ref();
      await ended;
    },
    async stop() {
      send('SIGTERM');
      wakeParent();
      child?.ref();
      const killLate = (): void => {
        send('SIGKILL');
        wakeParent();
      };
      const late = setTimeout(killLate, stopWithinMs);
      await ended;
      clearTimeout(late);
    },
    async restart() {
      await server.kill();
      await server.start();
    },
    freeze: () => send('SIGSTOP'),
    resume() {
      send('SIGCONT');
      wakeParent();
    },
  };
  // SIGKILL is enough, because the data of the run is removed; but a profile is written by a
  // program that stops
  run.onEnd(() => (process.env['PROFILE_FOLDER'] ? server.stop() : server.kill()));
  await server.start();
  return server;
}

/**
 * Starts the server, which cannot outlive this process. In its own session, it does not receive
 * Ctrl-C before the cleanup.
 */
function spawnTied({ program, args, env }: Launch, log: string): ChildProcess {
  const output = openSync(log, 'a');
  try {
    const child = spawn(...tiedCommand(program, args), {
      env: childEnvironment(env),
      stdio: ['ignore', output, output],
      detached: true,
    });
    child.unref(); // a suite without `end()` must not hang
    return child;
  } finally {
    closeSync(output);
  }
}

/** Returns the first child of a process; undefined if it has none yet. */
function childOf(pid: number): number | undefined {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process may end between the check and the signal
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
