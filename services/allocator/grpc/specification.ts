/** What the specs of the API are written with: a served allocator on a ledger in memory, and a real client. */
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { call, connect, type Connection } from '../../../lib/rpc.ts';
import type { Input, Method } from '../../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../../proto/ipledger.ts';
import type * as api from '../../../proto/ipledger.ts';
import { generateKey, parseSignerKey } from '../checkpoint/key.ts';
import { LedgerClock } from '../ledger/clock.ts';
import { Follower } from '../ledger/follower.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import { Replica } from '../ledger/replica.ts';
import { carryOut, createLedger, failureOf, never, silent, startWriter } from '../ledger/specification.ts';
import { UnreliableLedger } from '../ledger/unreliable.ts';
import type { Writer } from '../ledger/writer.ts';
import type { Allocator } from './allocator.ts';
import { Forwarder } from './forward.ts';
import { addServices } from './services.ts';

/** What served allocators sign checkpoints with. */
export const signer = parseSignerKey(generateKey('allocator.example').signer);

export interface Served extends AsyncDisposable {
  readonly memory: MemoryLedger;
  readonly ledger: UnreliableLedger;
  readonly replica: Replica;
  readonly allocator: Allocator;
  readonly client: Connection;
  /** "host:port" */
  readonly endpoint: string;
  /** Lets time pass. */
  pass(ms: number): void;
  /** Sets the machine's clock ahead. */
  jump(ms: number): void;
  /** Somebody else is the writer from now on, at this address; undefined: nobody is. This one stands by. */
  stepDown(writerAddress: string | undefined): Promise<void>;
  call<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply>;
  /** What a call that must fail was answered: status, code of the vocabulary, sentence. */
  refusal<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: Input<Request>,
  ): Promise<{ status: string; code: string; message: string }>;
}

/** Serves an allocator, on an empty ledger unless it gets one. */
export async function serveAllocator(memory = new MemoryLedger()): Promise<Served> {
  const ledger = new UnreliableLedger(memory);
  let passed = 0;
  let jumped = 0;
  const clock = new LedgerClock({
    wall: () => Date.now() + passed + jumped,
    monotonic: () => performance.now() + passed,
  });
  const replica = await Replica.load(ledger, never, clock);
  const working = await startWriter(ledger, { replica });
  await carryOut(working.writer, createLedger());

  const office: { writer: Writer | undefined; follower: Follower | undefined } = {
    writer: working.writer,
    follower: undefined,
  };
  const ended = new AbortController();
  const forwarder = new Forwarder({ connect: (address) => connect(address, undefined), patienceMs: 500, graceMs: 500 });
  const server = new Server();
  const allocator: Allocator = {
    replica,
    writer: () => office.writer,
    follower: () => office.follower,
    writerAddress: () => forwarder.writerAddress,
    brake: memory,
    signer: () => signer,
  };
  addServices(server, allocator, { log: silent, forward: (passage, here) => forwarder.answer(passage, here) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const endpoint = `127.0.0.1:${port}`;
  const client = connect(endpoint, undefined);
  const ask: Served['call'] = (method, request) => call(client, method, request, { timeoutMs: 20_000 });
  return {
    memory,
    ledger,
    replica,
    allocator,
    client,
    endpoint,
    pass: (ms) => {
      passed += ms;
    },
    jump: (ms) => {
      jumped += ms;
    },
    async stepDown(elsewhere) {
      office.writer = undefined;
      await working.stop();
      forwarder.turnTo(elsewhere);
      if (office.follower) return;
      office.follower = new Follower(replica, silent);
      void office.follower.run(ended.signal);
    },
    call: ask,
    async refusal(method, request) {
      const { code, message, cause } = await failureOf(ask(method, request));
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

/** Asks for all events from a position on. */
export const watchFrom = (fromSeq: number): api.WatchRequest => ({
  fromSeq,
  subnet: '',
  namespace: '',
  pod: '',
  node: '',
  address: '',
  types: [],
});

/** Configures a subnet of provider "<name>.default". */
export const applySubnet = (served: Served, name: string, spec: Input<api.SubnetSpec>): Promise<api.ApplySubnetReply> =>
  served.call(SubnetsService.applySubnet, { name, spec: { provider: `${name}.default`, ...spec } });

/** The documents' subnet. */
export const applyMacvlan = (served: Served): Promise<api.ApplySubnetReply> =>
  applySubnet(served, 'macvlan', {
    cidrBlock: '172.17.0.0/16',
    gateway: '172.17.0.1',
    excludeIps: ['172.17.0.0..172.17.0.10'],
  });

/** Pod `name` (namespace default, uid "uid-<name>") asks for one attachment of macvlan.default. */
export const podAsks = (
  name: string,
  attachment: Input<api.AttachmentRequest> = {},
  pod: Input<api.Pod> = {},
): Input<api.AllocateRequest> => ({
  pod: { namespace: 'default', name, uid: `uid-${name}`, ...pod },
  attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'], ...attachment }],
});

/** Gives the Pod one attachment. */
export async function allocate(served: Served, ...asks: Parameters<typeof podAsks>): Promise<api.Allocation> {
  const { allocations } = await served.call(IpamService.allocate, podAsks(...asks));
  const [allocation] = allocations;
  if (!allocation || allocations.length > 1) throw new Error(JSON.stringify(allocations));
  return allocation;
}

/** Pod `name` is deleted. */
export const release = (served: Served, name: string): Promise<api.ReleaseReply> =>
  served.call(IpamService.release, {
    namespace: 'default',
    pod: name,
    podUid: `uid-${name}`,
    cause: 'RELEASE_CAUSE_POD_DELETED',
  });

/** CNI sets up net1 of Pod `name` in a container "container-of-<name>". */
export const sandboxOf = (name: string) => ({
  namespace: 'default',
  pod: name,
  podUid: `uid-${name}`,
  provider: 'macvlan.default',
  containerId: `container-of-${name}`,
  interface: 'net1',
});

/** CNI ADD of it. */
export const bind = (served: Served, name: string): Promise<api.BindReply> =>
  served.call(IpamService.bind, { ...sandboxOf(name), node: 'node-1', bootId: 'boot-1' });

/** CNI DEL of it. */
export const unbind = (served: Served, name: string): Promise<api.UnbindReply> =>
  served.call(IpamService.unbind, sandboxOf(name));
