/** The rule which Pods have ended for good, and the grace period of a deletion. Pure. */
import { asNumber, type UntypedJson } from './untyped-json.ts';

/** Kube-OVN's rule about the end of a Pod, by fields of the kubelet. No clock decides. */
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

/** The grace period of a DELETE, 0 in the final DELETE of a kubelet; before, that of the spec. */
export const graceSecondsOf = (metadata: UntypedJson, spec: UntypedJson): number =>
  asNumber(metadata['deletionGracePeriodSeconds']) ?? asNumber(spec['terminationGracePeriodSeconds']) ?? 30;
