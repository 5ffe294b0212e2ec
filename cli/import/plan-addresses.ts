/** Plans the import of addresses that whereabouts or host-local allocated. Pure. */
import { isIPv4 } from 'node:net';
import { servedIpamTypes } from '../../lib/kubernetes/served-network.ts';
import { ipv4First } from '../../lib/net/ip.ts';
import { type ClusterSnapshot, type KubeOvnSubnet, providerOf, subnetContains } from '../cluster/cluster-snapshot.ts';
import { hasEnded } from '../cluster/needed-addresses.ts';
import { servedProviderOf } from '../cluster/requested-attachments.ts';
import { podKey } from '../output/format.ts';
import { addressesOf, type Conflict, leaveUndecided, type SubnetAddress } from './conflict.ts';
import { findConflicts, type ImportPlan, type LedgerContents } from './import-plan.ts';
import {
  configurationName,
  findNics,
  isSharedMac,
  type Match,
  matchAddress,
  type MatchContext,
  type PodNics,
  shownKey,
} from './match-address.ts';
import { createAttachment, holderOf, maxNics, type ObservedAttachment } from './observed-attachment.ts';
import type { SourceAddress, SourceAddresses, SourceConflict } from './source-address.ts';

export interface AddressPlan {
  readonly plan: ImportPlan;
  readonly conflicts: readonly Conflict[];
}

/** @param map names of Subnets by networks of the source, for what cannot be derived */
export function planAddresses(
  { addresses, conflicts: invalid }: Omit<SourceAddresses, 'networks'>,
  snapshot: ClusterSnapshot,
  ledger: LedgerContents,
  map: ReadonlyMap<string, string>,
): AddressPlan {
  const context = createContext(snapshot, map);
  const results = addresses.map((source) => ({ source, result: matchAddress(source, context) }));
  const matches = results.flatMap(({ result }) => ('nic' in result ? result : []));
  const nics = Map.groupBy(matches, nicKey);
  const sharedMacs = findSharedMacs([...nics.values()], context);
  const byNic = new Map([...nics].map(([key, each]) => [key, attachmentOf(each, sharedMacs, context)] as const));
  const attachments = [...byNic.values()];
  const attachmentsOf: AttachmentsOf = (each) => [...new Set(each.flatMap((match) => byNic.get(nicKey(match)) ?? []))];
  const used = new Set(attachments.map(({ subnet }) => subnet));
  const subnets = snapshot.subnets.filter(({ name }) => used.has(name));
  const known = new Set(ledger.subnets.map(({ name }) => name));
  const plan: ImportPlan = {
    subnets: subnets.filter(({ name }) => !known.has(name)),
    pools: [],
    reservations: [],
    attachments,
    leftovers: [],
    foreign: [],
    quarantines: [],
  };
  const placesOf = createPlaceFinder(matches, context);
  const [bySource, byPod] = [
    Map.groupBy(matches, ({ source }) => sourceKey(source)),
    Map.groupBy(matches, ({ pod }) => podKey(pod)),
  ];
  // A NIC is imported with all its addresses, or not at all: the ledger adds none to an allocation
  const leaveOut = ({ about, ...conflict }: SourceConflict, ofPod: readonly Match[] = []): Conflict => {
    const attachments = attachmentsOf([...ofPod, ...(about ? (bySource.get(sourceKey(about)) ?? []) : [])]);
    const addresses = [...(about ? placesOf(about) : []), ...addressesOf(attachments)];
    return { ...conflict, leavesOut: { attachments, addresses } };
  };
  const conflicts = [
    ...invalid.map((each) => leaveOut(each)),
    ...checkMap(map, snapshot),
    ...results.flatMap(({ source: about, result }) => {
      const ofPod = about.holder.by === 'pod' ? byPod.get(podKey(about.holder)) : [];
      return 'kind' in result ? leaveOut({ ...result, about }, ofPod) : [];
    }),
    ...findDoubleAddresses(matches, attachmentsOf),
    ...describeSharedMacs(sharedMacs),
    ...findConflicts(plan, { ...snapshot, subnets }, ledger),
    ...findUnlisted(matches, context, attachmentsOf),
    ...findNetworksInUse(matches, snapshot, attachmentsOf),
  ];
  return { plan, conflicts };
}

