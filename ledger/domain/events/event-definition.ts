/** Defines an event type: its versions, keys, effect on the state, and rule. */
import type { State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';
import type { EventData, EventOf, EventType, Sequenced } from './event.ts';
import type { Segment } from '../values/ledger.ts';
import type { EventVersion } from './schema-version.ts';

export interface EventDefinition<Type extends EventType> {
  /** The first schema version that has this type. */
  readonly since: EventVersion;
  /** What later versions added to the data, oldest first. */
  readonly changes: readonly DataChange<EventData<Type>>[];
  /** The canonical addresses whose claims the event changes. */
  readonly addressesOf: (data: EventData<Type>) => readonly string[];
  /** The key that the event changes besides its own key and the keys of claims and ended Pods. */
  readonly otherKeyOf: (event: Sequenced<EventOf<Type>>) => OtherKey | undefined;
  /** Changes the state in place. Accepts any event, because the rules belong to `decide`. */
  readonly evolve: (state: State, event: Sequenced<EventOf<Type>>, undoLog: UndoLog) => void;
  /**
   * Describes the rule that the event breaks in the state before it, as a predicate of the event
   * ("binds …"). Undefined if it breaks none. An event is judged by the rules of its own version.
   */
  readonly brokenRule: (state: State, event: Sequenced<EventOf<Type>>, version: EventVersion) => string | undefined;
}

/** What one schema version added to the data of a type. */
export interface DataChange<Data> {
  readonly version: EventVersion;
  /** The new field or value. */
  readonly adds: string;
  /** Adds to older data what the version requires. Absent if older data is valid as it is. */
  readonly upcast?: (data: Partial<Data>) => Data;
  /** Removes or replaces what older versions do not know. Absent if that is impossible. */
  readonly downcast?: (data: Data) => Partial<Data>;
  /** Whether a reader of an older version would misread this data. Absent: never. */
  readonly isRequiredBy?: (data: Data) => boolean;
}

/**
 * The etcd key that an event changes: of a named object, of a sealed segment, or of all segments up
 * to the history start.
 */
export type OtherKey =
  | { readonly kind: 'subnets' | 'pools' | 'dropped'; readonly name: string }
  | { readonly kind: 'segments'; readonly segment: Segment }
  | { readonly kind: 'historyStart' };

/** For events that change no claim. */
export const noAddresses = (): readonly string[] => [];

/** For events that change only claims, ended Pods or their own key. */
export const noOtherKey = (): undefined => undefined;

/** For events that no rule restricts. */
export const noRule = (): undefined => undefined;

/** The definition of a type of events that are only recorded. */
export const recordedOnly = (since: EventVersion) => ({
  since,
  changes: [],
  addressesOf: noAddresses,
  otherKeyOf: noOtherKey,
  evolve: (): void => undefined,
  brokenRule: noRule,
});
