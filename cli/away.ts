/** Nobody takes over, or takes away, what somebody else is at work on. */
import { pause } from '../lib/deadline.ts';
import { leaseJudge, type Sight } from '../lib/lease.ts';
import { Failure } from './failure.ts';
import type { Kubernetes } from './kubernetes.ts';

const lookAgainMs = 1_000;

/** A Lease, and what to say while somebody renews it. */
export interface Watched {
  /** Its path in the API. */
  readonly lease: string;
  readonly says: (atWork: Exclude<Sight, string>) => string;
}

/**
 * Resolves when nobody who holds the Lease is at work; one that was left behind takes as long as it lasts.
 * @throws Failure when somebody is.
 */
export async function away(
  { get }: Pick<Kubernetes, 'get'>,
  { lease, says }: Watched,
  signal: AbortSignal,
): Promise<void> {
  const judge = leaseJudge();
  for (;;) {
    const sight = judge(await get(lease));
    if (sight === 'away') return;
    if (sight !== 'unsure') throw new Failure('refused', says(sight));
    await pause(lookAgainMs, signal);
    signal.throwIfAborted();
  }
}
