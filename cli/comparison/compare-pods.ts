/** Compares the allocations with the Pods' annotations and with the NICs that Multus reports. */
import { isAnnotationKey } from '../../lib/kubernetes/kubernetes-metadata.ts';
import { isRetained, podLifecycleStage } from '../cluster/needed-addresses.ts';
import { bothFamilies } from '../../lib/net/ip.ts';
import type { Allocation, Subnet } from '../../proto/generated/ipledger.ts';
import type { CheckInput } from './check-input.ts';
import { formatAddresses, podKey, formatAllocation } from '../output/format.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import { findRequestedProviders } from '../cluster/requested-attachments.ts';
import type { Disagreement } from './disagreement.ts';
import type { Pod } from '../cluster/cluster-state.ts';
import { formatShellCommand } from '../shell-command.ts';
import { parseNetworkStatus } from '../cluster/network-status.ts';

const releaseHint =
  'the pod-watcher releases it: check that it runs; an ALARM in its log means that it has stopped releases';
const claimHint =
  'it came with a copied Pod, or the ledger has lost events. The pod-watcher removes it from a Pending Pod';
const patchHint = 'the pod-watcher does that: check that it runs, and that its role permits it to patch Pods';

const formatAnnotate = ({ namespace, name }: Pod, change: string): string =>
  formatShellCommand(['kubectl', 'annotate', 'pod', '-n', namespace, name, '--overwrite', change], patchHint);

/** A Pod needs and shows each allocation, and each Pod that needs an address has it. */
export function comparePods(input: CheckInput): Disagreement[] {
  const { ledger, cluster } = input;
  const byName = new Map(cluster.pods.map((pod) => [`${pod.namespace}/${pod.ledgerName ?? pod.name}`, pod]));
  const byUid = Map.groupBy(ledger.allocations, ({ podUid }) => podUid);
  const subnets = new Map(ledger.subnets.map((subnet) => [subnet.name, subnet]));
  return [
    ...ledger.allocations.flatMap((allocation) => {
      const compare = isRetained(allocation, cluster) ? compareRetained : compareAllocation;
      return compare(allocation, byName.get(formatPodName(allocation.attachment)), subnets.get(allocation.subnet));
    }),
    ...cluster.pods.flatMap((pod) => comparePod(pod, byUid.get(pod.identity) ?? [], input)),
  ];
}

/** A retained address needs no Pod. If the Pod exists, its annotations must match. */
const compareRetained = (allocation: Allocation, pod: Pod | undefined, subnet: Subnet | undefined): Disagreement[] =>
  pod?.identity === allocation.podUid ? compareAnnotations(allocation, pod, subnet) : [];

function compareAllocation(allocation: Allocation, pod: Pod | undefined, subnet: Subnet | undefined): Disagreement[] {
  const why = explainEnded(allocation, pod);
  if (why === undefined) return compareAnnotations(allocation, pod as Pod, subnet);
  const what = `holds ${formatAllocation(allocation)}, and ${why}`;
  const name = formatPodName(allocation.attachment);
  const remedy = formatShellCommand(['ipledger', 'why', name], releaseHint);
  return [{ kind: 'Pod ended', where: `Pod ${name}`, what, remedy }];
}

/** Why no Pod needs the allocation; undefined while its Pod does. */
function explainEnded({ podUid }: Allocation, pod: Pod | undefined): string | undefined {
  if (!pod) return 'there is no such Pod';
  if (pod.identity !== podUid) return `the Pod of that name has uid ${pod.identity}`;
  return podLifecycleStage(pod) === 'ended' ? `the Pod needs no address any more (${explainStage(pod)})` : undefined;
}

const explainStage = ({ hostNetwork, isTerminating, phase }: Pod): string =>
  hostNetwork ? 'it uses the network of its node' : !isTerminating ? phase : 'its kubelet has deleted it';

function compareAnnotations(allocation: Allocation, pod: Pod, subnet: Subnet | undefined): Disagreement[] {
  const where = `Pod ${formatPodName(allocation.attachment)}`;
  // The pod-watcher leaves out keys that Kubernetes rejects, and reports them in an Event
  const possible = Object.entries(expectedAnnotations(allocation, subnet)).filter(([key]) => isAnnotationKey(key));
  return possible.flatMap(([key, expected]) => {
    const shown = pod.annotations[key] ?? '';
    const isSame = key.includes('/mac_address') ? shown.toLowerCase() === expected.toLowerCase() : shown === expected;
    const present = shown === '' ? 'is missing' : `is "${shown}"`;
    const what = `annotation ${key} ${present}; the ledger has ${expected === '' ? 'no such value' : `"${expected}"`}`;
    const remedy = formatAnnotate(pod, expected === '' ? `${key}-` : `${key}=${expected}`);
    return isSame ? [] : [{ kind: 'annotation', where, what, remedy }];
  });
}

