/** A list of events in the format that was asked for, written as they are found: however many they are, none waits for the last. */
import type { Event } from '../proto/ipledger.ts';
import { eventRow } from './event.ts';
import { rowWriter, type Style, yamlOf } from './output.ts';
import type { Column } from './table.ts';

export interface EventList {
  /** The next of them. */
  readonly next: (events: readonly Event[]) => string;
  /** What closes the list; of JSON and YAML with what else is to be said, under the names of the API. */
  readonly end: (rest: object) => string;
}

export function eventList(style: Style, columns: readonly Column[]): EventList {
  const write = rowWriter(style, columns);
  if (!write) return style.output === 'json' ? jsonList() : yamlList();
  let isBegun = false;
  return {
    next: (events) => {
      if (events.length === 0) return '';
      isBegun = true;
      return write(events.map(eventRow));
    },
    end: () => (style.output === 'csv' && !isBegun ? write([]) : ''),
  };
}

/** As `JSON.stringify` lays out the whole. */
function jsonList(): EventList {
  let before = '{\n  "events": [';
  const next = (event: Event): string => {
    const text = `${before}\n${JSON.stringify(event, null, 2).replaceAll(/^/gm, '    ')}`;
    before = ',';
    return text;
  };
  return {
    next: (events) => events.map(next).join(''),
    end: (rest) => `${before === ',' ? '\n  ' : before}],\n${JSON.stringify(rest, null, 2).slice(2)}\n`,
  };
}

function yamlList(): EventList {
  let before = 'events:\n';
  const next = (event: Event): string => {
    const text = before + yamlOf([event]);
    before = '';
    return text;
  };
  return {
    next: (events) => events.map(next).join(''),
    end: (rest) => (before === '' ? '' : 'events: []\n') + yamlOf(rest),
  };
}
