/** Addresses as another IPAM plugin recorded them, before they are matched with Pods and Subnets. */
import type { Conflict } from './conflict.ts';

/** One address that another IPAM plugin allocated. It names its Pod, or the node of its container. */
export interface SourceAddress {
  /** Where it is recorded: "IPPool kube-system/10.8.0.0-16", "lan/10.8.0.3 of node-a". */
  readonly where: string;
  /** The network in the source: the name of the IPPool, or of the folder. `--map` and `--network` name it. */
  readonly network: string;
  /** In canonical form. */
  readonly address: string;
  /** The interface in the container; "" if unknown. */
  readonly interface: string;
  readonly containerId: string;
  readonly holder:
    | { readonly by: 'pod'; readonly namespace: string; readonly name: string }
    | { readonly by: 'node'; readonly node: string };
}

/** An invalid record. It is left out. */
export interface SourceConflict extends Conflict {
  /** What it is about, if that is known: the address is not imported, and a container may use it. */
  readonly about?: Pick<SourceAddress, 'network' | 'address'>;
}

export interface SourceAddresses {
  /** All networks of the source. */
  readonly networks: ReadonlySet<string>;
  readonly addresses: readonly SourceAddress[];
  readonly conflicts: readonly SourceConflict[];
}

/** The addresses of one import. A /16 has 65,536. */
export const maxSourceAddresses = 200_000;
