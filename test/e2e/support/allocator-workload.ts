/**
 * Runs concurrent clients of several replicas. They allocate by calls, record each reply and
 * immediately verify it by reads.
 */
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { call, connect, type Connection } from '../../../lib/grpc/client.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import {
  type AllocateReply,
  type Allocation,
  IpamService,
  type GetAddressReply,
  type Position,
  type ReleaseReply,
  SubnetsService,
} from '../../../proto/generated/ipledger.ts';
import { addressesOf } from '../../../ledger/domain/events/registry.ts';
import { emptyHead, advanceHead, parseEvent, type StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { Etcd } from '../../harness/etcd.ts';
import type { AllocatorServer } from '../../harness/services.ts';

const maxAttempts = 300;
const subnet = 'macvlan';

/** The replies that one Pod got. */
export interface AcknowledgedPod {
  readonly allocation: Allocation;
  readonly positions: readonly Position[];
  readonly released: boolean;
}

export interface Workload {
  /**
   * Runs these Pods with this number of concurrent clients. Calls `after` with the number of
   * finished Pods after each Pod.
   */
  runPods(names: readonly string[], clients: number, after?: (done: number) => Promise<void>): Promise<void>;
  /**
   * Returns the time of the first reply to a write that was sent after `since`, on the clock of
   * performance.now().
   */
  firstWriteSince(since: number): number | undefined;
  readonly acknowledged: ReadonlyMap<string, AcknowledgedPod>;
  /** The numbers of failed calls by code. Each call was repeated. */
  readonly failures: ReadonlyMap<string, number>;
  close(): void;
}

export interface WorkloadOptions {
  readonly random: SeededRandom;
  /** The timeout of a call, which is then repeated, perhaps at another replica. */
  readonly timeoutMs: number;
}

/**
 * Connects to each endpoint, which can be several joined with commas. Each call uses a random
 * connection.
 */
export function openWorkload(
  replicas: readonly Pick<AllocatorServer, 'endpoint'>[],
  { random, timeoutMs }: WorkloadOptions,
): Workload {
  const connections = replicas.map(({ endpoint }) => connect(endpoint, undefined));
  const acknowledged = new Map<string, AcknowledgedPod>();
  const failures = new Map<string, number>();
  const writes: Write[] = [];
  const noteFailure = (code: string): void => void failures.set(code, (failures.get(code) ?? 0) + 1);
  const noteWrite = (write: Write): void => void writes.push(write);
  return {
    async runPods(names, clients, after) {
      const queue = [...names];
      let done = 0;
      const work = async (own: SeededRandom): Promise<void> => {
        for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
          const client = new Client({ connections, random: own, timeoutMs, noteFailure, noteWrite });
          acknowledged.set(name, await client.runPod(name));
          done++;
          await after?.(done);
        }
      };
      await Promise.all(Array.from({ length: clients }, () => work(random.fork())));
    },
    firstWriteSince: (since) =>
      writes.reduce<number | undefined>(
        (first, { sentAt, repliedAt }) => (sentAt >= since ? Math.min(first ?? Infinity, repliedAt) : first),
        undefined,
      ),
    acknowledged,
    failures,
    close: () => connections.forEach((each) => each.close()),
  };
}

interface Write {
  readonly sentAt: number;
  readonly repliedAt: number;
}

interface ClientOptions extends WorkloadOptions {
  readonly connections: readonly Connection[];
  readonly noteFailure: (code: string) => void;
  readonly noteWrite: (write: Write) => void;
}

