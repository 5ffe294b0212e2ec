/** The queues of a waiting Pod: for any address, for a named address or MAC, or for the quota. */
import type { Allocation } from '../../../../../proto/generated/ipledger.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { PodPlan } from '../planning/request-addresses.ts';

/** Returns the queue for any address of a subnet. */
export const anyAddressQueue = (subnet: string): string => `any:${subnet}`;

/** Returns the queue for a named address, which may be allocated during its cooldown. */
export const namedAddressQueue = (address: string): string => `named:${address}`;

/** Returns the queue for a MAC in a subnet. */
export const macQueue = (subnet: string, mac: string): string => `mac:${subnet}/${mac.toLowerCase()}`;

/** Returns the queue of a namespace at its quota, which only its own releases help. */
export const quotaQueue = (subnet: string, namespace: string): string => `quota:${subnet}/${namespace}`;

/** Returns the sort key of a Pod in its queues: creation time, then uid. */
export const creationOrderOf = ({ createdAt, uid }: Pick<Pod, 'createdAt' | 'uid'>): string => `${createdAt} ${uid}`;

type Attachments = Pick<PodPlan, 'attachments'>;

/** Returns the queues for any address to which a plan belongs. */
export function anyAddressQueuesOf({ attachments }: Attachments): string[] {
  const unnamed = attachments.filter(({ candidates = [] }) => candidates.length === 0);
  return [...new Set(unnamed.flatMap(({ subnets = [] }) => subnets.map(anyAddressQueue)))];
}

/** Returns the queues after a refusal by quota, without those for any address. */
export const quotaQueuesOf = ({ attachments }: Attachments, namespace: string): string[] => [
  ...new Set(attachments.flatMap(({ subnets = [] }) => subnets.map((subnet) => quotaQueue(subnet, namespace)))),
];

/** Returns all queues of a plan. @param isFull whether the Subnet had no free address */
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

/** Returns the queues that offered the addresses which a Pod has got. */
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
