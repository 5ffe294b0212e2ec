/**
 * Who may call what, where TLS is on: the table, each RPC in a row. Whoever is not named in it may not.
 *
 *   agent      what happens on its own node, and nothing of others
 *   watcher    what Kubernetes wants: allocations, releases, reservations, subnets and pools
 *   operator   everything but what only a node itself can say: that a container is set up
 *   viewer     reads
 *   index      reads, to answer what others ask
 *   allocator  reads; and passes on what callers ask of a standby, as theirs (authorization.ts)
 */
import { IpledgerError } from '../errors.ts';
import { type Identity, type IdentityKind, identityKinds } from '../identity.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/ipledger.ts';

/** What else must be so; gives the objection. */
type Condition<Request> = (caller: Identity, request: Request) => string | undefined;
type RequestOf<Method> = Method extends { requestDeserialize: (bytes: Uint8Array) => infer Request } ? Request : never;
type Row<Request> = { readonly [Kind in IdentityKind]?: typeof yes | Condition<Request> };
type Rows<Service> = {
  readonly [Name in keyof Service]: Row<RequestOf<Service[Name]>>;
};

const yes = 'yes';

const ofItsNode: Condition<{ readonly node: string }> = ({ name }, { node }) =>
  node === name ? undefined : `its certificate is for node ${name}, and the request names ${node || 'no node'}`;

const nodeEnds: ReadonlySet<string> = new Set(['UNBIND_CAUSE_NODE_DELETED', 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE']);
const ofDeletedNode: Condition<{ readonly cause: string }> = (_caller, { cause }) =>
  nodeEnds.has(cause)
    ? undefined
    : 'it may end the bindings of a node that is deleted or out of service only, with that cause';

const importsNothing: Condition<{ readonly import: boolean }> = (_caller, { import: imports }) =>
  imports ? 'only an operator may take over what another system gave (import)' : undefined;

const everybody = { agent: yes, allocator: yes, index: yes, operator: yes, viewer: yes, watcher: yes } as const;
const readers = { allocator: yes, index: yes, operator: yes, viewer: yes, watcher: yes } as const;
const operators = { operator: yes } as const;
const configurers = { operator: yes, watcher: yes } as const;

const ipam: Rows<typeof IpamService> = {
  allocate: { operator: yes, watcher: importsNothing },
  release: configurers,
  wait: { agent: yes }, // for allocations that are not another node's: the handler sees to it
  bind: { agent: ofItsNode }, // as above: decide sees to it
  unbind: { agent: yes, operator: yes, watcher: ofDeletedNode }, // an agent's ends bindings of its own node only: decide
  listBindings: { ...readers, agent: ofItsNode },
  get: readers,
  list: { ...readers, agent: ofItsNode },
  reserve: configurers, // the watcher's are those of Vips, and of IP objects that were made by hand
  unreserve: configurers,
  listReservations: readers,
  quarantine: operators,
  lift: operators,
};

const subnets: Rows<typeof SubnetsService> = {
  applySubnet: configurers,
  deleteSubnet: configurers,
  getSubnet: readers,
  listSubnets: readers,
  applyPool: configurers,
  deletePool: configurers,
  getPool: readers,
  listPools: readers,
};

const ledger: Rows<typeof LedgerService> = {
  watch: readers,
  history: readers,
  stateAt: readers,
  diff: readers,
  why: readers,
  verify: readers,
  export: readers,
  checkpoint: readers,
  getStatus: readers,
  restore: operators,
  thaw: operators,
};

/** The table: RPC, by its path → who may. */
export const permissions: ReadonlyMap<string, Row<never>> = new Map<string, Row<never>>([
  ...rowsOf(IpamService, ipam),
  ...rowsOf(SubnetsService, subnets),
  ...rowsOf(LedgerService, ledger),
  ['/grpc.health.v1.Health/Check', everybody],
  ['/grpc.health.v1.Health/Watch', everybody],
  ['/grpc.health.v1.Health/List', everybody],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', everybody],
  ['/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', everybody],
]);

function rowsOf<Service extends object>(service: Service, rows: Rows<Service>): [string, Row<never>][] {
  return Object.entries<Row<never>>(rows).map(([name, row]) => [
    (service as Record<string, { readonly path: string }>)[name]?.path ?? name,
    row,
  ]);
}

/**
 * Whether an identity may call an RPC at all.
 * @throws IpledgerError PERMISSION_DENIED that says who may.
 */
export function refuseStranger(caller: Identity, path: string): void {
  const row = permissions.get(path) ?? {};
  if (row[caller.kind]) return;
  const entitled = identityKinds.filter((kind) => row[kind]);
  const who = entitled.length === 0 ? 'nobody may' : `only these may: ${entitled.join(', ')}`;
  throw new IpledgerError('PERMISSION_DENIED', `${caller.uri} may not call ${path}: ${who}`);
}

/**
 * Whether it may with this request.
 * @throws IpledgerError PERMISSION_DENIED that says what is amiss.
 */
export function refuseRequest(caller: Identity, path: string, request: unknown): void {
  const cell = permissions.get(path)?.[caller.kind];
  const objection = typeof cell === 'function' ? cell(caller, request as never) : undefined;
  if (objection !== undefined)
    throw new IpledgerError('PERMISSION_DENIED', `${caller.uri} may not call ${path} with this: ${objection}`);
}
