/**
 * The environment of the ADD rows: etcd, an allocator, and the agent of one node as its image has
 * it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundleAgent } from '../../../../build/bundle/bundle-programs.ts';
import { call, connect, type Connection } from '../../../../lib/grpc/client.ts';
import { readAll } from '../../../../lib/ledger-client/pages.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type Allocation, IpamService, type SubnetSpec, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { installPlugin } from '../../../../services/node-agent/plugin-installer/plugin-installer.ts';
import { kubeOvnPlugin } from '../../../harness/cni.ts';
import { findFreePort } from '../../../harness/processes/free-ports.ts';
import { type Server, startServer } from '../../../harness/processes/server.ts';
import { findPlugins } from '../../../harness/programs/find-program.ts';
import type { Run } from '../../../harness/run.ts';
import { agentLaunch, type AgentProgram } from '../../../harness/services.ts';
import { startLedger } from '../../../harness/stack.ts';
import { forEachConcurrent } from '../../../scale/for-each-concurrent.ts';

export const namespace = 'default';
export const provider = 'lan.default';
const largeSubnet = 'lan';
const cidrBlock = '10.64.0.0/12';
export const node = 'node-1';
const concurrentAllocates = 64;
const callMs = 20_000;
const pageSize = 1_000;

/** etcd and an allocator with one Subnet. Pods exist in the ledger only. */
export interface SmallLedger {
  readonly run: Run;
  /** "host:port" of the allocator. */
  readonly endpoint: string;
  /**
   * Allocates one address to each of as many new Pods, and returns their names. The uid of a Pod is
   * its name.
   */
  allocate(count: number, subnet?: string): Promise<readonly string[]>;
  /** Adds a Subnet for the same NICs. */
  addSubnet(name: string, spec: MessageInput<SubnetSpec>): Promise<void>;
  /** The allocations of the ledger, by Pod. */
  readAllocations(): Promise<ReadonlyMap<string, Allocation>>;
}

export interface AddEnvironment extends SmallLedger {
  readonly agent: Server;
  readonly socket: string;
  /**
   * The plugin as on a node: an installed copy. The kernel maps the file that the linker wrote in
   * smaller parts, which takes each process 0.1 to 0.3 ms of CPU. So the peers are copies, too.
   */
  readonly plugin: string;
  readonly peers: Readonly<Record<'static' | 'host-local', string>>;
}

/** Starts etcd, an allocator and an agent. */
export async function openAddEnvironment(run: Run): Promise<AddEnvironment> {
  const [ledger, program] = await Promise.all([openSmallLedger(run), bundleAgent(join(run.folder, 'bundle'))]);
  const socket = join(run.folder, 'agent.sock');
  const install = (file: string): Promise<string> => installPlugin(file, run.folder);
  const found = await findPlugins(run.signal);
  return {
    ...ledger,
    socket,
    plugin: await install(kubeOvnPlugin),
    peers: {
      static: await install(join(found, 'static')),
      'host-local': await install(join(found, 'host-local')),
    },
    agent: await startBundledAgent(run, { allocator: ledger.endpoint, socket, program }),
  };
}

/** Starts etcd and an allocator. */
export async function openSmallLedger(run: Run): Promise<SmallLedger> {
  const [, { endpoint }] = await startLedger(run);
  const connection = connect(endpoint, undefined);
  run.onEnd(() => connection.close());
  const addSubnet = async (name: string, spec: MessageInput<SubnetSpec>): Promise<void> => {
    await call(connection, SubnetsService.applySubnet, { name, spec: { provider, ...spec } }, { timeoutMs: callMs });
  };
  await addSubnet(largeSubnet, { cidrBlock, gateway: '10.64.0.1' });
  let allocated = 0;
  return {
    run,
    endpoint,
    addSubnet,
    async allocate(count, subnet = largeSubnet) {
      const names = Array.from({ length: count }, () => `pod-${allocated++}`);
      await forEachConcurrent(names, concurrentAllocates, (name) =>
        call(
          connection,
          IpamService.allocate,
          { pod: { namespace, name, uid: name, node }, attachments: [{ provider, subnets: [subnet] }] },
          { timeoutMs: callMs },
        ),
      );
      return names;
    },
    readAllocations: () => readAllocations(connection),
  };
}

/** The agent as its image has it: bundled. */
async function startBundledAgent(
  run: Run,
  { allocator, socket, program }: { allocator: string; socket: string; program: AgentProgram },
): Promise<Server> {
  const folder = join(run.folder, 'agent');
  mkdirSync(folder);
  const launch = agentLaunch({
    name: 'node-agent',
    allocator,
    kubeconfig: '', // each ADD has the uid of its Pod, so that the agent does not read it
    healthListen: `127.0.0.1:${await findFreePort()}`,
    node,
    sockets: [socket],
    pendingDels: join(folder, 'pending-dels'),
    bindings: join(folder, 'bindings'),
    program,
  });
  return startServer(run, launch);
}

async function readAllocations(connection: Connection): Promise<ReadonlyMap<string, Allocation>> {
  const all = await readAll(
    (pageToken) => call(connection, IpamService.listAllocations, { pageSize, pageToken }, { timeoutMs: callMs }),
    ({ allocations }) => allocations,
  );
  return new Map(all.map((allocation) => [allocation.attachment?.pod ?? '', allocation]));
}
