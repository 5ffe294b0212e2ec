/**
 * The claims of all Subnets as bytes, indexed by address, container interface, node and former MAC.
 * Each claim has a slot. The claims that were read last stay decoded, so that a claim is the same
 * object during a command.
 */
import { type Claim, type ClaimName, formerMacKeysOf, releasedMacKeysOf, sandboxKeysOf } from '../claim.ts';
import { type BindingPages, boundAllocations, type BoundClaim, type ClaimOutline } from '../claims.ts';
import type { ClaimBytes } from './claim-bytes.ts';
import { OrderedSlots } from '../../compact/ordered-slots.ts';
import { hashText, SlotIndex } from '../../compact/slot-index.ts';
import { SlotOrder } from '../../compact/slot-order.ts';
import { Slots } from '../../compact/slots.ts';

export class ClaimStore implements BindingPages {
  /** The order of the claims of each Subnet. */
  readonly order = new SlotOrder();
  readonly #codec: ClaimBytes;
  readonly #slots = new Slots();
  readonly #claims: string[] = [];
  /** The bytes of each claim's allocation; '' for a claim without allocation. */
  readonly #allocations: string[] = [];
  readonly #byName = new SlotIndex();
  readonly #bySandbox = new SlotIndex();
  readonly #byFormerMac = new SlotIndex();
  readonly #byReleasedMac = new SlotIndex();
  /** The claims with bindings on a node, by allocation. */
  readonly #byNode = new OrderedSlots((slot, node) =>
    this.#codec.allocationsBoundOn(this.#claims[slot] as string, node),
  );
  readonly #decoded = new Map<number, Claim>();
  readonly #maxDecoded: number;

  /** @param maxDecoded the number of claims that stay decoded: more than a batch changes */
  constructor(codec: ClaimBytes, maxDecoded = 512) {
    this.#codec = codec;
    this.#maxDecoded = maxDecoded;
  }

  /** Encodes a name for the other methods. */
  nameBytes(name: ClaimName): string {
    return this.#codec.encodeName(name);
  }

  /** Returns the slot of a claim, or -1. */
  slotOf(name: string): number {
    return this.#byName.find(hashText(name), (slot) => (this.#claims[slot] as string).startsWith(name));
  }

  claim(slot: number): Claim {
    const known = this.#decoded.get(slot);
    if (known) return known;
    const allocation = this.#allocations[slot] as string;
    const held = allocation === '' ? undefined : this.#codec.allocations.decode(allocation);
    const claim = this.#codec.decode(this.#claims[slot] as string, held);
    this.#keepDecoded(slot, claim);
    return claim;
  }

  /** Decodes the claim in a slot without caching it, for a pass over many. */
  claimOnce(slot: number): Claim {
    const known = this.#decoded.get(slot);
    if (known) return known;
    const allocation = this.#allocations[slot] as string;
    const held = allocation === '' ? undefined : this.#codec.allocations.decodeOnce(allocation);
    return this.#codec.decode(this.#claims[slot] as string, held);
  }

  outline(slot: number): ClaimOutline {
    const bytes = this.#claims[slot] as string;
    const { address } = this.#codec.decodeName(bytes);
    return { address, ...this.#codec.outline(bytes, this.#allocations[slot] !== '') };
  }

  name(slot: number): ClaimName {
    return this.#codec.decodeName(this.#claims[slot] as string);
  }

  /** Whether the claim in a slot belongs to a Subnet. */
  isOf(slot: number, subnet: string): boolean {
    const bytes = this.#claims[slot] as string;
    return bytes !== '' && this.#codec.decodeName(bytes).subnet === subnet;
  }

  add(name: string, claim: Claim): number {
    const slot = this.restore(name, claim);
    this.#keepDecoded(slot, claim);
    return slot;
  }

  /** Adds one of many claims without caching it. */
  restore(name: string, claim: Claim): number {
    const slot = this.#slots.take();
    this.#byName.add(hashText(name), slot);
    this.#write(slot, name, claim);
    this.#index(slot, claim);
    return slot;
  }

  replace(slot: number, name: string, claim: Claim): void {
    const before = this.claim(slot);
    const isIndexed =
      before.bindings === claim.bindings &&
      before.released === claim.released &&
      before.allocation === claim.allocation &&
      before.quarantine === claim.quarantine &&
      before.networks === claim.networks;
    if (!isIndexed) this.#unindex(slot, before);
    this.#write(slot, name, claim);
    this.#keepDecoded(slot, claim);
    if (!isIndexed) this.#index(slot, claim);
  }

  remove(slot: number, name: string): void {
    this.#unindex(slot, this.claim(slot));
    this.#byName.remove(hashText(name), slot);
    this.#claims[slot] = '';
    this.#allocations[slot] = '';
    this.#decoded.delete(slot);
    this.#slots.give(slot);
  }

  /** The claims that a container interface is bound to; undefined for none. */
  withSandbox(key: string): readonly ClaimName[] | undefined {
    const slots = this.#bySandbox
      .findAll(hashText(key))
      .filter((slot) => sandboxKeysOf(this.claim(slot)).includes(key));
    return slots.length === 0 ? undefined : slots.map((slot) => this.name(slot));
  }

  /** The claims with a MAC besides that of their holder (`formerMacKeysOf`); undefined for none. */
  withFormerMac(key: string): readonly ClaimName[] | undefined {
    const slots = this.#byFormerMac
      .findAll(hashText(key))
      .filter((slot) => formerMacKeysOf(this.claim(slot)).includes(key));
    return slots.length === 0 ? undefined : slots.map((slot) => this.name(slot));
  }

  /** The claims whose last Pod had a MAC (`releasedMacKeysOf`); undefined for none. */
  withReleasedMac(key: string): readonly ClaimName[] | undefined {
    const slots = this.#byReleasedMac
      .findAll(hashText(key))
      .filter((slot) => releasedMacKeysOf(this.claim(slot)).includes(key));
    return slots.length === 0 ? undefined : slots.map((slot) => this.name(slot));
  }

  nodesFrom(node: string): Iterable<string> {
    return this.#byNode.groupsFrom(node);
  }

  *after(seq: number, node: string): Generator<BoundClaim> {
    for (const { number: alloc, slot } of this.#byNode.after(node, seq))
      yield { alloc, name: this.name(slot), claim: this.claimOnce(slot) };
  }

  #write(slot: number, name: string, claim: Claim): void {
    this.#claims[slot] = this.#codec.encode(name, claim);
    this.#allocations[slot] = claim.allocation ? this.#codec.allocations.encode(claim.allocation) : '';
  }

  #keepDecoded(slot: number, claim: Claim): void {
    if (this.#decoded.size >= this.#maxDecoded) this.#decoded.clear();
    this.#decoded.set(slot, claim);
  }

  #index(slot: number, claim: Claim): void {
    for (const key of sandboxKeysOf(claim)) this.#bySandbox.add(hashText(key), slot);
    for (const [node, allocs] of boundAllocations(claim)) this.#byNode.add(node, slot, allocs);
    for (const key of formerMacKeysOf(claim)) this.#byFormerMac.add(hashText(key), slot);
    for (const key of releasedMacKeysOf(claim)) this.#byReleasedMac.add(hashText(key), slot);
  }

  #unindex(slot: number, claim: Claim): void {
    for (const key of sandboxKeysOf(claim)) this.#bySandbox.remove(hashText(key), slot);
    for (const [node, allocs] of boundAllocations(claim)) this.#byNode.remove(node, slot, allocs);
    for (const key of formerMacKeysOf(claim)) this.#byFormerMac.remove(hashText(key), slot);
    for (const key of releasedMacKeysOf(claim)) this.#byReleasedMac.remove(hashText(key), slot);
  }
}
