/** One address: its state, the CNI result of its container, its whole history, and the actions. */
import type { AddressPage, AddressState } from '../../api/address.ts';
import { apiUrl } from '../data/client.ts';
import { subnetHref } from '../data/location.ts';
import { usePages } from '../data/use-data.ts';
import { cellStateOf } from '../map/kinds.ts';
import { Sample } from '../map/legend.ts';
import { Actions } from '../parts/actions.ts';
import { Allocation, Bindings } from '../parts/allocation.ts';
import { Copies } from '../parts/copies.ts';
import { EventTable } from '../parts/event-table.ts';
import { address as addressText, fact, html, subnetLink, text, time, type VNode } from '../parts/html.ts';
import { More } from '../parts/more.ts';
import { absence, View } from '../parts/view.ts';

export function Address({ subnet, address }: { readonly subnet: string; readonly address: string }): VNode {
  const url = apiUrl(['addresses', address], { subnet });
  const pages = usePages<AddressPage>(url);
  const { value, reload } = pages.first;
  const events = [value, ...pages.more].flatMap((page) => page?.items ?? []);
  return html`<${View} title=${address}>
    <p class="quiet">
      In Subnet ${subnetLink(subnet)}. <a href=${subnetHref(subnet, { select: address })}>Show it on the map</a>
    </p>
    ${absence(pages.first)}
    ${value?.states.map(
      (state) =>
        html`<${State} key=${state.subnet} state=${state} isOther=${state.subnet !== subnet} onChanged=${reload} />`,
    )}
    ${
      value &&
      html`<section class="panel">
        <h2>History</h2>
        <${EventTable}
          caption="Newest first. The number of an event opens its proof."
          events=${events}
          without=${['address']}
        />
        <${More} pages=${pages} />
        <${Copies} url=${url} command=${value.command} />
      </section>`
    }
  <//>`;
}

interface StateProps {
  readonly state: AddressState;
  /** Whether the state is that of another Subnet with the same address. */
  readonly isOther: boolean;
  onChanged(): void;
}

function State({ state: record, isOther, onChanged }: StateProps): VNode {
  const { subnet, address, state, pool, allocation, bindings, releasedAt, availableAt, reservation, quarantine } =
    record;
  return html`<section class="panel">
    <h2>${isOther ? html`Also in Subnet ${subnetLink(subnet)}` : 'Now'}</h2>
    <p class="row whole">
      <${Sample} state=${cellStateOf(state)} /> ${addressText(address)} <b>${stateMeaning[state] ?? state}</b>
    </p>
    <dl>
      ${fact('Pool', pool && text(pool))} ${fact('Last release', time(releasedAt))}
      ${fact('Can be allocated again', time(availableAt))}
      ${fact('Reserved for', reservation && [text(reservation.reservedFor), ...sinceAndReason(reservation)])}
      ${fact('Quarantined', quarantine && [seenHost(quarantine), ...sinceAndReason(quarantine)])}
    </dl>
    ${allocation && html`<${Allocation} allocation=${allocation} />`}
    ${!allocation && bindings.length > 0 && html`<${Bindings} bindings=${bindings} />`}
    <${Actions} state=${record} onDone=${onChanged} />
  </section>`;
}

const sinceAndReason = ({ at, reason }: { readonly at: string; readonly reason: string }) => [
  ', since ',
  time(at),
  reason && html` (${text(reason)})`,
];

const seenHost = ({ seenMac, seenAt }: NonNullable<AddressState['quarantine']>): VNode =>
  html`${seenMac === '' ? 'a foreign host' : addressText(seenMac)} answered${seenAt && html` on ${text(seenAt)}`}`;

/** The states of the API in a few words. */
const stateMeaning: Readonly<Record<string, string>> = {
  fresh: 'free: never used, or idle for long',
  idle: 'free: it was used before',
  allocated: 'allocated: a Pod has it, and no container uses it yet',
  bound: 'bound: a container uses it',
  held: 'held: released, but a container may still answer on it',
  cooldown: 'in cooldown: released a short time ago',
  reserved: 'reserved for one owner',
  quarantined: 'quarantined: a foreign host answers on it',
  excluded: 'excluded: no Pod gets it',
};
