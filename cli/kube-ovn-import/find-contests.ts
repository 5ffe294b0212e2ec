/**
 * Finds addresses and MACs that two attachments of a Subnet show. One that a record proves wins against annotations. Otherwise none
 * of them wins. Pure.
 */
import { addressesOf, type Conflict } from './conflict.ts';
import type { ObservedAttachment } from './observed-attachments.ts';

export const formatHolder = ({ holder: { namespace, name } }: ObservedAttachment): string => `Pod ${namespace}/${name}`;

/** Whether more than an annotation shows the addresses. */
export const isProven = ({ isRecorded, boundOn }: ObservedAttachment): boolean => isRecorded || boundOn !== undefined;

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

/** Attachments with equal evidence. */
function findTies(attachments: readonly ObservedAttachment[]): Conflict[] {
  const first = new Map<string, ObservedAttachment>();
  return attachments.flatMap((attachment) =>
    keysOf(attachment).flatMap((key): Conflict[] => {
      const other = first.get(key);
      first.set(key, other ?? attachment);
      if (!other) return [];
      const remedy = 'delete the wrong Pod, so that it is created again afterwards';
      const where = `${formatHolder(other)} and ${formatHolder(attachment)}`;
      const both = [other, attachment];
      return [
        {
          kind: 'allocated twice',
          where,
          what: key,
          remedy,
          leavesOut: { attachments: both, addresses: addressesOf(both) },
        },
      ];
    }),
  );
}
