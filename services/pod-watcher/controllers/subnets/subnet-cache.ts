/**
 * The Subnets that serve a provider: those in force in the ledger, while their Kubernetes object
 * exists, is not being deleted, and is not suspended. A subnet that an operator configured over
 * gRPC has no object, and always serves.
 */
import type { NamespaceRestriction, SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { LedgerEvent, AppliedSubnet } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';

/** The provider of a Subnet with an empty spec.provider. */
export const primaryProvider = 'ovn';

export class SubnetCache implements LedgerSubscriber {
  readonly #objects: ReadonlyMap<string, SubnetObject>;
  readonly #inForce = new Map<string, AppliedSubnet>();
  readonly #refusals = new Map<string, string>();
  readonly #suspensions = new Map<string, string>();
  #seq = 0;

  constructor(objects: ReadonlyMap<string, SubnetObject>) {
    this.#objects = objects;
  }

  get(name: string): AppliedSubnet | undefined {
    return this.#inForce.get(name);
  }

  names(): string[] {
    return [...this.#inForce.keys()];
  }

  serves(name: string): boolean {
    const subnet = this.#inForce.get(name);
    if (!subnet || this.#suspensions.has(name)) return false;
    const object = this.#objects.get(name);
    return object ? !object.deleting : subnet.source === undefined;
  }

  /** Whether the Subnet exists, in force or not. */
  exists(name: string): boolean {
    return this.#objects.has(name) || this.#inForce.has(name);
  }

  /** Returns the namespaces that may use a Subnet; undefined: all, as it has no object. */
  restrictionOf(name: string): NamespaceRestriction | undefined {
    return this.#objects.get(name)?.namespaceRestriction;
  }

  /** Returns the provider of a Subnet that is in force; "" for other Subnets. */
  providerOf(name: string): string {
    return this.#inForce.get(name)?.spec.provider ?? '';
  }

  /** The Subnets that serve a provider, sorted by name. */
  servingProvider(provider: string): string[] {
    const names = this.names().filter(
      (name) => this.#inForce.get(name)?.spec.provider === provider && this.serves(name),
    );
    return names.sort();
  }

  /** Returns why no Subnet serves a provider; "" if no Subnet object has the provider. */
  whyNot(provider: string): string {
    const unusable = [...this.#objects.values()].filter(
      (object) => (object.spec.provider || primaryProvider) === provider,
    );
    return unusable.map(({ name }) => this.whyNotServing(name)).join('; ');
  }

  whyNotServing(name: string): string {
    const object = this.#objects.get(name);
    if (!object) return `there is no Subnet ${name}`;
    if (object.deleting) return `Subnet ${name} is being deleted`;
    const suspension = this.suspensionOf(name);
    if (suspension !== undefined) return suspension;
    const refusal = this.#refusals.get(name);
    return refusal === undefined ? `Subnet ${name} is not in force yet` : `Subnet ${name} is not in force: ${refusal}`;
  }

  /** Returns why the allocator rejected the latest spec; undefined if it did not. */
  refusalOf(name: string): string | undefined {
    return this.#refusals.get(name);
  }

  /** Records that the allocator accepted a spec, as of position `seq`. */
  accepted(subnet: AppliedSubnet, seq: number): void {
    this.#refusals.delete(subnet.name);
    if (seq > this.#seq) this.#inForce.set(subnet.name, subnet);
  }

  /** Records that the allocator rejected a spec. The earlier spec remains in force. */
  refused(name: string, why: string): void {
    this.#refusals.set(name, why);
  }

  /** Suspends a Subnet whose addresses another IPAM may allocate: it serves no new request. */
  suspend(name: string, why: string | undefined): void {
    if (why === undefined) this.#suspensions.delete(name);
    else this.#suspensions.set(name, why);
  }

  /** Returns why a Subnet in force serves no new request, as a sentence; undefined if it serves. */
  suspensionOf(name: string): string | undefined {
    const why = this.#suspensions.get(name);
    return why === undefined ? undefined : `Subnet ${name} gives no new address: ${why}`;
  }

  /** The number of suspended Subnets. */
  get suspended(): number {
    return this.#suspensions.size;
  }

  /** Forgets a Subnet whose object was deleted. */
  forget(name: string): void {
    this.#refusals.delete(name);
    this.#suspensions.delete(name);
  }

  onSnapshot({ seq, subnets }: LedgerSnapshot): void {
    this.#inForce.clear();
    for (const subnet of subnets) this.#inForce.set(subnet.name, subnet);
    this.#seq = seq;
  }

  onEvents(events: readonly LedgerEvent[], seq: number): void {
    for (const event of events) {
      if (event.kind === 'subnet-configured') this.#inForce.set(event.subnet.name, event.subnet);
      else if (event.kind === 'subnet-retired') this.#inForce.delete(event.subnet);
    }
    this.#seq = seq;
  }
}
