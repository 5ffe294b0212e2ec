/** What the ledger has for each event type: versions, keys, effect on the state, and rule. */
import type { State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';
import type { EventData, EventOf, EventType, Sequenced } from './event.ts';
import type { Segment } from '../values/ledger.ts';
import type { EventVersion } from './schema-version.ts';

export interface EventDefinition<Type extends EventType> {
  /** The first schema version with this type. */
  readonly since: EventVersion;
  /** What later versions added to the data, oldest first. */
  readonly changes: readonly DataChange<EventData<Type>>[];
  /** The addresses whose claims the event changes, canonical text. */
  readonly addressesOf: (data: EventData<Type>) => readonly string[];
  /** The key that the event changes besides its own, those of claims and those of ended Pods. */
  readonly otherKeyOf: (event: Sequenced<EventOf<Type>>) => OtherKey | undefined;
  /** Changes the state in place. Accepts all events in any log: rules belong to `decide`. */
  readonly evolve: (state: State, event: Sequenced<EventOf<Type>>, undoLog: UndoLog) => void;
  /**
   * The rule that the event breaks, given the state before it: a predicate whose subject is the
   * event ("binds …"). Undefined if it breaks none. What was legal in the event's version breaks no
   * rule.
   */
  readonly brokenRule: (state: State, event: Sequenced<EventOf<Type>>, version: EventVersion) => string | undefined;
}

/** What one schema version added to the data of a type. */
export interface DataChange<Data> {
  readonly version: EventVersion;
  /** The new field or value. */
  readonly adds: string;
  /** Adds to older data what the version requires. Absent: older data is valid as it is. */
  readonly upcast?: (data: Partial<Data>) => Data;
  /** Removes or replaces what older versions lack. Absent: there is no older form. */
  readonly downcast?: (data: Data) => Partial<Data>;
  /** Whether a reader of an older version would act wrongly on this data. Absent: never. */
  readonly isRequiredBy?: (data: Data) => boolean;
}

/**
 * A key of etcd that an event changes: by the name of what it holds, a sealed segment, or all
 * segments up to the history start.
 */
export type OtherKey =
  | { readonly kind: 'subnets' | 'pools' | 'dropped'; readonly name: string }
  | { readonly kind: 'segments'; readonly segment: Segment }
  | { readonly kind: 'historyStart' };

/** No addresses: the event changes no claim. */
export const noAddresses = (): readonly string[] => [];

/** The function of types that change only claims, ended Pods, or no key but their own. */
export const noOtherKey = (): undefined => undefined;

/** No effect: the event is for the record only. */
export const noEffect = (): void => undefined;

/** No rule restricts the event. */
export const noRule = (): undefined => undefined;
