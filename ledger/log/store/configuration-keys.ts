/** The keys of Subnets, pools, dropped claims, ended Pods and segments. */
import type { OtherKey } from '../../domain/events/event-definition.ts';
import { droppedSegment, type Segment } from '../../domain/values/ledger.ts';
import type { State } from '../../domain/state/state.ts';
import { endedText } from './ended-keys.ts';
import { droppedKey, poolKey, segmentKey, subnetKey } from './keys.ts';
import { configuredSubnetText, droppedText, poolText, segmentText } from './stored-values.ts';
import type { Batch, ConfigurationEntry } from './ledger.ts';

/** The names of Subnets, pools, and Subnets with dropped claims. */
export type ConfiguredNames = { readonly [Kind in keyof typeof configurations]: Set<string> };

export const emptyNames = (): ConfiguredNames => ({ subnets: new Set(), pools: new Set(), dropped: new Set() });

/** The key and the value of each kind of configuration. A deleted one has the value undefined. */
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

export function addNameOf(names: ConfiguredNames, key: OtherKey): void {
  if ('name' in key) names[key.kind].add(key.name);
}

/** The values that these keys have in a state. */
export function configurationEntries(state: State, names: ConfiguredNames): Pick<Batch, keyof ConfiguredNames> {
  const entriesOf = (kind: keyof ConfiguredNames): ConfigurationEntry[] =>
    [...names[kind]].map((name) => ({ name, text: configurations[kind].textOf(state, name) }));
  return { subnets: entriesOf('subnets'), pools: entriesOf('pools'), dropped: entriesOf('dropped') };
}

/** The bytes of a key and its value; 0 if deleted. A segment counts with the log start. */
export function otherKeyBytes(state: State, key: OtherKey): number {
  if (key.kind === 'historyStart') return maxSegmentBytes;
  if (key.kind === 'segments')
    return Buffer.byteLength(segmentText(key.segment)) + 2 * segmentKey(key.segment.from).length;
  const { keyOf, textOf } = configurations[key.kind];
  const text = textOf(state, key.name);
  return text === undefined ? 0 : Buffer.byteLength(text) + keyOf(key.name).length;
}

/** The bytes of a segment's key with its value. */
const maxSegmentBytes = 2 << 10;

/** The segment at which the history begins, if one of the events moved the beginning. */
export const movedHistoryStart = ({ segments }: State, keys: readonly OtherKey[]): Segment | undefined =>
  keys.some(({ kind }) => kind === 'historyStart') ? droppedSegment(segments) : undefined;

/** The keys of ended Pods that have changed since the state had `since` ended Pods. */
export const endedEntries = ({ ended }: State, since: number): Batch['ended'] =>
  ended.changedSince(since).map((index) => {
    const pods = ended.chunk(index);
    return { index, text: pods && endedText(pods) };
  });

/** The segments among the keys that events change. */
export const sealedSegments = (keys: readonly OtherKey[]): Segment[] =>
  keys.flatMap((key) => (key.kind === 'segments' ? [key.segment] : []));