class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Allocates, reads back, repeats the request, and releases some Pods. Each call uses a random
   * replica.
   */
  async runPod(name: string): Promise<AcknowledgedPod> {
    const first = await this.#allocate(name);
    const [allocation] = first.allocations as [Allocation];
    const positions = [first.position as Position];
    await this.#expectHolder(allocation, first.position, allocation.podUid);
    const again = await this.#allocate(name);
    expect(again.allocations, `${name}, repeated`).to.deep.equal([allocation]);
    positions.push(again.position as Position);
    if (this.#options.random.nextBoolean(0.6)) return { allocation, positions, released: false };
    const { position } = await this.#write<object, ReleaseReply>(IpamService.release, {
      namespace: 'default',
      pod: name,
      podUid: allocation.podUid,
      cause: 'RELEASE_CAUSE_POD_DELETED',
    });
    positions.push(position as Position);
    await this.#expectHolder(allocation, position, undefined);
    return { allocation, positions, released: true };
  }

  /**
   * Expects the acknowledged state from random replicas: by a linearizable read, and by a local
   * read at the position of the reply.
   */
  async #expectHolder({ addresses, seq }: Allocation, position: Position | undefined, uid: string | undefined) {
    const target = { subnet, address: addresses[0]?.address ?? '' };
    const minSeq = position?.seq ?? 0;
    const replies: GetAddressReply[] = [
      await this.#callAny(IpamService.getAddress, target),
      await this.#callAny(IpamService.getAddress, { ...target, minSeq, consistency: 'CONSISTENCY_LOCAL' }),
    ];
    for (const { record, position: at } of replies) {
      expect(record?.allocation?.podUid, `${target.address} at event ${at?.seq}, acknowledged at ${minSeq}`).to.equal(
        uid,
      );
      if (uid !== undefined) expect(record?.allocation?.seq).to.equal(seq);
      expect(at?.seq).to.be.at.least(minSeq);
    }
  }

  #allocate(name: string): Promise<AllocateReply> {
    return this.#write(IpamService.allocate, this.#allocateRequest(name));
  }

  #write<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: MessageInput<Request>): Promise<Reply> {
    return this.#timed(() => this.#callAny(method, request));
  }

  async #timed<Reply>(write: () => Promise<Reply>): Promise<Reply> {
    const sentAt = performance.now();
    const reply = await write();
    this.#options.noteWrite({ sentAt, repliedAt: performance.now() });
    return reply;
  }

  /** Calls random replicas until one replies. */
  #callAny<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: MessageInput<Request>): Promise<Reply> {
    const { connections, random, timeoutMs } = this.#options;
    return this.#repeat(() => call(random.pick(connections), method, request, { timeoutMs }));
  }

  /** Repeats a request after each transient failure. */
  async #repeat<Reply>(send: () => Promise<Reply>): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (error) {
        const { code, kind } = IpledgerError.from(error);
        this.#options.noteFailure(code);
        if (kind !== 'transient' || attempt === maxAttempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  #allocateRequest(name: string) {
    return {
      pod: { namespace: 'default', name, uid: `uid-${name}` },
      attachments: [{ provider: 'macvlan.default', subnets: [subnet] }],
      validMs: this.#options.timeoutMs,
    };
  }
}

/** Configures the subnet of the Pods. */
export async function configureSubnet(replica: AllocatorServer): Promise<void> {
  const connection = connect(replica.endpoint, undefined);
  const spec = { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default' };
  await call(connection, SubnetsService.applySubnet, { name: subnet, spec }, { timeoutMs: 10_000 });
  connection.close();
}

/** Reads the log from etcd. @throws unless it has no gaps and is one hash chain */
export async function readVerifiedLog(etcd: Etcd): Promise<StoredEvent[]> {
  const lines = await etcd.etcdctl(['get', '--prefix', '--print-value-only', '/ipledger/v1/log/']);
  const events = lines.trimEnd().split('\n').map(parseEvent);
  events.reduce(advanceHead, emptyHead);
  return events;
}

/**
 * Expects each acknowledged allocation in the log, at the acknowledged position, and no other
 * allocation. No address ever has two holders.
 */
export function expectAcknowledgedInLog(
  log: readonly StoredEvent[],
  acknowledged: ReadonlyMap<string, AcknowledgedPod>,
): void {
  for (const { allocation, positions } of acknowledged.values()) {
    for (const { seq, hash } of positions)
      expect(log[seq - 1]?.hash, `the acknowledged hash of event ${seq}`).to.equal(hash);
    const event = log[allocation.seq - 1]?.sequenced;
    expect(event?.type).to.equal('AddressAllocated');
    expect(event?.data).to.deep.include({ uid: allocation.podUid, addresses: allocation.addresses });
  }
  const expected = [...acknowledged.values()].flatMap(({ allocation, released }) =>
    released ? [] : [[`${subnet}/${allocation.addresses[0]?.address}`, allocation.podUid] as const],
  );
  expect(Object.fromEntries(holdersIn(log))).to.deep.equal(Object.fromEntries(expected));
}

/**
 * Returns the holders at the end of the log.
 * @throws AssertionError if an address is allocated while it has a holder
 */
function holdersIn(log: readonly StoredEvent[]): Map<string, string> {
  const holders = new Map<string, string>();
  for (const { sequenced } of log)
    for (const address of addressesOf(sequenced)) {
      const key = `${sequenced.subnet}/${address}`;
      if (sequenced.type === 'AddressAllocated') {
        expect(holders.get(key), `the holder of ${key} before event ${sequenced.seq} allocates it`).to.equal(undefined);
        holders.set(key, sequenced.data.uid);
      } else if (sequenced.type === 'AddressReleased') holders.delete(key);
    }
  return holders;
}
