/**
 * Checks which attachments Pods can have, and which of two with one address has it. What only an
 * annotation shows is weak evidence, because a tenant can write it on its Pods. Pure.
 */
import { parseAddress } from '../../ledger/domain/addresses/address.ts';
import { contains, type Interval } from '../../ledger/domain/addresses/interval.ts';
import { poolIntervals } from '../../ledger/domain/state/pool.ts';
import { ipv4First, isAddress } from '../../lib/net/ip.ts';
import {
  type ClusterSnapshot,
  type KubeOvnPool,
  type KubeOvnSubnet,
  providerOf,
  subnetContains,
} from '../cluster/cluster-snapshot.ts';
import { type Conflict, type LeftOut, leaveUndecided } from './conflict.ts';
import { formatHolder, isProven, type ObservedAttachment } from './observed-attachment.ts';

const recreate = 'delete the Pod, so that it is created again; or correct the annotation';

/** The attachments that a Pod can have, and the conflicts of the others. */
export function checkAttachments(
  attachments: readonly ObservedAttachment[],
  { subnets, pools }: Pick<ClusterSnapshot, 'subnets' | 'pools'>,
): { readonly attachments: readonly ObservedAttachment[]; readonly conflicts: readonly Conflict[] } {
  const byName = new Map(subnets.map((subnet) => [subnet.name, subnet]));
  const restricted = findRestrictedPools(pools);
  const conflicts = attachments.flatMap((each) => [...checkAttachment(each, byName.get(each.subnet), restricted)]);
  const leftOut = new Set(conflicts.flatMap(({ leavesOut }) => leavesOut?.attachments ?? []));
  return { attachments: attachments.filter((each) => !leftOut.has(each)), conflicts };
}

function* checkAttachment(
  attachment: ObservedAttachment,
  subnet: KubeOvnSubnet | undefined,
  pools: RestrictedPools,
): Generator<Conflict> {
  const { provider, addresses, ipObject, problem, annotated, isRecorded, boundOn } = attachment;
  const conflict = (kind: Conflict['kind'], what: string, more: Partial<Conflict> = {}): Conflict => ({
    kind,
    where: formatHolder(attachment),
    what,
    remedy: recreate,
    leavesOut: { attachments: [attachment] },
    ...more,
  });
  const shown = `${provider} ${addresses.join(',') || '(no address)'}`;
  const invalid = addresses.find((address) => !isAddress(address));
  const outside = subnet && addresses.find((address) => !subnetContains(subnet, address));
  const doubt = subnet && !isRecorded ? annotationDoubt(attachment, subnet, pools) : undefined;
  if (addresses.length === 0)
    yield conflict('invalid annotation', `it claims an address of ${provider}, and names none`);
  else if (invalid !== undefined) yield conflict('invalid annotation', `${invalid} of ${provider} is not an address`);
  else if (!subnet)
    yield conflict('no Subnet', `${shown}: there is no Subnet ${attachment.subnet || `of provider ${provider}`}`, {
      remedy: 'create the Subnet, or delete the Pod',
    });
  else if (outside !== undefined)
    yield conflict('out of range', `${outside} is not in Subnet ${subnet.name} (${subnet.spec.cidrBlock})`);
  else if (doubt) {
    const evidence = boundOn === undefined ? 'only its annotation' : `only a binding file of node ${boundOn}`;
    yield conflict('no evidence', `${evidence} has ${shown}, and ${doubt.what}`, { leavesOut: doubt.leavesOut });
  }
  if (problem !== undefined) yield conflict('invalid annotation', `${problem}: it gets none`, { leavesOut: {} });
  if (ipObject && isRecorded && annotated.length > 0 && ipv4First(annotated).join() !== ipv4First(addresses).join())
    yield conflict(
      'IP object and annotation',
      `its annotation has ${provider} ${annotated.join(',')}, and counts less than IP object ${ipObject.name}, which has ${addresses.join(',')}`,
      {
        remedy: 'run `ip addr` in the container. If it has the address of the annotation, delete the Pod',
        leavesOut: { addresses: annotated.map((address) => ({ subnet: attachment.subnet, address })) },
      },
    );
}

/** IPPools that are for some namespaces only, by Subnet. */
type RestrictedPools = ReadonlyMap<string, readonly RestrictedPool[]>;

interface RestrictedPool {
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly intervals: Readonly<Record<4 | 6, readonly Interval[]>>;
}