function createContext(snapshot: ClusterSnapshot, map: ReadonlyMap<string, string>): MatchContext {
  const living = snapshot.pods.filter((pod) => !hasEnded(pod));
  const pods = new Map(living.map((pod) => [podKey(pod), { pod, nics: findNics(pod) }] as const));
  const shown = new Map<string, PodNics[]>();
  for (const each of pods.values())
    for (const address of new Set(each.nics.flatMap(({ status }) => status?.addresses ?? []))) {
      const key = shownKey(each.pod.node, address);
      const others = shown.get(key);
      if (others) others.push(each);
      else shown.set(key, [each]);
    }
  return { pods, shown, subnets: snapshot.subnets, networks: snapshot.networks, map };
}

const nicKey = ({ pod, nic, subnet }: Match): string => `${podKey(pod)} ${nic.provider} ${nic.ordinal} ${subnet.name}`;

const sourceKey = ({ network, address }: Pick<SourceAddress, 'network' | 'address'>): string => `${network} ${address}`;

/** The NIC with its addresses, the IPv4 address first. */
function attachmentOf(matches: readonly Match[], sharedMacs: SharedMacs, context: MatchContext): ObservedAttachment {
  const [first] = matches as readonly [Match, ...Match[]];
  const { provider, ordinal, interface: interfaceName } = first.nic;
  const addresses = ipv4First(matches.map(({ source }) => source.address));
  const mac = macOf(first, context);
  return createAttachment(holderOf(first.pod), {
    provider,
    ordinal,
    interface: interfaceName,
    addresses,
    subnet: first.subnet.name,
    mac: sharedMacs.has(macKey(first, mac)) ? '' : mac,
  });
}

/** All links of an ipvlan share the MAC of their master. */
const macOf = ({ nic }: Match, { networks }: MatchContext): string =>
  isSharedMac(nic.network, networks) ? '' : (nic.status?.mac ?? '');

const macKey = ({ subnet }: Match, mac: string): string => `${mac} in Subnet ${subnet.name}`;

/** NICs that show the same MAC, by MAC and Subnet. */
type SharedMacs = ReadonlyMap<string, readonly Match[]>;

/** Finds MACs that several NICs show. Tenants can write annotations, so no NIC gets the MAC. */
function findSharedMacs(nics: readonly (readonly Match[])[], context: MatchContext): SharedMacs {
  const firsts = nics.flatMap(([first]) => first ?? []).filter((first) => macOf(first, context) !== '');
  const byMac = Map.groupBy(firsts, (first) => macKey(first, macOf(first, context)));
  return new Map([...byMac].filter(([, each]) => each.length > 1));
}

const describeSharedMacs = (sharedMacs: SharedMacs): Conflict[] =>
  [...sharedMacs].map(([mac, nics]) => ({
    kind: 'allocated twice',
    where: formatPods(nics),
    what: `their annotation network-status has MAC ${mac}, which is imported for none of them`,
    remedy: 'run `ip link` in the containers, and delete the Pod with the wrong annotation',
    leavesOut: {},
  }));

const maxShownPods = 5;

function formatPods(matches: readonly Match[]): string {
  const shown = matches
    .slice(0, maxShownPods)
    .map(({ pod }) => `Pod ${podKey(pod)}`)
    .join(' and ');
  return matches.length > maxShownPods ? `${shown} and ${matches.length - maxShownPods} more` : shown;
}

function* checkMap(map: ReadonlyMap<string, string>, { subnets }: ClusterSnapshot): Generator<Conflict> {
  const known = new Set(subnets.map(({ name }) => name));
  for (const [network, subnet] of map)
    if (!known.has(subnet))
      yield {
        kind: 'no Subnet',
        where: `--map ${network}=${subnet}`,
        what: `there is no Subnet ${subnet}`,
        remedy: 'create it, or correct the option',
      };
}

/** Returns the attachments of matches. */
type AttachmentsOf = (matches: readonly Match[]) => ObservedAttachment[];

/** Finds two addresses of one family for a NIC: the source has a stale entry. */
function* findDoubleAddresses(matches: readonly Match[], attachmentsOf: AttachmentsOf): Generator<Conflict> {
  const byFamily = Map.groupBy(matches, (match) => `${nicKey(match)} ${isIPv4(match.source.address) ? 4 : 6}`);
  for (const each of byFamily.values()) {
    const [first, second] = each;
    if (!first || !second) continue;
    const entries = each.map(({ source }) => `${source.address} (${source.where})`).join(', ');
    yield {
      kind: 'allocated twice',
      where: `Pod ${podKey(first.pod)}`,
      what: `${entries} for one NIC of ${first.nic.provider}`,
      remedy: 'run `ip addr` in the container, and delete the other entry',
      leavesOut: leaveUndecided(attachmentsOf(each)),
    };
  }
}

