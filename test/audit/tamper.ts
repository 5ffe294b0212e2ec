/** The thorough forger: whoever may write to etcd can mend all that follows from a change, as well as ipledger's own code. */
import { addressesOf, type Event } from '../../services/allocator/domain/event.ts';
import { evolve } from '../../services/allocator/domain/evolve.ts';
import { Journal } from '../../services/allocator/domain/journal.ts';
import { claimOf, initialState } from '../../services/allocator/domain/state.ts';
import { chain, emptyHead, type Envelope, parseEvent } from '../../services/allocator/ledger/chain.ts';
import {
  addressKey,
  claimText,
  headKey,
  headText,
  logKey,
  logPrefix,
  poolKey,
  poolText,
  subnetKey,
  subnetText,
} from '../../services/allocator/ledger/keys.ts';
import type { Keys } from './store.ts';

/** The events of a ledger, in order. */
export const eventsOf = (keys: Keys): Envelope[] =>
  [...keys].filter(([key]) => key.startsWith(logPrefix)).map(([, text]) => parseEvent(text).envelope);

/** As if it had always been so: numbered, timed and chained anew, with all other keys as they follow. */
export function mended(keys: Keys, events: readonly Envelope[]): Keys {
  const state = initialState();
  const result = new Map([...keys].filter(([key]) => key.includes('/member/') || key.endsWith('/writer')));
  /** Events name the one that gave an address. */
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
    const next = chain(head, event, { id, command: cmd, part, actor, at, clock: at, before });
    evolve(state, next.stored.sequenced, new Journal());
    result.set(logKey(next.head.seq), next.stored.text);
    head = next.head;
  }
  result.set(headKey, headText(head));
  for (const [subnet, claims] of state.claims)
    for (const [address, claim] of claims) result.set(addressKey({ subnet, address }), claimText(claim));
  for (const [name, { subnet, source }] of state.subnets)
    result.set(subnetKey(name), subnetText({ spec: subnet.spec, ...(source && { source }) }));
  for (const [name, pool] of state.pools) result.set(poolKey(name), poolText(pool));
  return result;
}
