/** Addresses in the records of another IPAM plugin, before they are matched with Pods. */
import type { Conflict } from './conflict.ts';

/** An address that another IPAM plugin allocated, with its Pod, or the node of its container. */
export interface SourceAddress {
  /** The place of the record: "IPPool kube-system/10.8.0.0-16", "lan/10.8.0.3 of node-a". */
  readonly where: string;
  /** The source's network for `--map` and `--network`: the name of the IPPool or the folder. */
  readonly network: string;
  /** The address in canonical form. */
  readonly address: string;
  /** The interface in the container; "" if unknown. */
  readonly interface: string;
  readonly containerId: string;
  readonly holder:
    | { readonly by: 'pod'; readonly namespace: string; readonly name: string }
    | { readonly by: 'node'; readonly node: string };
}

/** An invalid record, which is left out. */
export interface SourceConflict extends Conflict {
  /** The address, if it is known: it is not imported, and a container may use it. */
  readonly about?: Pick<SourceAddress, 'network' | 'address'>;
}

export interface SourceAddresses {
  /** All networks of the source. */
  readonly networks: ReadonlySet<string>;
  readonly addresses: readonly SourceAddress[];
  readonly conflicts: readonly SourceConflict[];
}

/** The most addresses of one import. A /16 has 65,536. */
export const maxSourceAddresses = 200_000;
