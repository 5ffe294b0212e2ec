/** The details of the selected cell of the address map, at the time of the map. */
import { type AddressMap, cellStates } from '../../api/address-map.ts';
import type { EventPage } from '../../api/event.ts';
import { apiUrl } from '../data/client.ts';
import { changeQuery } from '../data/router.ts';
import { useData } from '../data/use-data.ts';
import { useRested } from '../data/use-rested.ts';
import { stateWords } from '../map/kinds.ts';
import { Sample } from '../map/legend.ts';
import type { Cell, Page } from '../map/page.ts';
import { addressLink, fact, html, podLink, text, time, typeWords, type VNode } from '../parts/html.ts';

interface SelectionProps {
  readonly subnet: string;
  readonly map: AddressMap;
  readonly page: Page;
  readonly selected: number;
  readonly isNow: boolean;
}

export function Selection({ subnet, map, page, selected, isNow }: SelectionProps): VNode {
  const cell = selected < 0 ? undefined : page.cell(selected);
  return html`<section class="panel">
    <h2>Selected</h2>
    ${!cell && html`<p class="quiet">Click a cell, or move through the map with the arrow keys. Enter opens it.</p>`}
    ${cell && (page.isOfAddresses ? html`<${Address} ...${{ subnet, map, cell, isNow }} />` : html`<${Block} cell=${cell} />`)}
  </section>`;
}

function Block({ cell: { name, counts } }: { readonly cell: Cell }): VNode {
  return html`<p class="row whole">
      <span class="address">${name}</span>
      <button onClick=${() => changeQuery({ range: name, select: '' })}>Show its addresses</button>
    </p>
    <dl>
      ${cellStates.filter((state) => counts[state] > 0).map((state) => fact(state, counts[state].toLocaleString('en')))}
    </dl>`;
}

interface AddressProps {
  readonly subnet: string;
  readonly map: AddressMap;
  readonly cell: Cell;
  readonly isNow: boolean;
}

const shownEvents = 5;

/**
 * The last events of the address up to the time of the map: they explain its state at that time.
 */
function Address({ subnet, map, cell, isNow }: AddressProps): VNode {
  const isRested = useRested(cell.name);
  // `until` is exclusive
  const until = isNow ? '' : new Date(Date.parse(map.moment.at) + 1).toISOString();
  const query = { address: cell.name, subnet, until, limit: String(shownEvents) };
  const url = isRested ? apiUrl(['events'], query) : '';
  const events = useData<EventPage>(url);
  const isOfCell = url !== '' && events.of === url;
  const state = cellStates.find((each) => cell.counts[each] > 0) ?? 'free';
  return html`<p class="row whole">
      <${Sample} state=${state} /><span>${addressLink(subnet, cell.name)}, ${stateWords[state]}</span>
    </p>
    ${isOfCell && events.error !== '' && html`<p class="quiet">${text(events.error)}</p>`}
    ${isOfCell && events.value?.items.length === 0 && html`<p class="quiet">No event of it up to this time.</p>`}
    <ol class="events">
      ${(isOfCell ? (events.value?.items ?? []) : []).map(
        (event) =>
          html`<li key=${event.seq}>
            ${time(event.at)}: ${typeWords(event.type)} ${event.pod && podLink(event.pod)}
            <div class="quiet">${text(event.text)}</div>
          </li>`,
      )}
    </ol>
    <p>${addressLink(subnet, cell.name)} has its whole history, its proof and the actions.</p>`;
}
