/** In which lines a Pod stands that could not be served: for any address of a subnet, or for addresses or a MAC that it names. */
import type { Pod } from '../kubernetes/objects.ts';
import type { Plan } from './plan.ts';

/** The line for any address of a subnet, in the order of which they are given. */
export const any = (subnet: string): string => `any:${subnet}`;

/** The line for one address that is asked for by name; it may be given also while it cools down. */
export const named = (address: string): string => `named:${address}`;

/** The line for a MAC that is asked for in a subnet. */
export const ofMac = (subnet: string, mac: string): string => `mac:${subnet}/${mac.toLowerCase()}`;

/** The queue of a namespace for a subnet in which it holds as many addresses as it may: only its own releases help. */
export const quota = (subnet: string, namespace: string): string => `quota:${subnet}/${namespace}`;

/** Who was made first goes first. */
export const ageOf = ({ createdAt, uid }: Pick<Pod, 'createdAt' | 'uid'>): string => `${createdAt} ${uid}`;

type Attachments = Pick<Plan, 'attachments'>;

/** The lines for any address in which a plan stands. */
export function anyLinesOf({ attachments }: Attachments): string[] {
  const unnamed = attachments.filter(({ candidates = [] }) => candidates.length === 0);
  return [...new Set(unnamed.flatMap(({ subnets = [] }) => subnets.map(any)))];
}

/** Its queues after a refusal because of a limit for its namespace: it must not stand before Pods of others who wait for any address. */
export const quotaLinesOf = ({ attachments }: Pick<Plan, 'attachments'>, namespace: string): string[] => [
  ...new Set(attachments.flatMap(({ subnets = [] }) => subnets.map((subnet) => quota(subnet, namespace)))),
];

/** All of its lines. @param full whether it was refused for want of any address: who names one of a dual subnet waits for the other family. */
export function allLinesOf(plan: Attachments, full: boolean): Set<string> {
  const lines = new Set(anyLinesOf(plan));
  for (const { subnets = [], candidates = [], mac = '' } of plan.attachments) {
    for (const { addresses = [] } of candidates) for (const address of addresses) lines.add(named(address));
    if (mac !== '') for (const subnet of subnets) lines.add(ofMac(subnet, mac));
    if (full) for (const subnet of subnets) lines.add(any(subnet));
  }
  return lines;
}
