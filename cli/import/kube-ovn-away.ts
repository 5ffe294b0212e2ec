/** Nobody takes over what somebody else is at work on. */
import { pause } from '../../lib/deadline.ts';
import { kubeOvnJudge, kubeOvnLease } from '../../lib/kube-ovn.ts';
import { Failure } from '../failure.ts';
import type { Kubernetes } from '../kubernetes.ts';

const lookAgainMs = 1_000;

/**
 * Resolves when Kube-OVN's controller is known to be away; a Lease that it left behind takes as long as it lasts.
 * @throws Failure when it runs.
 */
export async function kubeOvnAway({ get }: Pick<Kubernetes, 'get'>, signal: AbortSignal): Promise<void> {
  const judge = kubeOvnJudge();
  for (;;) {
    const sight = judge(await get(kubeOvnLease));
    if (sight === 'away') return;
    if (sight !== 'unsure') throw new Failure('refused', `${sight.runs}, then import`);
    await pause(lookAgainMs, signal);
    signal.throwIfAborted();
  }
}
