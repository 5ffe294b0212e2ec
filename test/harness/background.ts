/** Servers that outlive the command which started them: each has a pid file and a log in one folder. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment, type Launch, untilReady } from './launch.ts';
import { livingRecord, writePidFile } from './pidfile.ts';

const stopWithinMs = 15_000;
const killWithinMs = 5_000;
const pollMs = 50;

export interface Background {
  readonly pid: number;
  /** False when it ran before. */
  readonly started: boolean;
}

/**
 * Makes sure that a server runs and is ready; starts it when it does not.
 * @throws Error when it runs with other settings, or does not get ready.
 */
export async function ensureRunning(folder: string, launch: Launch, signal: AbortSignal): Promise<Background> {
  const settings = JSON.stringify([launch.args, launch.env ?? {}]);
  const running = livingRecord(pidFile(folder, launch.name));
  if (running && running.settings !== settings)
    throw new Error(`${launch.name} runs with other settings than asked for now: run \`make down\` first`);
  const pid = running?.pid ?? startDetached(folder, launch, settings);
  const isAlive = (): boolean => isRunning(folder, launch.name);
  await untilReady({ launch, log: logFile(folder, launch.name), isAlive, signal });
  return { pid, started: !running };
}

function startDetached(folder: string, { name, program, args, env }: Launch, settings: string): number {
  const output = openSync(logFile(folder, name), 'a');
  try {
    const child = spawn(program, args, {
      env: childEnvironment(env),
      stdio: ['ignore', output, output],
      detached: true,
    });
    child.on('error', () => undefined); // the missing pid tells
    if (child.pid === undefined) throw new Error(`${name}: ${program} can't be started`);
    child.unref();
    writePidFile(pidFile(folder, name), child.pid, settings);
    return child.pid;
  } finally {
    closeSync(output);
  }
}

export function isRunning(folder: string, name: string): boolean {
  return livingRecord(pidFile(folder, name)) !== undefined;
}

/** Names of the servers of a folder that run now. */
export function runningNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.pid'))
    .map((file) => file.slice(0, -'.pid'.length));
  return names.filter((name) => isRunning(folder, name)).sort();
}

/**
 * Ends a server: SIGTERM, and SIGKILL when it is still there after 15 s. Gives whether there was something to end.
 * @throws Error when even that does not end it.
 */
export async function stopBackground(folder: string, name: string): Promise<boolean> {
  const file = pidFile(folder, name);
  const record = livingRecord(file);
  if (record) {
    send(record.pid, 'SIGTERM');
    if (!(await isGone(folder, name, stopWithinMs))) send(record.pid, 'SIGKILL');
    if (!(await isGone(folder, name, killWithinMs))) throw new Error(`${name}: process ${record.pid} does not end`);
  }
  rmSync(file, { force: true });
  return record !== undefined;
}

async function isGone(folder: string, name: string, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (isRunning(folder, name)) {
    if (Date.now() > deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may end by itself between look and shot.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function pidFile(folder: string, name: string): string {
  return join(folder, `${name}.pid`);
}

/** Where a server of a folder writes to. */
export function logFile(folder: string, name: string): string {
  return join(folder, `${name}.log`);
}
