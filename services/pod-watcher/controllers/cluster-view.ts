/** The state of the cluster that a plan reads: networks, Subnets, IPPools and others. */
import type { Owner } from '../../../proto/generated/ipledger.ts';
import type { NamespaceObject } from '../kubernetes/objects/namespace.ts';
import type { NamespaceRestriction } from '../kubernetes/objects/subnet.ts';
import type { ClassifiedNetwork } from './network-definitions/classify-network.ts';

/** What the cluster and the ledger have of an IPAMClaim. */
export interface IpamClaimState {
  /** Absent if there is no such IPAMClaim. */
  readonly object?: { readonly network: string; readonly deleting: boolean };
  /** Its addresses, IPv4 first; absent before a Pod named it. `owner` is the reservation's. */
  readonly reserved?: { readonly subnet: string; readonly addresses: readonly string[]; readonly owner: string };
  /** Why it has no address; "" if that is not known. */
  readonly problem: string;
}

/** A Vip that has its addresses. */
export interface ReservedVip {
  readonly subnet: string;
  readonly addresses: readonly string[];
  /** The namespace whose Pods may use it; "": all namespaces. */
  readonly namespace: string;
}

export interface ClusterView {
  /** The NetworkAttachmentDefinition "namespace/name"; undefined if there is none. */
  network(key: string): ClassifiedNetwork | undefined;
  subnets: {
    serves(name: string): boolean;
    /** Whether there is such a Subnet, in force or not. */
    exists(name: string): boolean;
    /** The namespaces that may use a Subnet; undefined: all, because it has no object. */
    restrictionOf(name: string): NamespaceRestriction | undefined;
    /** The provider of a Subnet that is in force; "" for others. */
    providerOf(name: string): string;
    /** Sorted by name. */
    servingProvider(provider: string): string[];
    /** Why no Subnet serves a provider; "" if no Subnet is meant for it. */
    whyNot(provider: string): string;
    whyNotServing(name: string): string;
  };
  pools: {
    /** The Subnet of an IPPool that is in force. */
    subnetOf(name: string): string | undefined;
    /** The namespaces that may use an IPPool; empty: all. */
    namespacesOf(name: string): readonly string[];
    /** Why an IPPool serves no Pods. */
    whyNot(name: string): string;
    /**
     * The IPPools in force for a namespace's Pods: those that the namespace lists, then those that
     * name the namespace. Pools with a free address come first.
     */
    ofNamespace(namespace: string, listed: readonly string[]): string[];
  };
  /** A Vip that has its addresses; undefined for others. */
  vip(name: string): ReservedVip | undefined;
  /** The IPAMClaim "namespace/name". */
  ipamClaim(key: string): IpamClaimState;
  /** undefined before the namespace was observed. */
  namespaceOf(name: string): Pick<NamespaceObject, 'subnets' | 'pools' | 'labels' | 'problems'> | undefined;
  /** Whether a Pod of the namespace that is no static Pod runs on the node. */
  hasOtherPod(node: string, namespace: string): boolean;
  /** The first ordinal of a StatefulSet's members; undefined before it was observed. */
  ordinalStart(owner: Owner, namespace: string): number | undefined;
}
