/** The list of events: the newest first, new events as they are written, and filters. */
import { useEffect, useState } from 'preact/hooks';
import type { EventPage, EventRow } from '../../api/event.ts';
import { apiUrl } from '../data/client.ts';
import { changeQuery, usePlace } from '../data/router.ts';
import { usePages } from '../data/use-data.ts';
import { useStream } from '../data/use-stream.ts';
import { Copies } from '../parts/copies.ts';
import { EventTable } from '../parts/event-table.ts';
import { count, html, typeWords, type VNode } from '../parts/html.ts';
import { More } from '../parts/more.ts';
import { absence, View } from '../parts/view.ts';
import { eventMatches, eventTypes, type Filters, filterFields, listQuery, streamQuery } from './event-filters.ts';

/** The most new events that the page keeps. */
const mostNew = 500;

export function Events(): VNode {
  const { query } = usePlace();
  const filters: Filters = query;
  const url = apiUrl(['events'], listQuery(filters));
  const pages = usePages<EventPage>(url);
  const { value, of, reload } = pages.first;
  const [fresh, setFresh] = useState<readonly EventRow[]>([]);
  const [isPaused, setPaused] = useState(false);
  useEffect(() => setFresh([]), [value]);
  const isCurrent = value !== undefined && of === url;
  // A filter that only the list has ends the stream
  const streamed = isCurrent && !isPaused ? streamQuery(filters) : undefined;
  const isLive = useStream(streamed ? apiUrl(['events', 'stream'], streamed) : '', value?.position.seq ?? 0, {
    onEvent: (event) => setFresh((before) => [event, ...before].slice(0, mostNew)),
    onGap: reload,
  });
  const listed = isCurrent ? [value, ...pages.more].flatMap(({ items }) => items) : [];
  const known = new Set(fresh.map(({ seq }) => seq));
  const events = [...fresh, ...listed.filter(({ seq }) => !known.has(seq))].filter((event) =>
    eventMatches(event, filters),
  );
  return html`<${View} title="What happened">
    <${FilterForm} filters=${filters} />
    <div class="row">
      ${
        streamQuery(filters) &&
        html`<button aria-pressed=${isPaused} onClick=${() => setPaused(!isPaused)}>
          ${isPaused ? 'Continue' : 'Pause'}
        </button>`
      }
      <span>${stateOf(filters, isPaused, isLive)}</span>
      <span class="for-readers" role="status">${fresh.length === 0 ? '' : count(fresh.length, 'new event')}</span>
    </div>
    ${absence(pages.first)}
    ${isCurrent && events.length === 0 && html`<p class="panel">No event matches these filters.</p>`}
    ${events.length > 0 && html`<div class="panel"><${EventTable} caption="Newest first." events=${events} /></div>`}
    ${isCurrent && html`<${More} pages=${pages} /><${Copies} url=${url} command=${value.command} />`}
  <//>`;
}

function stateOf(filters: Filters, isPaused: boolean, isLive: boolean): string {
  if (!streamQuery(filters)) return 'These filters show the past only.';
  if (isPaused) return 'Paused: new events are not shown.';
  return isLive ? 'Live: new events are shown as they are written.' : 'Connecting …';
}

function FilterForm({ filters }: { readonly filters: Filters }): VNode {
  const submit = (event: Event): void => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    changeQuery(
      Object.fromEntries([...data].map(([name, value]) => [name, typeof value === 'string' ? value.trim() : ''])),
    );
  };
  const clear = (): void => changeQuery(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])));
  return html`<form class="panel filters" aria-label="Filters" onSubmit=${submit} key=${JSON.stringify(filters)}>
    ${filterFields.map(
      ({ name, label, placeholder }) =>
        html`<label class="field" key=${name}>
          ${label} <input name=${name} defaultValue=${filters[name] ?? ''} placeholder=${placeholder} />
        </label>`,
    )}
    <label class="field">
      Type
      <select name="type">
        <option value="">all</option>
        ${eventTypes.map((type) => html`<option key=${type} value=${type} selected=${type === filters['type']}>${typeWords(type)}</option>`)}
      </select>
    </label>
    <div class="row"><button class="main">Filter</button><button type="button" onClick=${clear}>Clear</button></div>
  </form>`;
}
