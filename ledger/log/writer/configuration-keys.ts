/** The keys that events change, besides log and claims: Subnets, pools, dropped claims, ended Pods and segments. */
import type { Event, Segment } from '../../domain/events/event.ts';
import type { State } from '../../domain/state/state.ts';
import type { StoredEvent } from '../chain/chain.ts';
import { endedText } from '../store/ended-keys.ts';
import { configuredSubnetText, droppedText, poolText } from '../store/stored-values.ts';
import type { Batch } from '../store/ledger.ts';

/** Names of Subnets, of pools, and of Subnets with dropped claims. */
export interface ConfiguredNames {
  readonly subnets: Set<string>;
  readonly pools: Set<string>;
  readonly dropped: Set<string>;
}

export const emptyNames = (): ConfiguredNames => ({ subnets: new Set(), pools: new Set(), dropped: new Set() });

/** Adds the names that an event changes. */
export function addNamesOf({ subnets, pools, dropped }: ConfiguredNames, event: Event): void {
  if (event.type === 'SubnetConfigured' || event.type === 'SubnetRetired') subnets.add(event.subnet);
  if (event.type === 'PoolConfigured' || event.type === 'PoolRetired') pools.add(event.data.pool);
  if (event.type === 'ClaimsDropped') dropped.add(event.subnet);
}

/** The values of these keys in the given state. */
export const configurationEntries = (
  state: State,
  { subnets, pools, dropped }: ConfiguredNames,
): Pick<Batch, 'subnets' | 'pools' | 'dropped'> => ({
  subnets: [...subnets].map((name) => {
    const subnet = state.subnets.get(name);
    return { name, text: subnet && configuredSubnetText(subnet) };
  }),
  pools: [...pools].map((name) => {
    const pool = state.pools.get(name);
    return { name, text: pool && poolText(pool) };
  }),
  dropped: [...dropped].map((name) => ({ name, text: droppedText(state.dropped.get(name) ?? []) })),
});

/** The keys of ended Pods that changed since the state had that number of them. */
export const endedEntries = ({ ended }: State, since: number): Batch['ended'] =>
  ended.changedSince(since).map((index) => {
    const pods = ended.chunk(index);
    return { index, text: pods && endedText(pods) };
  });

/** The segments that the events seal. */
export const sealedSegments = (events: readonly StoredEvent[]): Segment[] =>
  events.flatMap(({ sequenced: event }) => (event.type === 'SegmentSealed' ? [{ seq: event.seq, ...event.data }] : []));
