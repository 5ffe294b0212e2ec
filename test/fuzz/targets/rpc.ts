/** The inputs of the RPCs: requests, which an allocator's handlers answer, and replies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Logger } from '../../../lib/process/log.ts';
import { type AnyHandler, type AnyMethod, answerRequest } from '../../../lib/grpc/server/answer-request.ts';
import type { CallContext } from '../../../lib/grpc/server/call-context.ts';
import { statusOf } from '../../../lib/grpc/server/call-status.ts';
import { refuseOversized } from '../../../lib/grpc/server/request-limits.ts';
import { generateKey, parseSignerKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { eventVersions } from '../../../ledger/domain/events/schema-version.ts';
import { LedgerClock } from '../../../ledger/log/chain/ledger-clock.ts';
import type { PendingRequest, ProvenAnswer } from '../../../ledger/log/pending-request.ts';
import { replay } from '../../../ledger/log/reader/replay.ts';
import { Replica } from '../../../ledger/log/reader/replica.ts';
import { MemoryLedger } from '../../../ledger/log/testing/memory-ledger.ts';
import type { FreezeStore } from '../../../ledger/log/store/ledger.ts';
import type { FreezeReason } from '../../../ledger/log/store/stored-values.ts';
import { BatchBuilder } from '../../../ledger/log/writer/batch.ts';
import { decideRequest } from '../../../ledger/log/writer/decide-request.ts';
import type { Writer } from '../../../ledger/log/writer/writer.ts';
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { decode, encode } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import tables from '../../../proto/generated/ipledger.json' with { type: 'json' };
import type { AllocatorContext } from '../../../services/allocator/grpc/allocator-context.ts';
import { ipamHandlers } from '../../../services/allocator/grpc/ipam/ipam-service.ts';
import { PodWaiters } from '../../../services/allocator/grpc/ipam/pod-waiters.ts';
import { ledgerHandlers } from '../../../services/allocator/grpc/ledger/ledger-service.ts';
import { PositionWaits } from '../../../services/allocator/grpc/position-waits.ts';
import { subnetsHandlers } from '../../../services/allocator/grpc/subnets/subnets-service.ts';
import { runInThisThread } from '../../../services/allocator/threads/testing/run-in-this-thread.ts';
import { createSource, type SeededRandom } from '../../faults/seeded-random.ts';
import { assertClear, FuzzFailure, type FuzzTarget } from '../fuzz-target.ts';

/** Usual values of the fields of requests, by field. Other fields have any of them. */
const usualTexts: Readonly<Record<string, readonly string[]>> = {
  namespace: ['default', 'team-a'],
  pod: ['web-1', 'web', 'dual'],
  name: ['web-1', 'web', 'macvlan', 'dual', 'blue'],
  podUid: ['uid-web-1', 'uid-dual'],
  uid: ['uid-web-1', 'uid-dual'],
  provider: ['macvlan.default', 'dual.default', 'attachnet.default.ovn', 'ovn'],
  subnet: ['macvlan', 'dual', ''],
  subnets: ['macvlan', 'dual'],
  address: ['172.17.0.11', '172.17.0.20', '10.16.0.2', 'fd00:10:16::2', ''],
  addresses: ['172.17.0.30', '10.16.0.9', 'fd00:10:16::9'],
  pool: ['', 'blue'],
  mac: ['', '02:00:00:00:00:01'],
  seenMac: ['02:00:00:00:00:09'],
  node: ['node-1', 'node-a', ''],
  containerId: ['c1'],
  interface: ['net1', ''],
  bootId: ['boot-1'],
  ipFamily: ['', 'ipv4', 'ipv6'],
  reservation: ['', 'team-a'],
  reservedFor: ['team-a'],
  reason: ['maintenance'],
  cidrBlock: ['10.20.0.0/16', '10.20.0.0/16,fd00:20::/112', '172.17.0.0/16'],
  gateway: ['10.20.0.1', '10.20.0.1,fd00:20::1', ''],
  excludeIps: ['10.20.0.1..10.20.0.9', 'fd00:20::5'],
  ips: ['172.17.0.200..172.17.0.210', '172.17.0.220'],
  protocol: ['', 'IPv4', 'Dual'],
  dst: ['10.0.0.0/8', '0.0.0.0/0'],
  gw: ['172.17.0.1'],
  at: ['2026-01-31T08:00:10Z', ''],
  since: ['2026-01-31T08:00:10Z', ''],
  until: ['2026-01-31T09:00:10Z', ''],
  after: ['2026-01-31T08:00:10Z', ''],
  pageToken: ['', '', '7', 'macvlan/172.17.0.11', '7/c1/net1/node-1'],
  types: ['AddressAllocated', 'AddressReleased'],
};
const usualNumbers = [0, 1, 5, 7, 40, 56, 57, 1_000, Number.MAX_SAFE_INTEGER];

