/** The messages of Events about a Pod, with Kube-OVN's reasons and `stage=… error=…`. */
import { cutMiddle } from '../../../../lib/cut-middle.ts';
import { isStaticIdentity } from '../../../../lib/kubernetes/pod-identity.ts';
import type { IpledgerError } from '../../../../lib/errors.ts';
import type { Allocation } from '../../../../proto/generated/ipledger.ts';
import type { PodEvent } from '../../kubernetes/event-recorder.ts';
import { isLauncher } from '../../kubernetes/launcher-verifier.ts';
import type { Pod } from '../../kubernetes/objects/pod.ts';
import type { PodPlan } from './planning/request-addresses.ts';

/** Reports the problems of a plan that requested nothing. */
export function planProblemEvent({ problems }: Pick<PodPlan, 'problems'>): PodEvent {
  const isOwnFault = problems.every(({ about }) => about === 'request');
  const texts = [...new Set(problems.map(({ text }) => text))];
  const rest = texts.length > 1 ? `; nothing is allocated until all ${texts.length} are solved` : '';
  return {
    type: 'Warning',
    reason: isOwnFault ? 'ValidatePodNetworkFailed' : 'PodNetworkUpdateFailed',
    message: `stage=${isOwnFault ? 'validatePodNetwork' : 'getPodKubeovnNets'} error=${texts.join('; ')}${rest}`,
  };
}

/** Reports another Pod that holds addresses under the name that this Pod has in the ledger. */
export function nameConflictProblem({ ledgerName }: Pod, conflict: Pod): Pick<PodPlan, 'problems'> {
  const holder = conflict.ledgerName === conflict.name ? 'a Pod' : 'a virtual machine';
  const text = `the name ${ledgerName} belongs to ${holder} (Pod ${conflict.name}), which has addresses under it: give one of them another name`;
  return { problems: [{ about: 'cluster', text }] };
}

/** What holds addresses under a name. */
export interface Holder {
  readonly uid: string;
  readonly kind: 'Pod' | 'static Pod' | 'virtual machine';
}

export function kindOf(uid: string, isMachine: boolean): Holder['kind'] {
  if (isMachine) return 'virtual machine';
  return isStaticIdentity(uid) ? 'static Pod' : 'Pod';
}

/**
 * Reports addresses that do not pass between kinds: a mirror has any name, and a virtual machine
 * keeps its addresses while it is stopped.
 */
export function otherKindProblem(pod: Pod, { uid, kind }: Holder): Pick<PodPlan, 'problems'> {
  const later = kindOf(pod.ledgerUid, isLauncher(pod));
  const text = `the name ${pod.ledgerName} has addresses of a ${kind} (uid ${uid}), which are not passed on to a ${later}: wait for their release, or use another name`;
  return { problems: [{ about: 'cluster', text }] };
}

/** Reports that the allocator refused the request, or did not answer. */
export function refusalEvent(error: IpledgerError, { attachments }: PodPlan): PodEvent {
  const providers = attachments.map(
    ({ provider = '', ordinal = 0 }) => `${provider}${ordinal > 0 ? `#${ordinal}` : ''}`,
  );
  const remedy = error.code === 'NAMESPACE_QUOTA_EXCEEDED' ? 'the Pod waits until then' : remedies[error.kind];
  return {
    type: 'Warning',
    reason: 'AcquireAddressFailed',
    message: `stage=acquireAddress provider=${providers.join(',')} error=${cutMiddle(error.message, maxReasonBytes)}; ${remedy}`,
  };
}

/** Reports that the Pod or its namespace has requested too many addresses. */
export function budgetEvent(sentence: string): PodEvent {
  return { type: 'Warning', reason: 'AcquireAddressFailed', message: `stage=acquireAddress error=${sentence}` };
}

/** Limits a reason: an Event has 1,024 bytes, and its remedies must not be cut off. */
const maxReasonBytes = 800;

const remedies: Record<IpledgerError['kind'], string> = {
  transient: 'the watcher tries again',
  invalid: 'correct the annotations, or the Subnet',
  conflict: 'the Pod waits until that changes; or request another address',
  exhausted: 'the Pod waits until one is free',
  damaged: 'an operator must check the ledger',
  bug: 'an operator must read the log of the allocator',
};

/** Reports that a Pod that had to wait has its addresses now. */
export function allocatedEvent(allocations: readonly Allocation[]): PodEvent {
  const texts = allocations.map(({ subnet, addresses, mac, attachment }) => {
    const ip = addresses.map(({ address }) => address).join(',');
    return `subnet=${subnet} ip=${ip} mac=${mac} provider=${attachment?.provider ?? ''}`;
  });
  return { type: 'Normal', reason: 'PodNetworkAllocated', message: texts.join('; ') };
}

/** Reports networks of the Pod that are not served here, warnings first. */
export function unservedEvent({ unserved }: Pick<PodPlan, 'unserved'>): PodEvent {
  const warnings = unserved.filter(({ type }) => type === 'Warning');
  const others = unserved.filter(({ type }) => type === 'Normal');
  return {
    type: warnings.length > 0 ? 'Warning' : 'Normal',
    reason: 'PodNetworkNotServed',
    message: [...warnings, ...others].map(({ text }) => text).join('; '),
  };
}

/** Reports that the Pod's networks are served, but the CNI result will show a wrong MAC. */
export function macWarningEvent({ warnings }: PodPlan): PodEvent {
  return { type: 'Warning', reason: 'PodNetworkMacNotInResult', message: warnings.join('; ') };
}
