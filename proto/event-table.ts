/**
 * Tables with an entry for each event type of the API, that is, each member of `Event.data`. A
 * missing entry is a compile error.
 */
import type { Event } from './generated/ipledger.ts';

/** The fields that events of all types have. */
type CommonField =
  | 'seq'
  | 'id'
  | 'command'
  | 'part'
  | 'parts'
  | 'type'
  | 'subnet'
  | 'at'
  | 'actor'
  | 'before'
  | 'prev'
  | 'hash'
  | 'stored';

/** The field with the data of one event type, such as "addressAllocated". */
export type EventDataField = Exclude<keyof Event, CommonField>;

/** A function for each event type. */
export type EventTable<Result> = {
  readonly [Field in EventDataField]: (data: NonNullable<Event[Field]>, event: Event) => Result;
};

/** Calls the entry for an event. Returns undefined for a type that only a newer program has. */
export function applyEventTable<Result>(table: EventTable<Result>, event: Event): Result | undefined {
  for (const field of Object.keys(table) as EventDataField[]) {
    const data = event[field];
    if (data !== undefined) return (table[field] as (data: object, event: Event) => Result)(data, event);
  }
  return undefined;
}
