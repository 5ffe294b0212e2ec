/** Compares ipledger's Subnets with Kube-OVN's Subnets in the same cluster. */
import { cidrsOverlap, parseCidr, lastAddressOf, parseAddress } from '../../../../ledger/domain/addresses/address.ts';
import { type Informer, keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { broadcastDomainOf } from '../network-definitions/broadcast-domain.ts';
import { isSameNetwork, classifyNetwork } from '../network-definitions/classify-network.ts';
import { isOvnProvider, ownIpamType } from '../../../../lib/kubernetes/served-network.ts';
import { asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { indexAtOrAfter, union } from '../../../../ledger/domain/addresses/interval.ts';
import { type FamilyInterval, formatExcludes } from '../../../../ledger/domain/state/exclude-ips.ts';

type Plan = { readonly spec: AddressPlan };

export class KubeOvnSubnets {
  readonly #subnets: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>;
  readonly #networks: Pick<Informer<NetworkDefinition>, 'objects' | 'subscribe'>;

  constructor(
    subnets: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>,
    networks: Pick<Informer<NetworkDefinition>, 'objects' | 'subscribe'>,
  ) {
    this.#subnets = subnets;
    this.#networks = networks;
  }

  /** Returns why a Subnet must allocate no address, as a sentence with the remedy. */
  conflictOf(subnet: Plan): string | undefined {
    return kubeOvnConflict(subnet, {
      subnets: this.#subnets.objects.values(),
      isOwnNetwork: (provider) => {
        const definition = this.#definitionOf(provider);
        return definition !== undefined && classifyNetwork(definition).kind === 'ipam';
      },
      areApart: (provider, other) => {
        const [one, two] = [this.#domainOf(provider), this.#domainOf(other)];
        return one !== undefined && two !== undefined && one !== two;
      },
    });
  }

  /** Calls the listener after changes. `mayAlter` reports whether a change may affect a Subnet. */
  subscribe(listener: (mayAlter: (subnet: Plan) => boolean) => void): void {
    this.#subnets.subscribe((change) => {
      if (change.kind === 'listed') return;
      const before = change.kind === 'present' ? change.before : undefined;
      if (before && comparedFields(before) === comparedFields(change.object)) return;
      const states = [change.object, ...(before ? [before] : [])].filter((state) => !isOverlay(state));
      if (states.length > 0) listener((subnet) => states.some((state) => haveCommonAddresses(subnet, state)));
    });
    this.#networks.subscribe((change) => {
      if (change.kind === 'listed' || (change.kind === 'present' && isSameNetwork(change.before, change.object)))
        return;
      const provider = providerOf(change.object);
      const its = [...this.#subnets.objects.values()].filter(({ spec }) => spec.provider === provider);
      listener((subnet) => subnet.spec.provider === provider || its.some((each) => haveCommonAddresses(subnet, each)));
    });
  }

  #definitionOf(provider: string): NetworkDefinition | undefined {
    const [namespace = '', ...names] = provider.split('.').toReversed();
    return this.#networks.objects.get(keyOf({ namespace, name: names.toReversed().join('.') }));
  }

  #domainOf(provider: string): string | undefined {
    const definition = this.#definitionOf(provider);
    return definition && broadcastDomainOf(definition.config, definition.resource);
  }
}

/** Returns the provider "<name>.<namespace>" of a network. */
const providerOf = ({ namespace, name }: NetworkDefinition): string => `${name}.${namespace}`;

/** Returns the fields of Kube-OVN's Subnet that `kubeOvnConflict` reads, as one text. */
function comparedFields({ spec, overlay, status }: SubnetObject): string {
  const ranges = ['v4', 'v6'].flatMap((family) => [
    status[`${family}usingIPrange`],
    status[`${family}availableIPrange`],
  ]);
  return JSON.stringify([spec.provider, spec.cidrBlock, overlay.vlan, ranges]);
}

function haveCommonAddresses(one: Plan, other: Plan): boolean {
  const blocksOf = ({ spec }: Plan) => cidrsOf(spec.cidrBlock).flatMap((text) => parseCidr(text) ?? []);
  return blocksOf(one).some((block) => blocksOf(other).some((each) => cidrsOverlap(block, each)));
}

export interface KubeOvnView {
  /** The Subnets of Kube-OVN. */
  readonly subnets: Iterable<Pick<SubnetObject, 'name' | 'spec' | 'status' | 'overlay'>>;
  /** Whether the NetworkAttachmentDefinition of a provider names ipledger's plugin. */
  readonly isOwnNetwork: (provider: string) => boolean;
  /** Whether the networks of two providers are known to be in different broadcast domains. */
  readonly areApart: (provider: string, other: string) => boolean;
}

