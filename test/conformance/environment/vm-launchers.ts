/**
 * Pods that share one address, like the two Pods of a virtual machine during a live migration. The
 * watcher's own rules decide their identity in the ledger, and which of them is the last.
 */
import { virtualMachineKind } from '../../../lib/kubernetes/pod-identity.ts';
import { asVirtualMachine } from '../../../services/pod-watcher/kubernetes/launcher-verifier.ts';
import { LedgerPods, ledgerKeyOf } from '../../../services/pod-watcher/kubernetes/ledger-pods.ts';
import type { ObjectChange } from '../../../lib/kubernetes/client/informer.ts';
import { type Pod, toPod } from '../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { type Fields, textOf } from '../../harness/json.ts';

const machine = { apiVersion: 'kubevirt.io/v1', kind: virtualMachineKind, name: 'vm', uid: 'uid-of-vm' };

export interface VmLaunchers {
  /** The Pod "namespace/name", if it is a launcher. */
  launcherOf(pod: string): Pod | undefined;
  /** Adds the Pod if it is a launcher. */
  add(pod: string): void;
  /** Removes a launcher; returns whether another launcher of its machine exists. */
  remove(pod: string): boolean;
  /** The name of the Pod of a ledger owner `holder` ("namespace/name"). */
  visiblePodOf(holder: string): string;
}

/** @param steps steps in which `checkConflict: false` marks the Pods that share an address */
export function parseVmLaunchers(steps: readonly Fields[]): VmLaunchers {
  const shared = new Set(steps.filter((step) => step['checkConflict'] === false).map(({ ip }) => textOf(ip)));
  const names = new Set(steps.filter(({ ip }) => shared.has(textOf(ip))).map(({ pod }) => textOf(pod)));
  const objects = new Map<string, Pod>();
  let notify: (change: ObjectChange<Pod>) => void = () => undefined;
  const pods = new LedgerPods({ objects, subscribe: (listener) => (notify = listener) });
  const podOf = (key: string): Pod | undefined => {
    if (!names.has(key)) return undefined;
    const [namespace = '', name = ''] = key.split('/');
    const ownerReferences = [{ ...machine, controller: true }];
    const pod = toPod({ metadata: { namespace, name, uid: `uid-of-${name}`, ownerReferences } });
    return asVirtualMachine({ ...pod, assertedMachine: pod.controller });
  };
  return {
    launcherOf: podOf,
    add(key) {
      const pod = podOf(key);
      if (!pod) return;
      objects.set(key, pod);
      notify({ kind: 'present', object: pod, before: undefined });
    },
    remove(key) {
      const pod = objects.get(key);
      if (!pod) return false;
      objects.delete(key);
      notify({ kind: 'gone', object: pod, witnessed: true });
      return pods.has(ledgerKeyOf(pod));
    },
    visiblePodOf(holder) {
      const pod = pods.get(holder);
      return pod ? `${pod.namespace}/${pod.name}` : holder;
    },
  };
}
