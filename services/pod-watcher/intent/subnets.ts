/**
 * Which Subnets serve which provider: those that the ledger has in force, as long as the Kubernetes object that each was made
 * from is there and not being deleted. One that an operator configured over gRPC has no object, and serves always.
 */
import type { SubnetBinding, SubnetObject } from '../kubernetes/kept-objects.ts';
import type { Fact, SubnetInForce } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';

/** What an empty spec.provider means. */
export const primaryProvider = 'ovn';

export class Subnets implements Reader {
  readonly #objects: ReadonlyMap<string, SubnetObject>;
  readonly #inForce = new Map<string, SubnetInForce>();
  readonly #refusals = new Map<string, string>();
  #seq = 0;

  constructor(objects: ReadonlyMap<string, SubnetObject>) {
    this.#objects = objects;
  }

  /** The subnet as the ledger has it. */
  inForce(name: string): SubnetInForce | undefined {
    return this.#inForce.get(name);
  }

  /** All names that the ledger has. */
  names(): string[] {
    return [...this.#inForce.keys()];
  }

  /** Whether Pods may be served from it. */
  serves(name: string): boolean {
    const known = this.#inForce.get(name);
    if (!known) return false;
    const object = this.#objects.get(name);
    return object ? !object.deleting : known.source === undefined;
  }

  /** Whether there is such a Subnet, in force or not. */
  exists(name: string): boolean {
    return this.#objects.has(name) || this.#inForce.has(name);
  }

  /** Which namespaces a Subnet is for; undefined of one that has no object, and is for all. */
  bindingOf(name: string): SubnetBinding | undefined {
    return this.#objects.get(name)?.binding;
  }

  /** What a Subnet that is in force serves; "" of others. */
  providerOf(name: string): string {
    return this.#inForce.get(name)?.spec.provider ?? '';
  }

  /** The Subnets that serve a provider, by name. */
  servingProvider(provider: string): string[] {
    const names = this.names().filter(
      (name) => this.#inForce.get(name)?.spec.provider === provider && this.serves(name),
    );
    return names.sort();
  }

  /** Why no Subnet serves a provider, as far as one that would is known; "" if none is. */
  whyNot(provider: string): string {
    const unusable = [...this.#objects.values()].filter(
      (object) => (object.spec.provider || primaryProvider) === provider,
    );
    return unusable.map(({ name }) => this.whyNotServing(name)).join('; ');
  }

  /** Why a Subnet does not serve. */
  whyNotServing(name: string): string {
    const object = this.#objects.get(name);
    if (!object) return `there is no Subnet ${name}`;
    if (object.deleting) return `Subnet ${name} is being deleted`;
    const refusal = this.#refusals.get(name);
    return refusal === undefined ? `Subnet ${name} is not in force yet` : `Subnet ${name} is not in force: ${refusal}`;
  }

  /** The ledger accepted a spec, as of position `seq`. */
  accepted(subnet: SubnetInForce, seq: number): void {
    this.#refusals.delete(subnet.name);
    if (seq > this.#seq) this.#inForce.set(subnet.name, subnet);
  }

  /** The ledger refused a spec; what was in force before, stays. */
  refused(name: string, why: string): void {
    this.#refusals.set(name, why);
  }

  /** There is no such object any more. */
  forget(name: string): void {
    this.#refusals.delete(name);
  }

  snapshot({ seq, subnets }: Snapshot): void {
    this.#inForce.clear();
    for (const subnet of subnets) this.#inForce.set(subnet.name, subnet);
    this.#seq = seq;
  }

  facts(facts: readonly Fact[], seq: number): void {
    for (const fact of facts) {
      if (fact.kind === 'configured') this.#inForce.set(fact.subnet.name, fact.subnet);
      else if (fact.kind === 'retired') this.#inForce.delete(fact.subnet);
    }
    this.#seq = seq;
  }
}
