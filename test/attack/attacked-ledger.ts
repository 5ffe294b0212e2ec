/**
 * A ledger under the chart's limits that attackers may reach, and agents of other nodes that go on
 * working.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import { loadTls } from '../../lib/tls/credentials.ts';
import { IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { certificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { startEtcd } from '../harness/etcd.ts';
import { createMemoryCgroup, launchInCgroup } from '../harness/node/cgroup.ts';
import { borrowCluster } from '../harness/kubernetes/shared-cluster.ts';
import { root } from '../harness/paths.ts';
import type { Run } from '../harness/run.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { type Server, startServer } from '../harness/processes/server.ts';
import { allocatorLaunch } from '../harness/services.ts';
import { loopCpuMs } from '../scale/resource-usage.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';
import type { Target } from './target.ts';

const subnet = 'lan';
const provider = `${subnet}.default`;
/** The nodes whose agents bind. Each has one Pod, and a burst of its own. */
const bindingNodes = ['node-2', 'node-4', 'node-5', 'node-6', 'node-7'];
const names = { allocators: ['allocator'], nodes: ['node-1', ...bindingNodes], operators: ['test'] };
const options = { timeoutMs: 30_000 };
const concurrent = 128;

export interface TimedBind {
  readonly waitedMs: number;
  /**
   * The CPU time of the allocator's event loop during the wait. Other programs do not change it.
   */
  readonly loopMs: number;
}

export interface AttackedLedger {
  readonly allocator: Server;
  readonly target: Target;
  /** Lets the agents of five nodes bind their Pods and end the bindings, in turns. */
  attachRepeatedly(times: number): Promise<TimedBind[]>;
  /** Reads the revision of the writer's election. A change means that the lease was lost. */
  readElection(): Promise<number>;
}

/**
 * Starts the ledger with this number of allocations on other nodes.
 * @param memoryMiB limits the allocator, by a cgroup (default: no limit)
 * @throws Error with a limit on a machine without cgroups, or without the right to create one
 */
export async function startAttackedLedger(run: Run, allocations: number, memoryMiB?: number): Promise<AttackedLedger> {
  const [folder, foreign] = [join(run.folder, 'certificates'), join(run.folder, 'foreign')];
  await makeCertificates({ folder, ...names });
  await makeCertificates({ folder: foreign, ...names });
  const certificates = certificateFolder(folder);
  const archive = join(run.folder, 'archive');
  mkdirSync(archive);
  const [cluster, etcd] = await Promise.all([borrowCluster(run, { controllers: false }), startEtcd(run)]);
  await cluster.apply(join(root, 'deploy/rbac.yaml'));
  const kubeconfig = await cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-allocator');
  const listen = async (): Promise<string> => `127.0.0.1:${await findFreePort()}`;
  const [endpoint, health] = [await listen(), await listen()];
  const launch = allocatorLaunch({
    name: 'allocator',
    etcd: [etcd.endpoint],
    listen: endpoint,
    healthListen: health,
    tls: certificates.allocator('allocator'),
    archive: { location: archive, segmentEvents: 1_000, keepEvents: 1_000 },
    tokenReview: { kubeconfig, account: 'kube-system/ipledger-node-agent' },
  });
  const group = memoryMiB && createMemoryCgroup(run, `ipledger-${run.id}-allocator`, memoryMiB * 1_024 ** 2);
  const allocator = await startServer(run, group ? launchInCgroup(launch, group) : launch);
  const connectAs = (tls: Parameters<typeof loadTls>[0]): Connection => {
    const connection = connect(endpoint, loadTls(tls));
    run.onEnd(() => connection.close());
    return connection;
  };
  const operator = connectAs(certificates.operator('test'));
  const spec = { provider, cidrBlock: '10.64.0.0/12', gateway: '10.64.0.1', cooldownMs: 0 };
  await call(operator, SubnetsService.applySubnet, { name: subnet, spec }, options);
  const allocate = (name: string, node: string) =>
    call(
      operator,
      IpamService.allocate,
      { pod: { namespace: 'default', name, uid: `uid-${name}`, node }, attachments: [{ provider, subnets: [subnet] }] },
      options,
    );
  const pods = Array.from({ length: allocations }, (_, index) => `pod-${index}`);
  await forEachConcurrent(pods, concurrent, (name) => allocate(name, 'node-3'));
  const agents = new Map(bindingNodes.map((node) => [node, connectAs(certificates.agent(node))]));
  for (const node of bindingNodes) await allocate(`on-${node}`, node);

  let containers = 0;
  const attachOnce = async (node: string, agent: Connection): Promise<TimedBind> => {
    const sandbox = {
      namespace: 'default',
      pod: `on-${node}`,
      podUid: `uid-on-${node}`,
      provider,
      containerId: `container-${containers++}`,
      interface: 'net1',
    };
    const [startedAt, loopBefore] = [performance.now(), loopCpuMs(allocator.pid)];
    await call(agent, IpamService.attach, { ...sandbox, node, bootId: 'boot', timeoutMs: 20_000 }, options);
    const bind = { waitedMs: performance.now() - startedAt, loopMs: loopCpuMs(allocator.pid) - loopBefore };
    await call(agent, IpamService.unbind, { ...sandbox, cause: 'UNBIND_CAUSE_CONTAINER_DELETED' }, options);
    return bind;
  };
  return {
    allocator,
    target: {
      endpoint,
      health,
      certificates: folder,
      foreignCertificates: foreign,
      archive,
      subnet,
    },
    async attachRepeatedly(times) {
      const binds: TimedBind[] = [];
      while (binds.length < times)
        for (const [node, agent] of agents) if (binds.length < times) binds.push(await attachOnce(node, agent));
      return binds;
    },
    async readElection() {
      const reply = await etcd.etcdctl(['get', '-w', 'json', '/ipledger/v1/writer']);
      const { kvs } = JSON.parse(reply) as { kvs?: { create_revision: number }[] };
      return kvs?.[0]?.create_revision ?? 0;
    },
  };
}

/** The memory limit of a program in the chart, MiB. */
export function chartMemoryMiB(program: 'allocator' | 'watcher' | 'agent'): number {
  const values = parse(readFileSync(join(root, 'deploy/chart/values.yaml'), 'utf8')) as Record<
    string,
    { resources: { limits: { memory: string } } }
  >;
  const text = values[program]?.resources.limits.memory ?? '';
  const [, count, unit] = /^(\d+)(Mi|Gi)$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`values.yaml: the memory limit of ${program} is "${text}"`);
  return Number(count) * (unit === 'Gi' ? 1_024 : 1);
}
