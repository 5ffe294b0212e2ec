/**
 * Recomputes everything that follows from a changed log, as an expert with write access to etcd
 * can.
 */
import { type Event } from '../../ledger/domain/events/event.ts';
import { addressesOf, evolve } from '../../ledger/domain/events/registry.ts';
import { UndoLog } from '../../ledger/domain/state/undo-log.ts';
import { claimOf, initialState } from '../../ledger/domain/state/state.ts';
import { chainEvent, emptyHead, type Envelope, parseEvent } from '../../ledger/log/chain/chain.ts';
import { endedText } from '../../ledger/log/store/ended-keys.ts';
import { addressKey, endedKey, headKey, logKey, logPrefix, poolKey, subnetKey } from '../../ledger/log/store/keys.ts';
import { claimText, headText, poolText, subnetText } from '../../ledger/log/store/stored-values.ts';
import type { LedgerKeys } from './ledger-keys.ts';

/** The events of a ledger, in order. */
export const parseEvents = (keys: LedgerKeys): Envelope[] =>
  [...keys].filter(([key]) => key.startsWith(logPrefix)).map(([, text]) => parseEvent(text).envelope);

/** Makes a consistent ledger of these events, with new numbers, times, chain and other keys. */
export function rebuildLedger(keys: LedgerKeys, events: readonly Envelope[]): LedgerKeys {
  const state = initialState();
  const result = new Map([...keys].filter(([key]) => key.includes('/member/') || key.endsWith('/writer')));
  /** The new numbers: events name the event that allocated an address. */
  const renumbered = new Map<number, number>();
  let head = emptyHead;
  for (const envelope of events) {
    const { type, subnet, id, cmd, part, actor } = envelope;
    const alloc = 'alloc' in envelope.data ? { alloc: renumbered.get(envelope.data.alloc) ?? envelope.data.alloc } : {};
    const event = { type, subnet, data: { ...envelope.data, ...alloc } } as Event;
    renumbered.set(envelope.seq, head.seq + 1);
    const at = Math.max(head.at, Date.parse(envelope.at));
    const before: Record<string, number> = {};
    for (const address of addressesOf(event)) before[address] = claimOf(state, subnet, address)?.last ?? 0;
    const next = chainEvent(head, event, { id, command: cmd, part, actor, at, clock: at, before });
    evolve(state, next.stored.sequenced, new UndoLog());
    result.set(logKey(next.head.seq), next.stored.text);
    head = next.head;
  }
  result.set(headKey, headText(head));
  for (const [subnet, claims] of state.claims)
    for (const [address, claim] of claims) result.set(addressKey({ subnet, address }), claimText(claim));
  for (const { index, pods } of state.ended.chunks()) result.set(endedKey(index), endedText(pods));
  for (const [name, { subnet, source }] of state.subnets)
    result.set(subnetKey(name), subnetText({ spec: subnet.spec, ...(source && { source }) }));
  for (const [name, pool] of state.pools) result.set(poolKey(name), poolText(pool));
  return result;
}
