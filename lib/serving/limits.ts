/**
 * How long each text and each list of a request may be: the table, each RPC in a row. The types hold it to the .proto: a text or
 * a list without a limit does not compile. A request is compared with it before any work on it, in time linear in its size.
 * What ends something (Release, Unbind, Unreserve) takes longer texts: earlier versions recorded ids of up to 1,024 bytes.
 */
import { IpledgerError } from '../errors.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/ipledger.ts';

/** A request of more bytes is rejected by gRPC itself, with RESOURCE_EXHAUSTED, before it is decoded. */
export const mostRequestBytes = 1 << 20;

/** Of a text: its bytes. Of a list: its entries, and what holds for each of them. Of a message: of its fields. */
type Limit<Value> = Value extends readonly (infer Item)[]
  ? readonly [most: number, each: Limit<Item>]
  : Value extends object
    ? FieldLimits<Value>
    : number;
type IsBounded<Value> = string extends Value ? false : Value extends object ? false : true;
type FieldLimits<Message> = {
  readonly [Field in keyof Message as IsBounded<NonNullable<Message[Field]>> extends true ? never : Field]-?: Limit<
    NonNullable<Message[Field]>
  >;
};
type RequestOf<Method> = Method extends { requestDeserialize: (bytes: Uint8Array) => infer Request } ? Request : never;
type Rows<Service> = { readonly [Name in keyof Service]: FieldLimits<RequestOf<Service[Name]>> };

/** A limit whose type is not known any more. */
export type AnyLimit = number | readonly [most: number, each: AnyLimit] | { readonly [field: string]: AnyLimit };

// Kubernetes' own: a namespace is a DNS label, all other names are DNS subdomains. Linux': an interface.
const [namespace, objectName, networkInterface] = [63, 253, 15];
const name = objectName;
/** "<NetworkAttachmentDefinition>.<namespace>.ovn.<interface>". */
const provider = objectName + 1 + namespace + '.ovn.'.length + networkInterface;
/** A uid, a container's id (64 characters), a boot's id (36). */
const id = 128;
/** One address, or a CIDR. */
const address = 64;
/** "first..last", or two CIDRs. */
const range = 2 * address;
/** "ipv4", a protocol, the name of an event's type, a kind. */
const word = 64;
const instant = 64;
/** A sentence of a person. */
const sentence = 1_024;
/** What earlier versions took as an id or a name. */
const earlier = 1_024;
/** "container/interface" of earlier versions is the longest. */
const token = 4_096;
/** History's of an address: a place in each subnet that knows it. */
const manyPlaces = 65_536;

const owner = { kind: word, name, uid: id };
const source = { uid: id };
const position = { hash: id };
const moment = { at: instant };
const sandbox = { namespace, pod: name, provider, containerId: id, interface: networkInterface };
const earlierSandbox = {
  namespace: earlier,
  pod: earlier,
  provider: earlier,
  containerId: earlier,
  interface: earlier,
};

const ipam: Rows<typeof IpamService> = {
  allocate: {
    pod: { namespace, name, uid: id, node: name, owner },
    attachments: [
      24,
      {
        provider,
        interface: networkInterface,
        subnets: [24, name],
        candidates: [256, { addresses: [2, address] }],
        pool: name,
        mac: word,
        routes: [64, { dst: address, gw: address }],
        ipFamily: word,
        reservation: sentence,
      },
    ],
  },
  release: { namespace: earlier, pod: earlier, podUid: earlier, evidence: sentence },
  wait: { ...sandbox, podUid: id },
  bind: { ...sandbox, podUid: id, node: name, bootId: id },
  unbind: earlierSandbox,
  listBindings: { node: name, pageToken: token },
  get: { subnet: name, address },
  list: { subnet: name, namespace, pod: name, node: name, pageToken: token },
  reserve: {
    subnet: name,
    addresses: [2, address],
    reservedFor: sentence,
    reason: sentence,
    mac: word,
    ipFamily: word,
  },
  unreserve: { subnet: earlier, addresses: [64, address], reservedFor: sentence, reason: sentence },
  listReservations: { subnet: name, reservedFor: sentence, pageToken: token },
  quarantine: { subnet: name, address, seenMac: word, seenAt: name, reason: sentence },
  lift: { subnet: name, address, reason: sentence },
};

