/**
 * Pods that have one address at a time, as two in which a virtual machine runs while it moves: who they are in the ledger, and when
 * the last of them has gone, the watcher's own rules say.
 */
import { machineKind } from '../../../lib/pod-identity.ts';
import { asMachine } from '../../../services/pod-watcher/kubernetes/launchers.ts';
import { LedgerPods, ledgerKeyOf } from '../../../services/pod-watcher/kubernetes/ledger-pods.ts';
import type { Change } from '../../../services/pod-watcher/kubernetes/list-watch.ts';
import { type Pod, toPod } from '../../../services/pod-watcher/kubernetes/objects.ts';
import { type Fields, textOf } from '../json.ts';

const machine = { apiVersion: 'kubevirt.io/v1', kind: machineKind, name: 'vm', uid: 'uid-of-vm' };

export interface Launchers {
  /** The Pod "namespace/name", if it is a launcher. */
  of(pod: string): Pod | undefined;
  /** It is there from now on. */
  start(pod: string): void;
  /** Whether it was one, and another one is left. */
  end(pod: string): boolean;
  /** By which Pod somebody who is known to the ledger as `holder` ("namespace/name") is seen. */
  seenAs(holder: string): string;
}

/** @param steps in which a request that passes over conflicts tells who shares an address with whom. */
export function launchersIn(steps: readonly Fields[]): Launchers {
  const shared = new Set(steps.filter((step) => step['checkConflict'] === false).map(({ ip }) => textOf(ip)));
  const names = new Set(steps.filter(({ ip }) => shared.has(textOf(ip))).map(({ pod }) => textOf(pod)));
  const objects = new Map<string, Pod>();
  let tell: (change: Change<Pod>) => void = () => undefined;
  const pods = new LedgerPods({ objects, subscribe: (listener) => (tell = listener) });
  const podOf = (key: string): Pod | undefined => {
    if (!names.has(key)) return undefined;
    const [namespace = '', name = ''] = key.split('/');
    const ownerReferences = [{ ...machine, controller: true }];
    const pod = toPod({ metadata: { namespace, name, uid: `uid-of-${name}`, ownerReferences } });
    return asMachine({ ...pod, claims: pod.controller });
  };
  return {
    of: podOf,
    start(key) {
      const pod = podOf(key);
      if (!pod) return;
      objects.set(key, pod);
      tell({ kind: 'present', object: pod, before: undefined });
    },
    end(key) {
      const pod = objects.get(key);
      if (!pod) return false;
      objects.delete(key);
      tell({ kind: 'gone', object: pod, witnessed: true });
      return pods.has(ledgerKeyOf(pod));
    },
    seenAs(holder) {
      const pod = pods.get(holder);
      return pod ? `${pod.namespace}/${pod.name}` : holder;
    },
  };
}
