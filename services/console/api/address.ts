/** GET /api/v1/addresses/ADDRESS. */
import type { EventRow, PodName } from './event.ts';
import type { Page } from './page.ts';

export interface BindingRow {
  readonly containerId: string;
  readonly interface: string;
  readonly node: string;
  readonly at: string;
}

/** The CNI result of a container. */
export interface CniAnswer {
  readonly addresses: readonly { readonly address: string; readonly cidr: string; readonly gateway: string }[];
  readonly mac: string;
  readonly routes: readonly { readonly dst: string; readonly gw: string }[];
}

export interface AllocationRow {
  readonly seq: number;
  readonly at: string;
  readonly subnet: string;
  readonly provider: string;
  readonly network: string;
  readonly pod: PodName;
  readonly owner: { readonly kind: string; readonly name: string } | null;
  readonly node: string;
  readonly interface: string;
  readonly cause: string;
  readonly bindings: readonly BindingRow[];
  readonly cniAnswer: CniAnswer;
}

export interface Hold {
  readonly reason: string;
  readonly seq: number;
  readonly at: string;
}

/** The state of an address in one Subnet. */
export interface AddressState {
  readonly subnet: string;
  readonly address: string;
  /**
   * The state by its name in `ipledger`: fresh, allocated, bound, held, cooldown, idle, reserved,
   * quarantined, excluded.
   */
  readonly state: string;
  readonly pool: string;
  readonly allocation: AllocationRow | null;
  readonly bindings: readonly BindingRow[];
  readonly releasedAt: string;
  readonly availableAt: string;
  readonly reservation: (Hold & { readonly reservedFor: string; readonly mac: string }) | null;
  readonly quarantine: (Hold & { readonly seenMac: string; readonly seenAt: string }) | null;
}

/** Query: `subnet` (needed if several Subnets have the address), `limit`, `page`. Newest first. */
export interface AddressPage extends Page<EventRow> {
  readonly address: string;
  /** A state for each Subnet that has or had the address; on the first page only. */
  readonly states: readonly AddressState[];
}
