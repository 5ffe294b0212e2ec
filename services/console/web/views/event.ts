/** One event, with the line that the ledger stores and the hashes that prove it. */
import type { EventDetail } from '../../api/event.ts';
import { apiUrl } from '../data/client.ts';
import { hrefOf } from '../data/location.ts';
import { useData } from '../data/use-data.ts';
import { addressLink, fact, html, podLink, subnetLink, text, time, typeWords, type VNode } from '../parts/html.ts';
import { Copies, CopyButton } from '../parts/copies.ts';
import { absence, View } from '../parts/view.ts';

export function EventView({ seq }: { readonly seq: string }): VNode {
  const url = apiUrl(['events', seq]);
  const event = useData<EventDetail>(url);
  return html`<${View} title=${`Event ${seq}`}>
    ${absence(event) ?? html`<${Detail} event=${event.value} />`}
    <${Copies} url=${url} command=${`ipledger export --from ${seq} --to ${seq}`} />
  <//>`;
}

function Detail({ event }: { readonly event: EventDetail }): VNode {
  const { at, type, actor, subnet, addresses, pod, node, cause, text: sentence, before, stored, hash, prev } = event;
  return html`<section class="panel">
      <dl>
        ${fact('What', html`${typeWords(type)}: ${text(sentence)}`)} ${fact('Time', time(at))}
        ${fact('By', text(actor))} ${fact('Cause', cause && text(cause))}
        ${fact('Subnet', subnet && subnetLink(subnet))}
        ${fact('Pod', pod && [podLink(pod), html` <span class="quiet">(uid ${text(pod.uid)})</span>`])}
        ${fact('Node', node && text(node))}
        ${addresses.map((each) => fact(addressLink(subnet, each), eventBefore(before[each] ?? 0)))}
      </dl>
    </section>
    <section class="panel">
      <h2>Proof</h2>
      <p>
        The ledger stores this line. Its SHA-256 is in the next event, so a changed line is detected. ${' '}<code
          >ipledger verify</code
        >
        checks all of them.
      </p>
      <pre class="stored" tabindex="0" aria-label="Stored line">${stored}</pre>
      <dl>
        ${fact('Its SHA-256', html`<code>${hash}</code>`)} ${fact('Of the event before', html`<code>${prev}</code>`)}
      </dl>
      <${CopyButton} value=${stored} what="line" />
    </section>`;
}

/** The event before this one in the history of an address. */
const eventBefore = (seq: number): VNode | string =>
  seq === 0 ? 'its first event' : html`after <a href=${hrefOf(['events', String(seq)])}>event ${seq}</a>`;
