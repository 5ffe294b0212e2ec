/** The NetworkAttachmentDefinitions as plans look at them: each is read once, not for every Pod that selects it. */
import { keyOf, type Source } from '../kubernetes/list-watch.ts';
import type { NetworkDefinition } from '../kubernetes/objects.ts';
import { isSameNetwork, type Network, networkOf } from './network.ts';
import type { Sight } from './sight.ts';

export class Networks {
  readonly #networks = new Map<string, Network>();

  /** @param onChange is told the "namespace/name" of each that comes, goes or changes. */
  constructor(objects: Pick<Source<NetworkDefinition>, 'subscribe'>, onChange: (key: string) => void) {
    objects.subscribe((change) => {
      if (change.kind === 'listed') return;
      if (change.kind === 'present' && isSameNetwork(change.before, change.object)) return;
      const key = keyOf(change.object);
      if (change.kind === 'present') this.#networks.set(key, networkOf(change.object));
      else this.#networks.delete(key);
      onChange(key);
    });
  }

  /** What a plan needs to know. */
  readonly of: Sight['network'] = (key) => this.#networks.get(key);
}
