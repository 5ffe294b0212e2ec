/**
 * Limits of texts and lists in requests: a table with one row for each RPC. Its types follow the
 * .proto, so a text or list without a limit does not compile. A request is checked before other
 * work on it, in time linear in its size. Release, Unbind and Unreserve accept longer texts,
 * because earlier versions recorded ids of up to 1,024 bytes.
 */
import { IpledgerError } from '../../errors.ts';
import type { IdentityKind } from '../../tls/identity.ts';
import {
  type AllocateRequest,
  IpamService,
  LedgerService,
  SubnetsService,
  ViewsService,
} from '../../../proto/generated/ipledger.ts';

/** The most bytes of any request. Most requests have a lower limit, `maxRequestBytesOf`. */
export const maxRequestBytes = 1 << 20;
/** The most bytes of an agent's request. */
const maxAgentRequestBytes = 4_096;
/** The most bytes of all requests together on a stream of health or reflection. */
const maxOtherRequestBytes = 65_536;

/** The limit of a text is bytes; of a list, its length and entries; of a message, its fields. */
type Limit<Value> = Value extends readonly (infer Item)[]
  ? readonly [max: number, each: Limit<Item>]
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

/** A limit of any message type. */
export type FieldLimit = number | readonly [max: number, each: FieldLimit] | { readonly [field: string]: FieldLimit };

// Limits of Kubernetes: a namespace is a DNS label, other names are DNS subdomains. Limit of Linux:
// an interface name.
const [namespace, objectName, networkInterface] = [63, 253, 15];
const name = objectName;
/** "<NetworkAttachmentDefinition>.<namespace>.ovn.<interface>". */
const provider = objectName + 1 + namespace + '.ovn.'.length + networkInterface;
/** A uid, a container id (64 characters), or a boot id (36). */
const id = 128;
/** An address or a CIDR. */
const address = 64;
/** "first..last", or two CIDRs. */
const range = 2 * address;
/** A short word: "ipv4", a protocol, an event type, a kind. */
const word = 64;
const instant = 64;
/** A sentence that an operator writes. */
const sentence = 1_024;
/** The limit of ids and names in earlier versions of ipledger. */
const earlier = 1_024;
/** The longest page token is "container/interface" of earlier versions. */
const token = 4_096;
/** The page token of an address history has a position for each subnet with the address. */
const manyPlaces = 65_536;

const owner = { kind: word, name, uid: id };
const source = { uid: id };
const position = { hash: id, ledger: id };
const pointInTime = { at: instant };
const sandbox = { namespace, pod: name, provider, containerId: id, interface: networkInterface };
const earlierSandbox = {
  namespace: earlier,
  pod: earlier,
  provider: earlier,
  containerId: earlier,
  interface: earlier,
};

const allocate: FieldLimits<AllocateRequest> = {
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
};

const ipam: Rows<typeof IpamService> = {
  allocate,
  release: { namespace: earlier, pod: earlier, podUid: earlier, evidence: sentence },
  wait: { ...sandbox, podUid: id },
  attach: { ...sandbox, podUid: id, node: name, bootId: id },
  bind: { ...sandbox, podUid: id, node: name, bootId: id },
  unbind: { ...earlierSandbox, evidence: sentence },
  reportConflict: { ...sandbox, podUid: id, node: name, address, seenMac: word },
  listBindings: { node: name, pageToken: token },
  getAddress: { subnet: name, address },
  listAllocations: { subnet: name, namespace, pod: name, node: name, pageToken: token },
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
  unquarantine: { subnet: name, address, reason: sentence },
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
  nextAllocations: { address, subnet: name, after: instant },
  stateAt: { pointInTime, subnet: name },
  diff: { from: pointInTime, to: pointInTime, subnet: name },
  why: { namespace, pod: name, pageToken: token },
  // Concatenated signed checkpoints, limited only by the size of a request.
  verify: { checkpoints: maxRequestBytes, verifierKeys: [50, sentence] },
  export: {},
  checkpoint: {},
  getStatus: {},
  restore: { reason: sentence, comparedPosition: position },
  unfreeze: {},
};

