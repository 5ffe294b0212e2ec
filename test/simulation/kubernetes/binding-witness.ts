/**
 * Checks each binding that ends: a container that runs keeps one for its address, of its own or of
 * the failed container before it.
 */
import type { StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { World } from '../kernel/world.ts';
import type { NicsInUse } from './nics-in-use.ts';

export interface ContainerNic {
  readonly containerId: string;
  readonly interface: string;
}

interface Bound {
  readonly node: string;
  readonly bootId: string;
  readonly provider: string;
  readonly addresses: readonly string[];
}

const keyOf = ({ containerId, interface: name }: ContainerNic): string => `${containerId} ${name}`;

export class BindingWitness {
  readonly #world: World;
  readonly #nics: NicsInUse;
  readonly #bindings = new Map<string, Bound>();

  constructor(world: World, nics: NicsInUse) {
    this.#world = world;
    this.#nics = nics;
  }

  /** Whether the ledger has a binding of this container, of this boot. */
  isBound(nic: ContainerNic, bootId: string): boolean {
    return this.#bindings.get(keyOf(nic))?.bootId === bootId;
  }

  read({ sequenced: event }: StoredEvent): void {
    if (event.type === 'AddressBound') {
      const { attachment, addresses, node, bootId } = event.data;
      this.#bindings.set(keyOf(event.data), { node, bootId, addresses, provider: attachment.provider });
    }
    if (event.type !== 'AddressUnbound') return;
    const ended = this.#bindings.get(keyOf(event.data));
    this.#bindings.delete(keyOf(event.data));
    if (ended) this.#checkEnd(ended, `${event.data.containerId} (${event.data.cause})`);
  }

  #checkEnd({ node, provider, addresses }: Bound, ended: string): void {
    const has = (one: { readonly provider: string; readonly addresses: readonly string[] }): boolean =>
      one.provider === provider && one.addresses.some((address) => addresses.includes(address));
    const nic = this.#nics.all.find((each) => each.node === node && has(each));
    const isBound = [...this.#bindings.values()].some((each) => each.node === node && has(each));
    if (nic && !isBound)
      this.#world.fail(
        'running containers are bound',
        `the binding of ${ended} on ${node} ends, and ${nic.containerId} uses ${addresses.join(',')}`,
      );
  }
}
