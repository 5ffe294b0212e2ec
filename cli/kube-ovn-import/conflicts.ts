/** Finds the conflicts that prevent an import, each with a remedy. Pure. */
import { formatAddresses, formatPodName } from '../output/format.ts';
import { podLifecycleStage } from '../cluster/pod-lifecycle-stage.ts';
import { cidrContains, isAddress } from '../../lib/net/ip.ts';
import type { Allocation, Subnet } from '../../proto/generated/ipledger.ts';
import { allocationKey, observedKey } from './attachment-key.ts';
import type { ObservedAttachment } from './observed-attachments.ts';
import type { ImportPlan, PlannedReservation } from './import-plan.ts';
import type { KubeOvnSubnet, ClusterSnapshot } from '../cluster/cluster-snapshot.ts';

export interface Conflict {
  readonly kind:
    | 'allocated twice'
    | 'allocated and reserved'
    | 'IP object and annotation'
    | 'invalid annotation'
    | 'no Subnet'
    | 'out of range'
    | 'overlap'
    | 'in the ledger'
    | 'stopped virtual machine'
    // Of the importers for whereabouts and host-local
    | 'no Pod'
    | 'invalid entry'
    | 'entry and reservation'
    | 'entry and Pod'
    | 'persistent address'
    | 'network in use';
  /** "Pod default/web", "Subnet lan", … */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
}

/** The current state of the ledger. */
export interface LedgerContents {
  readonly subnets: readonly Subnet[];
  readonly allocations: readonly Allocation[];
}

export function findConflicts(plan: ImportPlan, snapshot: ClusterSnapshot, ledger: LedgerContents): Conflict[] {
  const subnets = new Map(snapshot.subnets.map((subnet) => [subnet.name, subnet]));
  return [
    ...findOverlaps(snapshot.subnets),
    ...plan.attachments.flatMap((each) => checkAttachment(each, subnets.get(each.subnet))),
    ...findOtherAllocations(plan.attachments, ledger),
    ...findDuplicates(plan.attachments),
    ...findReserved(plan),
    ...findOtherSubnets(snapshot.subnets, ledger),
    ...checkLeftovers(plan, snapshot),
  ];
}

const formatHolder = ({ holder: { namespace, name } }: ObservedAttachment): string => `Pod ${namespace}/${name}`;
const recreate = 'delete the Pod, so that it is created again; or correct the annotation';

function checkAttachment(attachment: ObservedAttachment, subnet: KubeOvnSubnet | undefined): Conflict[] {
  const where = formatHolder(attachment);
  const { provider, addresses, ipObject, problem } = attachment;
  const annotated = `${provider} ${addresses.join(',') || '(no address)'}`;
  const found: Conflict[] = [];
  const add = (kind: Conflict['kind'], what: string, remedy = recreate): void =>
    void found.push({ kind, where, what, remedy });
  const invalid = addresses.find((address) => !isAddress(address));
  if (addresses.length === 0) add('invalid annotation', `it claims an address of ${provider}, and names none`);
  else if (invalid !== undefined) add('invalid annotation', `${invalid} of ${provider} is not an address`);
  else if (!subnet)
    add(
      'no Subnet',
      `${annotated}: there is no Subnet ${attachment.subnet || `of provider ${provider}`}`,
      'create the Subnet, or delete the Pod',
    );
  else
    for (const address of addresses)
      if (!contains(subnet, address))
        add('out of range', `${address} is not in Subnet ${subnet.name} (${subnet.spec.cidrBlock})`);
  if (problem !== undefined) add('invalid annotation', problem, 'correct the annotation');
  if (ipObject && ipObject.addresses.join() !== addresses.join())
    add(
      'IP object and annotation',
      `its annotation has ${annotated}, IP object ${ipObject.name} has ${ipObject.addresses.join(',') || 'no address'}`,
      'run `ip addr` in the container, and correct the wrong one',
    );
  return found;
}

const contains = ({ spec }: KubeOvnSubnet, address: string): boolean =>
  spec.cidrBlock.split(',').some((cidr) => cidrContains(cidr.trim(), address));

/** Two attachments with one address or MAC in a Subnet. */
function findDuplicates(attachments: readonly ObservedAttachment[]): Conflict[] {
  const first = new Map<string, ObservedAttachment>();
  return attachments.flatMap((attachment) => {
    const { subnet, addresses, mac } = attachment;
    const keys = addresses.map((address) => `${address} of Subnet ${subnet}`);
    if (mac !== '') keys.push(`MAC ${mac} in Subnet ${subnet}`);
    return keys.flatMap((key): Conflict[] => {
      const other = first.get(key);
      first.set(key, other ?? attachment);
      if (!other) return [];
      const remedy = 'delete one of the Pods, so that it is created again after the import';
      const where = `${formatHolder(other)} and ${formatHolder(attachment)}`;
      return [{ kind: 'allocated twice', where, what: key, remedy }];
    });
  });
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
      return { kind: 'in the ledger', where: formatHolder(observed), what, remedy };
    });
  });
}

/** IP objects that the import would delete, although a Pod or a virtual machine may need the address. */
function checkLeftovers({ leftovers }: ImportPlan, { pods }: ClusterSnapshot): Conflict[] {
  const living = new Set(
    pods.filter((pod) => podLifecycleStage(pod) !== 'ended').map(({ namespace, name }) => `${namespace}/${name}`),
  );
  return leftovers.flatMap(({ name, pod, namespace, podType, addresses }): Conflict[] => {
    const where = `IP object ${name}`;
    const owner = `${namespace}/${pod}`;
    if (podType === 'VirtualMachine') {
      const what = `${addresses.join()} is retained for virtual machine ${owner}, which is stopped`;
      return [
        { kind: 'stopped virtual machine', where, what, remedy: 'start the virtual machine, or delete the IP object' },
      ];
    }
    if (!living.has(owner)) return [];
    const what = `it has ${addresses.join()} of Pod ${owner}, which has no such annotation`;
    return [{ kind: 'IP object and annotation', where, what, remedy: 'delete the Pod, or the IP object' }];
  });
}
