/** GET /api/v1/subnets/NAME/map: the addresses of a Subnet, now or at an earlier time. */
import type { Reply } from './page.ts';

/** The states of a cell. `cells` has one byte for each address: the index of its state here. */
export const cellStates = [
  'free',
  'allocated', // a Pod has it, and no container uses it
  'bound', // a container uses it
  'resting', // released, and not free yet: in cooldown, or a container may still answer on it
  'reserved',
  'quarantined',
  'excluded',
  'gateway',
] as const;
export type CellState = (typeof cellStates)[number];

/** The number of addresses in each state. */
export type StateCounts = Readonly<Record<CellState, number>>;

/** An event to which the slider can jump. */
export interface Moment {
  readonly seq: number;
  readonly at: string;
}

/** A part of a Subnet that has more than 65,536 addresses. */
export interface MapBlock {
  /** The block as CIDR; send it as `range` to see its addresses. */
  readonly cidr: string;
  readonly counts: StateCounts;
}

export interface UsedAddress {
  readonly address: string;
  readonly state: CellState;
}

/**
 * Query: `family` 4 or 6; `at` (an instant) or `seq` (an event), absent for now; `range` (a CIDR,
 * for a larger Subnet); `page` for `used`. One of `cells`, `blocks` and `used` is present.
 */
export interface AddressMap extends Reply {
  readonly subnet: string;
  readonly family: 4 | 6;
  /** The range that the map shows. */
  readonly cidr: string;
  /** The address of the gateway; '' without a gateway in this family. */
  readonly gateway: string;
  /** The event after which the map is true, and the time for which cooldowns are computed. */
  readonly moment: Moment;
  /** The event of the Subnet before `moment`; null at the end. */
  readonly previous: Moment | null;
  readonly next: Moment | null;
  /** The first and the last event of the slider: `first` is the one that configured the Subnet. */
  readonly first: Moment;
  readonly last: Moment;
  /** Counts of the range. `free` is 0 for IPv6, whose addresses `total` of the Subnet counts. */
  readonly counts: StateCounts;
  /** One byte for each address of an IPv4 range of at most 65,536, in base64. */
  readonly cells?: string;
  /** The blocks of an IPv4 range with more addresses: at most 256. */
  readonly blocks?: readonly MapBlock[];
  /** The IPv6 addresses that are not free, in order, 1,000 on a page. */
  readonly used?: readonly UsedAddress[];
  readonly nextPage?: string;
}

/**
 * GET /api/v1/subnets/NAME/moments: the events of `address` before and after the event `seq`.
 * Query: also `family`.
 */
export interface AddressMoments extends Reply {
  readonly previous: Moment | null;
  readonly next: Moment | null;
}
