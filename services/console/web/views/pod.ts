/**
 * One Pod name: its addresses, why it has them or none, and the history of all Pods of that name.
 */
import type { PodPage } from '../../api/pod.ts';
import { apiUrl } from '../data/client.ts';
import { usePages } from '../data/use-data.ts';
import { Allocation } from '../parts/allocation.ts';
import { Copies } from '../parts/copies.ts';
import { EventTable } from '../parts/event-table.ts';
import { addressLink, html, subnetLink, text, type VNode } from '../parts/html.ts';
import { More } from '../parts/more.ts';
import { absence, View } from '../parts/view.ts';

export function Pod({ namespace, name }: { readonly namespace: string; readonly name: string }): VNode {
  const url = apiUrl(['pods', namespace, name]);
  const pages = usePages<PodPage>(url);
  const { value } = pages.first;
  const events = [value, ...pages.more].flatMap((page) => page?.items ?? []);
  return html`<${View} title=${`Pod ${namespace}/${name}`}>
    ${absence(pages.first)}
    ${
      value &&
      html`<section class="panel why">
          <h2>Why</h2>
          ${value.why.map((sentence) => html`<p key=${sentence}>${text(sentence)}</p>`)}
        </section>
        ${value.allocations.map(
          (allocation) =>
            html`<section class="panel" key=${allocation.seq}>
              <h2>
                ${allocation.cniAnswer.addresses.map(({ address }) => html`${addressLink(allocation.subnet, address)} `)}
                of Subnet ${subnetLink(allocation.subnet)}
              </h2>
              <${Allocation} allocation=${allocation} />
            </section>`,
        )}
        <section class="panel">
          <h2>History</h2>
          <${EventTable} caption="All Pods of this name, newest first." events=${events} without=${['pod']} />
          <${More} pages=${pages} />
          <${Copies} url=${url} command=${value.command} />
        </section>`
    }
  <//>`;
}