type Row = readonly (string | number)[];
const { enums, messages } = tables as unknown as {
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly messages: Readonly<Record<string, readonly Row[]>>;
};

/** Makes a message whose fields mostly have usual values. */
function anyMessage(name: string, random: SeededRandom, depth = 0): Record<string, unknown> {
  const fields = (messages[name] ?? []).filter(() => random.nextBoolean(depth > 4 ? 0.2 : 0.75));
  const message: Record<string, unknown> = {};
  for (const [field, , type, label] of fields) {
    const value = (): unknown => anyValue(String(field), String(type), random, depth);
    message[String(field)] = label === 'repeated' ? Array.from({ length: 1 + random.nextInt(2) }, value) : value();
  }
  return message;
}

function anyValue(field: string, type: string, random: SeededRandom, depth: number): unknown {
  if (type === 'string') return random.pick(usualTexts[field] ?? ['', 'a', ...Object.values(usualTexts).flat()]);
  if (type === 'bool') return random.nextBoolean(0.5);
  if (type === 'uint32') return random.pick([0, 1, 24]);
  if (type === 'uint64') return random.pick(usualNumbers);
  const names = enums[type];
  return names ? random.pick(names) : anyMessage(type, random, depth + 1);
}

const seedsPerMessage = 4;
const anyMessages = (name: string): Record<string, unknown>[] => {
  const random = createSource(7);
  return Array.from({ length: seedsPerMessage }, () => anyMessage(name, random));
};

const sandbox = {
  namespace: 'default',
  pod: 'dual',
  podUid: 'uid-dual',
  provider: 'macvlan.default',
  containerId: 'c1',
  interface: 'net1',
};
const spec = { cidrBlock: '10.20.0.0/16', gateway: '10.20.0.1', excludeIps: ['10.20.0.1..10.20.0.9'] };
/** Requests that the allocator grants or answers, by method. */
const grantedRequests: Readonly<Record<string, object>> = {
  'Ipam.allocate': {
    pod: { namespace: 'default', name: 'new', uid: 'uid-new', owner: { kind: 'ReplicaSet', name: 'a', uid: 'o' } },
    attachments: [
      { provider: 'macvlan.default', subnets: ['macvlan'], routes: [{ dst: '10.0.0.0/8', gw: '172.17.0.1' }] },
      { provider: 'dual.default', subnets: ['dual'], candidates: [{ addresses: ['10.16.0.20', 'fd00:10:16::20'] }] },
    ],
  },
  'Ipam.release': { namespace: 'default', pod: 'dual', podUid: 'uid-dual', cause: 'RELEASE_CAUSE_POD_DELETED' },
  'Ipam.wait': { ...sandbox, timeoutMs: 1 },
  'Ipam.attach': { ...sandbox, node: 'node-1', bootId: 'boot-1', timeoutMs: 1 },
  'Ipam.bind': { ...sandbox, node: 'node-1', bootId: 'boot-1' },
  'Ipam.unbind': sandbox,
  'Ipam.reportConflict': {
    namespace: 'default',
    pod: 'db-0',
    podUid: 'uid-db-0-again',
    provider: 'macvlan.default',
    containerId: 'container-of-db-0',
    interface: 'net1',
    node: 'node-1',
    address: '172.17.0.100',
    seenMac: '52:54:00:12:34:56',
  },
  'Ipam.listBindings': { node: 'node-1', pageSize: 5 },
  'Ipam.getAddress': { subnet: 'macvlan', address: '172.17.0.11' },
  'Ipam.listAllocations': { subnet: 'macvlan', pageSize: 2 },
  'Ipam.reserve': { subnet: 'macvlan', addresses: ['172.17.0.40'], reservedFor: 'team-b', reason: 'a printer' },
  'Ipam.unreserve': { subnet: 'macvlan', addresses: ['172.17.0.40'], reservedFor: 'team-b', reason: 'gone' },
  'Ipam.listReservations': { subnet: 'macvlan' },
  'Ipam.quarantine': { subnet: 'macvlan', address: '172.17.0.41', seenMac: '02:00:00:00:00:09', reason: 'answers' },
  'Ipam.unquarantine': { subnet: 'macvlan', address: '172.17.0.41', reason: 'gone' },
  'Subnets.applySubnet': { name: 'new', spec: { ...spec, provider: 'new.default', cooldownMs: 1_000 } },
  'Subnets.deleteSubnet': { name: 'gone' },
  'Subnets.getSubnet': { name: 'macvlan' },
  'Subnets.listSubnets': {},
  'Subnets.applyPool': { name: 'new', spec: { subnet: 'macvlan', ips: ['172.17.1.1..172.17.1.9'], namespaces: ['a'] } },
  'Subnets.deletePool': { name: 'blue' },
  'Subnets.getPool': { name: 'blue' },
  'Subnets.listPools': {},
  'Ledger.watch': { fromSeq: 1, types: ['AddressAllocated'], after: { epoch: 2, seq: 56, hash: 'ab' } },
  'Ledger.history': { address: '172.17.0.11', subnet: 'macvlan', since: '2026-01-31T08:00:00Z', pageSize: 3 },
  'Ledger.nextAllocations': { address: '172.17.0.11', subnet: 'macvlan', after: '2026-01-31T08:00:00Z' },
  'Ledger.stateAt': { pointInTime: { at: '2026-01-31T08:00:10Z' }, subnet: 'macvlan' },
  'Ledger.diff': { from: { seq: 5 }, to: { seq: 20 } },
  'Ledger.why': { namespace: 'default', pod: 'dual' },
  'Ledger.verify': {},
  'Ledger.export': {},
  'Ledger.checkpoint': {},
  'Ledger.getStatus': {},
  'Ledger.restore': { comparedPosition: { epoch: 2, seq: 56 }, reason: 'a backup' },
  'Ledger.unfreeze': {},
};

