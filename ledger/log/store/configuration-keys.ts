/** The keys that events change, besides log and claims: Subnets, pools, dropped claims, ended Pods and segments. */
import type { OtherKey } from '../../domain/events/event-definition.ts';
import type { Sequenced } from '../../domain/events/event.ts';
import type { Segment } from '../../domain/values/ledger.ts';
import { otherKeyOf } from '../../domain/events/registry.ts';
import type { State } from '../../domain/state/state.ts';
import type { StoredEvent } from '../chain/chain.ts';
import { endedText } from './ended-keys.ts';
import { droppedKey, poolKey, segmentKey, subnetKey } from './keys.ts';
import { configuredSubnetText, droppedText, poolText, segmentText } from './stored-values.ts';
import type { Batch } from './ledger.ts';

/** Names of Subnets, of pools, and of Subnets with dropped claims. */
export type ConfiguredNames = { readonly [Kind in keyof typeof configurations]: Set<string> };

export const emptyNames = (): ConfiguredNames => ({ subnets: new Set(), pools: new Set(), dropped: new Set() });

/** The key and the value of each kind of configuration; the value of a deleted one is undefined. */
const configurations = {
  subnets: {
    keyOf: subnetKey,
    textOf: ({ subnets }: State, name: string): string | undefined => {
      const subnet = subnets.get(name);
      return subnet && configuredSubnetText(subnet);
    },
  },
  pools: {
    keyOf: poolKey,
    textOf: ({ pools }: State, name: string): string | undefined => {
      const pool = pools.get(name);
      return pool && poolText(pool);
    },
  },
  dropped: {
    keyOf: droppedKey,
    textOf: ({ dropped }: State, name: string): string => droppedText(dropped.get(name) ?? []),
  },
};

/** Adds the names that an event changes. */
export function addNamesOf(names: ConfiguredNames, event: Sequenced): void {
  const key = otherKeyOf(event);
  if (key && key.kind !== 'segments') names[key.kind].add(key.name);
}

/** The values of these keys in the given state. */
export function configurationEntries(
  state: State,
  { subnets, pools, dropped }: ConfiguredNames,
): Pick<Batch, 'subnets' | 'pools' | 'dropped'> {
  return {
    subnets: [...subnets].map((name) => ({ name, text: configurations.subnets.textOf(state, name) })),
    pools: [...pools].map((name) => ({ name, text: configurations.pools.textOf(state, name) })),
    dropped: [...dropped].map((name) => ({ name, text: configurations.dropped.textOf(state, name) })),
  };
}

/** The bytes of a key with its value in the given state; 0 for a deleted one. A segment also changes the log start. */
export function otherKeyBytes(state: State, key: OtherKey): number {
  if (key.kind === 'segments')
    return Buffer.byteLength(segmentText(key.segment)) + 2 * segmentKey(key.segment.from).length;
  const { keyOf, textOf } = configurations[key.kind];
  const text = textOf(state, key.name);
  return text === undefined ? 0 : Buffer.byteLength(text) + keyOf(key.name).length;
}

/** The keys of ended Pods that changed since the state had that number of them. */
export const endedEntries = ({ ended }: State, since: number): Batch['ended'] =>
  ended.changedSince(since).map((index) => {
    const pods = ended.chunk(index);
    return { index, text: pods && endedText(pods) };
  });

/** The segments that the events seal. */
export const sealedSegments = (events: readonly StoredEvent[]): Segment[] =>
  events.flatMap(({ sequenced }) => {
    const key = otherKeyOf(sequenced);
    return key?.kind === 'segments' ? [key.segment] : [];
  });
