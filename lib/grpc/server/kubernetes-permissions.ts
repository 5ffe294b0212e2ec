/**
 * The Kubernetes permission that a user needs for each RPC: a verb on a resource of the API group
 * ipledger.io, which a SubjectAccessReview checks. The resources exist only in ClusterRoles. An RPC
 * with 'never' is for programs of ipledger.
 */
import { IpamService, LedgerService, SubnetsService, ViewsService } from '../../../proto/generated/ipledger.ts';

export const apiGroup = 'ipledger.io';

/** A rule in the form of a ClusterRole. */
export interface KubernetesPermission {
  readonly resource: string;
  readonly verb: string;
}

type Cell = `${string}/${string}` | 'never';
type Rows<Service> = { readonly [Name in keyof Service]: Cell };

const ipam: Rows<typeof IpamService> = {
  allocate: 'allocations/create', // imports too
  release: 'allocations/release',
  wait: 'never',
  attach: 'never',
  reportConflict: 'never',
  bind: 'never',
  unbind: 'bindings/unbind',
  listBindings: 'bindings/list',
  getAddress: 'addresses/get',
  listAllocations: 'allocations/list',
  reserve: 'reservations/create',
  unreserve: 'reservations/delete',
  listReservations: 'reservations/list',
  quarantine: 'addresses/quarantine',
  unquarantine: 'addresses/unquarantine',
};

const subnets: Rows<typeof SubnetsService> = {
  applySubnet: 'subnets/update',
  deleteSubnet: 'subnets/delete',
  getSubnet: 'subnets/get',
  listSubnets: 'subnets/list',
  applyPool: 'ippools/update',
  deletePool: 'ippools/delete',
  getPool: 'ippools/get',
  listPools: 'ippools/list',
};

const ledger: Rows<typeof LedgerService> = {
  watch: 'ledger/watch',
  history: 'ledger/list',
  nextAllocations: 'ledger/list',
  stateAt: 'ledger/get',
  diff: 'ledger/get',
  why: 'ledger/get',
  verify: 'ledger/get',
  export: 'ledger/list',
  checkpoint: 'ledger/get',
  getStatus: 'ledger/get',
  restore: 'ledger/restore',
  unfreeze: 'ledger/unfreeze',
};

const views: Rows<typeof ViewsService> = {
  mapAddresses: 'ledger/get',
  listUsage: 'subnets/list',
  search: 'ledger/list',
};

/** The permission for the path of an RPC; undefined for 'never'. */
export const kubernetesPermissions: ReadonlyMap<string, KubernetesPermission | undefined> = new Map([
  ...rowsOf(IpamService, ipam),
  ...rowsOf(SubnetsService, subnets),
  ...rowsOf(LedgerService, ledger),
  ...rowsOf(ViewsService, views),
  ...[
    '/grpc.health.v1.Health/Check',
    '/grpc.health.v1.Health/Watch',
    '/grpc.health.v1.Health/List',
    '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
  ].map((path): [string, KubernetesPermission | undefined] => [path, parseCell('ledger/get')]),
]);

function rowsOf<Service extends object>(
  service: Service,
  rows: Rows<Service>,
): [string, KubernetesPermission | undefined][] {
  return Object.entries<Cell>(rows).map(([name, cell]) => [
    (service as Record<string, { readonly path: string }>)[name]?.path ?? name,
    parseCell(cell),
  ]);
}

function parseCell(cell: Cell): KubernetesPermission | undefined {
  if (cell === 'never') return undefined;
  const [resource = '', verb = ''] = cell.split('/');
  return { resource, verb };
}
