/** The list of Subnets: the usage of each, its trend, and its conditions. */
import type { SubnetList, SubnetRow } from '../../api/subnet.ts';
import { apiUrl } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Copies } from '../parts/copies.ts';
import { address, html, subnetLink, text, type VNode } from '../parts/html.ts';
import { Trend } from '../parts/trend.ts';
import { Conditions, DaysLeft, shortNumber, UsageMeter } from '../parts/usage.ts';
import { absence, View } from '../parts/view.ts';

const url = apiUrl(['subnets']);
const hourMs = 3_600_000;

export function Subnets(): VNode {
  const list = useData<SubnetList>(url, 15_000);
  return html`<${View} title="Subnets">
    ${absence(list) ?? html`<${Table} list=${list.value} />`}
    ${list.value && html`<${Copies} url=${url} command=${list.value.command} />`}
  <//>`;
}

function Table({ list: { items } }: { readonly list: SubnetList }): VNode {
  if (items.length === 0)
    return html`<p class="panel">
      The ledger has no Subnet yet. Create one with <code>kubectl apply</code>; the installation guide has an example.
    </p>`;
  return html`<div class="panel scroll">
    <table>
      <caption>
        Addresses of each Subnet. The line shows the addresses in use during the last two days.
      </caption>
      <thead>
        <tr>
          <th scope="col">Subnet</th>
          <th scope="col">Addresses in use</th>
          <th class="number" scope="col">Free now</th>
          <th class="trends" scope="col">Two days</th>
          <th class="number" scope="col">Full in</th>
          <th scope="col">Conditions</th>
        </tr>
      </thead>
      <tbody>
        ${items.map((row) => html`<${Row} key=${row.name} row=${row} />`)}
      </tbody>
    </table>
  </div>`;
}

function Row({ row }: { readonly row: SubnetRow }): VNode {
  const { name, provider, usage, trend, daysLeft, conditions } = row;
  const now = Date.now();
  const samples = trend.map((used, index) => ({
    at: new Date(now - (trend.length - 1 - index) * hourMs).toISOString(),
    used,
  }));
  const words = trend.length < 2 ? 'no history yet' : `from ${trend[0]} to ${trend.at(-1)} addresses in use`;
  return html`<tr>
    <th class="name" scope="row">
      ${subnetLink(name)}
      <div class="quiet">${text(provider)}</div>
    </th>
    <td>
      ${usage.map((each) => html`<div key=${each.family}>${address(each.cidr)} <${UsageMeter} usage=${each} /></div>`)}
    </td>
    <td class="number">
      ${usage.map(({ family, free }) => html`<div key=${family}>${free === '' ? '–' : shortNumber(free)}</div>`)}
    </td>
    <td class="trends">
      ${trend.length < 2 ? html`<span class="quiet">–</span>` : html`<${Trend} samples=${samples} text=${words} />`}
    </td>
    <td class="number"><${DaysLeft} days=${daysLeft} /></td>
    <td class="words">
      ${conditions.length === 0 ? html`<span class="quiet">none</span>` : html`<${Conditions} conditions=${conditions} />`}
    </td>
  </tr>`;
}
