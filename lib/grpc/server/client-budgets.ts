/**
 * Limits the memory that clients make a server hold, in bytes: calls, headers, arriving requests,
 * and replies that were not read. Each client has a limit, and each group of clients has one, so
 * that many clients leave room for the programs of ipledger.
 */
import type { Identity, IdentityKind } from '../../tls/identity.ts';
import { TokenBucket } from '../../process/token-bucket.ts';

const MiB = 1 << 20;

interface Group {
  readonly maxBytes: number;
  /** The part reserved for small clients, so that a few large ones do not keep them out. */
  readonly smallClientsBytes: number;
  /** The limit of one client. */
  readonly maxClientBytes: number;
  /** The most streams of events at the same time. */
  readonly maxStreams: number;
  readonly maxClientStreams: number;
}

/** The chart gives an allocator 1 GiB. It needs a quarter, and a quarter more for garbage. */
export const clientGroups = {
  /** Clients whose certificate or token is not verified yet, by address. */
  unidentified: {
    maxBytes: 64 * MiB,
    smallClientsBytes: 16 * MiB,
    maxClientBytes: 8 * MiB,
    maxStreams: 0,
    maxClientStreams: 0,
  },
  /** Programs of ipledger. A standby forwards the calls of all agents. */
  programs: {
    maxBytes: 192 * MiB,
    smallClientsBytes: 0,
    maxClientBytes: 64 * MiB,
    maxStreams: 256,
    maxClientStreams: 32,
  },
  others: {
    maxBytes: 192 * MiB,
    smallClientsBytes: 48 * MiB,
    maxClientBytes: 24 * MiB,
    maxStreams: 256,
    maxClientStreams: 32,
  },
  /** Clients without TLS. Each connection is a client. */
  anonymous: {
    maxBytes: 384 * MiB,
    smallClientsBytes: 96 * MiB,
    maxClientBytes: 64 * MiB,
    maxStreams: 512,
    maxClientStreams: 512,
  },
} as const satisfies Record<string, Group>;

/** The refused calls of a client that are answered at once. */
const refusalLimit = { perSecond: 20, burst: 20 };

/** A client that holds less than this may use the part reserved for small clients. */
const smallClientBytes = MiB;

export type GroupName = keyof typeof clientGroups;

const programs: ReadonlySet<IdentityKind> = new Set(['allocator', 'ovn-projector', 'read-model', 'watcher']);

/** The memory that one client holds. */
export interface ClientBudget {
  readonly name: string;
  readonly group: GroupName;
  bytes: number;
  /** The open streams of events. */
  streams: number;
  connections: number;
  readonly refusals: TokenBucket;
  /** Refused calls that wait for their answer, but whose bytes are not counted. */
  uncounted: number;
}

export class ClientBudgets {
  readonly #clients = new Map<string, ClientBudget>();
  readonly #used = Object.fromEntries(Object.keys(clientGroups).map((name) => [name, { bytes: 0, streams: 0 }])) as {
    [Name in GroupName]: { bytes: number; streams: number };
  };

  /** The bytes of all clients. */
  get bytes(): number {
    return Object.values(this.#used).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  of(name: string, group: GroupName): ClientBudget {
    const found = this.#clients.get(name);
    if (found) return found;
    const refusals = new TokenBucket(refusalLimit, performance.now());
    const made: ClientBudget = { name, group, bytes: 0, streams: 0, connections: 0, refusals, uncounted: 0 };
    this.#clients.set(name, made);
    return made;
  }

  ofIdentity({ kind, uri }: Identity): ClientBudget {
    return this.of(uri, programs.has(kind) ? 'programs' : 'others');
  }

  /** Takes bytes. Returns false, and takes nothing, beyond the limit of the client or its group. */
  take(client: ClientBudget, bytes: number): boolean {
    const [group, used] = [clientGroups[client.group], this.#used[client.group]];
    const needed = client.bytes + bytes;
    const maxUsed = group.maxBytes - (needed > smallClientBytes ? group.smallClientsBytes : 0);
    if (needed > group.maxClientBytes || used.bytes + bytes > maxUsed) return false;
    this.add(client, bytes);
    return true;
  }

  /** Counts bytes that are already held, even beyond the limits. */
  add(client: ClientBudget, bytes: number): void {
    client.bytes += bytes;
    this.#used[client.group].bytes += bytes;
  }

  give(client: ClientBudget, bytes: number): void {
    this.add(client, -bytes);
    this.#forgetUnused(client);
  }

  /** Counts a stream. Returns false beyond the limit of the client or its group. */
  openStream(client: ClientBudget): boolean {
    const [group, used] = [clientGroups[client.group], this.#used[client.group]];
    if (client.streams >= group.maxClientStreams || used.streams >= group.maxStreams) return false;
    client.streams++;
    used.streams++;
    return true;
  }

  closeStream(client: ClientBudget): void {
    client.streams--;
    this.#used[client.group].streams--;
    this.#forgetUnused(client);
  }

  closeConnection(client: ClientBudget): void {
    client.connections--;
    this.#forgetUnused(client);
  }

  #forgetUnused(client: ClientBudget): void {
    const isUnused = client.bytes === 0 && client.streams === 0 && client.connections === 0;
    if (isUnused && this.#clients.get(client.name) === client) this.#clients.delete(client.name);
  }
}
