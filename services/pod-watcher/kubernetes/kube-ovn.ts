/**
 * Whether Kube-OVN's own controller runs on this cluster. It keeps the same objects, and two controllers on them corrupt
 * both.
 *
 * It runs when it is seen to renew its Lease, and is away when the Lease stays unchanged for its duration, by our own
 * clock: what time stands in the Lease does not matter. So one look at a held Lease tells nothing yet.
 */
import { type Api, ApiError } from './api.ts';
import { holder, leases } from './lease.ts';
import { objectPath, read } from './patch.ts';
import { type Raw, record, text } from './raw.ts';

/** `runs` says who does, and what to do, as a sentence for a person. */
export type Sight = 'away' | 'unsure' | { readonly runs: string };

const [namespace, name] = ['kube-system', 'kube-ovn-controller'];
/** Of a Lease that does not say how long it lasts: what Kubernetes' controllers use. */
const usualDurationSeconds = 15;

/** Looks each time it is called, and judges by what it saw before. It throws ApiError. */
export function kubeOvnObserver(api: Api): (signal: AbortSignal) => Promise<Sight> {
  let seen: { readonly renewal: string; readonly at: number } | undefined;
  return async (signal) => {
    const lease = await readLease(api, signal);
    if (!lease || holder(lease) === '') {
      seen = undefined;
      return 'away';
    }
    const spec = record(lease['spec']);
    const renewal = `${holder(lease)} ${text(spec['renewTime'])}`;
    seen ??= { renewal, at: performance.now() };
    if (seen.renewal !== renewal) return { runs: sentence(lease) };
    const durationMs = (Number(spec['leaseDurationSeconds']) || usualDurationSeconds) * 1_000;
    return performance.now() - seen.at > durationMs ? 'away' : 'unsure';
  };
}

async function readLease(api: Api, signal: AbortSignal): Promise<Raw | undefined> {
  try {
    return record(await read(api, objectPath(leases(namespace), name), signal));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function sentence(lease: Raw): string {
  const renewed = text(record(lease['spec'])['renewTime']);
  return (
    `Kube-OVN's controller is running: ${holder(lease)} holds the Lease ${namespace}/${name} (renewed ${renewed}). ` +
    'Two controllers on the same Subnets and IPs corrupt both: stop kube-ovn-controller first, then start this watcher'
  );
}
