/**
 * Kubernetes Events that say why a Pod waits. Reasons and the form `stage=… error=…` are Kube-OVN's, which people and
 * alerts know.
 */
import type { IpledgerError } from '../../../lib/errors.ts';
import type { Allocation } from '../../../proto/ipledger.ts';
import type { Happening } from '../kubernetes/events.ts';
import type { Pod } from '../kubernetes/objects.ts';
import type { Plan } from './plan.ts';

type Said = Pick<Happening, 'type' | 'reason' | 'message'>;

/** The plan has problems: nothing was asked for. */
export function cannotAsk({ problems }: Pick<Plan, 'problems'>): Said {
  const own = problems.every(({ about }) => about === 'request');
  const texts = [...new Set(problems.map(({ text }) => text))];
  const rest = texts.length > 1 ? `; nothing is allocated until all ${texts.length} are solved` : '';
  return {
    type: 'Warning',
    reason: own ? 'ValidatePodNetworkFailed' : 'PodNetworkUpdateFailed',
    message: `stage=${own ? 'validatePodNetwork' : 'getPodKubeovnNets'} error=${texts.join('; ')}${rest}`,
  };
}

/** Another Pod holds addresses under the name by which the ledger knows this one. */
export function takenName({ ledgerName }: Pod, namesake: Pod): Pick<Plan, 'problems'> {
  const whose = namesake.ledgerName === namesake.name ? 'a Pod' : 'a virtual machine';
  const text = `the name ${ledgerName} belongs to ${whose} (Pod ${namesake.name}), which has addresses under it: give one of them another name`;
  return { problems: [{ about: 'world', text }] };
}

/** The allocator said no, or did not answer. */
export function refused(error: IpledgerError, { attachments }: Plan): Said {
  const named = attachments.map(({ provider = '', ordinal = 0 }) => `${provider}${ordinal > 0 ? `#${ordinal}` : ''}`);
  const remedy = error.code === 'NAMESPACE_QUOTA_EXCEEDED' ? 'the Pod waits until then' : remedies[error.kind];
  return {
    type: 'Warning',
    reason: 'AcquireAddressFailed',
    message: `stage=acquireAddress provider=${named.join(',')} error=${shortened(error.message)}; ${remedy}`,
  };
}

/** An Event holds 1,024 characters; what to do must not be cut off with the end of a long list of reasons. */
function shortened(message: string): string {
  return message.length <= 800 ? message : `${message.slice(0, 800)}…`;
}

const remedies: Record<IpledgerError['kind'], string> = {
  transient: 'it is asked again',
  invalid: 'correct the annotations, or the Subnet',
  conflict: 'the Pod waits until that changes, or ask for something else',
  exhausted: 'the Pod waits until one is free',
  damaged: 'an operator must look at the ledger',
  bug: 'an operator must look at the log of the allocator',
};

/** The Pod had to wait, and has its addresses now. */
export function allocatedAfterAll(allocations: readonly Allocation[]): Said {
  const given = allocations.map(({ subnet, addresses, mac, attachment }) => {
    const ip = addresses.map(({ address }) => address).join(',');
    return `subnet=${subnet} ip=${ip} mac=${mac} provider=${attachment?.provider ?? ''}`;
  });
  return { type: 'Normal', reason: 'PodNetworkAllocated', message: given.join('; ') };
}

/** Some of the Pod's networks are not served here. What the Pod cannot have comes first. */
export function notServed({ notes }: Pick<Plan, 'notes'>): Said {
  const warnings = notes.filter(({ type }) => type === 'Warning');
  const others = notes.filter(({ type }) => type === 'Normal');
  return {
    type: warnings.length > 0 ? 'Warning' : 'Normal',
    reason: 'PodNetworkNotServed',
    message: [...warnings, ...others].map(({ text }) => text).join('; '),
  };
}

/** The Pod's networks are served, and something about them will be wrong on the node. */
export function warned({ warnings }: Plan): Said {
  return { type: 'Warning', reason: 'PodNetworkMacNotInResult', message: warnings.join('; ') };
}
