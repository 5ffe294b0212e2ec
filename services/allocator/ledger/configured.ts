/** The keys beside log and claims that events change: subnets and pools that are put in force or retired, dropped claims, sealed segments. */
import type { Event, Segment } from '../domain/event.ts';
import type { State } from '../domain/state.ts';
import type { StoredEvent } from './chain.ts';
import { configuredText, droppedText, poolText } from './keys.ts';
import type { Batch } from './ledger.ts';

/** Names of subnets and of pools, and of subnets of which claims are dropped. */
export interface Names {
  readonly subnets: Set<string>;
  readonly pools: Set<string>;
  readonly dropped: Set<string>;
}

export const noNames = (): Names => ({ subnets: new Set(), pools: new Set(), dropped: new Set() });

/** Adds what an event puts in force, or retires. */
export function note({ subnets, pools, dropped }: Names, event: Event): void {
  if (event.type === 'SubnetConfigured' || event.type === 'SubnetRetired') subnets.add(event.subnet);
  if (event.type === 'PoolConfigured' || event.type === 'PoolRetired') pools.add(event.data.pool);
  if (event.type === 'ClaimsDropped') dropped.add(event.subnet);
}

/** What stands under these names in this state, as a transaction puts it. */
export const configurationOf = (
  state: State,
  { subnets, pools, dropped }: Names,
): Pick<Batch, 'subnets' | 'pools' | 'dropped'> => ({
  subnets: [...subnets].map((name) => {
    const subnet = state.subnets.get(name);
    return { name, text: subnet && configuredText(subnet) };
  }),
  pools: [...pools].map((name) => {
    const pool = state.pools.get(name);
    return { name, text: pool && poolText(pool) };
  }),
  dropped: [...dropped].map((name) => ({ name, text: droppedText(state.dropped.get(name) ?? []) })),
});

/** What the events seal. */
export const segmentsOf = (events: readonly StoredEvent[]): Segment[] =>
  events.flatMap(({ sequenced: event }) => (event.type === 'SegmentSealed' ? [{ seq: event.seq, ...event.data }] : []));