/** The fields of a Subnet that determine its addresses. */
export type AddressPlan = Pick<SubnetObject['spec'], 'provider' | 'cidrBlock' | 'excludeIps'>;

/** Returns a sentence with the remedy; undefined if ipledger may serve the Subnet. */
export function kubeOvnConflict(
  { spec: { provider, cidrBlock, excludeIps } }: { readonly spec: AddressPlan },
  { subnets, isOwnNetwork, areApart }: KubeOvnView,
): string | undefined {
  if (isOvnProvider(provider))
    return `Kube-OVN serves provider ${provider || 'ovn'} on this cluster: set spec.provider to NAME.NAMESPACE of a NetworkAttachmentDefinition with "ipam": {"type": "${ownIpamType}"}`;
  const cidrs = cidrsOf(cidrBlock);
  const excluded = parseRanges(excludeIps);
  for (const { name, spec, status, overlay } of subnets) {
    if (isOverlay({ spec, overlay }) || areApart(provider, spec.provider)) continue;
    const used = firstUncovered(inside(cidrs, status, 'using'), excluded);
    if (used !== undefined)
      return `Kube-OVN's Subnet ${name} has given ${used}: add ${JSON.stringify(used)} to spec.excludeIps until the Pods with these addresses are deleted`;
    if (isOwnNetwork(spec.provider)) continue;
    const available = firstUncovered(inside(cidrs, status, 'available'), excluded);
    if (available !== undefined)
      return `Kube-OVN's Subnet ${name} of provider ${spec.provider} may give ${available}: add ${JSON.stringify(available)} to spec.excludeIps here or of that Subnet, or set ipam.type of its network to ${JSON.stringify(ownIpamType)}`;
  }
  return undefined;
}

/** Whether a Subnet is an overlay, which has a network of its own. */
const isOverlay = ({ spec, overlay }: Pick<SubnetObject, 'spec' | 'overlay'>): boolean =>
  isOvnProvider(spec.provider) && overlay.vlan === '';

/** Returns the CIDRs in `spec.cidrBlock`, as texts. */
const cidrsOf = (cidrBlock: string): string[] => cidrBlock.split(',').map((each) => each.trim());

/** Returns the ranges of a Subnet's status that have an address in any of the CIDRs. */
function inside(
  cidrs: readonly string[],
  status: SubnetObject['status'],
  state: 'using' | 'available',
): FamilyInterval[] {
  const texts = ['v4', 'v6'].flatMap((family) => asText(status[`${family}${state}IPrange`]).split(','));
  return parseRanges(texts).filter((range) => cidrs.some((cidr) => overlapsCidr(range, cidr)));
}

/**
 * Parses ranges in `excludeIps` and in Kube-OVN's status: one address, `first..last` or
 * `first-last`. Omits other texts.
 */
export function parseRanges(texts: readonly string[]): FamilyInterval[] {
  return texts.flatMap((text) => {
    const ends = text.split(/\.\.|-/, 3).map((end) => parseAddress(end.trim()));
    const [first, last] = [ends[0], ends.at(-1)];
    if (ends.length > 2 || !first || !last || first.family !== last.family || first.value > last.value) return [];
    return [{ family: first.family, first: first.value, last: last.value }];
  });
}

/** Returns the first range outside the covers, as `first..last` or one address. */
export function firstUncovered(
  ranges: readonly FamilyInterval[],
  covers: readonly FamilyInterval[],
): string | undefined {
  const byFamily = Map.groupBy(
    covers.map(({ family, first, last }) => ({ family, first, last })),
    ({ family }) => family,
  );
  const merged = { 4: union(byFamily.get(4) ?? []), 6: union(byFamily.get(6) ?? []) };
  const uncovered = ranges.find(({ family, first, last }) => {
    const cover = merged[family][indexAtOrAfter(merged[family], first)];
    return !cover || cover.first > first || cover.last < last;
  });
  return uncovered && formatExcludes([uncovered])[0];
}

/** Whether a range and a CIDR have a common address; false if the CIDR is invalid. */
function overlapsCidr({ family, first, last }: FamilyInterval, cidr: string): boolean {
  const block = parseCidr(cidr);
  return block?.family === family && first <= lastAddressOf(block) && block.base <= last;
}
