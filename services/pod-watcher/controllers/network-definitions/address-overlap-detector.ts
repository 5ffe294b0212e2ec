/**
 * Detects Subnets that share a broadcast domain and addresses with a Subnet of another network. A
 * change of a network or Subnet costs one check of the Subnets in its broadcast domains, and so do
 * several changes that arrive together.
 */
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import { keyOf, type Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { LedgerEvent, AppliedSubnet } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';
import { truncate } from '../../limits.ts';
import { isSameNetwork, classifyNetwork } from './classify-network.ts';
import {
  type SharedBroadcastDomain,
  findSharedBroadcastDomains,
  type DomainNetwork,
} from './shared-broadcast-domains.ts';
import { broadcastDomainOf } from './broadcast-domain.ts';

export class AddressOverlapDetector implements LedgerSubscriber {
  readonly #onChange: (subnet: string) => void;
  /** Networks with a known broadcast domain, by "namespace/name". */
  readonly #networks = new Map<string, DomainNetwork>();
  /** The keys of these networks, by broadcast domain. */
  readonly #networksByDomain = new Map<string, Set<string>>();
  readonly #domainOfProvider = new Map<string, string>();
  readonly #subnets = new Map<string, AppliedSubnet>();
  readonly #byProvider = new Map<string, Set<string>>();
  /** Overlaps by broadcast domain, then by Subnet. */
  readonly #overlaps = new Map<string, ReadonlyMap<string, SharedBroadcastDomain>>();
  /** Broadcast domains to check again. */
  readonly #changed = new Set<string>();

  /** @param onChange called with each Subnet whose overlap is found, changes or ends */
  constructor(networks: Pick<Informer<NetworkDefinition>, 'subscribe'>, onChange: (subnet: string) => void) {
    this.#onChange = onChange;
    networks.subscribe((change) => {
      if (change.kind === 'gone') this.#putNetwork(keyOf(change.object), undefined);
      else if (change.kind === 'present' && !isSameNetwork(change.before, change.object))
        this.#putNetwork(keyOf(change.object), change.object);
    });
  }

  /** Returns one overlap of a Subnet; undefined if it has none. */
  overlapOf(subnet: string): SharedBroadcastDomain | undefined {
    const broadcastDomain = this.#domainOfProvider.get(this.#subnets.get(subnet)?.spec.provider ?? '');
    return broadcastDomain === undefined ? undefined : this.#overlaps.get(broadcastDomain)?.get(subnet);
  }

  onSnapshot({ subnets }: LedgerSnapshot): void {
    for (const name of this.#subnets.keys()) this.#putSubnet(name, undefined);
    for (const subnet of subnets) this.#putSubnet(subnet.name, subnet);
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'subnet-configured') this.#putSubnet(event.subnet.name, event.subnet);
      else if (event.kind === 'subnet-retired') this.#putSubnet(event.subnet, undefined);
    }
  }

  #putNetwork(key: string, object: NetworkDefinition | undefined): void {
    const before = this.#networks.get(key);
    const after = object && domainNetworkOf(key, object);
    if (before?.broadcastDomain === after?.broadcastDomain && before?.provider === after?.provider) return;
    if (before) {
      this.#networks.delete(key);
      this.#domainOfProvider.delete(before.provider);
      removeFrom(this.#networksByDomain, before.broadcastDomain, key);
      this.#recheckIfServed(before);
    }
    if (!after) return;
    this.#networks.set(key, after);
    this.#domainOfProvider.set(after.provider, after.broadcastDomain);
    addTo(this.#networksByDomain, after.broadcastDomain, key);
    this.#recheckIfServed(after);
  }

  #putSubnet(name: string, after: AppliedSubnet | undefined): void {
    const before = this.#subnets.get(name);
    if (before) {
      this.#subnets.delete(name);
      removeFrom(this.#byProvider, before.spec.provider, name);
      this.#recheck(this.#domainOfProvider.get(before.spec.provider));
    }
    if (!after) return;
    this.#subnets.set(name, after);
    addTo(this.#byProvider, after.spec.provider, name);
    this.#recheck(this.#domainOfProvider.get(after.spec.provider));
  }

  /** Checks a network's domain, unless it has no Subnet and so shares no address. */
  #recheckIfServed({ provider, broadcastDomain }: DomainNetwork): void {
    if (this.#byProvider.has(provider)) this.#recheck(broadcastDomain);
  }

  #recheck(broadcastDomain: string | undefined): void {
    if (broadcastDomain === undefined) return;
    if (this.#changed.size === 0) setImmediate(() => this.#recheckChanged());
    this.#changed.add(broadcastDomain);
  }

  #recheckChanged(): void {
    const affected = new Set<string>();
    for (const broadcastDomain of this.#changed) {
      const before = this.#overlaps.get(broadcastDomain);
      const after = this.#findOverlaps(broadcastDomain);
      if (after.size > 0) this.#overlaps.set(broadcastDomain, after);
      else this.#overlaps.delete(broadcastDomain);
      for (const [name, shared] of before ?? []) if (!isSame(shared, after.get(name))) affected.add(name);
      for (const name of after.keys()) if (!before?.has(name)) affected.add(name);
    }
    this.#changed.clear();
    for (const name of affected) this.#onChange(name);
  }

  #findOverlaps(broadcastDomain: string): ReadonlyMap<string, SharedBroadcastDomain> {
    const networks = [...(this.#networksByDomain.get(broadcastDomain) ?? [])].flatMap(
      (key) => this.#networks.get(key) ?? [],
    );
    const served = networks.filter(({ provider }) => this.#byProvider.has(provider));
    if (served.length < 2) return new Map();
    const subnets = served.flatMap(({ provider }) =>
      [...(this.#byProvider.get(provider) ?? [])].flatMap((name) => {
        const spec = this.#subnets.get(name)?.spec;
        return spec ? { name, provider, cidrBlock: spec.cidrBlock, excludeIps: spec.excludeIps } : [];
      }),
    );
    return findSharedBroadcastDomains(served, subnets);
  }
}

/** Returns the message of a Subnet's condition; "" if it has no overlap. */
export function overlapMessage(subnet: string, shared: SharedBroadcastDomain | undefined): string {
  if (!shared) return '';
  const { broadcastDomain, network, other } = shared;
  return `Subnet ${subnet} and Subnet ${other.subnet} give the same addresses in one broadcast domain (${truncate(broadcastDomain)}): NetworkAttachmentDefinitions ${network} and ${other.network} both attach Pods to it, so that a Pod of each can have the same address. Serve both networks by one NetworkAttachmentDefinition and one Subnet, or separate the Subnets by cidrBlock or excludeIps`;
}

function domainNetworkOf(key: string, object: NetworkDefinition): DomainNetwork | undefined {
  const network = classifyNetwork(object);
  if (network.kind !== 'ipam') return undefined;
  const broadcastDomain = broadcastDomainOf(object.config, object.resource);
  return broadcastDomain === undefined ? undefined : { key, provider: network.provider, broadcastDomain };
}

const isSame = (one: SharedBroadcastDomain, other: SharedBroadcastDomain | undefined): boolean =>
  one.network === other?.network &&
  one.other.subnet === other.other.subnet &&
  one.other.network === other.other.network;
