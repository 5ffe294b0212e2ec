/**
 * The claims of all Subnets as bytes, with an index by address, by container interface, by node,
 * and by former MAC. Each claim has a slot. A claim that is read is decoded; the latest ones stay
 * decoded, so that a claim is the same object during a command.
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
  /** '' for a claim without an allocation. */
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

  /** @param maxDecoded claims that stay decoded: more than a batch changes. */
  constructor(codec: ClaimBytes, maxDecoded = 512) {
    this.#codec = codec;
    this.#maxDecoded = maxDecoded;
  }

  /** The bytes of a name, which the other functions need. */
  nameBytes(name: ClaimName): string {
    return this.#codec.encodeName(name);
  }

  /** The slot of a claim; -1 for none. */
  slotOf(name: string): number {
    return this.#byName.find(hashText(name), (slot) => (this.#claims[slot] as string).startsWith(name));
  }

  /** The claim in a slot. */
  claim(slot: number): Claim {
    const known = this.#decoded.get(slot);
    if (known) return known;
    const allocation = this.#allocations[slot] as string;
    const held = allocation === '' ? undefined : this.#codec.allocations.decode(allocation);
    const claim = this.#codec.decode(this.#claims[slot] as string, held);
    this.#keepDecoded(slot, claim);
    return claim;
  }

  /** The claim in a slot, for a pass over many: does not keep it decoded. */
  claimOnce(slot: number): Claim {
    const known = this.#decoded.get(slot);
    if (known) return known;
    const allocation = this.#allocations[slot] as string;
    const held = allocation === '' ? undefined : this.#codec.allocations.decodeOnce(allocation);
    return this.#codec.decode(this.#claims[slot] as string, held);
  }

  /** What decides about the address of a slot. */
  outline(slot: number): ClaimOutline {
    const bytes = this.#claims[slot] as string;
    const { address } = this.#codec.decodeName(bytes);
    return { address, ...this.#codec.outline(bytes, this.#allocations[slot] !== '') };
  }

  name(slot: number): ClaimName {
    return this.#codec.decodeName(this.#claims[slot] as string);
  }

  /** Whether a slot has a claim of a Subnet. */
  isOf(slot: number, subnet: string): boolean {
    const bytes = this.#claims[slot] as string;
    return bytes !== '' && this.#codec.decodeName(bytes).subnet === subnet;
  }

  /** Puts a claim into a new slot. */
  add(name: string, claim: Claim): number {
    const slot = this.restore(name, claim);
    this.#keepDecoded(slot, claim);
    return slot;
  }

  /** Adds one of many claims, without keeping it decoded. */
  restore(name: string, claim: Claim): number {
    const slot = this.#slots.take();
    this.#byName.add(hashText(name), slot);
    this.#write(slot, name, claim);
    this.#index(slot, claim);
    return slot;
  }

  /** Replaces the claim in a slot. */
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

  /** The claims with a binding of a container interface; undefined for none. */
  withSandbox(key: string): readonly ClaimName[] | undefined {
    const slots = this.#bySandbox
      .findAll(hashText(key))
      .filter((slot) => sandboxKeysOf(this.claim(slot)).includes(key));
    return slots.length === 0 ? undefined : slots.map((slot) => this.name(slot));
  }

  /** The claims with a MAC beside that of their holder (`formerMacKeysOf`); undefined for none. */
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
