/** Limits of a namespace in a subnet: its quota of addresses, and the pools that it may use. */
import { type AddressSpace, spaceOfFamily } from '../../state/address-pools/address-space.ts';
import { formatAddress, parseAddress } from '../../addresses/address.ts';
import { countHeldByNamespace } from '../../state/namespace-counts.ts';
import { Refused } from '../../commands/refusal.ts';
import type { ConfiguredSubnet, State } from '../../state/state.ts';

/** A namespace, with the addresses that the command allocates and releases for it. */
export class Tenant {
  readonly namespace: string;
  /** An import has no limits, because it records addresses that are already in use. */
  readonly unlimited: boolean;
  readonly #changes = new Map<string, number>();

  constructor(namespace: string, unlimited: boolean) {
    this.namespace = namespace;
    this.unlimited = unlimited;
  }

  /** Counts addresses that the command allocates in a subnet, or releases if negative. */
  add(subnet: string, addresses: number): void {
    this.#changes.set(subnet, this.added(subnet) + addresses);
  }

  /** The addresses of a subnet that the command has allocated minus those that it has released. */
  added(subnet: string): number {
    return this.#changes.get(subnet) ?? 0;
  }
}

/** @throws Refused NAMESPACE_QUOTA_EXCEEDED if the namespace would exceed the subnet's quota */
export function refuseOverQuota(state: State, { subnet }: ConfiguredSubnet, tenant: Tenant, requested: number): void {
  const limit = subnet.spec.maxAddressesPerNamespace;
  if (limit === undefined || tenant.unlimited) return;
  const { namespace } = tenant;
  const holds = Math.max(0, countHeldByNamespace(state, subnet.name, namespace) + tenant.added(subnet.name));
  if (holds + requested <= limit) return;
  throw new Refused(
    'NAMESPACE_QUOTA_EXCEEDED',
    `NamespaceQuotaExceeded: namespace ${namespace} holds ${holds} addresses of subnet ${subnet.name}, the limit is ${limit} (maxAddressesPerNamespace), and ${requested} more ${requested === 1 ? 'is' : 'are'} requested. Delete Pods of namespace ${namespace} that are not needed, or raise the limit in the Subnet`,
  );
}

/** @throws Refused NAMESPACE_NOT_ALLOWED if the pool lists namespaces, but not the tenant's */
export function refuseForeignPool(state: State, pool: string, { namespace, unlimited }: Tenant, address = ''): void {
  if (unlimited || isPoolOpenTo(state, pool, namespace)) return;
  const namespaces = state.pools.get(pool)?.spec.namespaces ?? [];
  const what = address === '' ? `ippool ${pool}` : `${address} of ippool ${pool}`;
  throw new Refused(
    'NAMESPACE_NOT_ALLOWED',
    `NamespaceNotAllowed: Pods of namespace ${namespace} can't use ${what}: the pool is for ${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${listed(namespaces)}. Request another address, or add ${namespace} to the namespaces of the IPPool`,
  );
}

/** Whether a namespace may use a pool: the pool lists it or no namespace, or is the pool ''. */
export function isPoolOpenTo(state: State, pool: string, namespace: string): boolean {
  const namespaces = state.pools.get(pool)?.spec.namespaces ?? [];
  return namespaces.length === 0 || namespaces.includes(namespace);
}

/** Finds the pool of an address, even if the subnet excludes the address; '' for none. */
export function poolOfAddress(spaces: readonly AddressSpace[], address: string): string {
  const parsed = parseAddress(address);
  const space = spaceOfFamily(spaces, parsed?.family);
  return space && parsed ? space.poolNameAt(parsed.value) : '';
}

/** Rejects an address in a pool of other namespaces, if the request does not name the pool. */
export function refuseAddressOfForeignPool(state: State, space: AddressSpace, value: bigint, tenant: Tenant): void {
  const pool = space.poolNameAt(value);
  if (pool === '') return;
  refuseForeignPool(state, pool, tenant, formatAddress({ family: space.subnetFamily.family, value }));
}

/** The most namespaces in a message. A refusal becomes an event, and events are small. */
const maxListed = 5;

const listed = (names: readonly string[]): string =>
  names.slice(0, maxListed).join(', ') + (names.length > maxListed ? ` and ${names.length - maxListed} more` : '');
