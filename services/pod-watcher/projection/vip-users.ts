/** Which Pods use the addresses that Vips hold. */
import { ipName } from '../../../lib/ip-name.ts';
import type { Fact, Holding, Reserved } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';

const prefix = 'vip/';

/** Kube-OVN's label of a Vip: the IP object of the Pod that uses it, "" while none does. */
export const userLabel = 'ovn.kubernetes.io/ip_reserved';
const labelMaxLength = 63;

interface Place {
  readonly subnet: string;
  readonly address: string;
}
const placeKey = ({ subnet, address }: Place): string => `${subnet}/${address}`;

export class VipUsers implements Reader {
  readonly #onTouched: (vips: Iterable<string>) => void;
  /** Names of Vips, and what is held, by "subnet/address". */
  readonly #vips = new Map<string, string>();
  /** The reverse of that. */
  readonly #placesOf = new Map<string, Set<string>>();
  readonly #held = new Map<string, Holding>();
  readonly #places = new Map<number, readonly string[]>();

  /** @param onTouched is told the Vips whose users changed. */
  constructor(onTouched: (vips: Iterable<string>) => void) {
    this.#onTouched = onTouched;
  }

  /** The value of a Vip's label. A name that is too long for a label says only that there is somebody. */
  userOf(vip: string): string {
    for (const place of this.#placesOf.get(vip) ?? []) {
      const holding = this.#held.get(place);
      if (holding) return ipName(holding).length <= labelMaxLength ? ipName(holding) : 'true';
    }
    return '';
  }

  snapshot({ holdings, reservations }: Snapshot): void {
    for (const index of [this.#vips, this.#placesOf, this.#held, this.#places]) index.clear();
    for (const holding of holdings) this.#give(holding);
    for (const reserved of reservations) this.#reserve(reserved);
    this.#onTouched(new Set(this.#vips.values()));
  }

  facts(facts: readonly Fact[]): void {
    this.#onTouched(new Set(facts.flatMap((fact) => this.#hear(fact))));
  }

  /** The Vips that it is about. */
  #hear(fact: Fact): string[] {
    if (fact.kind === 'given') return this.#vipsAt(this.#give(fact.holding));
    if (fact.kind === 'ended') return this.#vipsAt(this.#end(fact.seq));
    if (fact.kind === 'reserved') return this.#reserve(fact.reserved);
    if (fact.kind === 'unreserved') this.#unreserve(placeKey(fact));
    return [];
  }

  #vipsAt(places: readonly string[]): string[] {
    return places.flatMap((place) => this.#vips.get(place) ?? []);
  }

  #give(holding: Holding): readonly string[] {
    const places = holding.addresses.map(({ address }) => placeKey({ subnet: holding.subnet, address }));
    this.#places.set(holding.seq, places);
    for (const place of places) this.#held.set(place, holding);
    return places;
  }

  #end(seq: number): readonly string[] {
    const places = this.#places.get(seq) ?? [];
    this.#places.delete(seq);
    for (const place of places) if (this.#held.get(place)?.seq === seq) this.#held.delete(place);
    return places;
  }

  #reserve(reserved: Reserved): string[] {
    if (!reserved.reservedFor.startsWith(prefix)) return [];
    const name = reserved.reservedFor.slice(prefix.length);
    const place = placeKey(reserved);
    this.#unreserve(place);
    this.#vips.set(place, name);
    this.#placesOf.set(name, (this.#placesOf.get(name) ?? new Set()).add(place));
    return [name];
  }

  #unreserve(place: string): void {
    const name = this.#vips.get(place) ?? '';
    this.#vips.delete(place);
    const places = this.#placesOf.get(name);
    places?.delete(place);
    if (places?.size === 0) this.#placesOf.delete(name);
  }
}
