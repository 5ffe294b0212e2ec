/**
 * Permissions with TLS: a table with one row for each RPC. An identity that a row does not name is
 * rejected.
 *
 *   agent      calls about its own node
 *   watcher    calls that follow from Kubernetes objects: allocations, releases, reservations, subnets and pools
 *   operator   all calls except those that only a node can make: bindings of containers
 *   viewer     reads
 *   read-model reads
 *   ovn-projector  the reads from which it follows the ledger
 *   allocator  reads; a standby forwards calls with the identity of their caller (authorization.ts)
 *
 * Kubernetes decides what its users may call: kubernetes-permissions.ts.
 */
import { IpledgerError } from '../../errors.ts';
import { type CertificateKind, type Identity, identityKinds } from '../../tls/identity.ts';
import { IpamService, LedgerService, SubnetsService, ViewsService } from '../../../proto/generated/ipledger.ts';
import { kubernetesPermissions } from './kubernetes-permissions.ts';

/** A further condition of a call. Returns the reason if it is not met. */
type Condition<Request> = (caller: Identity, request: Request) => string | undefined;
type RequestOf<Method> = Method extends { requestDeserialize: (bytes: Uint8Array) => infer Request } ? Request : never;
type Row<Request> = { readonly [Kind in CertificateKind]?: typeof yes | Condition<Request> };
type Rows<Service> = {
  readonly [Name in keyof Service]: Row<RequestOf<Service[Name]>>;
};

const yes = 'yes';

const ofItsNode: Condition<{ readonly node: string }> = ({ name }, { node }) =>
  node === name ? undefined : `it is the agent of node ${name}, and the request names ${node || 'no node'}`;

const nodeEnds: ReadonlySet<string> = new Set(['UNBIND_CAUSE_NODE_DELETED', 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE']);
const ofDeletedNode: Condition<{ readonly cause: string }> = (_caller, { cause }) =>
  nodeEnds.has(cause)
    ? undefined
    : 'it may end the bindings of a node that is deleted or out of service only, with that cause';

const importsNothing: Condition<{ readonly import: boolean }> = (_caller, { import: imports }) =>
  imports ? 'only an operator may import the allocations of another system' : undefined;

const readers = { allocator: yes, operator: yes, 'read-model': yes, viewer: yes, watcher: yes } as const;
const followers = { ...readers, 'ovn-projector': yes } as const;
const all = { ...followers, agent: yes } as const;
const operators = { operator: yes } as const;
const configurers = { operator: yes, watcher: yes } as const;

const ipam: Rows<typeof IpamService> = {
  allocate: { operator: yes, watcher: importsNothing },
  release: configurers,
  wait: { agent: yes }, // the handler rejects allocations of other nodes
  attach: { agent: ofItsNode }, // as Bind
  bind: { agent: ofItsNode }, // decide checks the node of the allocation
  unbind: { agent: yes, operator: yes, watcher: ofDeletedNode }, // decide checks that an agent ends bindings of its own node
  reportConflict: { agent: ofItsNode }, // decide checks that the container is bound to the address
  listBindings: { ...readers, agent: ofItsNode },
  getAddress: readers,
  listAllocations: { ...followers, agent: ofItsNode },
  reserve: configurers, // the watcher reserves for Vips, and for IP objects that users create
  unreserve: configurers,
  listReservations: readers,
  quarantine: operators,
  unquarantine: operators,
};

const subnets: Rows<typeof SubnetsService> = {
  applySubnet: configurers,
  deleteSubnet: configurers,
  getSubnet: readers,
  listSubnets: followers,
  applyPool: configurers,
  deletePool: configurers,
  getPool: readers,
  listPools: readers,
};

const ledger: Rows<typeof LedgerService> = {
  watch: followers,
  history: readers,
  nextAllocations: readers,
  stateAt: readers,
  diff: readers,
  why: readers,
  verify: readers,
  export: readers,
  checkpoint: readers,
  getStatus: followers,
  restore: operators,
  unfreeze: operators,
};

const views: Rows<typeof ViewsService> = {
  mapAddresses: readers,
  listUsage: readers,
  search: readers,
};

/** The rows by the path of the RPC. */
export const permissions: ReadonlyMap<string, Row<never>> = new Map<string, Row<never>>([
  ...rowsOf(IpamService, ipam),
  ...rowsOf(SubnetsService, subnets),
  ...rowsOf(LedgerService, ledger),
  ...rowsOf(ViewsService, views),
  ['/grpc.health.v1.Health/Check', all],
  ['/grpc.health.v1.Health/Watch', all],
  ['/grpc.health.v1.Health/List', all],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', all],
  ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', all],
]);

/** Whether an RPC only reads: a viewer may call it. */
export const isRead = (path: string): boolean => permissions.get(path)?.viewer !== undefined;

function rowsOf<Service extends object>(service: Service, rows: Rows<Service>): [string, Row<never>][] {
  return Object.entries<Row<never>>(rows).map(([name, row]) => [
    (service as Record<string, { readonly path: string }>)[name]?.path ?? name,
    row,
  ]);
}

/**
 * Rejects an identity that may not call an RPC. For a Kubernetes user, that is an RPC without a
 * Kubernetes permission. A review must follow, at the replica that verified the token.
 * @throws IpledgerError PERMISSION_DENIED with the identities that may call it
 */
export function refuseUnauthorizedCaller(caller: Identity, path: string): void {
  const row = permissions.get(path) ?? {};
  if (caller.kind === 'kubernetes-user' ? kubernetesPermissions.get(path) : row[caller.kind]) return;
  const allowed = identityKinds.filter((kind) => row[kind]);
  const reason = allowed.length === 0 ? 'no identity may' : `only these may: ${allowed.join(', ')}`;
  throw new IpledgerError('PERMISSION_DENIED', `${caller.uri} may not call ${path}: ${reason}`);
}

/**
 * Rejects a request that does not meet the condition of its row.
 * @throws IpledgerError PERMISSION_DENIED with the reason
 */
export function refuseUnauthorizedRequest(caller: Identity, path: string, request: unknown): void {
  if (caller.kind === 'kubernetes-user') return;
  const cell = permissions.get(path)?.[caller.kind];
  const objection = typeof cell === 'function' ? cell(caller, request as never) : undefined;
  if (objection !== undefined)
    throw new IpledgerError('PERMISSION_DENIED', `${caller.uri} may not call ${path} with this: ${objection}`);
}
