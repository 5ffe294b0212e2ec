/** Finds the conflicts of an import, each with a remedy, and what it leaves out of the import. Pure. */
import { formatAddresses, formatPodName } from '../output/format.ts';
import { hasEnded } from '../cluster/pod-lifecycle-stage.ts';
import { cidrContains, ipv4First, isAddress } from '../../lib/net/ip.ts';
import type { Allocation, Subnet } from '../../proto/generated/ipledger.ts';
import { allocationKey, observedKey } from './attachment-key.ts';
import { annotationDoubt, findRestrictedPools, type RestrictedPools } from './annotation-evidence.ts';
import type { Conflict } from './conflict.ts';
import { findContests, formatHolder } from './find-contests.ts';
import type { ObservedAttachment } from './observed-attachments.ts';
import { subnetContains } from './subnet-contains.ts';
import type { ImportPlan, PlannedReservation } from './import-plan.ts';
import type { KubeOvnSubnet, ClusterSnapshot } from '../cluster/cluster-snapshot.ts';

/** The current state of the ledger. */
export interface LedgerContents {
  readonly subnets: readonly Subnet[];
  readonly allocations: readonly Allocation[];
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

const recreate = 'delete the Pod, so that it is created again; or correct the annotation';

/** The attachments that a Pod can have, and the conflicts of the others. */
export function checkAttachments(
  attachments: readonly ObservedAttachment[],
  { subnets, pools }: Pick<ClusterSnapshot, 'subnets' | 'pools'>,
): { readonly attachments: readonly ObservedAttachment[]; readonly conflicts: readonly Conflict[] } {
  const byName = new Map(subnets.map((subnet) => [subnet.name, subnet]));
  const restricted = findRestrictedPools(pools);
  const conflicts = attachments.flatMap((each) => checkAttachment(each, byName.get(each.subnet), restricted));
  const leftOut = new Set(conflicts.flatMap(({ leavesOut }) => leavesOut?.attachments ?? []));
  return { attachments: attachments.filter((each) => !leftOut.has(each)), conflicts };
}

function checkAttachment(
  attachment: ObservedAttachment,
  subnet: KubeOvnSubnet | undefined,
  pools: RestrictedPools,
): Conflict[] {
  const where = formatHolder(attachment);
  const { provider, addresses, ipObject, problem, annotated, isRecorded } = attachment;
  const shown = `${provider} ${addresses.join(',') || '(no address)'}`;
  const found: Conflict[] = [];
  const leavesOut = { attachments: [attachment] };
  const add = (kind: Conflict['kind'], what: string, remedy = recreate): void =>
    void found.push({ kind, where, what, remedy, leavesOut });
  const invalid = addresses.find((address) => !isAddress(address));
  const outside = subnet && addresses.find((address) => !subnetContains(subnet, address));
  const doubt = subnet && !isRecorded ? annotationDoubt(attachment, subnet, pools) : undefined;
  if (addresses.length === 0) add('invalid annotation', `it claims an address of ${provider}, and names none`);
  else if (invalid !== undefined) add('invalid annotation', `${invalid} of ${provider} is not an address`);
  else if (!subnet)
    add(
      'no Subnet',
      `${shown}: there is no Subnet ${attachment.subnet || `of provider ${provider}`}`,
      'create the Subnet, or delete the Pod',
    );
  else if (outside !== undefined)
    add('out of range', `${outside} is not in Subnet ${subnet.name} (${subnet.spec.cidrBlock})`);
  else if (doubt) {
    const evidence =
      attachment.boundOn === undefined ? 'only its annotation' : `only a binding file of node ${attachment.boundOn}`;
    const what = `${evidence} has ${shown}, and ${doubt.what}`;
    found.push({ kind: 'no evidence', where, what, remedy: recreate, leavesOut: doubt.leavesOut });
  }
  if (problem !== undefined)
    found.push({
      kind: 'invalid annotation',
      where,
      what: `${problem}: it gets none`,
      remedy: recreate,
      leavesOut: {},
    });
  if (ipObject && isRecorded && annotated.length > 0 && ipv4First(annotated).join() !== ipv4First(addresses).join())
    found.push({
      kind: 'IP object and annotation',
      where,
      what: `its annotation has ${provider} ${annotated.join(',')}, and counts less than IP object ${ipObject.name}, which has ${addresses.join(',')}`,
      remedy: 'run `ip addr` in the container. If it has the address of the annotation, delete the Pod',
      leavesOut: { addresses: annotated.map((address) => ({ subnet: attachment.subnet, address })) },
    });
  return found;
}

/** An address of a Pod that is reserved for another owner. */
function findReserved({ attachments, reservations }: ImportPlan): Conflict[] {
  const reserved = new Map<string, PlannedReservation>();
  for (const each of reservations)
    for (const address of each.addresses) reserved.set(`${each.subnet}/${address}`, each);
  return attachments.flatMap((attachment) => {
    const { holder, provider, vip, subnet, addresses } = attachment;
    const own = [`pod/${holder.namespace}/${holder.name}/${provider}`, `vip/${vip}`];
    return addresses.flatMap((address): Conflict[] => {
      const reservation = reserved.get(`${subnet}/${address}`);
      if (!reservation || own.includes(reservation.reservedFor)) return [];
      const what = `${address} of Subnet ${subnet}, which ${reservation.object.kind} ${reservation.object.name} reserves`;
      return [
        {
          kind: 'allocated and reserved',
          where: formatHolder(attachment),
          what,
          remedy: `delete the Pod, or the ${reservation.object.kind} object`,
          leavesOut: { attachments: [attachment] },
        },
      ];
    });
  });
}

/** Two Subnets of one network with common addresses. */
function findOverlaps(subnets: readonly KubeOvnSubnet[]): Conflict[] {
  const cidrs = subnets.flatMap(({ name, spec }) =>
    spec.cidrBlock.split(',').map((cidr) => ({ name, provider: spec.provider || 'ovn', cidr: cidr.trim() })),
  );
  return cidrs.flatMap((one, index) =>
    cidrs.slice(index + 1).flatMap((other): Conflict[] => {
      if (one.name === other.name || one.provider !== other.provider || !isOverlap(one.cidr, other.cidr)) return [];
      const what = `${one.cidr} and ${other.cidr}, both of provider ${one.provider}`;
      const remedy = 'give each network a provider of its own, or shrink one of them';
      return [{ kind: 'overlap', where: `Subnets ${one.name} and ${other.name}`, what, remedy }];
    }),
  );
}

/** If two CIDRs share an address, one contains the base address of the other. */
function isOverlap(one: string, other: string): boolean {
  const base = (cidr: string): string => cidr.split('/')[0] ?? '';
  return cidrContains(one, base(other)) || cidrContains(other, base(one));
}

/** A subnet of the same name from another source. */
function findOtherSubnets(subnets: readonly KubeOvnSubnet[], ledger: LedgerContents): Conflict[] {
  const current = new Map(ledger.subnets.map((subnet) => [subnet.name, subnet]));
  return subnets.flatMap(({ name, uid }): Conflict[] => {
    const source = current.get(name)?.source;
    if (!current.has(name) || source?.uid === uid) return [];
    const what = `the ledger has a subnet of this name that was ${source ? 'created from another object' : 'configured by an operator'}`;
    return [
      {
        kind: 'in the ledger',
        where: `Subnet ${name}`,
        what,
        remedy: 'retire the subnet of the ledger, or rename the Subnet object',
      },
    ];
  });
}

/** Other allocations of the same address or attachment. An earlier import is no conflict. */
function findOtherAllocations(attachments: readonly ObservedAttachment[], { allocations }: LedgerContents): Conflict[] {
  const byAddress = new Map(
    allocations.flatMap((each) => each.addresses.map(({ address }) => [`${each.subnet}/${address}`, each] as const)),
  );
  const byAttachment = new Map(allocations.map((each) => [allocationKey(each), each]));
  return attachments.flatMap((observed) => {
    const { holder, subnet, addresses, provider } = observed;
    const isOwn = ({ attachment }: Allocation): boolean =>
      attachment?.namespace === holder.namespace && attachment.pod === holder.name && attachment.provider === provider;
    const own = byAttachment.get(observedKey(observed));
    const allocated = addresses.flatMap((address) => byAddress.get(`${subnet}/${address}`) ?? []);
    const others = new Set(allocated.filter((each) => !isOwn(each)));
    if (own?.podUid === holder.uid && formatAddresses(own) !== addresses.join()) others.add(own);
    return [...others].map((allocation): Conflict => {
      const { attachment, seq } = allocation;
      const holderInLedger = `Pod ${formatPodName(attachment)} (event ${seq})`;
      const what = `it has ${addresses.join()}; in the ledger ${formatAddresses(allocation)} is allocated to ${holderInLedger}`;
      const remedy = 'delete the wrong Pod; `ipledger history` shows the cause';
      return {
        kind: 'in the ledger',
        where: formatHolder(observed),
        what,
        remedy,
        leavesOut: { attachments: [observed] },
      };
    });
  });
}

/** IP objects that the import would delete, although a Pod or a virtual machine may need the address. */
function checkLeftovers({ leftovers }: ImportPlan, { pods }: ClusterSnapshot): Conflict[] {
  const living = new Set(pods.filter((pod) => !hasEnded(pod)).map(({ namespace, name }) => `${namespace}/${name}`));
  return leftovers.flatMap((ip): Conflict[] => {
    const { name, pod, namespace, podType, addresses, subnet } = ip;
    const where = `IP object ${name}`;
    const owner = `${namespace}/${pod}`;
    const leavesOut = { ips: [ip], addresses: addresses.map((address) => ({ subnet, address })) };
    if (podType === 'VirtualMachine') {
      const what = `${addresses.join()} is retained for virtual machine ${owner}, which is stopped`;
      const remedy = 'start the virtual machine, or delete the IP object; then import again';
      return [{ kind: 'stopped virtual machine', where, what, remedy, leavesOut }];
    }
    if (!living.has(owner)) return [];
    const what = `it has ${addresses.join()} of Pod ${owner}, which has no such annotation`;
    return [{ kind: 'IP object and annotation', where, what, remedy: 'delete the Pod, or the IP object', leavesOut }];
  });
}
