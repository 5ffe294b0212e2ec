/** Normalised configurations of Subnets and pools. Events store these values as declared here. */

/** A normalised Subnet configuration; `gateway` and `cidrBlock` are "v4", "v6" or "v4,v6". */
export interface SubnetSpec {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: 'IPv4' | 'IPv6' | 'Dual';
  readonly cooldownMs: number;
  readonly bindingTimeoutMs: number;
  /** The most addresses of each namespace in the Subnet; absent: no limit. Since version 5. */
  readonly maxAddressesPerNamespace?: number;
  /** Whether nodes probe addresses on the wire before Pods use them. Since version 9. */
  readonly probeAddresses?: true;
}

/** The Kubernetes object that a configuration came from. */
export interface SourceObject {
  readonly uid: string;
  readonly generation: number;
}

/** A normalised pool. `ips` are "address" or "first..last", merged and sorted, IPv4 first. */
export interface PoolSpec {
  readonly subnet: string;
  readonly ips: readonly string[];
  /** The namespaces whose Pods use the pool by default. None: only Pods that name the pool. */
  readonly namespaces: readonly string[];
}