const views: Rows<typeof ViewsService> = {
  mapAddresses: { subnet: name, pointInTime, address },
  listUsage: { subnet: name },
  search: { text: name },
};

/** The rows by the path of the RPC. */
export const requestLimits: ReadonlyMap<string, FieldLimit> = new Map([
  ...rowsOf(IpamService, ipam),
  ...rowsOf(SubnetsService, subnets),
  ...rowsOf(LedgerService, ledger),
  ...rowsOf(ViewsService, views),
]);

function rowsOf<Service extends object>(service: Service, rows: Rows<Service>): [string, FieldLimit][] {
  return Object.entries<FieldLimit>(rows as Record<string, FieldLimit>).map(([method, row]) => [
    (service as Record<string, { readonly path: string }>)[method]?.path ?? method,
    row,
  ]);
}

/** The most bytes of requests, by path: all fields at their limits, and room for later fields. */
const requestBytes: ReadonlyMap<string, number> = new Map(
  [...requestLimits].map(([path, limit]) => [path, Math.min(maxRequestBytes, 1_024 + encodedBytes(limit))]),
);

/** The bytes of a field at its limit, with tag and length; for a message, of its fields. */
function encodedBytes(limit: FieldLimit): number {
  if (typeof limit === 'number') return limit + 6;
  if (isList(limit)) return limit[0] * encodedBytes(limit[1]);
  return Object.values(limit).reduce<number>((sum, field) => sum + encodedBytes(field), 64);
}

/** The most bytes of a request before it is decoded. @param kind the caller's, if known */
export function maxRequestBytesOf(path: string, kind: IdentityKind | undefined): number {
  const max = requestBytes.get(path) ?? maxOtherRequestBytes;
  return kind === 'agent' ? Math.min(max, maxAgentRequestBytes) : max;
}

/** A text or list that exceeds its limit. */
interface Oversize {
  /** The path from the checked value to the text or list: ".pod.name", "[3].provider". */
  readonly path: string;
  readonly size: string;
  readonly max: number;
}

/** Finds what exceeds its limit in a value. Builds the path only if something does. */
type FindOversize = (value: unknown) => Oversize | undefined;

const finders: ReadonlyMap<string, FindOversize> = new Map(
  [...requestLimits].map(([path, limit]) => [path, oversizeFinder(limit)]),
);

/** @throws IpledgerError INVALID_REQUEST with the first field over its limit */
export function refuseOversized(path: string, request: unknown): void {
  const found = finders.get(path)?.(request);
  if (!found) return;
  const field = found.path.replace(/^\./, '');
  throw new IpledgerError('INVALID_REQUEST', `${field} has ${found.size}, and ${found.max} is the limit: shorten it`);
}

function oversizeFinder(limit: FieldLimit): FindOversize {
  if (typeof limit === 'number') return textOversize(limit);
  return isList(limit) ? listOversize(limit) : messageOversize(limit);
}

function isList(limit: FieldLimit): limit is readonly [number, FieldLimit] {
  return Array.isArray(limit);
}

function textOversize(max: number): FindOversize {
  return (value) => {
    // A character of JavaScript takes at most 3 bytes.
    if (typeof value !== 'string' || 3 * value.length <= max) return undefined;
    const bytes = Buffer.byteLength(value);
    return bytes > max ? { path: '', size: `${bytes} bytes`, max } : undefined;
  };
}

function listOversize([max, each]: readonly [number, FieldLimit]): FindOversize {
  const find = oversizeFinder(each);
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    if (value.length > max) return { path: '', size: `${value.length} entries`, max };
    for (let index = 0; index < value.length; index++) {
      const found = find(value[index]);
      if (found) return { ...found, path: `[${index}]${found.path}` };
    }
    return undefined;
  };
}

function messageOversize(limits: { readonly [field: string]: FieldLimit }): FindOversize {
  const fields = Object.entries(limits).map(([field, limit]) => [field, oversizeFinder(limit)] as const);
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [field, find] of fields) {
      const found = find((value as Record<string, unknown>)[field]);
      if (found) return { ...found, path: `.${protoName(field)}${found.path}` };
    }
    return undefined;
  };
}

/** The name of a field in the .proto: "container_id" for "containerId". */
function protoName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
