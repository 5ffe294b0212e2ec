/**
 * Whether somebody is at work who holds a Lease. He is when he is seen to renew it, and is away when the Lease stays unchanged
 * for its duration, by our own clock: what time stands in the Lease does not matter. So one look at a held Lease tells nothing yet.
 */

/** Of a Lease: only what it says of who holds it. */
export interface SeenLease {
  readonly spec?: {
    readonly holderIdentity?: unknown;
    readonly renewTime?: unknown;
    readonly leaseDurationSeconds?: unknown;
  };
}

export type Sight = 'away' | 'unsure' | { readonly holder: string; readonly renewed: string };

/** Of a Lease that does not say how long it lasts: what Kubernetes' controllers use. */
const usualDurationSeconds = 15;

/** Judges a Lease each time it is looked at, by what was seen of it before; undefined for one that is not there. */
export function leaseJudge(): (lease: SeenLease | undefined) => Sight {
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
    if (seen.renewal !== renewal) return { holder, renewed };
    const durationMs = (Number(leaseDurationSeconds) || usualDurationSeconds) * 1_000;
    return performance.now() - seen.at > durationMs ? 'away' : 'unsure';
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
