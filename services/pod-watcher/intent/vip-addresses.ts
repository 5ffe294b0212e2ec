/** Which addresses each Vip holds, as the ledger has reserved them. */
import { isIP } from 'node:net';
import type { VipObject } from '../kubernetes/kept-objects.ts';
import type { Fact, Reserved } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';
import type { Sight } from './sight.ts';

const prefix = 'vip/';

export class VipAddresses implements Reader {
  /** By "vip/<name>", then by "subnet/address". */
  readonly #reserved = new Map<string, Map<string, Reserved>>();

  readonly #objects: ReadonlyMap<string, VipObject>;

  /** @param objects by name; a Vip that the command line reserved has none, and is for all namespaces. */
  constructor(objects: ReadonlyMap<string, VipObject>) {
    this.#objects = objects;
  }

  /** What a plan needs to know: the addresses of a Vip, IPv4 first. */
  readonly of: Sight['vip'] = (name) => {
    const reserved = [...(this.#reserved.get(prefix + name)?.values() ?? [])];
    const [first] = reserved;
    if (!first) return undefined;
    const addresses = reserved.filter(({ subnet }) => subnet === first.subnet).map(({ address }) => address);
    const namespace = this.#objects.get(name)?.spec.namespace ?? '';
    return { subnet: first.subnet, addresses: addresses.sort((a, b) => isIP(a) - isIP(b)), namespace };
  };

  snapshot({ reservations }: Snapshot): void {
    this.#reserved.clear();
    for (const reserved of reservations) this.#put(reserved);
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'reserved') this.#put(fact.reserved);
      else if (fact.kind === 'unreserved') this.#drop(fact);
    }
  }

  #put(reserved: Reserved): void {
    const { reservedFor, subnet, address } = reserved;
    if (!reservedFor.startsWith(prefix)) return;
    const held = this.#reserved.get(reservedFor) ?? new Map<string, Reserved>();
    this.#reserved.set(reservedFor, held.set(`${subnet}/${address}`, reserved));
  }

  #drop({ reservedFor, subnet, address }: { reservedFor: string; subnet: string; address: string }): void {
    const held = this.#reserved.get(reservedFor);
    held?.delete(`${subnet}/${address}`);
    if (held?.size === 0) this.#reserved.delete(reservedFor);
  }
}
