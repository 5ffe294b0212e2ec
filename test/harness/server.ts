/** A real server that belongs to a run: it can be killed, frozen and started again on its port, and ends with the run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment, type Launch, untilReady } from './launch.ts';
import type { Run } from './run.ts';

const stopWithinMs = 10_000;

export interface Server {
  readonly name: string;
  /** Its log, of all its starts. */
  readonly log: string;
  /** Of the present process, or the last one. */
  readonly pid: number;
  readonly alive: boolean;
  /** Starts it again after a kill or stop, with the same arguments, port and data; resolves when it is ready. */
  start(): Promise<void>;
  /** Like a power cut: SIGKILL, resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL after 10 s; resolves when it is gone. */
  stop(): Promise<void>;
  /** kill and start. */
  restart(): Promise<void>;
  /** SIGSTOP: it is there and answers nothing, until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a server in the run's folder and resolves when it is ready.
 * @throws Error with the end of its log when it does not get ready.
 */
export async function startServer(run: Run, launch: Launch): Promise<Server> {
  const log = join(run.folder, `${launch.name}.log`);
  let child: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();

  const isAlive = (): boolean => child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const pid = (): number => {
    const started = child?.pid ?? 0;
    return (launch.waitsForChild === true && childOf(started)) || started;
  };
  const send = (signal: NodeJS.Signals): void => {
    if (isAlive()) signalTo(pid(), signal);
  };

  const server: Server = {
    name: launch.name,
    log,
    get pid() {
      return pid();
    },
    get alive() {
      return isAlive();
    },
    async start() {
      if (isAlive()) throw new Error(`${launch.name} runs already`);
      const started = spawnTied(launch, log);
      child = started;
      gone = new Promise((resolve) => started.once('exit', () => resolve()).once('error', () => resolve()));
      await untilReady({ launch, log, isAlive, signal: run.signal });
    },
    async kill() {
      send('SIGKILL');
      child?.ref();
      await gone;
    },
    async stop() {
      send('SIGTERM');
      child?.ref();
      const late = setTimeout(() => send('SIGKILL'), stopWithinMs);
      await gone;
      clearTimeout(late);
    },
    async restart() {
      await server.kill();
      await server.start();
    },
    freeze: () => send('SIGSTOP'),
    thaw() {
      send('SIGCONT');
      child?.kill('SIGCONT'); // who waits for a child stops with it
    },
  };
  // Nothing that a run leaves behind is worth a graceful end: its data goes with it.
  run.onEnd(() => server.kill());
  await server.start();
  return server;
}

/**
 * `setpriv` asks the kernel to kill it when our thread dies, then becomes the server (same pid): it can't outlive us,
 * even if we are SIGKILLed. A session of its own keeps a Ctrl-C, meant for us, from reaching it before our clean-up does.
 */
function spawnTied({ program, args, env }: Launch, log: string): ChildProcess {
  const output = openSync(log, 'a');
  try {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      env: childEnvironment(env),
      stdio: ['ignore', output, output],
      detached: true,
    });
    child.unref(); // a suite that forgets to end its run must not hang for it
    return child;
  } finally {
    closeSync(output);
  }
}

/** The first child of a process; undefined when it has none (yet). */
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
    // It may end by itself between look and shot.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
