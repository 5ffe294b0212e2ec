/** Writes a list of events in the requested format, each page as it arrives. */
import type { Event } from '../../proto/generated/ipledger.ts';
import { formatEventRow } from './event-rows.ts';
import { createRowWriter, loadYamlFormat, type OutputStyle } from './answer.ts';
import type { Column } from './table.ts';

export interface EventListWriter {
  /** The text of the next events. */
  readonly next: (events: readonly Event[]) => string;
  /** Ends the list. JSON and YAML add the fields of `rest`. */
  readonly end: (rest: object) => string;
}

export async function createEventListWriter(style: OutputStyle, columns: readonly Column[]): Promise<EventListWriter> {
  const write = createRowWriter(style, columns);
  if (!write) return style.output === 'json' ? jsonList() : yamlList(await loadYamlFormat());
  let hasRows = false;
  return {
    next: (events) => {
      if (events.length === 0) return '';
      hasRows = true;
      return write(events.map(formatEventRow));
    },
    end: () => (style.output === 'csv' && !hasRows ? write([]) : ''),
  };
}

/** The layout of `JSON.stringify(…, null, 2)`. */
function jsonList(): EventListWriter {
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

function yamlList(formatYaml: (content: unknown) => string): EventListWriter {
  let before = 'events:\n';
  const next = (event: Event): string => {
    const text = before + formatYaml([event]);
    before = '';
    return text;
  };
  return {
    next: (events) => events.map(next).join(''),
    end: (rest) => (before === '' ? '' : 'events: []\n') + formatYaml(rest),
  };
}
