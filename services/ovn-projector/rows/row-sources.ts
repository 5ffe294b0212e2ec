/** The part of the ledger that the rows need: Subnets and allocations of OVN networks. */

/** A Subnet of the ledger that serves OVN networks. */
export interface LedgerSubnet {
  readonly name: string;
  /** CIDRs, at most one per family. */
  readonly cidrs: readonly string[];
  /** The gateway of each family, without prefix length. */
  readonly gateways: readonly string[];
}

/** The allocation of one OVN NIC. */
export interface PortAllocation {
  /** The sequence number of the event that made the allocation. */
  readonly seq: number;
  readonly namespace: string;
  readonly pod: string;
  /** The uid of the Pod in the ledger. */
  readonly uid: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
  /** The Node of the Pod; "" if unknown. */
  readonly node: string;
  /** The nodes of its bindings, keyed by container and interface. */
  readonly bindings: ReadonlyMap<string, string>;
}
