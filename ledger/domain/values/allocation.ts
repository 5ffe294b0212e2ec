/** The parts of an allocation: NICs, owners and routes. Events store these values as they are. */

/** One NIC of a Pod. `ordinal` counts the NICs of one provider, from 0. */
export interface Attachment {
  readonly namespace: string;
  readonly pod: string;
  readonly provider: string;
  readonly ordinal: number;
}

/** A Pod's controlling owner. */
export interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A route of the CNI result; an empty `dst` is the default route of the gateway's family. */
export interface Route {
  readonly dst: string;
  readonly gw: string;
}

/** An address with its CIDR and gateway, as in the CNI result. */
export interface AssignedAddress {
  readonly address: string;
  readonly cidr: string;
  readonly gateway: string;
}

export type AllocationCause = 'dynamic' | 'static' | 'pool' | 'reservation' | 'import';

/**
 * `detached`: the Pod lives, but no longer requests the attachment. `address-conflict`: the Pod
 * lives, and another host answers on the address. Since version 9.
 */
export type ReleaseCause =
  | 'pod-deleted'
  | 'pod-completed'
  | 'scaled-down'
  | 'owner-deleted'
  | 'operator'
  | 'garbage-collected'
  | 'detached'
  | 'address-conflict';

/** Why a binding ended: CNI DEL, CNI GC, or the end of its node's service. */
export type UnbindCause =
  'container-deleted' | 'garbage-collected' | 'node-rebooted' | 'node-deleted' | 'node-out-of-service';

/** What an attachment gets: addresses, MAC, and the rest of the CNI result. */
export interface Grant {
  readonly attachment: Attachment;
  readonly uid: string;
  readonly owner?: Owner;
  readonly node: string;
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  readonly interface: string;
  readonly cause: AllocationCause;
  readonly routes: readonly Route[];
  readonly defaultRoute?: boolean;
}
