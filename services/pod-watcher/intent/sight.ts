/** What a plan for a Pod looks at, beside the Pod itself. */
import type { Owner } from '../../../proto/ipledger.ts';
import type { NamespaceObject } from '../kubernetes/objects.ts';
import type { SubnetBinding } from '../kubernetes/kept-objects.ts';
import type { Network } from './network.ts';
import type { VipInForce } from './vip.ts';

/** What of the world decides. */
export interface Sight {
  /** The NetworkAttachmentDefinition "namespace/name"; undefined if there is none. */
  network(key: string): Network | undefined;
  subnets: {
    serves(name: string): boolean;
    /** Whether there is such a Subnet, in force or not. */
    exists(name: string): boolean;
    /** Which namespaces a Subnet is for; undefined of one that has no object, and is for all. */
    bindingOf(name: string): SubnetBinding | undefined;
    /** What a Subnet that is in force serves; "" of others. */
    providerOf(name: string): string;
    servingProvider(provider: string): string[];
    whyNot(provider: string): string;
    whyNotServing(name: string): string;
  };
  pools: {
    /** The Subnet of an IPPool that is in force. */
    subnetOf(name: string): string | undefined;
    /** The namespaces that an IPPool is for; none: all. */
    namespacesOf(name: string): readonly string[];
    /** Why Pods cannot be served from an IPPool. */
    whyNot(name: string): string;
    /**
     * The IPPools in force from which a namespace's Pods draw: its own list, and those that name it; those that have an address
     * left come first.
     */
    ofNamespace(namespace: string, listed: readonly string[]): string[];
  };
  /** A Vip that has its addresses; undefined for others. */
  vip(name: string): VipInForce | undefined;
  /** Undefined while it is not known. */
  namespaceOf(name: string): Pick<NamespaceObject, 'subnets' | 'pools' | 'labels' | 'problems'> | undefined;
  /** Where the ordinals of a StatefulSet's members begin; undefined while it is not known. */
  ordinalStart(owner: Owner, namespace: string): number | undefined;
}