const subnets: Rows<typeof SubnetsService> = {
  applySubnet: {
    name,
    spec: { cidrBlock: range, gateway: range, excludeIps: [4_096, range], provider, protocol: word },
    source,
  },
  deleteSubnet: { name: earlier },
  getSubnet: { name },
  listSubnets: {},
  applyPool: { name, spec: { subnet: name, ips: [4_096, range], namespaces: [4_096, namespace] }, source },
  deletePool: { name: earlier },
  getPool: { name },
  listPools: {},
};

const ledger: Rows<typeof LedgerService> = {
  watch: { subnet: name, namespace, pod: name, node: name, address, types: [64, word], after: position },
  history: {
    address,
    subnet: name,
    pageToken: manyPlaces,
    namespace,
    pod: name,
    owner,
    node: name,
    since: instant,
    until: instant,
  },
  stateAt: { moment, subnet: name },
  diff: { from: moment, to: moment, subnet: name },
  why: { namespace, pod: name, pageToken: token },
  // Signed notes, one behind the other: as many as a request holds.
  verify: { checkpoints: mostRequestBytes, verifierKeys: [50, sentence] },
  export: {},
  checkpoint: {},
  getStatus: {},
  restore: { reason: sentence, compared: position },
  thaw: {},
};

/** The table: RPC, by its path → how long what it is asked with may be. */
export const requestLimits: ReadonlyMap<string, AnyLimit> = new Map([
  ...rowsOf(IpamService, ipam),
  ...rowsOf(SubnetsService, subnets),
  ...rowsOf(LedgerService, ledger),
]);

function rowsOf<Service extends object>(service: Service, rows: Rows<Service>): [string, AnyLimit][] {
  return Object.entries<AnyLimit>(rows as Record<string, AnyLimit>).map(([method, row]) => [
    (service as Record<string, { readonly path: string }>)[method]?.path ?? method,
    row,
  ]);
}

/** @throws IpledgerError INVALID_REQUEST that names the first field that is too long, its limit and its length. */
export function refuseOversized(path: string, request: unknown): void {
  const limit = requestLimits.get(path);
  if (limit !== undefined) compare(request, limit, '');
}

function compare(value: unknown, limit: AnyLimit, field: string): void {
  if (typeof limit === 'number') return typeof value === 'string' ? compareText(value, limit, field) : undefined;
  if (typeof value !== 'object' || value === null) return;
  if (isList(limit)) return compareList(value as readonly unknown[], limit, field);
  for (const [inner, innerLimit] of Object.entries(limit))
    compare(
      (value as Record<string, unknown>)[inner],
      innerLimit,
      field === '' ? protoName(inner) : `${field}.${protoName(inner)}`,
    );
}

const isList = (limit: AnyLimit): limit is readonly [number, AnyLimit] => Array.isArray(limit);

function compareText(text: string, most: number, field: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > most) throw tooLong(field, `${bytes} bytes`, most);
}

function compareList(items: readonly unknown[], [most, each]: readonly [number, AnyLimit], field: string): void {
  if (items.length > most) throw tooLong(field, `${items.length} entries`, most);
  for (const [index, item] of items.entries()) compare(item, each, `${field}[${index}]`);
}

/** "containerId" as the .proto writes it: "container_id". */
const protoName = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const tooLong = (field: string, found: string, most: number): IpledgerError =>
  new IpledgerError('INVALID_REQUEST', `${field} has ${found}, and ${most} is the limit: shorten it`);
