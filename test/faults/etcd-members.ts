/**
 * Three members of etcd and two allocators. Each member has a network of its own, which can drop
 * its packets.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exposePort } from '../harness/node/port-exposure.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { mustRun } from '../harness/processes/command.ts';
import { type Server, startServer } from '../harness/processes/server.ts';
import {
  createNodeNamespace,
  inNamespace,
  ip,
  launchInside,
  type Namespace,
} from '../harness/network/network-namespaces.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { allocatorLaunch, type AllocatorServer } from '../harness/services.ts';

export interface Member {
  /** The client address, "10.89.0.1:2379". */
  readonly endpoint: string;
  readonly node: Namespace;
  readonly server: Server;
}

export interface MemberCluster {
  readonly run: Run;
  readonly members: readonly Member[];
  readonly allocators: readonly AllocatorServer[];
  /** Reads the members, the leader first. @throws Error if a member does not answer */
  readMembers(): Promise<readonly [Member, ...Member[]]>;
  /** Reads the term of etcd, which each of its elections increases. */
  readTerm(): Promise<number>;
  /**
   * Returns the time of a member's clock when it first saw a later leader; undefined if none has.
   */
  firstElectionAfter(time: number): number | undefined;
  /** Reads the writer's key: the name of the replica, and the revision of its election. */
  readElection(): Promise<{ readonly replica: string; readonly since: number }>;
}

interface MemberStatus {
  readonly Endpoint: string;
  readonly Status: {
    readonly leader: number;
    readonly raftTerm: number;
    readonly header: { readonly member_id: number };
  };
}

const addressOf = (index: number): string => `10.89.0.${index + 1}`;
const names = ['etcd-0', 'etcd-1', 'etcd-2'];

/** Starts all servers; `run.end()` stops them. */
export async function startMemberCluster(): Promise<MemberCluster> {
  const run = openRun();
  const members = await startMembers(run);
  const node = await createNode(run, 'allocators', members.length);
  const urls = members.map(({ endpoint }) => `http://${endpoint}`).join();
  const allocators = await Promise.all(
    ['allocator-1', 'allocator-2'].map((name) => startAllocator(run, name, { node, urls })),
  );
  const etcdctl = async (...args: string[]): Promise<unknown> => {
    const program = await findProgram('etcdctl');
    return JSON.parse(
      await mustRun('nsenter', [`--net=${node.path}`, program, `--endpoints=${urls}`, '-w=json', ...args]),
    );
  };
  const readStatus = async () => (await etcdctl('endpoint', 'status')) as MemberStatus[];
  return {
    run,
    members,
    allocators,
    async readMembers() {
      const replies = await readStatus();
      const leading = replies.find(({ Status }) => Status.leader === Status.header.member_id);
      const first = members.find(({ endpoint }) => leading?.Endpoint.endsWith(endpoint));
      if (!first || replies.length < members.length) throw new Error('a member of etcd does not answer');
      return [first, ...members.filter((each) => each !== first)];
    },
    readTerm: async () => Math.max(...(await readStatus()).map(({ Status }) => Status.raftTerm)),
    firstElectionAfter: (time) =>
      members
        .flatMap(({ server }) => readFileSync(server.log, 'utf8').split('\n'))
        .flatMap((line) => (/ elected leader /.test(line) ? Date.parse((JSON.parse(line) as { ts: string }).ts) : []))
        .toSorted((one, other) => one - other)
        .find((at) => at > time),
    async readElection() {
      const { kvs } = (await etcdctl('get', '/ipledger/v1/writer')) as {
        kvs: [{ readonly value: string; readonly create_revision: number }];
      };
      const { replica } = JSON.parse(Buffer.from(kvs[0].value, 'base64').toString()) as { replica: string };
      return { replica, since: kvs[0].create_revision };
    },
  };
}

async function startAllocator(
  run: Run,
  name: string,
  { node, urls }: { readonly node: Namespace; readonly urls: string },
): Promise<AllocatorServer> {
  const ports = [await findFreePort(), await findFreePort()] as const;
  for (const port of ports) await exposePort(run, node, port);
  const [endpoint, health] = ports.map((port) => `127.0.0.1:${port}`) as [string, string];
  const launch = allocatorLaunch({ name, etcd: [urls], listen: endpoint, healthListen: health });
  return Object.assign(await startServer(run, launchInside(node, launch)), { endpoint, health });
}

async function createNode(run: Run, name: string, index: number): Promise<Namespace> {
  const node = await createNodeNamespace(run, name);
  await ip(node, ['address', 'add', `${addressOf(index)}/24`, 'dev', 'eth0']);
  return node;
}

async function startMembers(run: Run): Promise<Member[]> {
  const nodes: Namespace[] = [];
  for (const [index, name] of names.entries()) nodes.push(await createNode(run, name, index));
  const [program, etcdctl] = await Promise.all([findProgram('etcd'), findProgram('etcdctl')]);
  return Promise.all(
    nodes.map(async (node, index) => {
      const [name, address] = [names[index] as string, addressOf(index)];
      const launch = launchInside(node, {
        name,
        program,
        args: [
          `--name=${name}`,
          `--data-dir=${join(run.folder, name)}`,
          `--listen-client-urls=http://0.0.0.0:2379`,
          `--advertise-client-urls=http://${address}:2379`,
          `--listen-peer-urls=http://${address}:2380`,
          `--initial-advertise-peer-urls=http://${address}:2380`,
          `--initial-cluster=${names.map((each, at) => `${each}=http://${addressOf(at)}:2380`).join()}`,
          // The elections are in the log
          '--log-level=info',
          '--unsafe-no-fsync',
        ],
        ready: async (signal) => {
          const { code, stderr } = await inNamespace(node, [etcdctl, 'endpoint', 'health'], { signal });
          if (code !== 0) throw new Error(stderr);
        },
        readyWithinMs: 60_000,
      });
      return { endpoint: `${address}:2379`, node, server: await startServer(run, launch) };
    }),
  );
}
