/** Plans the import of addresses that whereabouts or host-local allocated. Pure. */
import { ownIpamType } from '../../lib/kubernetes/beside-kube-ovn.ts';
import type { ClusterSnapshot } from '../cluster/cluster-snapshot.ts';
import { hasEnded } from '../cluster/pod-lifecycle-stage.ts';
import { providerOf } from '../cluster/requested-attachments.ts';
import { addressesOf, type Conflict } from '../kube-ovn-import/conflict.ts';
import { findConflicts, type LedgerContents } from '../kube-ovn-import/conflicts.ts';
import type { ImportPlan } from '../kube-ovn-import/import-plan.ts';
import type { ObservedAttachment } from '../kube-ovn-import/observed-attachments.ts';
import {
  findNics,
  isIpv4,
  isSharedMac,
  type Match,
  matchAddress,
  type MatchContext,
  podKey,
  type PodNics,
  shownKey,
} from './match-address.ts';
import { createPlaceFinder } from './address-places.ts';
import { subnetContains } from '../kube-ovn-import/subnet-contains.ts';
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
  const byNic = new Map([...nics].map(([key, each]) => [key, createAttachment(each, sharedMacs, context)] as const));
  const attachments = [...byNic.values()];
  const attachmentsOf = (each: readonly Match[]): ObservedAttachment[] => [
    ...new Set(each.flatMap((match) => byNic.get(nicKey(match)) ?? [])),
  ];
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
function createAttachment(
  matches: readonly Match[],
  sharedMacs: SharedMacs,
  context: MatchContext,
): ObservedAttachment {
  const [first] = matches as readonly [Match, ...Match[]];
  const { pod, nic, subnet } = first;
  const { namespace, ledgerName: name = pod.name, identity: uid, node, owner } = pod;
  const all = matches.map(({ source }) => source.address);
  const mac = macOf(first, context);
  return {
    holder: { namespace, name, uid, node, owner },
    provider: nic.provider,
    ordinal: nic.ordinal,
    interface: nic.interface,
    addresses: [...all.filter(isIpv4), ...all.filter((each) => !isIpv4(each))],
    subnet: subnet.name,
    mac: sharedMacs.has(macKey(first, mac)) ? '' : mac,
    routes: [],
    defaultRoute: undefined,
    vip: '',
    ipObject: undefined,
    isRecorded: true,
    isRequested: true,
    annotated: [],
  };
}

/** All links of an ipvlan share the MAC of their master. */
const macOf = ({ nic }: Match, { networks }: MatchContext): string =>
  isSharedMac(nic.network, networks) ? '' : (nic.status?.mac ?? '');

const macKey = ({ subnet }: Match, mac: string): string => `${mac} in Subnet ${subnet.name}`;

/** NICs that show one MAC, by MAC and Subnet. */
type SharedMacs = ReadonlyMap<string, readonly Match[]>;

/** Tenants can write the annotation that shows a MAC, so that none of the NICs has it. */
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

function checkMap(map: ReadonlyMap<string, string>, { subnets }: ClusterSnapshot): Conflict[] {
  return [...map].flatMap(([network, subnet]): Conflict[] => {
    if (subnets.some(({ name }) => name === subnet)) return [];
    const where = `--map ${network}=${subnet}`;
    return [
      { kind: 'no Subnet', where, what: `there is no Subnet ${subnet}`, remedy: 'create it, or correct the option' },
    ];
  });
}

/** Two addresses of one family for a NIC: the source has a stale entry. */
function findDoubleAddresses(
  matches: readonly Match[],
  attachmentsOf: (each: readonly Match[]) => ObservedAttachment[],
): Conflict[] {
  const byFamily = Map.groupBy(matches, (match) => `${nicKey(match)} ${isIpv4(match.source.address) ? 4 : 6}`);
  return [...byFamily.values()].flatMap((each): Conflict[] => {
    const [first] = each;
    if (!first || each.length === 1) return [];
    const entries = each.map(({ source }) => `${source.address} (${source.where})`).join(', ');
    const attachments = attachmentsOf(each);
    return [
      {
        kind: 'allocated twice',
        where: `Pod ${podKey(first.pod)}`,
        what: `${entries} for one NIC of ${first.nic.provider}`,
        remedy: 'run `ip addr` in the container, and delete the other entry',
        leavesOut: { attachments, addresses: addressesOf(attachments) },
      },
    ];
  });
}

/** A Pod can have as many attachments in the ledger, each with one address of a family. */
const maxNics = 24;
const maxNicAddresses = 2;

/**
 * Addresses that Pods show on an imported network, and that the source lacks. Another Pod could get them, and their Pods would get
 * another address in the ledger. Tenants can write the annotation: it quarantines no more than their Pods could request.
 */
function findUnlisted(
  matches: readonly Match[],
  { pods }: MatchContext,
  attachmentsOf: (each: readonly Match[]) => ObservedAttachment[],
): Conflict[] {
  const subnets = Map.groupBy(matches, ({ nic }) => nic.network);
  const places = new Map([...subnets].map(([network, each]) => [network, new Set(each.map(({ subnet }) => subnet))]));
  const byNetwork = Map.groupBy(matches, ({ pod, nic }) => `${podKey(pod)} ${nic.network}`);
  const keyOf = (pod: PodNics['pod'], network: string, address: string): string =>
    `${podKey(pod)} ${network} ${address}`;
  const listed = new Set(matches.map(({ pod, nic, source }) => keyOf(pod, nic.network, source.address)));
  return [...pods.values()].flatMap(({ pod, nics }) =>
    nics.slice(0, maxNics).flatMap(({ network, status }): Conflict[] => {
      const own = places.get(network);
      if (!own) return [];
      const shown = (status?.addresses ?? []).slice(0, maxNicAddresses);
      const missing = shown.filter((address) => !listed.has(keyOf(pod, network, address)));
      if (missing.length === 0) return [];
      const addresses = missing.flatMap((address) =>
        [...own].filter((each) => subnetContains(each, address)).map(({ name }) => ({ subnet: name, address })),
      );
      const attachments = attachmentsOf(byNetwork.get(`${podKey(pod)} ${network}`) ?? []);
      return [
        {
          kind: 'entry and Pod',
          where: `Pod ${podKey(pod)}`,
          what: `it shows ${missing.join()} on network ${network}, and no valid entry of the source has that`,
          remedy: 'delete the Pod, so that it is created again after the import',
          leavesOut: { attachments, addresses: [...addresses, ...addressesOf(attachments)] },
        },
      ];
    }),
  );
}

/** Networks whose new Pods would still get addresses of the other plugin. */
function findNetworksInUse(
  matches: readonly Match[],
  { networks, besideKubeOvn }: ClusterSnapshot,
  attachmentsOf: (each: readonly Match[]) => ObservedAttachment[],
): Conflict[] {
  const byNetwork = Map.groupBy(matches, ({ nic }) => nic.network);
  const ipamType = besideKubeOvn ? ownIpamType : 'kube-ovn';
  return [...byNetwork].flatMap(([network, each]): Conflict[] => {
    const provider = each[0]?.nic.provider ?? '';
    if (providerOf(network, networks.get(network) ?? '', besideKubeOvn) === provider) return [];
    return [
      {
        kind: 'network in use',
        where: `NetworkAttachmentDefinition ${network}`,
        what: `its ipam.type is not ${ipamType}, so that new Pods get addresses of the other plugin`,
        remedy: `set ipam to {"type": "${ipamType}", "server_socket": …, "provider": "${provider}"}`,
        leavesOut: { attachments: attachmentsOf(each) },
      },
    ];
  });
}
