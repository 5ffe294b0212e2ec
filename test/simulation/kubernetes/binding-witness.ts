/**
 * Checks each binding that ends: a container that runs keeps one for its address, of its own or of
 * the failed container before it.
 */
import type { StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { AddressBound } from '../../../ledger/domain/events/event.ts';
import type { World } from '../kernel/world.ts';
import type { NicsInUse } from './nics-in-use.ts';

export interface ContainerNic {
  readonly containerId: string;
  readonly interface: string;
}

/** Addresses in a network. */
interface Place {
  readonly provider: string;
  readonly addresses: readonly string[];
}

interface Bound extends Place {
  readonly node: string;
  readonly bootId: string;
}

const overlaps = (one: Place, other: Place): boolean =>
  one.provider === other.provider && one.addresses.some((address) => other.addresses.includes(address));

const keyOf = ({ containerId, interface: name }: ContainerNic): string => `${containerId} ${name}`;

export class BindingWitness {
  readonly #world: World;
  readonly #nics: NicsInUse;
  readonly #bindings = new Map<string, Bound>();
  /** The containers whose bindings a backup lacks. */
  readonly #lost = new Set<string>();

  constructor(world: World, nics: NicsInUse) {
    this.#world = world;
    this.#nics = nics;
  }

  /** Whether the ledger has a binding of this container, of this boot. */
  isBound(nic: ContainerNic, bootId: string): boolean {
    return this.#bindings.get(keyOf(nic))?.bootId === bootId;
  }

  /** Whether another container is bound to one of the addresses, as while a machine migrates. */
  isShared(nic: ContainerNic, provider: string, addresses: readonly string[]): boolean {
    return [...this.#bindings].some(([key, each]) => key !== keyOf(nic) && overlaps(each, { provider, addresses }));
  }

  /**
   * Begins again with the events of a backup. A container that was bound after it has no binding
   * until its agent binds it again.
   */
  restore(events: readonly StoredEvent[]): void {
    this.#bindings.clear();
    this.#lost.clear();
    for (const { sequenced: event } of events) {
      if (event.type === 'AddressBound') this.#add(event.data);
      if (event.type === 'AddressUnbound') this.#bindings.delete(keyOf(event.data));
    }
    for (const nic of this.#nics.all) if (!this.#bindings.has(keyOf(nic))) this.#lost.add(keyOf(nic));
  }

  read({ sequenced: event }: StoredEvent): void {
    if (event.type === 'AddressBound') this.#add(event.data);
    if (event.type !== 'AddressUnbound') return;
    const ended = this.#bindings.get(keyOf(event.data));
    this.#bindings.delete(keyOf(event.data));
    if (ended) this.#checkEnd(ended, `${event.data.containerId} (${event.data.cause})`);
  }

  #add(data: AddressBound['data']): void {
    this.#lost.delete(keyOf(data));
    const { attachment, addresses, node, bootId } = data;
    this.#bindings.set(keyOf(data), { node, bootId, addresses, provider: attachment.provider });
  }

  #checkEnd({ node, provider, addresses }: Bound, ended: string): void {
    const has = (one: Place): boolean => overlaps(one, { provider, addresses });
    const nic = this.#nics.all.find((each) => each.node === node && has(each));
    const isBound = [...this.#bindings.values()].some((each) => each.node === node && has(each));
    if (nic && !isBound && !this.#lost.has(keyOf(nic)))
      this.#world.fail(
        'running containers are bound',
        `the binding of ${ended} on ${node} ends, and ${nic.containerId} uses ${addresses.join(',')}`,
      );
  }
}
