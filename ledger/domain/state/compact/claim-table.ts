/** The claims of one Subnet by address: a map whose values are bytes in the store of all claims. */
import type { Claim } from '../claim.ts';
import type { ClaimMap, ClaimOutline } from '../claims.ts';
import type { ClaimStore } from './claim-store.ts';
import { emptyList } from '../../compact/slot-order.ts';

export class ClaimTable implements ClaimMap {
  readonly #store: ClaimStore;
  readonly #subnet: string;
  readonly #list = emptyList();
  /** The last encoded name, because a command reads one claim several times. */
  #last = { address: '', name: '' };

  constructor(store: ClaimStore, subnet: string) {
    this.#store = store;
    this.#subnet = subnet;
  }

  get size(): number {
    return this.#list.size;
  }

  get(address: string): Claim | undefined {
    const slot = this.#store.slotOf(this.#nameOf(address));
    return slot < 0 ? undefined : this.#store.claim(slot);
  }

  has(address: string): boolean {
    return this.#store.slotOf(this.#nameOf(address)) >= 0;
  }

  set(address: string, claim: Claim): this {
    const name = this.#nameOf(address);
    const slot = this.#store.slotOf(name);
    if (slot < 0) this.#store.order.append(this.#list, this.#store.add(name, claim));
    else this.#store.replace(slot, name, claim);
    return this;
  }

  restore(address: string, claim: Claim): void {
    this.#store.order.append(this.#list, this.#store.restore(this.#nameOf(address), claim));
  }

  delete(address: string): boolean {
    const name = this.#nameOf(address);
    const slot = this.#store.slotOf(name);
    if (slot < 0) return false;
    this.#store.remove(slot, name);
    this.#store.order.remove(this.#list, slot);
    return true;
  }

  *keys(): Generator<string> {
    for (const slot of this.#slots()) yield this.#store.name(slot).address;
  }

  *values(): Generator<Claim> {
    for (const slot of this.#slots()) yield this.#store.claimOnce(slot);
  }

  *[Symbol.iterator](): Generator<[string, Claim]> {
    for (const slot of this.#slots()) yield [this.#store.name(slot).address, this.#store.claimOnce(slot)];
  }

  *outlines(): Generator<ClaimOutline> {
    for (const slot of this.#slots()) yield this.#store.outline(slot);
  }

  /** The slots at the start of a pass. Skips claims that are deleted during the pass. */
  *#slots(): Generator<number> {
    for (const slot of this.#store.order.slotsOf(this.#list)) if (this.#store.isOf(slot, this.#subnet)) yield slot;
  }

  #nameOf(address: string): string {
    if (this.#last.address !== address || this.#last.name === '')
      this.#last = { address, name: this.#store.nameBytes({ subnet: this.#subnet, address }) };
    return this.#last.name;
  }
}