const failures: unknown[] = [];
const fail = (details: { readonly err?: unknown }): void => {
  if (details.err !== undefined) failures.push(details.err);
};
const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: fail } as unknown as Logger;

/** Creates a writer that undoes each decision after its answer, so that inputs meet one state. */
function forgetfulWriter(replica: Replica): Writer {
  let ids = 0;
  const newId = (): string => `01KG9AG8M0${String(ids++).padStart(16, '0')}`;
  const decider = { replica, newId, eventVersion: () => 9 as const, log };
  const submit = <Answer>(request: PendingRequest<Answer>): Promise<ProvenAnswer<Answer>> =>
    new Promise((resolve, reject) => {
      const builder = new BatchBuilder(replica);
      try {
        const queued = { request, resolve, reject } as never;
        const decided = decideRequest(builder, queued, decider);
        if (decided === 'full') throw new FuzzFailure('one command fills a batch');
        if (decided.writes) builder.build(undefined);
        decided.settle();
      } catch (error) {
        reject(IpledgerError.from(error));
      } finally {
        builder.rollBack();
      }
    });
  return { submit } as unknown as Writer;
}

/**
 * The position that the ledger lacks. Each input begins without it; Restore and Unfreeze with it.
 */
let frozen: FreezeReason | undefined;
const lost: FreezeReason = { epoch: 2, seq: 60, hash: 'ab', by: 'ipledger://watcher', at: '2026-01-31T11:00:00.000Z' };
const forgetfulFreeze: FreezeStore = {
  readFreeze: () => Promise.resolve(frozen),
  freeze: (reason) => {
    frozen ??= reason;
    return Promise.resolve();
  },
  unfreeze: () => {
    frozen = undefined;
    return Promise.resolve();
  },
};

interface Answering {
  readonly handlers: Readonly<Record<string, AnyHandler>>;
}

async function openAllocator(): Promise<Answering> {
  const ledger = new MemoryLedger();
  const golden = readFileSync(
    join(import.meta.dirname, '..', '..', 'golden', `events-v${eventVersions.at(-1)}.ndjson`),
    'utf8',
  );
  const lines = async function* (): AsyncGenerator<string> {
    await Promise.resolve();
    yield* golden.trimEnd().split('\n');
  };
  const { signal } = new AbortController();
  await replay(ledger, lines(), { signal });
  const clock = new LedgerClock({ wall: () => Date.parse('2026-01-31T12:00:00Z'), monotonic: () => 0 });
  const replica = await Replica.load(ledger, signal, clock);
  const writer = forgetfulWriter(replica);
  const allocator: AllocatorContext = {
    replica,
    writer: () => writer,
    follower: () => undefined,
    writerAddress: () => undefined,
    positionWaits: new PositionWaits(replica),
    threads: runInThisThread({ ledger, archived: undefined }),
    freezeStore: forgetfulFreeze,
    findWriteObstacle: () => Promise.resolve(undefined),
    signer: () => signer,
  };
  const handlers = {
    ...prefixed('Ipam', ipamHandlers(allocator, new PodWaiters(replica))),
    ...prefixed('Subnets', subnetsHandlers(allocator)),
    ...prefixed('Ledger', ledgerHandlers(allocator)),
  };
  return { handlers };
}

const prefixed = (service: string, handlers: object): Record<string, AnyHandler> =>
  Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [`${service}.${name}`, handler as AnyHandler]));

const signer = parseSignerKey(generateKey('allocator.example').signer);

/** Requests that the state refuses: a replay of a lost ledger, and another ledger's position. */
const refusing = new Set(['Ledger.unfreeze', 'Ledger.watch']);

let opened: Promise<Answering> | undefined;

