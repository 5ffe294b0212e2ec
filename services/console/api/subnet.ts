/** GET /api/v1/subnets and /api/v1/subnets/NAME. */
import type { Reply } from './page.ts';

/**
 * Counts of one family as decimal text: an IPv6 Subnet has more addresses than a number can count.
 */
export interface FamilyUsage {
  readonly family: 4 | 6;
  readonly cidr: string;
  readonly gateway: string;
  /** The number of addresses that can be allocated: without gateway and excluded addresses. */
  readonly total: string;
  readonly inUse: string;
  readonly reserved: string;
  /** The number of addresses that can be allocated now; '' if the allocator does not count it. */
  readonly free: string;
  /** The number of addresses that are released and not yet free, or quarantined. */
  readonly resting: string;
  /** The share of `total` that is in use, from 0 to 100. */
  readonly percent: number;
}

/** A finding about a Subnet that an operator should know. */
export interface Condition {
  readonly type: 'Full' | 'NearlyFull' | 'Fenced' | 'Quarantined';
  readonly severity: 'critical' | 'warning' | 'info';
  readonly message: string;
}

export interface SubnetRow {
  readonly name: string;
  readonly provider: string;
  readonly protocol: string;
  readonly usage: readonly FamilyUsage[];
  readonly conditions: readonly Condition[];
  /** Addresses in use, one number for each of the last 48 hours, oldest first. */
  readonly trend: readonly number[];
  /**
   * Days until no address is free at the rate of the last day; null while the use does not grow.
   */
  readonly daysLeft: number | null;
}

export interface SubnetList extends Reply {
  readonly items: readonly SubnetRow[];
}

export interface PoolRow {
  readonly name: string;
  readonly ips: readonly string[];
  readonly namespaces: readonly string[];
  readonly usage: readonly Omit<FamilyUsage, 'cidr' | 'gateway'>[];
}

export interface TrendPoint {
  readonly at: string;
  readonly inUse: number;
}

export interface SubnetDetail extends Reply {
  readonly subnet: SubnetRow;
  readonly excludeIps: readonly string[];
  readonly cooldownSeconds: number;
  /** The binding timeout; null for never. */
  readonly bindingTimeoutSeconds: number | null;
  readonly maxAddressesPerNamespace: number | null;
  readonly pools: readonly PoolRow[];
  /** Addresses in use, hourly, oldest first; `?days=`, 1 to 90, by default 14. */
  readonly trend: readonly TrendPoint[];
}
