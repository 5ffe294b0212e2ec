/** The parsed NetworkAttachmentDefinitions. Each is parsed once, not for every Pod that selects it. */
import { keyOf, type Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import { isSameNetwork, type Network, networkOf } from './network.ts';
import type { ClusterView } from '../pods/planning/cluster-view.ts';

export class NetworkCache {
  readonly #networks = new Map<string, Network>();

  /** @param onChange is called with the "namespace/name" of each added, changed or deleted one. */
  constructor(objects: Pick<Informer<NetworkDefinition>, 'subscribe'>, onChange: (key: string) => void) {
    objects.subscribe((change) => {
      if (change.kind === 'listed') return;
      if (change.kind === 'present' && isSameNetwork(change.before, change.object)) return;
      const key = keyOf(change.object);
      if (change.kind === 'present') this.#networks.set(key, networkOf(change.object));
      else this.#networks.delete(key);
      onChange(key);
    });
  }

  readonly get: ClusterView['network'] = (key) => this.#networks.get(key);
}
