/** The rule which Pods have ended for good, and the grace period of a deletion. Pure. */
import { asNumber, type UntypedJson } from './untyped-json.ts';

/** Kube-OVN's rule, so that addresses are released when its users expect it. The kubelet reports these fields; no clock decides. */
export function hasCompleted({
  phase,
  restartPolicy,
  reason,
}: {
  readonly phase: string;
  readonly restartPolicy: string;
  readonly reason: string;
}): boolean {
  if (phase === 'Failed') return restartPolicy === 'Never' || reason === 'Evicted';
  return phase === 'Succeeded' && restartPolicy !== 'Always';
}

/** Each DELETE sets its own grace period; the final DELETE of a kubelet sets 0. The one of the spec applies before. */
export const graceSecondsOf = (metadata: UntypedJson, spec: UntypedJson): number =>
  asNumber(metadata['deletionGracePeriodSeconds']) ?? asNumber(spec['terminationGracePeriodSeconds']) ?? 30;
