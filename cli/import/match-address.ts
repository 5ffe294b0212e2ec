/** Matches an address of another IPAM plugin with its Pod, NIC and Subnet. Pure. */
import { asRecord, asText, tryParseJson } from '../../lib/kubernetes/untyped-json.ts';
import { type KubeOvnSubnet, providerOf, subnetContains } from '../cluster/cluster-snapshot.ts';
import type { Pod } from '../cluster/cluster-state.ts';
import { type NicStatus, parseNetworkStatus } from '../cluster/network-status.ts';
import { findSelections, parsePlugins } from '../cluster/requested-attachments.ts';
import { podKey } from '../output/format.ts';
import { shortContainerId } from '../../lib/ledger-text/texts.ts';
import type { Conflict } from './conflict.ts';
import type { SourceAddress } from './source-address.ts';

/** A NIC that a Pod requests by a NetworkAttachmentDefinition. */
export interface Nic {
  /** "namespace/name" of the NetworkAttachmentDefinition. */
  readonly network: string;
  /** The name of the network in the ledger: "name.namespace". */
  readonly provider: string;
  /** The number of the NIC among those of its network, from 0. */
  readonly ordinal: number;
  /** The name in the annotation; "" without it. */
  readonly interface: string;
  readonly actualInterface: string;
  /** The NIC in the Pod's network-status; undefined without it. */
  readonly status: NicStatus | undefined;
}

/** A living Pod with its NICs. */
export interface PodNics {
  readonly pod: Pod;
  readonly nics: readonly Nic[];
}

export interface Match {
  readonly source: SourceAddress;
  readonly pod: Pod;
  readonly nic: Nic;
  readonly subnet: KubeOvnSubnet;
}

export interface MatchContext {
  /** Living Pods by "namespace/name". */
  readonly pods: ReadonlyMap<string, PodNics>;
  /** Living Pods by node, and by each address that Multus shows: "node address". */
  readonly shown: ReadonlyMap<string, readonly PodNics[]>;
  readonly subnets: readonly KubeOvnSubnet[];
  /** CNI configurations by "namespace/name". */
  readonly networks: ReadonlyMap<string, string>;
  /** `--map`: names of Subnets by networks of the source. */
  readonly map: ReadonlyMap<string, string>;
}

export const shownKey = (node: string, address: string): string => `${node} ${address}`;

export function findNics(pod: Pod): Nic[] {
  const statuses = parseNetworkStatus(pod);
  const count = new Map<string, number>();
  return findSelections(pod).map(({ network, interface: named, actualInterface }) => {
    const ordinal = count.get(network) ?? 0;
    count.set(network, ordinal + 1);
    const [namespace = '', name = ''] = network.split('/');
    return {
      network,
      provider: `${name}.${namespace}`,
      ordinal,
      interface: named,
      actualInterface,
      status: statuses.find((each) => each.network === network && each.interface === actualInterface),
    };
  });
}

export function matchAddress(source: SourceAddress, context: MatchContext): Match | Conflict {
  const { holder, network, address } = source;
  const isMatch = (nic: Nic): boolean => canHave(nic, source) && isOfNetwork(nic, source, context);
  const pods =
    holder.by === 'pod'
      ? [context.pods.get(podKey(holder)) ?? []].flat()
      : (context.shown.get(shownKey(holder.node, address)) ?? []).filter(({ nics }) => nics.some(isMatch));
  const [found] = pods;
  if (!found) return noPod(source);
  if (pods.length > 1)
    return ambiguous(source, `${pods.map(({ pod }) => podKey(pod)).join()} show ${address} on network ${network}`);
  const { pod, nics } = found;
  const of = nics.filter((nic) => isOfNetwork(nic, source, context));
  const matching = of.filter((nic) => canHave(nic, source));
  const other = of.find(({ status }) => status);
  const isShown = nics.some(({ status }) => status?.addresses.includes(address));
  if (matching.length === 0 && other && !isShown) return shownOtherwise(source, pod, other);
  const pairs = matching.flatMap((nic) => subnetsOf(nic, source, context).map((subnet) => ({ nic, subnet })));
  const [pair] = pairs;
  if (!pair) return noSubnet(source, pod, nics);
  if (pairs.length > 1)
    return ambiguous(
      source,
      `${address} can be of ${pairs.map(({ nic, subnet }) => `${nic.actualInterface} of Subnet ${subnet.name}`).join(' or ')}`,
    );
  return { source, pod, ...pair };
}

