/** The Events about annotations that cannot be written. The Pod has its addresses all the same. */
import type { PodEvent } from '../kubernetes/event-recorder.ts';
import { truncate } from '../limits.ts';
import type { PodPatch } from './pod-annotations.ts';

const maxKeys = 4;

/** Keys that Kubernetes never accepts. */
export function rejectedKeysEvent(keys: readonly string[]): PodEvent {
  const message = `Kubernetes accepts no annotation ${describe(keys)}: the Pod has the addresses and does not show them there (ipledger why shows them). Give the network a name of letters, digits, "-" and ".", and the interface a name that ends with a letter or a digit and has no other characters than these and "_"`;
  return { type: 'Warning', reason: 'AnnotationNotPossible', message };
}

/** Patches that the API server rejected, also each by itself. */
export function rejectedPatchEvent(patches: readonly PodPatch[], reason: string): PodEvent {
  const keys = patches.flatMap(({ metadata }) => Object.keys(metadata.annotations));
  const message = `the API server rejected annotation ${describe(keys)}: ${truncate(reason)}. The watcher tries again; correct what rejects it`;
  return { type: 'Warning', reason: 'AnnotationRejected', message };
}

function describe(keys: readonly string[]): string {
  const rest = keys.length > maxKeys ? ` and ${keys.length - maxKeys} more` : '';
  return (
    keys
      .slice(0, maxKeys)
      .map((key) => truncate(key))
      .join(', ') + rest
  );
}
