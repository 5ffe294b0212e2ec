/** The addresses that the ledger has reserved for each Vip. */
import { ipv4First } from '../../../../lib/net/ip.ts';
import type { VipObject } from '../../kubernetes/objects/vip.ts';
import type { LedgerEvent, ReservedAddress } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';
import type { ClusterView } from '../cluster-view.ts';

const prefix = 'vip/';

export class VipAddressCache implements LedgerSubscriber {
  /** The reserved addresses by "vip/<name>", then by "subnet/address". */
  readonly #reserved = new Map<string, Map<string, ReservedAddress>>();

  readonly #objects: ReadonlyMap<string, VipObject>;

  /** @param objects Vips by name. A Vip of the CLI has no object, and serves all namespaces */
  constructor(objects: ReadonlyMap<string, VipObject>) {
    this.#objects = objects;
  }

  /** Returns the addresses of a Vip, IPv4 first. */
  readonly get: ClusterView['vip'] = (name) => {
    const reserved = [...(this.#reserved.get(prefix + name)?.values() ?? [])];
    const [first] = reserved;
    if (!first) return undefined;
    const addresses = reserved.filter(({ subnet }) => subnet === first.subnet).map(({ address }) => address);
    const namespace = this.#objects.get(name)?.spec.namespace ?? '';
    return { subnet: first.subnet, addresses: ipv4First(addresses), namespace };
  };

  onSnapshot({ reservations }: LedgerSnapshot): void {
    this.#reserved.clear();
    for (const reserved of reservations) this.#put(reserved);
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'reserved') this.#put(event.reserved);
      else if (event.kind === 'unreserved') this.#drop(event);
    }
  }

  #put(reserved: ReservedAddress): void {
    const { reservedFor, subnet, address } = reserved;
    if (!reservedFor.startsWith(prefix)) return;
    const held = this.#reserved.get(reservedFor) ?? new Map<string, ReservedAddress>();
    this.#reserved.set(reservedFor, held.set(`${subnet}/${address}`, reserved));
  }

  #drop({ reservedFor, subnet, address }: { reservedFor: string; subnet: string; address: string }): void {
    const held = this.#reserved.get(reservedFor);
    held?.delete(`${subnet}/${address}`);
    if (held?.size === 0) this.#reserved.delete(reservedFor);
  }
}
