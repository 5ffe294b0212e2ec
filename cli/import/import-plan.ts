/** Plans what an import takes over from Kube-OVN, and finds the plan's conflicts. Pure. */
import { cidrContains } from '../../lib/net/ip.ts';
import type { Allocation, Subnet } from '../../proto/generated/ipledger.ts';
import {
  type ClusterSnapshot,
  type KubeOvnIp,
  type KubeOvnPool,
  type KubeOvnSubnet,
  type KubeOvnVip,
  providerOf,
} from '../cluster/cluster-snapshot.ts';
import { hasEnded } from '../cluster/needed-addresses.ts';
import { formatAddresses, podKey } from '../output/format.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import { checkAttachments, findContests } from './check-attachments.ts';
import { type Conflict, type PlannedQuarantine, subnetAddressKey } from './conflict.ts';
import { findObservedAttachments } from './find-attachments.ts';
import { allocationKey, formatHolder, type ObservedAttachment, observedKey } from './observed-attachment.ts';

/** A reserved IP object or a Vip. */
export interface PlannedReservation {
  readonly object: KubeOvnIp | KubeOvnVip;
  readonly reservedFor: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface ImportPlan {
  readonly subnets: readonly KubeOvnSubnet[];
  readonly pools: readonly KubeOvnPool[];
  readonly reservations: readonly PlannedReservation[];
  readonly attachments: readonly ObservedAttachment[];
  /** IP objects without a Pod. The import deletes them, as Kube-OVN's garbage collector does. */
  readonly leftovers: readonly KubeOvnIp[];
  /** IP objects without a Pod name, of Nodes and gateways. The import ignores them. */
  readonly foreign: readonly KubeOvnIp[];
  /** The addresses that conflicts leave out. */
  readonly quarantines: readonly PlannedQuarantine[];
}

/** The current state of the ledger. */
export interface LedgerContents {
  readonly subnets: readonly Subnet[];
  readonly allocations: readonly Allocation[];
}

export function planImport(snapshot: ClusterSnapshot): ImportPlan {
  const attachments = findObservedAttachments(snapshot);
  const reservations = planReservations(snapshot);
  const imported = new Set([
    ...attachments.map(({ ipObject }) => ipObject),
    ...reservations.map(({ object }) => object),
  ]);
  const others = snapshot.ips.filter((ip) => !ip.isOurs && !imported.has(ip));
  const isForeign = ({ pod, namespace }: KubeOvnIp): boolean => pod === '' || namespace === '';
  const foreign = others.filter(isForeign);
  const leftovers = others.filter((ip) => !isForeign(ip));
  const { subnets, pools } = snapshot;
  return { subnets, pools, reservations, attachments, leftovers, foreign, quarantines: [] };
}

/** Reserved IP objects and Vips, with the owner names that the pod-watcher uses. */
function planReservations({ ips, vips, subnets }: ClusterSnapshot): PlannedReservation[] {
  const providers = new Map(subnets.map((subnet) => [subnet.name, providerOf(subnet)]));
  const reserve = (object: KubeOvnIp | KubeOvnVip, reservedFor: string): PlannedReservation[] => {
    const { subnet, addresses, mac } = object;
    return addresses.length > 0 ? [{ object, reservedFor, subnet, addresses, mac }] : [];
  };
  return [
    ...ips
      .filter(({ isReserved }) => isReserved)
      .flatMap((ip) => reserve(ip, `pod/${ip.namespace}/${ip.pod}/${providers.get(ip.subnet) ?? 'ovn'}`)),
    ...vips.flatMap((vip) => reserve(vip, `vip/${vip.name}`)),
  ];
}

export function findConflicts(plan: ImportPlan, snapshot: ClusterSnapshot, ledger: LedgerContents): Conflict[] {
  const checked = checkAttachments(plan.attachments, snapshot);
  return [
    ...findOverlaps(snapshot.subnets),
    ...checked.conflicts,
    ...findOtherAllocations(checked.attachments, ledger),
    ...findContests(checked.attachments),
    ...findReserved({ ...plan, attachments: checked.attachments }),
    ...findOtherSubnets(snapshot.subnets, ledger),
    ...checkLeftovers(plan, snapshot),
  ];
}

/** Finds addresses of Pods that are reserved for another owner. */
function* findReserved({ attachments, reservations }: ImportPlan): Generator<Conflict> {
  const reserved = new Map<string, PlannedReservation>();
  for (const each of reservations)
    for (const address of each.addresses) reserved.set(subnetAddressKey({ subnet: each.subnet, address }), each);
  for (const attachment of attachments) {
    const { holder, provider, vip, subnet, addresses } = attachment;
    const own = [`pod/${podKey(holder)}/${provider}`, `vip/${vip}`];
    for (const address of addresses) {
      const reservation = reserved.get(subnetAddressKey({ subnet, address }));
      if (!reservation || own.includes(reservation.reservedFor)) continue;
      const { kind, name } = reservation.object;
      yield {
        kind: 'allocated and reserved',
        where: formatHolder(attachment),
        what: `${address} of Subnet ${subnet}, which ${kind} ${name} reserves`,
        remedy: `delete the Pod, or the ${kind} object`,
        leavesOut: { attachments: [attachment] },
      };
    }
  }
}

/** Finds two Subnets of one network that share addresses. */
function* findOverlaps(subnets: readonly KubeOvnSubnet[]): Generator<Conflict> {
  const cidrs = subnets.flatMap((subnet) =>
    subnet.spec.cidrBlock.split(',').map((cidr) => ({ ...subnet, provider: providerOf(subnet), cidr: cidr.trim() })),
  );
  for (const [index, one] of cidrs.entries())
    for (const other of cidrs.slice(index + 1))
      if (one.name !== other.name && one.provider === other.provider && isOverlap(one.cidr, other.cidr))
        yield {
          kind: 'overlap',
          where: `Subnets ${one.name} and ${other.name}`,
          what: `${one.cidr} and ${other.cidr}, both of provider ${one.provider}`,
          remedy: 'give each network a provider of its own, or shrink one of them',
        };
}

/** Whether two CIDRs share an address: then one contains the base address of the other. */
function isOverlap(one: string, other: string): boolean {
  const base = (cidr: string): string => cidr.split('/')[0] ?? '';
  return cidrContains(one, base(other)) || cidrContains(other, base(one));
}

/** Finds a subnet of the same name from another source. */
function* findOtherSubnets(subnets: readonly KubeOvnSubnet[], ledger: LedgerContents): Generator<Conflict> {
  const current = new Map(ledger.subnets.map((subnet) => [subnet.name, subnet]));
  for (const { name, uid } of subnets) {
    const source = current.get(name)?.source;
    if (current.has(name) && source?.uid !== uid)
      yield {
        kind: 'in the ledger',
        where: `Subnet ${name}`,
        what: `the ledger has a subnet of this name that was ${source ? 'created from another object' : 'configured by an operator'}`,
        remedy: 'retire the subnet of the ledger, or rename the Subnet object',
      };
  }
}

/** Finds other allocations of the same address or attachment. An earlier import is no conflict. */
function* findOtherAllocations(
  attachments: readonly ObservedAttachment[],
  { allocations }: LedgerContents,
): Generator<Conflict> {
  const byAddress = new Map(
    allocations.flatMap((each) =>
      each.addresses.map(({ address }) => [subnetAddressKey({ subnet: each.subnet, address }), each] as const),
    ),
  );
  const byAttachment = new Map(allocations.map((each) => [allocationKey(each), each]));
  for (const observed of attachments) {
    const { holder, subnet, addresses, provider } = observed;
    const isOwn = ({ attachment }: Allocation): boolean =>
      attachment?.namespace === holder.namespace && attachment.pod === holder.name && attachment.provider === provider;
    const own = byAttachment.get(observedKey(observed));
    const allocated = addresses.flatMap((address) => byAddress.get(subnetAddressKey({ subnet, address })) ?? []);
    const others = new Set(allocated.filter((each) => !isOwn(each)));
    if (own?.podUid === holder.uid && formatAddresses(own) !== addresses.join()) others.add(own);
    for (const other of others)
      yield {
        kind: 'in the ledger',
        where: formatHolder(observed),
        what: `it has ${addresses.join()}; in the ledger ${formatAddresses(other)} is allocated to Pod ${formatPodName(other.attachment)} (event ${other.seq})`,
        remedy: 'delete the wrong Pod; `ipledger history` shows the cause',
        leavesOut: { attachments: [observed] },
      };
  }
}

/** Finds IP objects to delete whose address a Pod or a machine may need. */
function* checkLeftovers({ leftovers }: ImportPlan, { pods }: ClusterSnapshot): Generator<Conflict> {
  const living = new Set(pods.filter((pod) => !hasEnded(pod)).map(podKey));
  for (const ip of leftovers) {
    const { name, pod, namespace, podType, addresses, subnet } = ip;
    const where = `IP object ${name}`;
    const owner = `${namespace}/${pod}`;
    const leavesOut = { ips: [ip], addresses: addresses.map((address) => ({ subnet, address })) };
    if (podType === 'VirtualMachine') {
      const what = `${addresses.join()} is retained for virtual machine ${owner}, which is stopped`;
      const remedy = 'start the virtual machine, or delete the IP object; then import again';
      yield { kind: 'stopped virtual machine', where, what, remedy, leavesOut };
    } else if (living.has(owner)) {
      const what = `it has ${addresses.join()} of Pod ${owner}, which has no such annotation`;
      yield { kind: 'IP object and annotation', where, what, remedy: 'delete the Pod, or the IP object', leavesOut };
    }
  }
}
