/**
 * Random kills: one server, sometimes two, is killed with SIGKILL and started again shortly after.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../harness/processes/server.ts';
import type { SeededRandom } from './seeded-random.ts';

const maxDeadMs = 2_000;
const pollMs = 20;

export interface KillPlan {
  /** The number of kills; all servers have an equal share, in random order. */
  readonly kills: number;
  /** The progress of the work, from 0 to 1. */
  readonly progress: () => number;
  /** Resolves when these servers may be killed. */
  readonly mayKill: (victims: readonly Server[]) => Promise<void>;
}

/**
 * Kills servers during a work, at random points of its progress. All servers run when it resolves.
 * @param note logs each kill and start
 */
export async function killRandomly(
  servers: readonly Server[],
  random: SeededRandom,
  { kills, progress, mayKill }: KillPlan,
  note: (what: string) => void,
): Promise<void> {
  const moments = Array.from({ length: kills }, () => random.nextInt(1_000) / 1_000).sort((a, b) => a - b);
  let remaining: Server[] = [];
  while (moments.length > 0) {
    if (progress() < (moments[0] as number)) {
      await sleep(pollMs);
      continue;
    }
    if (remaining.length === 0) remaining = random.shuffle(servers);
    const victims = remaining.splice(0, random.nextBoolean(0.3) ? 2 : 1);
    moments.splice(0, victims.length);
    await mayKill(victims);
    const names = victims.map(({ name }) => name).join(' and ');
    note(`kill -9 ${names}`);
    await Promise.all(victims.map((server) => server.kill()));
    await sleep(random.nextInt(maxDeadMs));
    await Promise.all(victims.map((server) => server.start()));
    note(`${names} started again`);
  }
}
