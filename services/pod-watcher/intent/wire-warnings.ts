/**
 * Which Subnets share a wire and addresses with a Subnet of another network, kept up to date as networks and Subnets come, change and
 * go. A change costs one look at the Subnets of the wires that it concerns; changes that come together cost one look together.
 */
import { keyOf, type Source } from '../kubernetes/list-watch.ts';
import type { NetworkDefinition } from '../kubernetes/objects.ts';
import type { Fact, SubnetInForce } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';
import { shown } from '../limits.ts';
import { isSameNetwork, networkOf } from './network.ts';
import { type SharedWire, sharedWires, type WiredNetwork } from './shared-wires.ts';
import { wireOf } from './wire.ts';

export class WireWarnings implements Reader {
  readonly #onChange: (subnet: string) => void;
  /** By "namespace/name"; those whose wire is known. */
  readonly #networks = new Map<string, WiredNetwork>();
  /** Which of them are on a wire. */
  readonly #onWire = new Map<string, Set<string>>();
  readonly #wireOfProvider = new Map<string, string>();
  readonly #subnets = new Map<string, SubnetInForce>();
  readonly #byProvider = new Map<string, Set<string>>();
  /** By wire, then by Subnet. */
  readonly #warnings = new Map<string, ReadonlyMap<string, SharedWire>>();
  /** Wires that must be looked at. */
  readonly #changed = new Set<string>();

  /** @param onChange is called with the name of each Subnet whose warning comes, changes or goes. */
  constructor(networks: Pick<Source<NetworkDefinition>, 'subscribe'>, onChange: (subnet: string) => void) {
    this.#onChange = onChange;
    networks.subscribe((change) => {
      if (change.kind === 'gone') this.#put(keyOf(change.object), undefined);
      else if (change.kind === 'present' && !isSameNetwork(change.before, change.object))
        this.#put(keyOf(change.object), change.object);
    });
  }

  /** What a Subnet shares; undefined for nothing. */
  of(subnet: string): SharedWire | undefined {
    const wire = this.#wireOfProvider.get(this.#subnets.get(subnet)?.spec.provider ?? '');
    return wire === undefined ? undefined : this.#warnings.get(wire)?.get(subnet);
  }

  snapshot({ subnets }: Snapshot): void {
    for (const name of this.#subnets.keys()) this.#putSubnet(name, undefined);
    for (const subnet of subnets) this.#putSubnet(subnet.name, subnet);
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'configured') this.#putSubnet(fact.subnet.name, fact.subnet);
      else if (fact.kind === 'retired') this.#putSubnet(fact.subnet, undefined);
    }
  }

  #put(key: string, object: NetworkDefinition | undefined): void {
    const before = this.#networks.get(key);
    const after = object && wired(key, object);
    if (before?.wire === after?.wire && before?.provider === after?.provider) return;
    if (before) {
      this.#networks.delete(key);
      this.#wireOfProvider.delete(before.provider);
      take(this.#onWire, before.wire, key);
      this.#lookAtServed(before);
    }
    if (!after) return;
    this.#networks.set(key, after);
    this.#wireOfProvider.set(after.provider, after.wire);
    add(this.#onWire, after.wire, key);
    this.#lookAtServed(after);
  }

  #putSubnet(name: string, after: SubnetInForce | undefined): void {
    const before = this.#subnets.get(name);
    if (before) {
      this.#subnets.delete(name);
      take(this.#byProvider, before.spec.provider, name);
      this.#look(this.#wireOfProvider.get(before.spec.provider));
    }
    if (!after) return;
    this.#subnets.set(name, after);
    add(this.#byProvider, after.spec.provider, name);
    this.#look(this.#wireOfProvider.get(after.spec.provider));
  }

  /** A network without a Subnet shares no address. */
  #lookAtServed({ provider, wire }: WiredNetwork): void {
    if (this.#byProvider.has(provider)) this.#look(wire);
  }

  #look(wire: string | undefined): void {
    if (wire === undefined) return;
    if (this.#changed.size === 0) setImmediate(() => this.#lookAtChanged());
    this.#changed.add(wire);
  }

  #lookAtChanged(): void {
    const touched = new Set<string>();
    for (const wire of this.#changed) {
      const before = this.#warnings.get(wire);
      const after = this.#sharedOn(wire);
      if (after.size > 0) this.#warnings.set(wire, after);
      else this.#warnings.delete(wire);
      for (const [name, shared] of before ?? []) if (!isSame(shared, after.get(name))) touched.add(name);
      for (const name of after.keys()) if (!before?.has(name)) touched.add(name);
    }
    this.#changed.clear();
    for (const name of touched) this.#onChange(name);
  }

  #sharedOn(wire: string): ReadonlyMap<string, SharedWire> {
    const networks = [...(this.#onWire.get(wire) ?? [])].flatMap((key) => this.#networks.get(key) ?? []);
    const served = networks.filter(({ provider }) => this.#byProvider.has(provider));
    if (served.length < 2) return new Map();
    const subnets = served.flatMap(({ provider }) =>
      [...(this.#byProvider.get(provider) ?? [])].flatMap((name) => {
        const spec = this.#subnets.get(name)?.spec;
        return spec ? { name, provider, cidrBlock: spec.cidrBlock, excludeIps: spec.excludeIps } : [];
      }),
    );
    return sharedWires(served, subnets);
  }
}

/** What a Subnet's condition says of it: what is wrong, why, what to do; '' for nothing. */
export function overlapMessage(subnet: string, shared: SharedWire | undefined): string {
  if (!shared) return '';
  const { wire, network, other } = shared;
  return `Subnet ${subnet} and Subnet ${other.subnet} give the same addresses on one wire (${shown(wire)}): NetworkAttachmentDefinitions ${network} and ${other.network} both attach Pods to it, so that a Pod of each can hold the same address. Serve both networks by one NetworkAttachmentDefinition and one Subnet, or separate the Subnets by cidrBlock or excludeIps`;
}

function wired(key: string, object: NetworkDefinition): WiredNetwork | undefined {
  const network = networkOf(object);
  const wire = network.kind === 'ipam' ? wireOf(object.config, object.resource) : undefined;
  return network.kind === 'ipam' && wire !== undefined ? { key, provider: network.provider, wire } : undefined;
}

const isSame = (one: SharedWire, other: SharedWire | undefined): boolean =>
  one.network === other?.network &&
  one.other.subnet === other.other.subnet &&
  one.other.network === other.other.network;

function add(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  if (names) names.add(name);
  else index.set(key, new Set([name]));
}

function take(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  names?.delete(name);
  if (names?.size === 0) index.delete(key);
}
