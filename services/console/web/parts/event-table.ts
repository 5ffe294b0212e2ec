/** Events as a table: when, what and why, for which address and Pod, and the actor. */
import type { EventRow } from '../../api/event.ts';
import { hrefOf } from '../data/location.ts';
import { addressLink, html, podLink, subnetLink, text, time, typeWords, type VNode } from './html.ts';

interface EventTableProps {
  readonly caption: string;
  readonly events: readonly EventRow[];
  /** Columns that would repeat the subject of the page. */
  readonly without?: readonly ('address' | 'pod')[];
}

export const EventTable = ({ caption, events, without = [] }: EventTableProps): VNode =>
  html`<div class="scroll">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th class="number" scope="col">Event</th>
          <th scope="col">Time</th>
          <th scope="col">What</th>
          ${without.includes('address') ? '' : html`<th scope="col">Address</th>`}
          ${without.includes('pod') ? '' : html`<th scope="col">Pod</th>`}
          <th scope="col">By</th>
        </tr>
      </thead>
      <tbody>
        ${events.map((event) => html`<${Row} key=${event.seq} event=${event} without=${without} />`)}
      </tbody>
    </table>
  </div>`;

function Row({ event, without }: { readonly event: EventRow; readonly without: readonly string[] }): VNode {
  const { seq, at, type, subnet, addresses, pod, text: sentence, actor } = event;
  return html`<tr>
    <td class="number"><a href=${hrefOf(['events', String(seq)])}>${seq}</a></td>
    <td class="time">${time(at)}</td>
    <td class="words">
      ${typeWords(type)}
      <div class="quiet">${text(sentence)}</div>
    </td>
    ${without.includes('address') ? '' : html`<td class="name">${addresses.length > 0 && list(addresses, subnet)} ${subnet && html`<div class="quiet">${subnetLink(subnet)}</div>`}</td>`}
    ${without.includes('pod') ? '' : html`<td class="name">${pod && podLink(pod)}</td>`}
    <td class="name actor">${text(actor)}</td>
  </tr>`;
}

const mostLinks = 4;

/** Links the addresses of an allocation. The many addresses of a cleanup are counted. */
const list = (addresses: readonly string[], subnet: string): VNode =>
  html`${addresses.slice(0, mostLinks).map((each) => html`<div key=${each}>${addressLink(subnet, each)}</div>`)}
  ${addresses.length > mostLinks && `and ${addresses.length - mostLinks} more`}`;