/** Kube-OVN's keys. Those of a provider's second attachment have the interface, once known. */
function expectedAnnotations(allocation: Allocation, subnet: Subnet | undefined): Record<string, string> {
  const { attachment, addresses, mac, bindings } = allocation;
  const provider = attachment?.provider ?? '';
  if ((attachment?.ordinal ?? 0) > 0) {
    const name = bindings.at(-1)?.interface ?? allocation.interface;
    const prefix = `${provider.replace(/\.ovn$/, '')}.kubernetes.io`;
    if (name === '') return {};
    return { [`${prefix}/ip_address.${name}`]: formatAddresses(allocation), [`${prefix}/mac_address.${name}`]: mac };
  }
  return {
    [`${provider}.kubernetes.io/ip_address`]: formatAddresses(allocation),
    [`${provider}.kubernetes.io/mac_address`]: mac,
    [`${provider}.kubernetes.io/cidr`]: bothFamilies(
      addresses.map(({ cidr }) => cidr),
      subnet?.spec?.cidrBlock,
    ),
    [`${provider}.kubernetes.io/gateway`]: bothFamilies(
      addresses.map(({ gateway }) => gateway),
      subnet?.spec?.gateway,
    ),
    [`${provider}.kubernetes.io/allocated`]: 'true',
  };
}

/** A living Pod has the addresses that it requests, and claims no others. */
function comparePod(pod: Pod, allocations: readonly Allocation[], input: CheckInput): Disagreement[] {
  if (podLifecycleStage(pod) !== 'living') return [];
  const where = `Pod ${podKey(pod)}`;
  // Kube-OVN-type NICs of one network also have keys with their interface
  const providers = new Set(
    allocations.flatMap(({ attachment, interface: name, bindings }) => {
      const provider = attachment?.provider ?? '';
      const interfaces = [name, ...bindings.map((binding) => binding.interface)];
      return [provider, ...interfaces.map((each) => `${provider}.${each}`)];
    }),
  );
  const found: Disagreement[] = [];
  const requested = allocations.length === 0 ? findRequestedProviders(pod, input.cluster) : [];
  const remedy = formatShellCommand(['ipledger', 'why', podKey(pod)], 'its Events explain it, too');
  if (requested.length > 0)
    found.push({
      kind: 'no address',
      where,
      what: `requests an address of ${requested.join(' and ')}, and has none`,
      remedy,
    });
  for (const [key, value] of Object.entries(pod.annotations)) {
    const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
    if (provider === undefined || value !== 'true' || providers.has(provider)) continue;
    const what = `annotation ${key} claims an address, and the ledger has none`;
    found.push({
      kind: 'annotation',
      where,
      what,
      remedy: formatShellCommand(['ipledger', 'why', podKey(pod)], claimHint),
    });
  }
  return found;
}

/** A running Pod has only the allocated addresses on a network of its allocations. */
export function compareInterfaces({ ledger, cluster }: CheckInput): Disagreement[] {
  const byUid = Map.groupBy(ledger.allocations, ({ podUid }) => podUid);
  return cluster.pods
    .filter(({ phase, isTerminating }) => phase === 'Running' && !isTerminating)
    .flatMap((pod) => compareNics(pod, byUid.get(pod.identity) ?? []));
}

function compareNics(pod: Pod, held: readonly Allocation[]): Disagreement[] {
  const interfaces = parseNetworkStatus(pod);
  const byNetwork = Map.groupBy(held, ({ attachment }) => networkOf(attachment?.provider ?? ''));
  return [...byNetwork].flatMap(([network, allocations]) => {
    const allocated = new Set(allocations.flatMap(({ addresses }) => addresses.map(({ address }) => address)));
    return interfaces
      .filter((each) => each.network === network)
      .flatMap(({ interface: name, addresses }) =>
        addresses
          .filter((address) => !allocated.has(address))
          .map((address) => createDisagreement(pod, { address, name, allocated })),
      );
  });
}

function createDisagreement(
  pod: Pod,
  {
    address,
    name,
    allocated,
  }: { readonly address: string; readonly name: string; readonly allocated: ReadonlySet<string> },
): Disagreement {
  const what = `its ${name} has ${address}; the ledger has ${[...allocated].join(' and ')}`;
  const remedy = formatShellCommand(
    ['ipledger', 'history', address],
    'the Pods that had it; only a new sandbox of this Pod gets the allocated address',
  );
  return { kind: 'other address in use', where: `Pod ${podKey(pod)}`, what, remedy };
}

/** The provider "<name>.<namespace>[.ovn]" as Multus' name of the network, "<namespace>/<name>". */
function networkOf(provider: string): string {
  const [, name = '', namespace = ''] = /^(.+)\.([^.]+)$/.exec(provider.replace(/\.ovn$/, '')) ?? [];
  return `${namespace}/${name}`;
}