/** Whether the NIC can have the address, by its interface and by what Multus shows. */
const canHave = ({ actualInterface, status }: Nic, source: SourceAddress): boolean =>
  (source.interface === '' || source.interface === actualInterface) &&
  (!status || status.addresses.includes(source.address));

/** Whether the NIC can be of a network of the source. */
function isOfNetwork(nic: Nic, { network, holder }: SourceAddress, { map, subnets, networks }: MatchContext): boolean {
  const mapped = map.get(network);
  if (mapped !== undefined) return subnets.some((each) => each.name === mapped && providerOf(each) === nic.provider);
  if (!subnets.some((each) => providerOf(each) === nic.provider)) return false;
  return holder.by === 'pod' || configurationName(nic.network, networks) === network;
}

/** The name of host-local's folder: the `name` of the configuration, else that of the object. */
export function configurationName(network: string, networks: ReadonlyMap<string, string>): string {
  const { name } = asRecord(tryParseJson(networks.get(network) ?? ''));
  return asText(name) || (network.split('/')[1] ?? '');
}

/** The Subnet of `--map`; else that with the address; else any, for the conflict "out of range". */
function subnetsOf(nic: Nic, { network, address }: SourceAddress, { map, subnets }: MatchContext): KubeOvnSubnet[] {
  const mapped = map.get(network);
  const own = subnets.filter((each) => providerOf(each) === nic.provider);
  if (mapped !== undefined) return own.filter(({ name }) => name === mapped);
  const containing = own.filter((each) => subnetContains(each, address));
  return containing.length > 0 ? containing : own.slice(0, 1);
}

function noPod({ where, address, holder, containerId }: SourceAddress): Conflict {
  const what =
    holder.by === 'pod'
      ? `${address} is for Pod ${podKey(holder)}, which does not exist or has ended`
      : `${address} is for container ${shortContainerId(containerId)}; no Pod of node ${holder.node} shows it in the annotation network-status`;
  const remedy = holder.by === 'pod' ? 'delete the allocation' : 'remove the file, if the container is gone';
  return { kind: 'no Pod', where, what, remedy };
}

function noSubnet({ where, network, address }: SourceAddress, pod: Pod, nics: readonly Nic[]): Conflict {
  const providers = [...new Set(nics.map(({ provider }) => provider))].join(' or ') || '(the Pod names no network)';
  return {
    kind: 'no Subnet',
    where: `Pod ${podKey(pod)}`,
    what: `${address} of ${where}: there is no Subnet of provider ${providers}`,
    remedy: `create the Subnet with this provider, or add --map ${network}=SUBNET`,
  };
}

const ambiguous = ({ where, network }: SourceAddress, what: string): Conflict => ({
  kind: 'no Subnet',
  where,
  what,
  remedy: `add --map ${network}=SUBNET; if a Pod has two NICs of one network, delete the Pod`,
});

function shownOtherwise({ where, address }: SourceAddress, pod: Pod, { status, ...nic }: Nic): Conflict {
  const shown = status?.addresses.join() || 'no address';
  return {
    kind: 'entry and Pod',
    where: `Pod ${podKey(pod)}`,
    what: `${where} has ${address}; the Pod shows ${shown} on ${nic.actualInterface}`,
    remedy: 'run `ip addr` in the container; delete the entry if it is from an earlier Pod, else the Pod',
  };
}

/** Whether all NICs of a network have one MAC: ipvlan links have their master's. */
export const isSharedMac = (network: string, networks: ReadonlyMap<string, string>): boolean =>
  parsePlugins(networks.get(network) ?? '').some(({ type }) => type === 'ipvlan');
