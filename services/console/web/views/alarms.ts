/** Conflicts and alarms, each with its remedy. */
import type { Alarm, AlarmList } from '../../api/alarm.ts';
import { apiUrl } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Copies } from '../parts/copies.ts';
import { addressLink, html, subnetLink, text, time, typeWords, type VNode } from '../parts/html.ts';
import { absence, View } from '../parts/view.ts';

const url = apiUrl(['alarms']);

export function Alarms(): VNode {
  const list = useData<AlarmList>(url, 15_000);
  const { value } = list;
  return html`<${View} title="Conflicts and alarms">
    ${absence(list)}
    ${value?.items.length === 0 && html`<p class="panel">No conflict and no alarm: the ledger can write, no Subnet is nearly full, and no address is quarantined.</p>`}
    ${value?.items.map((alarm) => html`<${AlarmPanel} key=${alarm.name + alarm.about + alarm.address} alarm=${alarm} />`)}
    ${
      value &&
      html`<p class="quiet">
          This page shows what the ledger knows. <code>ipledger check</code> also compares it with the cluster, and
          ${' '}<code>ipledger doctor</code> checks the installation.
        </p>
        <${Copies} url=${url} command=${value.command} />`
    }
  <//>`;
}

const AlarmPanel = ({ alarm }: { readonly alarm: Alarm }): VNode =>
  html`<section class="panel">
    <h2>
      <span class=${`tag ${alarm.severity}`}>${alarm.severity}</span>
      ${alarm.name.startsWith('Ipledger') ? alarm.name : typeWords(alarm.name)}
    </h2>
    <p>${text(alarm.message)}</p>
    <p class="quiet">
      ${alarm.about !== '' && alarm.subnet === '' && html`${text(alarm.about)}. `}
      ${alarm.subnet !== '' && html`Subnet ${subnetLink(alarm.subnet)}. `}
      ${alarm.address !== '' && html`${addressLink(alarm.subnet, alarm.address)}. `}
      ${alarm.since !== '' && html`Since ${time(alarm.since)}.`}
    </p>
    <details>
      <summary>What to do</summary>
      ${alarm.remedy.map((paragraph) => html`<p class="remedy" key=${paragraph}>${paragraph}</p>`)}
    </details>
  </section>`;
