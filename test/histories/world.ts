/** The shared state of a history's clients: Subnets, Pod names, addresses, and known containers. */
import type { Connection } from '../../lib/grpc/client.ts';
import type { History, RecordedAllocation } from './history.ts';

export interface Network {
  readonly name: string;
  readonly provider: string;
  readonly cidrBlock: string;
}

export const lan: Network = { name: 'lan', provider: 'lan.default', cidrBlock: '10.90.0.0/27' };
export const wan: Network = { name: 'wan', provider: 'wan.default', cidrBlock: '10.91.0.0/27,fd00:91::/122' };
/** Subnets without Pods, which are changed and retired. */
export const spares: readonly Network[] = ['spare-1', 'spare-2'].map((name, index) => ({
  name,
  provider: `${name}.default`,
  cidrBlock: `10.${92 + index}.0.0/16`,
}));
/** An address of a spare Subnet, not beside the gateway, that makes its specs differ. */
export const excludedIn = ({ cidrBlock }: Network, number: number): string =>
  cidrBlock.replace('0.0/16', `${1 + (number >> 8)}.${number & 255}`);

/** The addresses of the Subnet, without the gateway. */
export const lanAddresses: readonly string[] = Array.from({ length: 29 }, (_, index) => `10.90.0.${index + 2}`);
/** Addresses that Pods request by name, and that are reserved and quarantined. */
export const hotAddresses: readonly string[] = lanAddresses.slice(-5);
export const owners: readonly string[] = ['vip/one', 'vip/two'];
export const nodes: readonly string[] = ['node-1', 'node-2'];

/** A Pod name with the networks of its NICs. */
export interface PodName {
  readonly name: string;
  readonly networks: readonly Network[];
}

export const podNames: readonly PodName[] = [
  ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, networks: [lan] })),
  ...['two-a', 'two-b'].map((name) => ({ name, networks: [lan, wan] })),
];

/** A container of a Pod with its address. */
export interface KnownSandbox {
  readonly container: string;
  readonly node: string;
  readonly pod: string;
  readonly uid: string;
  readonly allocations: readonly RecordedAllocation[];
}

export interface World {
  readonly history: History;
  readonly replicas: readonly Connection[];
  /** The Pods of each name, oldest first. */
  readonly uids: Map<string, string[]>;
  /** The last containers that were bound, and may not be unbound. */
  readonly sandboxes: KnownSandbox[];
  /** The number of requests so far. */
  requests: number;
}
