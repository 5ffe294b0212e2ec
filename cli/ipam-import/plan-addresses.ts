/** Plans the import of addresses that whereabouts or host-local allocated. Pure. */
import type { ClusterSnapshot } from '../cluster/cluster-snapshot.ts';
import { podLifecycleStage } from '../cluster/pod-lifecycle-stage.ts';
import { providerOf } from '../cluster/requested-attachments.ts';
import { type Conflict, findConflicts, type LedgerContents } from '../kube-ovn-import/conflicts.ts';
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
import type { SourceAddresses } from './source-address.ts';

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
  const results = addresses.map((each) => matchAddress(each, context));
  const matches = results.filter((each): each is Match => 'nic' in each);
  const attachments = [...Map.groupBy(matches, nicKey).values()].flatMap((each) => createAttachment(each, context));
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
  };
  const conflicts = [
    ...invalid,
    ...checkMap(map, snapshot),
    ...results.filter((each): each is Conflict => 'kind' in each),
    ...findDoubleAddresses(matches),
    ...findConflicts(plan, { ...snapshot, subnets }, ledger),
    ...findUnlisted(matches, context),
    ...findNetworksInUse(matches, snapshot),
  ];
  return { plan, conflicts };
}

function createContext(snapshot: ClusterSnapshot, map: ReadonlyMap<string, string>): MatchContext {
  const living = snapshot.pods.filter((pod) => podLifecycleStage(pod) !== 'ended');
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

/** The NIC with its addresses, the IPv4 address first. */
function createAttachment(matches: readonly Match[], { networks }: MatchContext): ObservedAttachment[] {
  const [first] = matches;
  if (!first) return [];
  const { pod, nic, subnet } = first;
  const { namespace, ledgerName: name = pod.name, identity: uid, node, owner } = pod;
  const all = matches.map(({ source }) => source.address);
  return [
    {
      holder: { namespace, name, uid, node, owner },
      provider: nic.provider,
      ordinal: nic.ordinal,
      interface: nic.interface,
      addresses: [...all.filter(isIpv4), ...all.filter((each) => !isIpv4(each))],
      subnet: subnet.name,
      // All links of an ipvlan share the MAC of their master
      mac: isSharedMac(nic.network, networks) ? '' : (nic.status?.mac ?? ''),
      routes: [],
      defaultRoute: undefined,
      vip: '',
      ipObject: undefined,
    },
  ];
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
function findDoubleAddresses(matches: readonly Match[]): Conflict[] {
  const byFamily = Map.groupBy(matches, (match) => `${nicKey(match)} ${isIpv4(match.source.address) ? 4 : 6}`);
  return [...byFamily.values()].flatMap((each): Conflict[] => {
    const [first] = each;
    if (!first || each.length === 1) return [];
    const entries = each.map(({ source }) => `${source.address} (${source.where})`).join(', ');
    return [
      {
        kind: 'allocated twice',
        where: `Pod ${podKey(first.pod)}`,
        what: `${entries} for one NIC of ${first.nic.provider}`,
        remedy: 'run `ip addr` in the container, and delete the other entry',
      },
    ];
  });
}

/**
 * Addresses that Pods show on an imported network, and that the source lacks. Another Pod could get them, and their Pods would get
 * another address in the ledger.
 */
function findUnlisted(matches: readonly Match[], { pods }: MatchContext): Conflict[] {
  const networks = new Set(matches.map(({ nic }) => nic.network));
  const keyOf = (pod: PodNics['pod'], network: string, address: string): string =>
    `${podKey(pod)} ${network} ${address}`;
  const listed = new Set(matches.map(({ pod, nic, source }) => keyOf(pod, nic.network, source.address)));
  return [...pods.values()].flatMap(({ pod, nics }) =>
    nics.flatMap(({ network, status }): Conflict[] => {
      if (!networks.has(network)) return [];
      const missing = (status?.addresses ?? []).filter((address) => !listed.has(keyOf(pod, network, address)));
      if (missing.length === 0) return [];
      return [
        {
          kind: 'entry and Pod',
          where: `Pod ${podKey(pod)}`,
          what: `it shows ${missing.join()} on network ${network}, and no valid entry of the source has that`,
          remedy: 'delete the Pod, so that it is created again after the import',
        },
      ];
    }),
  );
}

/** Networks whose new Pods would still get addresses of the other plugin. */
function findNetworksInUse(matches: readonly Match[], { networks }: ClusterSnapshot): Conflict[] {
  const providers = new Map(matches.map(({ nic }) => [nic.network, nic.provider]));
  return [...providers].flatMap(([network, provider]): Conflict[] => {
    if (providerOf(network, networks.get(network) ?? '') === provider) return [];
    return [
      {
        kind: 'network in use',
        where: `NetworkAttachmentDefinition ${network}`,
        what: 'its ipam.type is not kube-ovn, so that new Pods get addresses of the other plugin',
        remedy: `set ipam to {"type": "kube-ovn", "server_socket": …, "provider": "${provider}"}`,
      },
    ];
  });
}
