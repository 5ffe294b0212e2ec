/** In which lines a Pod stands that could not be served: for any address of a subnet, or for addresses that it names. */
import type { Pod } from '../kubernetes/objects.ts';
import type { Plan } from './plan.ts';

/** The line for any address of a subnet, in the order of which they are given. */
export const any = (subnet: string): string => `any:${subnet}`;

/** The line for addresses that were asked for by name; they may be given also while they cool down. */
export const named = (subnet: string): string => `named:${subnet}`;

/** The queue of a namespace for a subnet in which it holds as many addresses as it may: only its own releases help. */
export const quota = (subnet: string, namespace: string): string => `quota:${subnet}/${namespace}`;

/** Who was made first goes first. */
export const ageOf = ({ createdAt, uid }: Pick<Pod, 'createdAt' | 'uid'>): string => `${createdAt} ${uid}`;

/** The lines of a kind in which a plan stands. */
export function linesOf({ attachments }: Pick<Plan, 'attachments'>, line: typeof any): string[] {
  const stands = attachments.filter(({ candidates = [] }) => candidates.length > 0 === (line === named));
  return [...new Set(stands.flatMap(({ subnets = [] }) => subnets.map(line)))];
}

/** Its queues after a refusal because of a limit for its namespace: it must not stand before Pods of others who wait for any address. */
export const quotaLinesOf = ({ attachments }: Pick<Plan, 'attachments'>, namespace: string): string[] => [
  ...new Set(attachments.flatMap(({ subnets = [] }) => subnets.map((subnet) => quota(subnet, namespace)))),
];

/** All of its lines. @param full whether it was refused for want of any address: who names one of a dual subnet waits for the other family. */
export function allLinesOf(plan: Pick<Plan, 'attachments'>, full: boolean): string[] {
  const subnets = full ? plan.attachments.flatMap(({ subnets: each = [] }) => each) : [];
  return [...linesOf(plan, named), ...linesOf(plan, any), ...subnets.map(any)];
}
