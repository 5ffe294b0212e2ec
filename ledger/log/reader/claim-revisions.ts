/**
 * The revision of each claim's key in etcd. There is one for each address that was ever used, so IPv4 addresses are numbers in an
 * index of 16 bytes for each, not texts in a Map.
 */
import { randomInt } from 'node:crypto';
import { parseAddress } from '../../domain/addresses/address.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import { SlotIndex } from '../../domain/state/compact/slot-index.ts';
import { Slots } from '../../domain/state/compact/slots.ts';
import type { Revision } from '../store/ledger.ts';

export class ClaimRevisions {
  readonly #subnets = new Map<string, SubnetRevisions>();

  /** The revision of a claim's key; 0n without one. */
  get({ subnet, address }: ClaimName): Revision {
    return BigInt(this.#subnets.get(subnet)?.get(address) ?? 0);
  }

  set({ subnet, address }: ClaimName, revision: Revision): void {
    let known = this.#subnets.get(subnet);
    if (!known) this.#subnets.set(subnet, (known = new SubnetRevisions()));
    known.set(address, Number(revision));
  }

  delete({ subnet, address }: ClaimName): void {
    this.#subnets.get(subnet)?.delete(address);
  }
}

/** Revisions as numbers, which are exact up to 2^53 and smaller than a bigint. */
class SubnetRevisions {
  readonly #slots = new Slots();
  readonly #revisions: number[] = [];
  /** By number: each hash has one address. */
  readonly #ipv4 = new SlotIndex();
  readonly #ipv6 = new Map<string, number>();

  get(address: string): number | undefined {
    const hash = ipv4Hash(address);
    if (hash === undefined) return this.#ipv6.get(address);
    return this.#revisions[this.#ipv4.find(hash, any)];
  }

  set(address: string, revision: number): void {
    const hash = ipv4Hash(address);
    if (hash === undefined) return void this.#ipv6.set(address, revision);
    let slot = this.#ipv4.find(hash, any);
    if (slot < 0) this.#ipv4.add(hash, (slot = this.#slots.take()));
    this.#revisions[slot] = revision;
  }

  delete(address: string): void {
    const hash = ipv4Hash(address);
    if (hash === undefined) return void this.#ipv6.delete(address);
    const slot = this.#ipv4.find(hash, any);
    if (slot < 0) return;
    this.#ipv4.remove(hash, slot);
    this.#slots.give(slot);
  }
}

const any = (): boolean => true;

/** Tenants choose addresses, and must not choose their places in the index. */
const key = randomInt(2 ** 32);

/** A number for each IPv4 address, one-to-one; undefined for an IPv6 address. */
function ipv4Hash(address: string): number | undefined {
  if (address.includes(':')) return undefined;
  const value = Number(parseAddress(address)?.value ?? 0n) ^ key;
  const mixed = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 12);
}