/** Calls that wait for events, and end when the caller does. */
const waiting = new Set(['Ipam.wait', 'Ipam.attach', 'Ledger.watch']);
const [waitingTurns, maxTurns] = [20, 100];
/** The turns before timers run, for which the ledger in memory waits at times. */
const timerTurns = 50;
const maxReplies = 8;

async function answer(name: string, method: AnyMethod, input: Buffer): Promise<unknown> {
  const { handlers } = await (opened ??= openAllocator());
  const handler = handlers[name];
  const request = method.requestDeserialize(input) as object;
  frozen = name === 'Ledger.restore' || name === 'Ledger.unfreeze' ? lost : undefined;
  const caller = new AbortController();
  const context: CallContext = { actor: 'ipledger://operator/fuzz', signal: caller.signal };
  const ended = new AbortController();
  const answered = (
    method.kind === 'unary'
      ? answerUnary(method, handler, { request, input, context })
      : answerStream(method, handler, request, context)
  ).finally(() => ended.abort());
  answered.catch(ignore); // the await below throws it
  const turns = waiting.has(name) ? waitingTurns : maxTurns;
  for (let turn = 0; turn < turns && !ended.signal.aborted; turn++) await nextTurn(turn);
  caller.abort(new IpledgerError('CANCELLED', 'the caller has disconnected'));
  const reply = await answered;
  const [error] = failures.splice(0);
  if (error !== undefined)
    throw new FuzzFailure(`the allocator logged an error: ${errorMessage(error)}`, { cause: error });
  return reply;
}

const nextTurn = (turn: number): Promise<unknown> => (turn < timerTurns ? setImmediate() : setTimeout(1));

interface UnaryCall {
  readonly request: object;
  readonly input: Buffer;
  readonly context: CallContext;
}

async function answerUnary(
  method: AnyMethod,
  handler: AnyHandler | undefined,
  { request, input, context }: UnaryCall,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const arrived = { context, request: () => request, bytes: () => input, holdReply: ignore, isForwarded: () => false };
  await answerRequest({ method, handler, options: { log } }, arrived, (status, reply) => {
    if (status) reject(new IpledgerError(status.metadata.get('ipledger-code')[0] as 'BUG', status.details));
    else resolve((reply as Buffer).length);
  });
  return promise;
}

async function answerStream(
  method: AnyMethod,
  handler: AnyHandler | undefined,
  request: object,
  context: CallContext,
): Promise<unknown> {
  let replies = 0;
  try {
    refuseOversized(method.path, request);
    if (!handler) throw new TypeError(`no handler of ${method.path}`);
    const stream = handler(request, context)[Symbol.asyncIterator]();
    while (replies < maxReplies && (await stream.next()).done !== true) replies++;
    await stream.return?.();
    return replies;
  } catch (error) {
    const { message } = IpledgerError.from(error);
    statusOf(method.path, error, log);
    assertClear(message, error);
    throw IpledgerError.from(error);
  }
}

const methods: readonly (readonly [name: string, method: AnyMethod])[] = Object.entries({
  Ipam: IpamService,
  Subnets: SubnetsService,
  Ledger: LedgerService,
}).flatMap(([service, table]) =>
  Object.entries(table).map(([name, method]) => [`${service}.${name}`, method as unknown as AnyMethod] as const),
);

const methodName = ({ path }: AnyMethod): string => path.slice(path.lastIndexOf('/') + 1);
const requestOf = (method: AnyMethod): string => `${methodName(method)}Request`;

const allMessages = Object.keys(messages);

/** A mutated text that is no message, which no client can send. */
class NoMessage extends Error {}

function encodeJson(name: string, text: string): Buffer {
  try {
    const bytes = encode(name, JSON.parse(text) as object);
    if (!bytes.includes('[object Object]')) return bytes;
  } catch {
    // Rejected below
  }
  throw new NoMessage('no message');
}

export const rpcTargets: readonly FuzzTarget[] = [
  ...methods.map(([name, method]): FuzzTarget => ({
    name: `rpc/${name}`,
    format: 'json',
    maxBytes: 32 << 10,
    seeds: () => [grantedRequests[name] ?? {}, ...anyMessages(requestOf(method))].map((each) => JSON.stringify(each)),
    decode: (input) => answer(name, method, encodeJson(requestOf(method), input.toString())),
    rejections: [NoMessage],
    isRefusing: refusing.has(name),
  })),
  {
    name: 'rpc/any-message',
    format: 'bytes',
    maxBytes: 64 << 10,
    seeds: () =>
      allMessages.flatMap((name, index) =>
        anyMessages(name).map((message) => Buffer.concat([Buffer.of(index), encode(name, message)])),
      ),
    decode: (input) => decode(allMessages[(input[0] ?? 0) % allMessages.length] ?? '', input.subarray(1)),
    rejections: [RangeError, Error],
    valuesPerByte: 30,
  },
];
