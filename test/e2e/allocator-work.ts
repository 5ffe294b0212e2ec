/** Clients at work on several replicas at once, who remember what they were answered and look at once whether it is true. */
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import type { Input, Method } from '../../proto/codec.ts';
import {
  type Allocation,
  IpamService,
  type GetReply,
  type Position,
  type ReleaseReply,
  SubnetsService,
} from '../../proto/ipledger.ts';
import { addressesOf } from '../../services/allocator/domain/event.ts';
import { emptyHead, follow, parseEvent, type StoredEvent } from '../../services/allocator/ledger/chain.ts';
import type { Dice } from '../faults/dice.ts';
import type { Etcd } from '../harness/etcd.ts';
import type { Allocator } from '../harness/services.ts';

const mostTries = 300;
const subnet = 'macvlan';

/** What was acknowledged of one Pod. */
export interface Acknowledged {
  readonly allocation: Allocation;
  readonly positions: readonly Position[];
  readonly released: boolean;
}

export interface Work {
  /** Has this many Pods served by as many clients at a time; calls `after` with each that is done. */
  serve(names: readonly string[], clients: number, after?: (done: number) => Promise<void>): Promise<void>;
  /** When a write was acknowledged that had been asked for since then, on the clock of performance.now(). */
  firstAnswerSince(since: number): number | undefined;
  readonly acknowledged: ReadonlyMap<string, Acknowledged>;
  /** How many calls failed, by code: each was repeated. */
  readonly failures: ReadonlyMap<string, number>;
  close(): void;
}

export interface WorkOptions {
  readonly dice: Dice;
  /** How long each call may take before it is repeated, perhaps at another replica. */
  readonly timeoutMs: number;
}

/** Opens a connection to each replica, or to several joined with commas; which of them is asked is thrown for each call. */
export function openWork(replicas: readonly Pick<Allocator, 'endpoint'>[], { dice, timeoutMs }: WorkOptions): Work {
  const connections = replicas.map(({ endpoint }) => connect(endpoint, undefined));
  const acknowledged = new Map<string, Acknowledged>();
  const failures = new Map<string, number>();
  const writes: Write[] = [];
  const noteFailure = (code: string): void => void failures.set(code, (failures.get(code) ?? 0) + 1);
  const noteWrite = (write: Write): void => void writes.push(write);
  return {
    async serve(names, clients, after) {
      const queue = [...names];
      let done = 0;
      const work = async (own: Dice): Promise<void> => {
        for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
          const client = new Client({ connections, dice: own, timeoutMs, noteFailure, noteWrite });
          acknowledged.set(name, await client.live(name));
          done++;
          await after?.(done);
        }
      };
      await Promise.all(Array.from({ length: clients }, () => work(dice.fork())));
    },
    firstAnswerSince: (since) =>
      writes.reduce<number | undefined>(
        (first, { askedAt, answeredAt }) => (askedAt >= since ? Math.min(first ?? Infinity, answeredAt) : first),
        undefined,
      ),
    acknowledged,
    failures,
    close: () => connections.forEach((connection) => connection.close()),
  };
}

interface Write {
  readonly askedAt: number;
  readonly answeredAt: number;
}

interface ClientOptions extends WorkOptions {
  readonly connections: readonly Connection[];
  readonly noteFailure: (code: string) => void;
  readonly noteWrite: (write: Write) => void;
}

