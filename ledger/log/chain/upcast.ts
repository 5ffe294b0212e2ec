/** Converts event data between schema versions, by the registry of events. */
import type { Event, EventData, EventType } from '../../domain/events/event.ts';
import { definitionOf } from '../../domain/events/registry.ts';
import type { EventVersion } from '../../domain/events/schema-version.ts';

/** Event data in the format of any version. */
export type StoredData = { readonly [Type in EventType]: Partial<EventData<Type>> }[EventType];

/** The first version that can represent the event. Earlier readers would misread it. */
export function firstVersionOfEvent(event: Event): EventVersion {
  const { since, changes } = definitionOf(event.type);
  let version = since;
  for (const change of changes) if (change.isRequiredBy?.(event.data)) version = change.version;
  return version;
}

/** Converts event data of `version` to the newest version. */
export function upcast(version: EventVersion, type: EventType, stored: StoredData): Event['data'] {
  let data: StoredData = stored;
  for (const change of definitionOf(type).changes)
    if (version < change.version && change.upcast) data = change.upcast(data);
  return data;
}

/** Converts event data to `version`, without fields that this version does not have. */
export function downcast(version: EventVersion, event: Event): StoredData {
  let { data } = event;
  for (const change of definitionOf(event.type).changes.toReversed())
    if (version < change.version && change.downcast) data = change.downcast(data) as Event['data'];
  return data;
}
