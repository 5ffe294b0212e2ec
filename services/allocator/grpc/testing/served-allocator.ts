/** Test support for the API: an allocator on a ledger in memory, with a real client. */
import { Server, status } from '@grpc/grpc-js';
import { call, connect, type Connection } from '../../../../lib/grpc/client.ts';
import { listenOnLoopback } from '../../../../lib/grpc/testing/grpc-test-server.ts';
import type { MessageInput, Method } from '../../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { generateKey, parseSignerKey } from '../../../../ledger/audit/checkpoints/signing-key.ts';
import { LedgerClock } from '../../../../ledger/log/chain/ledger-clock.ts';
import { Follower } from '../../../../ledger/log/reader/follower.ts';
import { MemoryLedger } from '../../../../ledger/log/testing/memory-ledger.ts';
import { Replica } from '../../../../ledger/log/reader/replica.ts';
import {
  submitAll,
  createLedger,
  failureOf,
  never,
  silentLog,
  startWriter,
} from '../../../../ledger/log/testing/running-writer.ts';
import { UnreliableLedger } from '../../../../ledger/log/testing/unreliable-ledger.ts';
import type { Writer } from '../../../../ledger/log/writer/writer.ts';
import { WriteObstacles } from '../../health/write-obstacles.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { PositionWaits } from '../position-waits.ts';
import { Forwarder } from '../forwarding/forwarder.ts';
import { runInThisThread } from '../../threads/testing/run-in-this-thread.ts';
import { addServices } from '../../api-server.ts';

/** The key that signs checkpoints. */
export const signer = parseSignerKey(generateKey('allocator.example').signer);

export interface ServedAllocator extends AsyncDisposable {
  readonly memory: MemoryLedger;
  readonly ledger: UnreliableLedger;
  readonly replica: Replica;
  readonly allocator: AllocatorContext;
  readonly client: Connection;
  /** "host:port" */
  readonly endpoint: string;
  /** Advances all clocks. */
  advanceTime(ms: number): void;
  /** Moves only the machine's clock. */
  jumpClock(ms: number): void;
  /**
   * Makes this replica a standby. Another replica at `writerAddress` is the writer; undefined for
   * no writer.
   */
  stepDown(writerAddress: string | undefined): Promise<void>;
  call<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: MessageInput<Request>): Promise<Reply>;
  /** Returns the error of a call, which must fail. */
  refusal<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
  ): Promise<{ status: string; code: string; message: string }>;
}

/** Starts an allocator, by default on an empty ledger. */
export async function serveAllocator(memory = new MemoryLedger()): Promise<ServedAllocator> {
  const ledger = new UnreliableLedger(memory);
  let advancedMs = 0;
  let jumpedMs = 0;
  const clock = new LedgerClock({
    wall: () => Date.now() + advancedMs + jumpedMs,
    monotonic: () => performance.now() + advancedMs,
  });
  const replica = await Replica.load(ledger, never, clock);
  const working = await startWriter(ledger, { replica });
  await submitAll(working.writer, createLedger());

  const roles: { writer: Writer | undefined; follower: Follower | undefined } = {
    writer: working.writer,
    follower: undefined,
  };
  const ended = new AbortController();
  const forwarder = new Forwarder({
    connect: (address) => connect(address, undefined),
    writerWaitMs: 500,
    formerWriterGraceMs: 500,
  });
  const server = new Server();
  const obstacles = new WriteObstacles({
    readAlarms: () => Promise.resolve([]),
    freezeStore: memory,
    lastWriter: {
      get agoMs() {
        return roles.writer || forwarder.writerAddress !== undefined ? 0 : 60_000;
      },
    },
    maxAgeMs: 0,
  });
  const allocator: AllocatorContext = {
    replica,
    writer: () => roles.writer,
    follower: () => roles.follower,
    writerAddress: () => forwarder.writerAddress,
    positionWaits: new PositionWaits(replica),
    threads: runInThisThread({ ledger, archived: undefined }),
    freezeStore: memory,
    findWriteObstacle: () => obstacles.find(),
    signer: () => signer,
  };
  addServices(server, allocator, {
    log: silentLog,
    forward: (forwardable, answerHere) => forwarder.forward(forwardable, answerHere),
  });
  const endpoint = await listenOnLoopback(server);
  const client = connect(endpoint, undefined);
  const callServed: ServedAllocator['call'] = (method, request) => call(client, method, request, { timeoutMs: 20_000 });
  return {
    memory,
    ledger,
    replica,
    allocator,
    client,
    endpoint,
    advanceTime: (ms) => {
      advancedMs += ms;
    },
    jumpClock: (ms) => {
      jumpedMs += ms;
    },
    async stepDown(writerAddress) {
      roles.writer = undefined;
      await working.stop();
      forwarder.setRemoteWriter(writerAddress);
      if (roles.follower) return;
      roles.follower = new Follower(replica, silentLog);
      void roles.follower.run(ended.signal);
    },
    call: callServed,
    async refusal(method, request) {
      const { code, message, cause } = await failureOf(callServed(method, request));
      return { status: status[(cause as { code: number }).code] ?? '', code, message };
    },
    async [Symbol.asyncDispose]() {
      client.close();
      forwarder.close();
      server.forceShutdown();
      ended.abort();
      await working.stop();
    },
  };
}

