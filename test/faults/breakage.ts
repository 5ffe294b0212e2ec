/** Power cuts at moments that dice choose: one part is killed, sometimes two, and started again a little later. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../harness/server.ts';
import type { Dice } from './dice.ts';

const mostDeadMs = 2_000;
const pollMs = 20;

export interface Breakage {
  /** How many servers are killed; each as often as every other one, in any order. */
  readonly kills: number;
  /** How far the work has come during which it happens, from 0 to 1. */
  readonly progress: () => number;
}

/**
 * Kills servers while a work goes on, spread over the whole of it. All of them run when it resolves.
 * @param note is told what is done
 */
export async function breakThings(
  servers: readonly Server[],
  dice: Dice,
  { kills, progress }: Breakage,
  note: (what: string) => void,
): Promise<void> {
  const moments = Array.from({ length: kills }, () => dice.below(1_000) / 1_000).sort((a, b) => a - b);
  let left: Server[] = [];
  while (moments.length > 0) {
    if (progress() < (moments[0] as number)) {
      await sleep(pollMs);
      continue;
    }
    if (left.length === 0) left = dice.shuffle(servers);
    const victims = left.splice(0, dice.chance(0.3) ? 2 : 1);
    moments.splice(0, victims.length);
    const names = victims.map(({ name }) => name).join(' and ');
    note(`kill -9 ${names}`);
    await Promise.all(victims.map((server) => server.kill()));
    await sleep(dice.below(mostDeadMs));
    await Promise.all(victims.map((server) => server.start()));
    note(`${names} started again`);
  }
}
