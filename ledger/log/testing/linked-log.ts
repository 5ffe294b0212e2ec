/**
 * Test support: a log of given events, linked as the writer links them, and a count of its reads.
 */
import type { Event } from '../../domain/events/event.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { chainEvent, emptyHead, type StoredEvent } from '../chain/chain.ts';
import { logKey } from '../store/keys.ts';
import type { EventReader, StoredLine } from '../store/ledger.ts';

export interface LinkedLog {
  readonly events: readonly StoredEvent[];
  readonly reader: EventReader;
  /** The numbers of each read, in the order of the reads. */
  readonly reads: readonly (readonly Seq[])[];
}

/**
 * Chains events, the first one as event 1. `before` of each names the last event of its addresses.
 */
export function linkedLog(events: readonly Event[]): LinkedLog {
  const lastOf = new Map<string, Seq>();
  let head = emptyHead;
  const stored = events.map((event, index) => {
    const before: Record<string, Seq> = {};
    for (const address of addressesOf(event)) {
      before[address] = lastOf.get(address) ?? 0;
      lastOf.set(address, index + 1);
    }
    const at = (index + 1) * 1_000;
    const fields = { id: 'id', command: 'command', part: [1, 1], actor: 'spec', at, clock: at, before } as const;
    const next = chainEvent(head, event, fields);
    head = next.head;
    return next.stored;
  });
  const reads: (readonly Seq[])[] = [];
  const lineOf = ({ envelope: { seq }, text }: StoredEvent): StoredLine => ({ key: logKey(seq), text, revision: 1n });
  const readEach = (seqs: readonly Seq[]): Promise<readonly (StoredLine | undefined)[]> => {
    reads.push([...seqs]);
    return Promise.resolve(
      seqs.map((seq) => {
        const event = stored[seq - 1];
        return event && lineOf(event);
      }),
    );
  };
  return { events: stored, reader: { readEach }, reads };
}
