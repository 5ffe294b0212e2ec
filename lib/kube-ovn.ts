/**
 * Whether Kube-OVN's own controller runs on a cluster. It keeps the same objects, and two controllers on them corrupt both.
 *
 * It runs when it is seen to renew its Lease, and is away when the Lease stays unchanged for its duration, by our own
 * clock: what time stands in the Lease does not matter. So one look at a held Lease tells nothing yet.
 */

/** Where its Lease is in the Kubernetes API. */
export const kubeOvnLease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-ovn-controller';

/** Of a Lease: only what it says of who holds it. */
export interface SeenLease {
  readonly spec?: {
    readonly holderIdentity?: unknown;
    readonly renewTime?: unknown;
    readonly leaseDurationSeconds?: unknown;
  };
}

/** `runs` says who does, as the first half of a sentence for a person, who must be told what to do. */
export type Sight = 'away' | 'unsure' | { readonly runs: string };

/** Of a Lease that does not say how long it lasts: what Kubernetes' controllers use. */
const usualDurationSeconds = 15;

/** Judges the Lease each time it is looked at, by what was seen of it before; undefined for one that is not there. */
export function kubeOvnJudge(): (lease: SeenLease | undefined) => Sight {
  let seen: { readonly renewal: string; readonly at: number } | undefined;
  return (lease) => {
    const { holderIdentity, renewTime, leaseDurationSeconds } = lease?.spec ?? {};
    const [holder, renewed] = [text(holderIdentity), text(renewTime)];
    if (holder === '') {
      seen = undefined;
      return 'away';
    }
    const renewal = `${holder} ${renewed}`;
    seen ??= { renewal, at: performance.now() };
    if (seen.renewal !== renewal) return { runs: sentence(holder, renewed) };
    const durationMs = (Number(leaseDurationSeconds) || usualDurationSeconds) * 1_000;
    return performance.now() - seen.at > durationMs ? 'away' : 'unsure';
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const sentence = (holder: string, renewed: string): string =>
  `Kube-OVN's controller is running: ${holder} holds the Lease kube-system/kube-ovn-controller (renewed ${renewed}). ` +
  'Two controllers on the same Subnets and IPs corrupt both: stop kube-ovn-controller first';
