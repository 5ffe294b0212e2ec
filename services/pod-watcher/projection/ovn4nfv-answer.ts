/** The answer to an OVN4NFV request, in annotations (docs/ovn4nfv.md). Pure. */
import { ovn4nfvProvider } from '../../../lib/kubernetes/served-network.ts';
import { ovnAnnotation, ovnIfaceListAnnotation, ovnInterfacesAnnotation } from '../../../lib/ovn4nfv/annotations.ts';
import type { Pod } from '../kubernetes/objects/pod.ts';
import type { Ovn4nfvInterface } from '../../../lib/ovn4nfv/interface.ts';
import { type Ovn4nfvForm, parseOvn4nfvRequest } from '../../../lib/ovn4nfv/request.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';

/** A NIC with its request. */
interface AnsweredNic {
  readonly allocation: HeldAllocation;
  /** The requested interface; undefined for a Pod that requested its NIC without an annotation. */
  readonly requested: Ovn4nfvInterface | undefined;
  readonly isDefaultGateway: boolean;
}

/**
 * Returns the annotation with the answer; {} until the Pod has all NICs of its request, so that an
 * incomplete answer is never visible.
 * @param own the allocations of the Pod's uid
 */
export function ovn4nfvAnswer(pod: Pod, own: readonly HeldAllocation[]): Record<string, string> {
  const allocations = own
    .filter(({ provider }) => provider === ovn4nfvProvider)
    .sort((one, other) => one.ordinal - other.ordinal);
  if (allocations.length === 0) return {};
  const request = parseOvn4nfvRequest(pod);
  // Keeps the answer to the first request if the annotation was edited later.
  if (!request.ok) return {};
  const { form, interfaces } = request.value ?? { form: 'ovn' as const, interfaces: [undefined] };
  if (!isAnswerTo(allocations, interfaces)) return {};
  const gatewayIndex = interfaces.findIndex((each) => each?.isDefaultGateway === true);
  const nics = allocations.map((allocation, index) => ({
    allocation,
    requested: interfaces[index],
    isDefaultGateway: index === gatewayIndex,
  }));
  const { key, value } = answers[form](nics);
  return { [key]: JSON.stringify(value) };
}

/** Whether these allocations answer these interfaces, one for each, in their order. */
const isAnswerTo = (
  allocations: readonly HeldAllocation[],
  interfaces: readonly (Ovn4nfvInterface | undefined)[],
): boolean =>
  allocations.length === interfaces.length &&
  allocations.every(({ ordinal, interface: name }, index) => {
    const requested = interfaces[index]?.interface ?? '';
    return ordinal === index && (requested === '' || requested === name);
  });

interface Answer {
  readonly key: string;
  readonly value: object;
}

const answers: Readonly<Record<Ovn4nfvForm, (nics: readonly AnsweredNic[]) => Answer>> = {
  ovnNetwork: (nics) => ({
    key: ovnIfaceListAnnotation,
    value: nics.map((nic) => ({ ...addressesOf(nic), ...placeOf(nic) })),
  }),
  'nfn-network': (nics) => ({
    key: ovnInterfacesAnnotation,
    value: nics.map((nic) => ({
      ip_address: cidrsOf(nic),
      mac_address: nic.allocation.mac,
      gateway_ip: gatewaysOf(nic),
      ...placeOf(nic),
    })),
  }),
  ovn: ([nic]) => ({ key: ovnAnnotation, value: nic ? addressesOf(nic) : {} }),
};

const addressesOf = (nic: AnsweredNic) => ({
  ip_address: cidrsOf(nic).join(','),
  mac_address: nic.allocation.mac,
  gateway_ip: gatewaysOf(nic).join(','),
});

/** Returns the place of a NIC. OVN4NFV's name of a NIC that the CNI ADD names is "*". */
const placeOf = ({ allocation, isDefaultGateway }: AnsweredNic) => ({
  defaultGateway: String(isDefaultGateway),
  interface: allocation.interface === '' ? '*' : allocation.interface,
});

/** Returns the addresses as "address/length", IPv4 first. */
const cidrsOf = ({ allocation }: AnsweredNic): string[] =>
  allocation.addresses.map(({ address, cidr }) => `${address}/${cidr.split('/')[1] ?? ''}`);

const gatewaysOf = ({ allocation, requested }: AnsweredNic): readonly string[] =>
  requested && requested.gateways.length > 0
    ? requested.gateways
    : allocation.addresses.map(({ gateway }) => gateway).filter((gateway) => gateway !== '');
