/** One Subnet: its numbers, its pools, and its address map. */
import type { PoolRow, SubnetDetail } from '../../api/subnet.ts';
import { parseCidr } from '../../../../ledger/domain/addresses/address.ts';
import { apiUrl } from '../data/client.ts';
import { hrefOf } from '../data/location.ts';
import { changeQuery, usePlace } from '../data/router.ts';
import { useData } from '../data/use-data.ts';
import { Copies } from '../parts/copies.ts';
import { address, count, fact, html, text, type VNode } from '../parts/html.ts';
import { Trend } from '../parts/trend.ts';
import { Conditions, DaysLeft, shortNumber, UsageMeter } from '../parts/usage.ts';
import { absence, View } from '../parts/view.ts';
import { SubnetMap } from './subnet-map.ts';

export function Subnet({ name }: { readonly name: string }): VNode {
  const { query } = usePlace();
  const url = apiUrl(['subnets', name]);
  const detail = useData<SubnetDetail>(url, 15_000);
  const usage = detail.value?.subnet.usage ?? [];
  const shown = usage.find(({ family }) => String(family) === query['family']) ?? usage[0];
  const cidr = parseCidr(shown?.cidr ?? '');
  return html`<${View} title=${`Subnet ${name}`}>
    ${absence(detail) ?? html`<${Summary} detail=${detail.value} />`}
    ${
      usage.length > 1 &&
      html`<div class="row" role="group" aria-label="Address family">
        ${usage.map(
          ({ family }) =>
            html`<button
              key=${family}
              aria-pressed=${family === shown?.family}
              onClick=${() => changeQuery({ family: String(family), range: '', select: '' })}
            >
              IPv${family}
            </button>`,
        )}
      </div>`
    }
    ${cidr && html`<${SubnetMap} key=${`${name} ${shown?.family}`} subnet=${name} cidr=${cidr} />`}
    ${detail.value && html`<${Pools} pools=${detail.value.pools} />`}
    ${
      detail.value &&
      html`<section class="panel">
        <h2>This Subnet as data</h2>
        <${Copies} url=${url} command=${detail.value.command} />
        <p><a href=${hrefOf(['events'], { subnet: name })}>What happened in this Subnet</a></p>
      </section>`
    }
  <//>`;
}

function Summary({ detail }: { readonly detail: SubnetDetail }): VNode {
  const { subnet, excludeIps, cooldownSeconds, bindingTimeoutSeconds, maxAddressesPerNamespace, trend } = detail;
  const { usage, conditions, daysLeft, provider } = subnet;
  const samples = trend.map(({ at, inUse }) => ({ at, used: inUse }));
  const words = samples.length < 2 ? '' : `from ${samples[0]?.used} to ${samples.at(-1)?.used} addresses in use`;
  return html`<section class="panel" aria-label="Summary">
    <dl class="columns">
      ${fact(
        'In use',
        usage.map((each) => html`<${UsageMeter} key=${each.family} usage=${each} />`),
      )}
      ${fact('Free now', usage.map(({ free }) => (free === '' ? '–' : shortNumber(free))).join(', '))}
      ${fact('Full in', html`<${DaysLeft} days=${daysLeft} />`)}
      ${fact('Use of two weeks', samples.length < 2 ? 'no history yet' : html`<${Trend} samples=${samples} text=${words} />`)}
      ${fact('Gateway', address(usage.map(({ gateway }) => gateway).join(', ')))} ${fact('Provider', text(provider))}
      ${fact('Excluded', address(excludeIps.join(', ')))} ${fact('Cooldown', count(cooldownSeconds, 'second'))}
      ${fact('Binding timeout', bindingTimeoutSeconds !== null && count(bindingTimeoutSeconds, 'second'))}
      ${fact('Limit of a namespace', maxAddressesPerNamespace !== null && count(maxAddressesPerNamespace, 'address'))}
    </dl>
    <${Conditions} conditions=${conditions} />
  </section>`;
}

const Pools = ({ pools }: { readonly pools: readonly PoolRow[] }): VNode | string =>
  pools.length === 0
    ? ''
    : html`<section class="panel scroll">
        <h2>Pools</h2>
        <table>
          <thead>
            <tr>
              <th scope="col">Pool</th>
              <th scope="col">Addresses</th>
              <th scope="col">In use</th>
              <th scope="col">Namespaces</th>
            </tr>
          </thead>
          <tbody>
            ${pools.map(
              ({ name, ips, usage, namespaces }) =>
                html`<tr key=${name}>
                  <th class="name" scope="row">${text(name)}</th>
                  <td class="address words">${ips.join(', ')}</td>
                  <td>${usage.map((each) => html`<${UsageMeter} key=${each.family} usage=${each} />`)}</td>
                  <td class="words">${namespaces.length === 0 ? 'all' : text(namespaces.join(', '))}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </section>`;
