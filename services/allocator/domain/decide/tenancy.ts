/** What a namespace may take of a subnet: how many addresses in all, and of which pools. */
import type { AddressSpace } from '../address-space.ts';
import { formatAddress, parseAddress } from '../address.ts';
import { heldByNamespace } from '../namespace-counts.ts';
import { Refused } from '../refusal.ts';
import type { ConfiguredSubnet, State } from '../state.ts';

/** On whose behalf a command asks, and what it takes and gives up itself. */
export class Tenant {
  readonly namespace: string;
  /** An import takes over what is in use already: no limit applies. */
  readonly unlimited: boolean;
  readonly #changes = new Map<string, number>();

  constructor(namespace: string, unlimited: boolean) {
    this.namespace = namespace;
    this.unlimited = unlimited;
  }

  /** The command takes so many addresses of a subnet; a negative number gives them up. */
  add(subnet: string, addresses: number): void {
    this.#changes.set(subnet, this.added(subnet) + addresses);
  }

  /** How many addresses of a subnet the command takes so far, less those that it gives up. */
  added(subnet: string): number {
    return this.#changes.get(subnet) ?? 0;
  }
}

/** @throws Refused NAMESPACE_QUOTA_EXCEEDED when the namespace would hold more addresses of the subnet than its spec allows. */
export function refuseOverQuota(state: State, { subnet }: ConfiguredSubnet, tenant: Tenant, wanted: number): void {
  const limit = subnet.spec.maxAddressesPerNamespace;
  if (limit === undefined || tenant.unlimited) return;
  const { namespace } = tenant;
  const holds = Math.max(0, heldByNamespace(state, subnet.name, namespace) + tenant.added(subnet.name));
  if (holds + wanted <= limit) return;
  throw new Refused(
    'NAMESPACE_QUOTA_EXCEEDED',
    `NamespaceQuotaExceeded: namespace ${namespace} holds ${holds} addresses of subnet ${subnet.name}, the limit is ${limit} (maxAddressesPerNamespace), and ${wanted} more ${wanted === 1 ? 'is' : 'are'} requested. Delete Pods of namespace ${namespace} that are not needed, or raise the limit in the Subnet`,
  );
}

/** @throws Refused NAMESPACE_NOT_ALLOWED when the pool lists namespaces, and the tenant's is not among them. */
export function refuseForeignPool(state: State, pool: string, { namespace, unlimited }: Tenant, address = ''): void {
  if (unlimited || isAllowed(state, pool, namespace)) return;
  const namespaces = state.pools.get(pool)?.spec.namespaces ?? [];
  const what = address === '' ? `ippool ${pool}` : `${address} of ippool ${pool}`;
  throw new Refused(
    'NAMESPACE_NOT_ALLOWED',
    `NamespaceNotAllowed: Pods of namespace ${namespace} can't use ${what}: the pool is for ${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${listed(namespaces)}. Request another address, or add ${namespace} to the namespaces of the IPPool`,
  );
}

/** Whether a pool is for the Pods of a namespace: it lists that namespace, or none. */
function isAllowed(state: State, pool: string, namespace: string): boolean {
  const namespaces = state.pools.get(pool)?.spec.namespaces ?? [];
  return namespaces.length === 0 || namespaces.includes(namespace);
}

/** Whether a Pod of the namespace may go on with an address that an earlier Pod of its name holds. */
export function mayKeep(state: State, spaces: readonly AddressSpace[], address: string, namespace: string): boolean {
  const parsed = parseAddress(address);
  const space = spaces.find(({ subnetFamily }) => subnetFamily.family === parsed?.family);
  const pool = space && parsed ? space.poolOf(parsed.value) : '';
  return pool === '' || isAllowed(state, pool, namespace);
}

/** As refuseForeignPool, for an address that is requested without its pool. */
export function refuseAddressOfForeignPool(state: State, space: AddressSpace, value: bigint, tenant: Tenant): void {
  const pool = space.poolOf(value);
  if (pool === '') return;
  refuseForeignPool(state, pool, tenant, formatAddress({ family: space.subnetFamily.family, value }));
}

/** Of a long list the first few: the refusal becomes an event, and events are small. */
const mostListed = 5;

const listed = (names: readonly string[]): string =>
  names.slice(0, mostListed).join(', ') + (names.length > mostListed ? ` and ${names.length - mostListed} more` : '');
