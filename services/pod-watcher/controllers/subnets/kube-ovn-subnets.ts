/** Compares the Subnets of ipledger with those of Kube-OVN beside it, and reports which to compare again after a change. */
import { cidrsOverlap, parseCidr } from '../../../../ledger/domain/addresses/address.ts';
import { type Informer, keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { broadcastDomainOf } from '../network-definitions/broadcast-domain.ts';
import { isSameNetwork, classifyNetwork } from '../network-definitions/classify-network.ts';
import { type AddressPlan, cidrsOf, isOverlay, kubeOvnConflict } from './kube-ovn-conflict.ts';

type Plan = { readonly spec: AddressPlan };

export class KubeOvnSubnets {
  readonly #subnets: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>;
  readonly #networks: Pick<Informer<NetworkDefinition>, 'objects' | 'subscribe'>;

  constructor(
    subnets: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>,
    networks: Pick<Informer<NetworkDefinition>, 'objects' | 'subscribe'>,
  ) {
    this.#subnets = subnets;
    this.#networks = networks;
  }

  /** Why a Subnet of ipledger must give no address, as a sentence with the remedy; undefined if it may. */
  conflictOf(subnet: Plan): string | undefined {
    return kubeOvnConflict(subnet, {
      subnets: this.#subnets.objects.values(),
      isOwnNetwork: (provider) => {
        const definition = this.#definitionOf(provider);
        return definition !== undefined && classifyNetwork(definition).kind === 'ipam';
      },
      areApart: (provider, other) => {
        const [one, two] = [this.#domainOf(provider), this.#domainOf(other)];
        return one !== undefined && two !== undefined && one !== two;
      },
    });
  }

  /** Calls the listener after each change that may alter a conflict, with the test whether it may alter that of a Subnet. */
  subscribe(listener: (mayAlter: (subnet: Plan) => boolean) => void): void {
    this.#subnets.subscribe((change) => {
      if (change.kind === 'listed') return;
      const before = change.kind === 'present' ? change.before : undefined;
      if (before && comparedFields(before) === comparedFields(change.object)) return;
      const states = [change.object, ...(before ? [before] : [])].filter((state) => !isOverlay(state));
      if (states.length > 0) listener((subnet) => states.some((state) => haveCommonAddresses(subnet, state)));
    });
    this.#networks.subscribe((change) => {
      if (change.kind === 'listed' || (change.kind === 'present' && isSameNetwork(change.before, change.object)))
        return;
      const provider = providerOf(change.object);
      const its = [...this.#subnets.objects.values()].filter(({ spec }) => spec.provider === provider);
      listener((subnet) => subnet.spec.provider === provider || its.some((each) => haveCommonAddresses(subnet, each)));
    });
  }

  #definitionOf(provider: string): NetworkDefinition | undefined {
    const [namespace = '', ...names] = provider.split('.').toReversed();
    return this.#networks.objects.get(keyOf({ namespace, name: names.toReversed().join('.') }));
  }

  #domainOf(provider: string): string | undefined {
    const definition = this.#definitionOf(provider);
    return definition && broadcastDomainOf(definition.config, definition.resource);
  }
}

/** "<name>.<namespace>" */
const providerOf = ({ namespace, name }: NetworkDefinition): string => `${name}.${namespace}`;

/** Everything of a Subnet of Kube-OVN that `kubeOvnConflict` reads. */
function comparedFields({ spec, overlay, status }: SubnetObject): string {
  const ranges = ['v4', 'v6'].flatMap((family) => [
    status[`${family}usingIPrange`],
    status[`${family}availableIPrange`],
  ]);
  return JSON.stringify([spec.provider, spec.cidrBlock, overlay.vlan, ranges]);
}

function haveCommonAddresses(one: Plan, other: Plan): boolean {
  const blocksOf = ({ spec }: Plan) => cidrsOf(spec.cidrBlock).flatMap((text) => parseCidr(text) ?? []);
  return blocksOf(one).some((block) => blocksOf(other).some((each) => cidrsOverlap(block, each)));
}
