/** Runs calls of an attacker again and again, many at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { IpledgerError } from '../../../lib/errors.ts';

/** The pause after a refusal, so that a refused attacker does not only load its own process. */
const refusedPauseMs = 5;

export interface Repetition {
  readonly concurrent: number;
  readonly signal: AbortSignal;
  readonly count: (outcome: string) => void;
}

/**
 * Repeats `send` until the signal is aborted, with this number in progress at a time. Never
 * rejects.
 */
export async function repeat(
  { concurrent, signal, count }: Repetition,
  send: (turn: number) => Promise<unknown>,
): Promise<void> {
  let turn = 0;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await send(turn++);
        count('OK');
      } catch (error) {
        if (signal.aborted) return;
        count(IpledgerError.from(error).code);
        await sleep(refusedPauseMs);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrent }, loop));
}