function findRestrictedPools(pools: readonly KubeOvnPool[]): RestrictedPools {
  const restricted = pools.filter(({ spec }) => spec.namespaces.length > 0);
  const all = restricted.map(({ name, spec }) => ({
    name,
    subnet: spec.subnet,
    namespaces: spec.namespaces,
    intervals: { 4: poolIntervals(spec, 4), 6: poolIntervals(spec, 6) },
  }));
  return Map.groupBy(all, ({ subnet }) => subnet);
}

/**
 * Returns why an annotation is no evidence, as a clause, and what that leaves out; undefined if it
 * is evidence. An annotation counts only where the tenant may request the same address: on a
 * network that the Pod requests, in a Subnet and IPPools that are for its namespace.
 */
function annotationDoubt(
  attachment: ObservedAttachment,
  subnet: KubeOvnSubnet,
  pools: RestrictedPools,
): { readonly what: string; readonly leavesOut: LeftOut } | undefined {
  const { provider, isRequested, addresses, boundOn } = attachment;
  const { namespace } = attachment.holder;
  const doubt = (what: string, leavesOut: LeftOut = { attachments: [attachment] }) => ({ what, leavesOut });
  if (!isRequested) return doubt(`the Pod does not request network ${provider}`);
  if (![provider, 'ovn'].includes(providerOf(subnet)))
    return doubt(`Subnet ${subnet.name} is of provider ${providerOf(subnet)}`);
  const isListed = subnet.namespaces.includes(namespace);
  // The labels of the namespace may allow it, so that a container may have the address
  if (subnet.hasSelectors && !isListed)
    return boundOn !== undefined
      ? undefined
      : doubt(
          `Subnet ${subnet.name} has namespaceSelectors, and does not list namespace ${namespace}`,
          leaveUndecided([attachment]),
        );
  if (subnet.namespaces.length > 0 && !isListed)
    return doubt(`Subnet ${subnet.name} is not for namespace ${namespace}`);
  const pool = pools
    .get(subnet.name)
    ?.find((each) => !each.namespaces.includes(namespace) && addresses.some((address) => isIn(each, address)));
  return pool && doubt(`IPPool ${pool.name} is not for namespace ${namespace}`);
}

function isIn({ intervals }: RestrictedPool, address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && contains(intervals[parsed.family], parsed.value);
}

/**
 * Finds addresses and MACs that two attachments of a Subnet show. An attachment that a record
 * proves wins against annotations. Otherwise no attachment wins.
 */
export function findContests(attachments: readonly ObservedAttachment[]): Conflict[] {
  const [recorded, annotated] = [attachments.filter(isProven), attachments.filter((each) => !isProven(each))];
  const holders = new Map(recorded.flatMap((each) => keysOf(each).map((key) => [key, each] as const)));
  const remaining: ObservedAttachment[] = [];
  const conflicts: Conflict[] = [];
  for (const each of annotated) {
    const key = keysOf(each).find((known) => holders.has(known));
    const winner = key === undefined ? undefined : holders.get(key);
    if (key === undefined || !winner) remaining.push(each);
    else
      conflicts.push({
        kind: 'allocated twice',
        where: `${formatHolder(winner)} and ${formatHolder(each)}`,
        what: `${key}: ${formatHolder(each)} has it by its annotation only`,
        remedy: `delete ${formatHolder(each)}, so that it is created again, or correct its annotations`,
        leavesOut: { attachments: [each] },
      });
  }
  return [...conflicts, ...findTies(recorded), ...findTies(remaining)];
}

const keysOf = ({ subnet, addresses, mac }: ObservedAttachment): string[] => [
  ...addresses.map((address) => `${address} of Subnet ${subnet}`),
  ...(mac === '' ? [] : [`MAC ${mac} in Subnet ${subnet}`]),
];

/** Finds what two attachments with equal evidence share. */
function* findTies(attachments: readonly ObservedAttachment[]): Generator<Conflict> {
  const first = new Map<string, ObservedAttachment>();
  for (const attachment of attachments)
    for (const key of keysOf(attachment)) {
      const other = first.get(key);
      first.set(key, other ?? attachment);
      if (other)
        yield {
          kind: 'allocated twice',
          where: `${formatHolder(other)} and ${formatHolder(attachment)}`,
          what: key,
          remedy: 'delete the wrong Pod, so that it is created again afterwards',
          leavesOut: leaveUndecided([other, attachment]),
        };
    }
}
