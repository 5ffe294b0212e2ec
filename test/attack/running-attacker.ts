/**
 * Starts an attacker as a process at the lowest priority: a real attacker has its own machine, so
 * it takes no CPU from the ledger. The attacker takes what the ledger leaves idle.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment } from '../harness/processes/launch.ts';
import type { Run } from '../harness/run.ts';
import { type Target, targetVariable } from './target.ts';

const pollMs = 50;

/** Each attacker, with the number of calls after which it is at work: a measurement begins then. */
export const attackers = {
  callAsAgent: { who: 'an agent that lists, waits and sends commands as often as it can', calls: 4_000 },
  streamAsAgent: { who: 'an agent with unfinished messages, and with messages that inflate', calls: 16 },
  callAsViewer: { who: 'a viewer with streams, states of the past and waiting reads', calls: 1_000 },
  callAsWatcher: { who: 'a watcher that allocates and releases as fast as it can', calls: 2_000 },
  connectSilently: { who: 'silent connections to the API and to the health port', calls: 800 },
  callWithoutIdentity: { who: 'calls with large headers and no identity', calls: 60 },
  openHandshakes: { who: 'TLS handshakes of a client without an identity, begun as fast as it can', calls: 500 },
  spoilArchive: { who: 'a writer of the archive that replaces sealed files', calls: 150 },
  spoilArchiveOfBusyLedger: {
    who: 'a writer of the archive that replaces sealed files, a watcher and viewers that send as much as they can',
    calls: 150,
  },
} as const;

export type AttackerName = keyof typeof attackers;

export interface RunningAttacker extends AsyncDisposable {
  readonly pid: number;
  readonly isAtWork: boolean;
  /** The number of its calls by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Starts an attacker, and waits for so many calls. @throws Error if it ends before */
export async function startAttacker(name: AttackerName, target: Target, calls: number): Promise<RunningAttacker> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'attacker.ts'), name], {
    env: childEnvironment({ [targetVariable]: JSON.stringify(target) }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid = 0 } = child;
  setPriority(pid, constants.priority.PRIORITY_LOW);
  const exited = once(child, 'exit');
  let outcomes: Record<string, number> = {};
  createInterface(child.stdout).on('line', (line) => {
    outcomes = JSON.parse(line) as Record<string, number>;
  });
  const attacker: RunningAttacker = {
    pid,
    get isAtWork() {
      return child.exitCode === null && child.signalCode === null;
    },
    get outcomes() {
      return outcomes;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  while (Object.values(outcomes).reduce((sum, each) => sum + each, 0) < calls) {
    if (!attacker.isAtWork) throw new Error(`attacker ${name} ended after ${JSON.stringify(outcomes)}`);
    await sleep(pollMs);
  }
  return attacker;
}

/** Takes this part of a core, as an attacker does, and sends no calls. */
const burn = `
  const [share, startedAt] = [Number(process.argv[1]), performance.now()];
  setInterval(() => {
    while (process.cpuUsage().user < share * 1_000 * (performance.now() - startedAt));
  }, 5);
`;

/**
 * Starts a process with the priority of an attacker that takes this part of a core and sends
 * nothing. It ends with the run.
 */
export function startIdleLoad(run: Run, share: number): void {
  const child = spawn(process.execPath, ['-e', burn, String(share)], { stdio: ['ignore', 'ignore', 'inherit'] });
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
  const exited = once(child, 'exit');
  run.onEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
}
