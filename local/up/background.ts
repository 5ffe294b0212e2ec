/**
 * Servers that outlive the command that starts them. Each has a pid file and a log in one folder.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment, type Launch, waitUntilReady } from '../../test/harness/processes/launch.ts';
import { readLivingRecord, writePidFile } from './pid-file.ts';

const stopWithinMs = 15_000;
const killWithinMs = 5_000;
const pollMs = 50;

export interface Background {
  readonly pid: number;
  /** Whether the call started the server; false if it was already running. */
  readonly wasStarted: boolean;
}

/**
 * Starts a server unless it runs, and waits until it is ready.
 * @throws Error if it runs with other settings, or does not become ready.
 */
export async function ensureRunning(folder: string, launch: Launch, signal: AbortSignal): Promise<Background> {
  const settings = JSON.stringify([launch.args, launch.env ?? {}]);
  const running = readLivingRecord(pidFile(folder, launch.name));
  if (running && running.settings !== settings)
    throw new Error(`${launch.name} runs with other settings than those requested: run \`make down\` first`);
  const pid = running?.pid ?? startDetached(folder, launch, settings);
  const isAlive = (): boolean => isRunning(folder, launch.name);
  await waitUntilReady({ launch, log: logFile(folder, launch.name), isAlive, signal });
  return { pid, wasStarted: !running };
}

function startDetached(folder: string, { name, program, args, env }: Launch, settings: string): number {
  const output = openSync(logFile(folder, name), 'a');
  try {
    const child = spawn(program, args, {
      env: childEnvironment(env),
      stdio: ['ignore', output, output],
      detached: true,
    });
    child.on('error', () => undefined); // the missing pid shows it
    if (child.pid === undefined) throw new Error(`${name}: cannot start ${program}`);
    child.unref();
    writePidFile(pidFile(folder, name), child.pid, settings);
    return child.pid;
  } finally {
    closeSync(output);
  }
}

export function isRunning(folder: string, name: string): boolean {
  return readLivingRecord(pidFile(folder, name)) !== undefined;
}

/** Names of the running servers of a folder. */
export function runningNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.pid'))
    .map((file) => file.slice(0, -'.pid'.length));
  return names.filter((name) => isRunning(folder, name)).sort();
}

/**
 * Stops a server: SIGTERM, then SIGKILL after 15 s. Returns whether it was running.
 * @throws Error if SIGKILL does not end it.
 */
export async function stopBackground(folder: string, name: string): Promise<boolean> {
  const file = pidFile(folder, name);
  const record = readLivingRecord(file);
  if (record) {
    send(record.pid, 'SIGTERM');
    if (!(await hasEnded(folder, name, stopWithinMs))) send(record.pid, 'SIGKILL');
    if (!(await hasEnded(folder, name, killWithinMs)))
      throw new Error(`${name}: process ${record.pid} does not end after SIGKILL`);
  }
  rmSync(file, { force: true });
  return record !== undefined;
}

async function hasEnded(folder: string, name: string, withinMs: number): Promise<boolean> {
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
    // The process may end between the check and the signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function pidFile(folder: string, name: string): string {
  return join(folder, `${name}.pid`);
}

/** The log file of a server. */
export function logFile(folder: string, name: string): string {
  return join(folder, `${name}.log`);
}