/** A Watch request for all events from a position on. */
export const watchRequest = (fromSeq: number): api.WatchRequest => ({
  fromSeq,
  subnet: '',
  namespace: '',
  pod: '',
  node: '',
  address: '',
  types: [],
});

/** Decodes a reply of the Watch handler, which encodes replies with events. */
export const watchReply = (reply: MessageInput<api.WatchReply> | Buffer): MessageInput<api.WatchReply> =>
  Buffer.isBuffer(reply) ? LedgerService.watch.responseDeserialize(reply) : reply;

/** Configures a subnet of provider "<name>.default". */
export const applySubnet = (
  served: ServedAllocator,
  name: string,
  spec: MessageInput<api.SubnetSpec>,
): Promise<api.ApplySubnetReply> =>
  served.call(SubnetsService.applySubnet, { name, spec: { provider: `${name}.default`, ...spec } });

/** The Subnet of the documentation. */
export const applyMacvlan = (
  served: ServedAllocator,
  spec: MessageInput<api.SubnetSpec> = {},
): Promise<api.ApplySubnetReply> =>
  applySubnet(served, 'macvlan', {
    cidrBlock: '172.17.0.0/16',
    gateway: '172.17.0.1',
    excludeIps: ['172.17.0.0..172.17.0.10'],
    ...spec,
  });

/**
 * An Allocate request of Pod `name` (namespace default, uid "uid-<name>") for one attachment of
 * macvlan.default.
 */
export const allocateRequest = (
  name: string,
  attachment: MessageInput<api.AttachmentRequest> = {},
  pod: MessageInput<api.Pod> = {},
): MessageInput<api.AllocateRequest> => ({
  pod: { namespace: 'default', name, uid: `uid-${name}`, ...pod },
  attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'], ...attachment }],
});

/** Allocates one attachment. */
export async function allocate(
  served: ServedAllocator,
  ...request: Parameters<typeof allocateRequest>
): Promise<api.Allocation> {
  const { allocations } = await served.call(IpamService.allocate, allocateRequest(...request));
  const [allocation] = allocations;
  if (!allocation || allocations.length > 1) throw new Error(JSON.stringify(allocations));
  return allocation;
}

/** Releases the addresses of Pod `name`. */
export const release = (
  served: ServedAllocator,
  name: string,
  cause: api.ReleaseCause = 'RELEASE_CAUSE_POD_DELETED',
): Promise<api.ReleaseReply> =>
  served.call(IpamService.release, { namespace: 'default', pod: name, podUid: `uid-${name}`, cause });

/** The sandbox of interface net1 of Pod `name` in container "container-of-<name>". */
export const sandboxOf = (name: string) => ({
  namespace: 'default',
  pod: name,
  podUid: `uid-${name}`,
  provider: 'macvlan.default',
  containerId: `container-of-${name}`,
  interface: 'net1',
});

/** Binds the sandbox of `sandboxOf(name)`. */
export const bind = (served: ServedAllocator, name: string): Promise<api.BindReply> =>
  served.call(IpamService.bind, { ...sandboxOf(name), node: 'node-1', bootId: 'boot-1' });

/** Unbinds the sandbox of `sandboxOf(name)`. */
export const unbind = (served: ServedAllocator, name: string): Promise<api.UnbindReply> =>
  served.call(IpamService.unbind, sandboxOf(name));
