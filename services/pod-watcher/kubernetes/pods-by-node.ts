/** Counts the Pods of each namespace on each node, without mirrors of static Pods. */
import type { Informer } from '../../../lib/kubernetes/client/informer.ts';
import { isStaticIdentity } from '../../../lib/kubernetes/pod-identity.ts';
import { isTerminated, type Pod } from './objects/pod.ts';

export class PodsByNode {
  /** The counts by node and namespace. */
  readonly #counts = new Map<string, Map<string, number>>();

  constructor(pods: Pick<Informer<Pod>, 'subscribe'>) {
    pods.subscribe((change) => {
      if (change.kind === 'listed') return;
      if (change.kind === 'gone') return this.#add(change.object, -1);
      if (change.before) this.#add(change.before, -1);
      this.#add(change.object, 1);
    });
  }

  has(node: string, namespace: string): boolean {
    return this.#counts.get(node)?.has(namespace) === true;
  }

  #add(pod: Pod, change: 1 | -1): void {
    const { node, namespace, ledgerUid } = pod;
    if (node === '' || isStaticIdentity(ledgerUid) || isTerminated(pod)) return;
    const ofNode = this.#counts.get(node) ?? new Map<string, number>();
    const count = (ofNode.get(namespace) ?? 0) + change;
    if (count > 0) ofNode.set(namespace, count);
    else ofNode.delete(namespace);
    if (ofNode.size > 0) this.#counts.set(node, ofNode);
    else this.#counts.delete(node);
  }
}
