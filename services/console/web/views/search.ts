/** The hits of a search: addresses, MACs, Pods, nodes, owners, containers and Subnets. */
import type { SearchHit, SearchReply } from '../../api/search.ts';
import { apiUrl } from '../data/client.ts';
import { addressHref, hrefOf, podHref, subnetHref } from '../data/location.ts';
import { usePlace } from '../data/router.ts';
import { useData } from '../data/use-data.ts';
import { Copies } from '../parts/copies.ts';
import { html, text, type VNode } from '../parts/html.ts';
import { absence, View } from '../parts/view.ts';

const shortest = 2;

export function Search(): VNode {
  const { query } = usePlace();
  const q = query['q'] ?? '';
  const url = q.length < shortest ? '' : apiUrl(['search'], { q });
  const found = useData<SearchReply>(url);
  const isCurrent = url !== '' && found.of === url;
  return html`<${View} title=${q === '' ? 'Search' : `Search: ${q}`}>
    ${url === '' && html`<p class="panel">Enter an address, a MAC, a Pod, a node, an owner, a container id or a Subnet: at least two characters.</p>`}
    ${url !== '' && !isCurrent && html`<p class="quiet">Searching …</p>`} ${isCurrent && absence(found)}
    ${isCurrent && found.value && html`<${Hits} reply=${found.value} url=${url} />`}
  <//>`;
}

const Hits = ({ reply, url }: { readonly reply: SearchReply; readonly url: string }): VNode =>
  html`<p role="status">${reply.items.length === 0 ? 'Nothing was found.' : `${reply.items.length} found`}</p>
    ${
      reply.items.length > 0 &&
      html`<div class="panel scroll">
        <table>
          <caption>
            The first of each kind, at most 15.
          </caption>
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Name</th>
              <th scope="col">Details</th>
            </tr>
          </thead>
          <tbody>
            ${reply.items.map(
              (hit, index) =>
                html`<tr key=${index}>
                  <td>${hit.kind}</td>
                  <td class="name"><a href=${hrefOfHit(hit)}>${text(hit.title)}</a></td>
                  <td class="words">${detailOf(hit)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    <${Copies} url=${url} command=${reply.command} />`;

/** The details of a hit, or its newest event. */
const detailOf = ({ detail, seq }: SearchHit): VNode | string =>
  detail !== '' || seq === 0 ? text(detail) : html`newest event <a href=${hrefOf(['events', String(seq)])}>${seq}</a>`;

/** The page of a hit. */
function hrefOfHit(hit: SearchHit): string {
  const { kind, subnet, address, namespace, name, ownerKind, seq } = hit;
  switch (kind) {
    case 'subnet':
      return subnetHref(subnet || name);
    case 'node':
      return hrefOf(['events'], { node: name });
    case 'owner':
      return hrefOf(['events'], { owner: `${namespace}/${ownerKind}/${name}` });
    case 'pod':
      return podHref(namespace, name);
    case 'address':
    case 'mac':
    case 'container':
      if (subnet !== '' && address !== '') return addressHref(subnet, address);
      return name === '' ? hrefOf(['events', String(seq)]) : podHref(namespace, name);
  }
}
