/** The queues of a waiting Pod: for any address, a named address or MAC, or the quota. */
import type { Allocation } from '../../../../../proto/generated/ipledger.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { PodPlan } from '../planning/request-addresses.ts';

/** The queue for any address of a subnet. */
export const anyAddressQueue = (subnet: string): string => `any:${subnet}`;

/** The queue for an address by name, which may be allocated during its cooldown. */
export const namedAddressQueue = (address: string): string => `named:${address}`;

/** The queue for a MAC that is requested in a subnet. */
export const macQueue = (subnet: string, mac: string): string => `mac:${subnet}/${mac.toLowerCase()}`;

/** The queue of a namespace that has reached its quota in a subnet: only its own releases help. */
export const quotaQueue = (subnet: string, namespace: string): string => `quota:${subnet}/${namespace}`;

/** The sort key of a Pod in its queues: by creation time, then by uid. */
export const creationOrderOf = ({ createdAt, uid }: Pick<Pod, 'createdAt' | 'uid'>): string => `${createdAt} ${uid}`;

type Attachments = Pick<PodPlan, 'attachments'>;

/** The queues for any address that a plan belongs to. */
export function anyAddressQueuesOf({ attachments }: Attachments): string[] {
  const unnamed = attachments.filter(({ candidates = [] }) => candidates.length === 0);
  return [...new Set(unnamed.flatMap(({ subnets = [] }) => subnets.map(anyAddressQueue)))];
}

/** The queues after a refusal by quota, without those for any address. */
export const quotaQueuesOf = ({ attachments }: Attachments, namespace: string): string[] => [
  ...new Set(attachments.flatMap(({ subnets = [] }) => subnets.map((subnet) => quotaQueue(subnet, namespace)))),
];

/** All queues of a plan. @param isFull whether no address was free in the Subnet */
export function allQueuesOf(plan: Attachments, isFull: boolean): Set<string> {
  const queues = new Set(anyAddressQueuesOf(plan));
  for (const { subnets = [], candidates = [], mac = '' } of plan.attachments) {
    for (const { addresses = [] } of candidates)
      for (const address of addresses) queues.add(namedAddressQueue(address));
    if (mac !== '') for (const subnet of subnets) queues.add(macQueue(subnet, mac));
    if (isFull) for (const subnet of subnets) queues.add(anyAddressQueue(subnet));
  }
  return queues;
}

/** The queues from which allocations to a Pod take an offered address. */
export function queuesTakenFrom(allocations: readonly Allocation[], { attachments }: Attachments): string[] {
  return allocations.flatMap(({ subnet, addresses, mac, attachment }) => {
    const request = attachments.find(
      ({ provider, ordinal = 0 }) => provider === attachment?.provider && ordinal === attachment?.ordinal,
    );
    const isNamed = (request?.candidates ?? []).length > 0;
    return [
      quotaQueue(subnet, attachment?.namespace ?? ''),
      ...(isNamed ? addresses.map(({ address }) => namedAddressQueue(address)) : [anyAddressQueue(subnet)]),
      ...(mac === '' ? [] : [macQueue(subnet, mac)]),
    ];
  });
}
