/** The view of the cluster that a plan reads: networks, Subnets, IPPools and other objects. */
import type { Owner } from '../../../proto/generated/ipledger.ts';
import type { NamespaceObject } from '../kubernetes/objects/namespace.ts';
import type { NamespaceRestriction } from '../kubernetes/objects/subnet.ts';
import type { ClassifiedNetwork } from './network-definitions/classify-network.ts';

/** The state of an IPAMClaim in the cluster and in the ledger. */
export interface IpamClaimState {
  /** The object; absent if the IPAMClaim does not exist. */
  readonly object?: { readonly network: string; readonly deleting: boolean };
  /** The addresses, IPv4 first; absent before a Pod named it. `owner` owns the reservation. */
  readonly reserved?: { readonly subnet: string; readonly addresses: readonly string[]; readonly owner: string };
  /** Why the IPAMClaim has no address; "" if that is not known. */
  readonly problem: string;
}

/** A Vip that has its addresses. */
export interface ReservedVip {
  readonly subnet: string;
  readonly addresses: readonly string[];
  /** The namespace whose Pods may use the Vip; "" means all namespaces. */
  readonly namespace: string;
}

export interface ClusterView {
  /** The NetworkAttachmentDefinition "namespace/name"; undefined if it does not exist. */
  network(key: string): ClassifiedNetwork | undefined;
  subnets: {
    serves(name: string): boolean;
    /** Whether the Subnet exists, in force or not. */
    exists(name: string): boolean;
    /** The namespaces that may use a Subnet; undefined: all, because the Subnet has no object. */
    restrictionOf(name: string): NamespaceRestriction | undefined;
    /** The provider of a Subnet that is in force; "" for other Subnets. */
    providerOf(name: string): string;
    /** The Subnets that serve a provider, sorted by name. */
    servingProvider(provider: string): string[];
    /** Why no Subnet serves a provider; "" if no Subnet names it. */
    whyNot(provider: string): string;
    whyNotServing(name: string): string;
  };
  pools: {
    /** The Subnet of an IPPool that is in force. */
    subnetOf(name: string): string | undefined;
    /** The namespaces that may use an IPPool; empty means all. */
    namespacesOf(name: string): readonly string[];
    /** Why an IPPool serves no Pods. */
    whyNot(name: string): string;
    /**
     * The IPPools in force for a namespace's Pods: those that the namespace lists, then those that
     * name the namespace. IPPools with a free address come first.
     */
    ofNamespace(namespace: string, listed: readonly string[]): string[];
  };
  /** The Vip, if it has its addresses; otherwise undefined. */
  vip(name: string): ReservedVip | undefined;
  /** The state of the IPAMClaim "namespace/name". */
  ipamClaim(key: string): IpamClaimState;
  /** The fields of a namespace; undefined before the namespace was observed. */
  namespaceOf(name: string): Pick<NamespaceObject, 'subnets' | 'pools' | 'labels' | 'problems'> | undefined;
  /** Whether a Pod of the namespace runs on the node, apart from static Pods. */
  hasOtherPod(node: string, namespace: string): boolean;
  /** The first ordinal of a StatefulSet's members; undefined before it was observed. */
  ordinalStart(owner: Owner, namespace: string): number | undefined;
}
