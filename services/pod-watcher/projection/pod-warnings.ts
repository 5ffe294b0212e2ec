/** The warnings about a Pod that has its addresses all the same: annotations that cannot be written, and a binding on another Node. */
import type { PodEvent } from '../kubernetes/event-recorder.ts';
import { describeKeys, truncate } from '../limits.ts';
import type { PodPatch } from './pod-annotations.ts';
import type { Pod } from '../kubernetes/objects/pod.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';

/** Keys that Kubernetes never accepts. */
export function rejectedKeysEvent(keys: readonly string[]): PodEvent {
  const message = `Kubernetes accepts no annotation ${describeKeys(keys)}: the Pod has the addresses and does not show them there (ipledger why shows them). Give the network a name of letters, digits, "-" and ".", and the interface a name that ends with a letter or a digit and has no other characters than these and "_"`;
  return { type: 'Warning', reason: 'AnnotationNotPossible', message };
}

/** Patches that the API server rejected, also each by itself. */
export function rejectedPatchEvent(patches: readonly PodPatch[], reason: string): PodEvent {
  const keys = patches.flatMap(({ metadata }) => Object.keys(metadata.annotations));
  const message = `the API server rejected annotation ${describeKeys(keys)}: ${truncate(reason)}. The watcher tries again; correct what rejects it`;
  return { type: 'Warning', reason: 'AnnotationRejected', message };
}

/**
 * Describes the mismatch when the agent of one Node bound an address for a Pod that Kubernetes scheduled to another Node. undefined
 * without a mismatch, or while one of the Nodes is unknown.
 */
export function nodeMismatch(pod: Pod, allocations: readonly HeldAllocation[]): string | undefined {
  // During a live migration, a virtual machine is on two Nodes.
  if (pod.ledgerName !== pod.name) return undefined;
  const elsewhere = allocations.find(
    ({ uid, node }) => uid === pod.ledgerUid && pod.node !== '' && node !== '' && node !== pod.node,
  );
  if (!elsewhere) return undefined;
  return `the agent of node ${elsewhere.node} bound the Pod's address of ${elsewhere.provider}, but the Pod is on node ${pod.node}: start that agent with the name of its own Node`;
}