const maxNicAddresses = 2;

/**
 * Finds addresses that Pods show on an imported network, and that the source lacks. Another Pod
 * could get them, and their Pods would get another address in the ledger. Tenants can write the
 * annotation: it quarantines no more than their Pods could request.
 */
function* findUnlisted(
  matches: readonly Match[],
  { pods }: MatchContext,
  attachmentsOf: AttachmentsOf,
): Generator<Conflict> {
  const byNetwork = Map.groupBy(matches, ({ nic }) => nic.network);
  const places = new Map([...byNetwork].map(([network, each]) => [network, new Set(each.map(({ subnet }) => subnet))]));
  const keyOf = (pod: PodNics['pod'], network: string): string => `${podKey(pod)} ${network}`;
  const ofPod = Map.groupBy(matches, ({ pod, nic }) => keyOf(pod, nic.network));
  for (const { pod, nics } of pods.values())
    for (const { network, status } of nics.slice(0, maxNics)) {
      const own = places.get(network);
      if (!own) continue;
      const listed = ofPod.get(keyOf(pod, network)) ?? [];
      const shown = (status?.addresses ?? []).slice(0, maxNicAddresses);
      const missing = shown.filter((address) => !listed.some(({ source }) => source.address === address));
      if (missing.length === 0) continue;
      const attachments = attachmentsOf(listed);
      const addresses = [...missing.flatMap((address) => placesIn(own, address)), ...addressesOf(attachments)];
      yield {
        kind: 'entry and Pod',
        where: `Pod ${podKey(pod)}`,
        what: `it shows ${missing.join()} on network ${network}, and no valid entry of the source has that`,
        remedy: 'delete the Pod, so that it is created again after the import',
        leavesOut: { attachments, addresses },
      };
    }
}

/** Finds networks whose new Pods would still get addresses of the other plugin. */
function* findNetworksInUse(
  matches: readonly Match[],
  { networks, besideKubeOvn }: ClusterSnapshot,
  attachmentsOf: AttachmentsOf,
): Generator<Conflict> {
  const [ipamType = ''] = servedIpamTypes(besideKubeOvn);
  for (const [network, each] of Map.groupBy(matches, ({ nic }) => nic.network)) {
    const provider = each[0]?.nic.provider ?? '';
    if (servedProviderOf(network, networks.get(network) ?? '', besideKubeOvn) !== provider)
      yield {
        kind: 'network in use',
        where: `NetworkAttachmentDefinition ${network}`,
        what: `its ipam.type is not ${ipamType}, so that new Pods get addresses of the other plugin`,
        remedy: `set ipam to {"type": "${ipamType}", "server_socket": …, "provider": "${provider}"}`,
        leavesOut: { attachments: attachmentsOf(each) },
      };
  }
}

/**
 * Returns a function that finds where an address may be that is not imported, so that no Pod gets
 * it there: in the Subnet of `--map`, else in the Subnets of the imported addresses of its network,
 * else in those of a NetworkAttachmentDefinition with that name.
 */
function createPlaceFinder(
  matches: readonly Match[],
  { map, subnets, networks }: MatchContext,
): (about: Pick<SourceAddress, 'network' | 'address'>) => SubnetAddress[] {
  const byName = new Map(subnets.map((subnet) => [subnet.name, subnet]));
  const byProvider = Map.groupBy(subnets, providerOf);
  const candidates = new Map<string, Set<KubeOvnSubnet>>();
  const add = (network: string, subnet: KubeOvnSubnet): void =>
    void candidates.set(network, (candidates.get(network) ?? new Set()).add(subnet));
  for (const { source, subnet } of matches) add(source.network, subnet);
  const imported = new Set(candidates.keys());
  for (const key of networks.keys()) {
    const [name, provider] = [configurationName(key, networks), key.split('/').reverse().join('.')];
    if (!imported.has(name)) for (const subnet of byProvider.get(provider) ?? []) add(name, subnet);
  }
  return ({ network, address }) => {
    const mapped = byName.get(map.get(network) ?? '');
    return placesIn(mapped ? [mapped] : (candidates.get(network) ?? []), address);
  };
}

/** Returns an address once for each Subnet that contains the address. */
const placesIn = (subnets: Iterable<KubeOvnSubnet>, address: string): SubnetAddress[] =>
  [...subnets].filter((each) => subnetContains(each, address)).map(({ name: subnet }) => ({ subnet, address }));