class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Allocates, reads back, asks again and perhaps releases, each at a replica of its own. */
  async live(name: string): Promise<Acknowledged> {
    const first = await this.#write(IpamService.allocate, this.#asksFor(name));
    const [allocation] = first.allocations as [Allocation];
    const positions = [first.position as Position];
    await this.#expectHolder(allocation, first.position, allocation.podUid);
    const again = await this.#write(IpamService.allocate, this.#asksFor(name));
    expect(again.allocations, `${name}, asked again`).to.deep.equal([allocation]);
    positions.push(again.position as Position);
    if (this.#options.dice.chance(0.6)) return { allocation, positions, released: false };
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

  /** What was acknowledged is read at any replica: as of now, and by its position from what the replica has. */
  async #expectHolder({ addresses, seq }: Allocation, position: Position | undefined, uid: string | undefined) {
    const about = { subnet, address: addresses[0]?.address ?? '' };
    const minSeq = position?.seq ?? 0;
    const replies: GetReply[] = [
      await this.#ask(IpamService.get, about),
      await this.#ask(IpamService.get, { ...about, minSeq, consistency: 'CONSISTENCY_LOCAL' }),
    ];
    for (const { record, position: at } of replies) {
      expect(record?.allocation?.podUid, `${about.address} at event ${at?.seq}, told at ${minSeq}`).to.equal(uid);
      if (uid !== undefined) expect(record?.allocation?.seq).to.equal(seq);
      expect(at?.seq).to.be.at.least(minSeq);
    }
  }

  async #write<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply> {
    const askedAt = performance.now();
    const reply = await this.#ask(method, request);
    this.#options.noteWrite({ askedAt, answeredAt: performance.now() });
    return reply;
  }

  /** Asks one replica after the other until one answers. */
  async #ask<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply> {
    const { connections, dice, timeoutMs, noteFailure } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await call(dice.pick(connections), method, request, { timeoutMs });
      } catch (error) {
        const { code, kind } = IpledgerError.from(error);
        noteFailure(code);
        if (kind !== 'transient' || tries === mostTries) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  #asksFor(name: string) {
    return {
      pod: { namespace: 'default', name, uid: `uid-${name}` },
      attachments: [{ provider: 'macvlan.default', subnets: [subnet] }],
      validMs: this.#options.timeoutMs,
    };
  }
}

/** Configures the subnet of all these Pods. */
export async function configureSubnet(replica: Allocator): Promise<void> {
  const connection = connect(replica.endpoint, undefined);
  const spec = { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default' };
  await call(connection, SubnetsService.applySubnet, { name: subnet, spec }, { timeoutMs: 10_000 });
  connection.close();
}

/** The log as it stands in etcd: dense, and one chain. */
export async function auditedLog(etcd: Etcd): Promise<StoredEvent[]> {
  const lines = await etcd.etcdctl(['get', '--prefix', '--print-value-only', '/ipledger/v1/log/']);
  const events = lines.trimEnd().split('\n').map(parseEvent);
  events.reduce(follow, emptyHead);
  return events;
}

/**
 * What was acknowledged is in the log, at the position that was told with it, and nowhere else; nothing is held that was not
 * acknowledged; and no address ever had two holders.
 */
export function expectKept(log: readonly StoredEvent[], acknowledged: ReadonlyMap<string, Acknowledged>): void {
  for (const { allocation, positions } of acknowledged.values()) {
    for (const { seq, hash } of positions) expect(log[seq - 1]?.hash, `the hash told of event ${seq}`).to.equal(hash);
    const event = log[allocation.seq - 1]?.sequenced;
    expect(event?.type).to.equal('AddressAllocated');
    expect(event?.data).to.deep.include({ uid: allocation.podUid, addresses: allocation.addresses });
  }
  const expected = [...acknowledged.values()].flatMap(({ allocation, released }) =>
    released ? [] : [[`${subnet}/${allocation.addresses[0]?.address}`, allocation.podUid] as const],
  );
  expect(Object.fromEntries(holdersIn(log))).to.deep.equal(Object.fromEntries(expected));
}

/** Who holds what at the end of the log; nobody takes what another holds. */
function holdersIn(log: readonly StoredEvent[]): Map<string, string> {
  const holders = new Map<string, string>();
  for (const { sequenced } of log)
    for (const address of addressesOf(sequenced)) {
      const key = `${sequenced.subnet}/${address}`;
      if (sequenced.type === 'AddressAllocated') {
        expect(holders.get(key), `who holds ${key} before event ${sequenced.seq} gives it`).to.equal(undefined);
        holders.set(key, sequenced.data.uid);
      } else if (sequenced.type === 'AddressReleased') holders.delete(key);
    }
  return holders;
}
