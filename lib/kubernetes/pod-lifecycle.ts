/** Decides when a Pod has ended for good, and reads the grace period of a deletion. */
import { asNumber, type UntypedJson } from './untyped-json.ts';

/** Applies Kube-OVN's rule for the end of a Pod, which uses fields of the kubelet, and no clock. */
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

/** The grace period of a deletion: 0 in the kubelet's final DELETE, before that the spec's. */
export const graceSecondsOf = (metadata: UntypedJson, spec: UntypedJson): number =>
  asNumber(metadata['deletionGracePeriodSeconds']) ?? asNumber(spec['terminationGracePeriodSeconds']) ?? 30;
