/** An allocation: the Pod, its containers, and the CNI result that they got. */
import type { AllocationRow, BindingRow } from '../../api/address.ts';
import { hrefOf } from '../data/location.ts';
import { address, addressLink, fact, html, podLink, text, time, type VNode } from './html.ts';

export function Allocation({ allocation }: { readonly allocation: AllocationRow }): VNode {
  const {
    seq,
    at,
    subnet,
    provider,
    network,
    pod,
    owner,
    node,
    interface: nic,
    cause,
    bindings,
    cniAnswer,
  } = allocation;
  const ownerHref = owner && hrefOf(['events'], { owner: `${pod.namespace}/${owner.kind}/${owner.name}` });
  return html`<dl>
      ${fact('Pod', [podLink(pod), html` <span class="quiet">(uid ${text(pod.uid)})</span>`])}
      ${fact('Owner', owner && html`<a href=${ownerHref}>${text(`${owner.kind} ${owner.name}`)}</a>`)}
      ${fact('Node', node === '' ? 'not scheduled' : html`<a href=${hrefOf(['events'], { node })}>${text(node)}</a>`)}
      ${fact('Since', html`${time(at)}, <a href=${hrefOf(['events', String(seq)])}>event ${seq}</a> (${text(cause)})`)}
      ${fact('Network', text(network))} ${fact('Provider', provider !== network && text(provider))}
      ${fact('Interface', nic && text(nic))}
    </dl>
    <h3>CNI result</h3>
    <dl>
      ${cniAnswer.addresses.map((each) =>
        fact(
          addressLink(subnet, each.address),
          html`in ${address(each.cidr)}${each.gateway && html`, gateway ${address(each.gateway)}`}`,
        ),
      )}
      ${fact('MAC', cniAnswer.mac === '' ? 'chosen by the plugin' : address(cniAnswer.mac))}
      ${cniAnswer.routes.map(({ dst, gw }) => fact('Route', html`${address(dst || 'default')} via ${address(gw)}`))}
    </dl>
    <${Bindings} bindings=${bindings} />`;
}

export const Bindings = ({ bindings }: { readonly bindings: readonly BindingRow[] }): VNode =>
  html`<h3>Containers</h3>
    ${bindings.length === 0 && html`<p class="quiet">No container uses it.</p>`}
    <ul>
      ${bindings.map(
        ({ containerId, interface: nic, node, at }) =>
          html`<li key=${containerId + nic}>
            <code>${containerId}</code>, interface ${text(nic)} on ${text(node)}, since ${time(at)}
          </li>`,
      )}
    </ul>`;
