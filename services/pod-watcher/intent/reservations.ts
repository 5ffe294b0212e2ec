/** Brings the ledger's reservations to what objects of one kind say: those that people make to hold an address without a Pod. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Kept } from '../kubernetes/kept-objects.ts';
import type { Raw } from '../../../lib/raw.ts';
import type { Allocator } from '../ledger/allocator.ts';
import type { Fact, Reserved } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';
import { Keeper, type KeeperOptions, type Keeping } from './keeper.ts';

/** What an object wants to be held. */
export interface Wish {
  readonly subnet: string;
  /** None: any of each family. */
  readonly addresses: readonly string[];
  readonly reservedFor: string;
  readonly mac: string;
  /** On whose behalf; "": any namespace's. */
  readonly namespace: string;
}

export interface ReservationsOptions<T extends Kept>
  extends Keeping<T>, Pick<KeeperOptions<T>, 'concerns' | 'differences' | 'reasons'> {
  readonly allocator: Pick<Allocator, 'reserve' | 'unreserve'>;
  /** Before the name of an object, the reason of its reservation in the ledger: by it, it is found again. */
  readonly reason: string;
  /** undefined when it asks for nothing. @throws IpledgerError when it cannot be served as it is. */
  readonly wish: (object: T) => Wish | undefined;
  /** Why a namespace may not use a Subnet, as a sentence; undefined if it may. What is held already stays. */
  readonly whyNoSubnet: (subnet: string, namespace: string) => string | undefined;
  /** What an object must show. @param addresses IPv4 first. */
  readonly shown: (object: T, addresses: readonly string[]) => Raw;
}

export class Reservations<T extends Kept> implements Reader {
  readonly #options: ReservationsOptions<T>;
  readonly #keeper: Keeper<T>;
  /** What the ledger holds for objects, by their names. */
  readonly #held = new Map<string, Pick<Reserved, 'subnet' | 'reservedFor'>>();

  constructor(options: ReservationsOptions<T>) {
    this.#options = options;
    this.#keeper = new Keeper<T>({
      ...options,
      apply: (object) => this.#apply(object),
      stands: (name) => this.#held.has(name),
      retire: (name) => this.#retire(name),
      names: () => [...this.#held.keys()],
      onAnswer: () => undefined,
    });
  }

  /** Begins; resolves when every object that is known now has been tried once. */
  start(): Promise<void> {
    return this.#keeper.start();
  }

  snapshot({ reservations }: Snapshot): void {
    this.#held.clear();
    for (const reserved of reservations) this.#put(reserved);
    this.#keeper.addAll();
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'reserved') this.#put(fact.reserved);
      else if (fact.kind === 'unreserved') this.#drop(fact);
      if (fact.kind === 'configured') this.#keeper.retryAll();
      else if (fact.kind === 'ended') this.#freed(fact.subnet, fact.addresses);
      else if (fact.kind === 'unreserved' || fact.kind === 'lifted') this.#freed(fact.subnet, [fact.address]);
    }
  }

  /** It helps objects of that subnet, of those that name addresses the ones that name these. A MAC may be free with any. */
  #freed(subnet: string, addresses: readonly string[]): void {
    this.#keeper.retryAll((object) => {
      const wanted = this.#wishOf(object);
      if (wanted?.subnet !== subnet) return false;
      return (
        wanted.mac !== '' || wanted.addresses.length === 0 || wanted.addresses.some((each) => addresses.includes(each))
      );
    });
  }

  /** undefined for one that asks for nothing, or cannot be served as it is. */
  #wishOf(object: T): Wish | undefined {
    try {
      return this.#options.wish(object);
    } catch {
      return undefined;
    }
  }

  #put({ reason, subnet, reservedFor }: Reserved): void {
    if (!reason.startsWith(this.#options.reason)) return;
    const name = reason.slice(this.#options.reason.length);
    this.#held.set(name, { subnet, reservedFor });
    this.#keeper.heard(name);
  }

  /** Whoever ended it: as long as the object is there, it holds its address. */
  #drop({ subnet, reservedFor }: Pick<Reserved, 'subnet' | 'reservedFor'>): void {
    for (const [name, held] of this.#held)
      if (held.subnet === subnet && held.reservedFor === reservedFor) {
        this.#held.delete(name);
        this.#keeper.add(name);
      }
  }

  async #apply(object: T): Promise<Raw | undefined> {
    const { allocator, wish, whyNoSubnet, shown, reason, signal } = this.#options;
    const asked = wish(object);
    if (!asked) return undefined;
    const { namespace, ...wanted } = asked;
    const isNew = !this.#held.has(object.name);
    const refusal = isNew && namespace !== '' ? whyNoSubnet(wanted.subnet, namespace) : undefined;
    if (refusal !== undefined) throw new IpledgerError('NAMESPACE_NOT_ALLOWED', refusal);
    const { records } = await allocator.reserve({ ...wanted, reason: reason + object.name }, signal);
    return shown(
      object,
      records.map(({ address }) => address),
    );
  }

  async #retire(name: string): Promise<void> {
    const held = this.#held.get(name);
    if (!held) return;
    const { allocator, reason, signal } = this.#options;
    await allocator.unreserve({ ...held, addresses: [], reason: `${reason}${name} was deleted` }, signal);
  }
}
