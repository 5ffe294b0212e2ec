/**
 * The servers of a fault test: two allocators and two pod-watchers, each a leader and a standby, an
 * agent for each node, etcd for the ledger, and a Kubernetes API with its own etcd.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';
import { makeNetwork, makeSubnet, type SubnetSpec, type TestEnvironment } from '../e2e/support/test-environment.ts';
import type { CertificateFolder } from '../harness/certificates/certificates.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import type { Server } from '../harness/processes/server.ts';
import { issueCertificates } from '../harness/stack.ts';
import {
  type AgentServer,
  type AllocatorServer,
  type ArchiveSettings,
  startAgent,
  startAllocator,
  startWatcher,
  type WatcherServer,
} from '../harness/services.ts';
import { borrowCluster } from '../harness/kubernetes/shared-cluster.ts';

export interface FaultEnvironment extends TestEnvironment {
  readonly allocators: readonly AllocatorServer[];
  readonly watchers: readonly WatcherServer[];
  /** The servers that a test may kill, including the agents, etcd and kube-apiserver. */
  readonly servers: readonly Server[];
}

/**
 * The connections with a proxy: allocators to etcd, watchers and agent to the allocators, watchers
 * to the Kubernetes API.
 */
export type Link = 'etcd' | 'allocator' | 'kubernetes';

export interface FaultEnvironmentOptions {
  /** Starts a proxy for a target "host:port"; returns the "host:port" of the proxy. */
  readonly proxyFor?: (run: Run, link: Link, target: string) => Promise<string>;
  /** Names of the nodes, each with an agent (default: `node-1`). */
  readonly nodes?: readonly [string, ...string[]];
  /** Whether all programs and etcd use TLS, each with its own certificate. */
  readonly tls?: boolean;
  /** The Subnets of `lan` and `dual` (default: large ones). */
  readonly subnets?: Readonly<Record<'lan' | 'dual', SubnetSpec>>;
  /** The archive of the allocators (default: none). */
  readonly archiveOf?: (run: Run) => Promise<ArchiveSettings>;
  /** Works on the ledger before the first watcher starts. */
  readonly prepareLedger?: (ledger: LedgerOfFaults) => Promise<void>;
}

/** The ledger without Kubernetes. */
export interface LedgerOfFaults {
  readonly etcd: Etcd;
  readonly allocators: readonly AllocatorServer[];
  readonly certificates: CertificateFolder | undefined;
}

const defaultSubnets = {
  lan: { cidrBlock: '10.16.0.0/16' },
  dual: { cidrBlock: '10.17.0.0/16,fd00:17::/64' },
};
const names = { allocators: ['allocator-1', 'allocator-2'], watchers: ['pod-watcher-1', 'pod-watcher-2'] };

/** Makes the certificates of all programs again, as before their expiry. */
export const renewCertificates = async ({ run, stack }: FaultEnvironment): Promise<void> =>
  void (await issueCertificates(run, { ...names, nodes: stack.agents.map(({ node }) => node) }, true));

/**
 * Starts all servers, with the networks `lan` (IPv4) and `dual` and their Subnets; `run.end()`
 * stops them. There is no kubelet and no controller: only the test creates and deletes Pods.
 */
export async function startFaultEnvironment(options: FaultEnvironmentOptions = {}): Promise<FaultEnvironment> {
  const { nodes = ['node-1'], tls = false, proxyFor = (_run, _link, target) => Promise.resolve(target) } = options;
  const run = openRun();
  const certificates = tls ? await issueCertificates(run, { ...names, nodes }) : undefined;
  const [cluster, ledger] = await Promise.all([
    borrowCluster(run, { controllers: false, nodes }),
    startLedger(run, certificates, { ...options, proxyFor }),
  ]);
  const { etcd, allocators } = ledger;
  await options.prepareLedger?.(ledger);
  const endpoints = allocators.map(({ endpoint }) => endpoint);
  const reached = async () => {
    const each = await Promise.all(endpoints.map((endpoint) => proxyFor(run, 'allocator', endpoint)));
    return { endpoint: each.join(',') };
  };
  const { host } = new URL(cluster.url);
  const kubeconfig = join(run.folder, 'kubeconfig-of-watchers');
  const text = readFileSync(cluster.kubeconfig, 'utf8').replaceAll(host, await proxyFor(run, 'kubernetes', host));
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const agentOf = async (node: string): Promise<AgentServer> =>
    startAgent(run, { allocator: await reached(), cluster, node, tls: certificates?.agent(node) });
  const [first, others, watchers] = await Promise.all([
    agentOf(nodes[0]),
    Promise.all(nodes.slice(1).map(agentOf)),
    Promise.all(
      names.watchers.map(async (name) =>
        startWatcher(run, { allocator: await reached(), cluster: { kubeconfig }, name, tls: certificates?.watcher }),
      ),
    ),
  ]);
  const allocator = { ...(allocators[0] as AllocatorServer), endpoint: endpoints.join(',') };
  const agents = [first, ...others] as const;
  const configFolder = join(run.folder, 'net.d');
  mkdirSync(configFolder);
  const secured = certificates && { certificates, tls: certificates.operator('test') };
  const environment = {
    run,
    stack: { etcd, cluster, allocator, watcher: watchers[0] as WatcherServer, agents, ...secured },
    kubernetes: createKubernetesClient(cluster.kubeconfig, run.signal),
    configFolder,
    allocators,
    watchers,
    servers: [...allocators, ...watchers, ...agents, etcd, cluster.apiServer],
  };
  await Promise.all([makeNetwork(environment, 'lan'), makeNetwork(environment, 'dual')]);
  await Promise.all(
    Object.entries(options.subnets ?? defaultSubnets).map(([name, spec]) => makeSubnet(environment, name, spec)),
  );
  return environment;
}

async function startLedger(
  run: Run,
  certificates: CertificateFolder | undefined,
  { proxyFor, archiveOf }: FaultEnvironmentOptions & Required<Pick<FaultEnvironmentOptions, 'proxyFor'>>,
): Promise<LedgerOfFaults> {
  const { server, allocator: client } = certificates?.etcd ?? {};
  const etcd = await startEtcd(run, { ...(server && client && { tls: { server, client } }) });
  const target = `127.0.0.1:${etcd.port}`;
  const archive = await archiveOf?.(run);
  const allocators = await Promise.all(
    names.allocators.map(async (name) => {
      const endpoint = etcd.endpoint.replace(target, await proxyFor(run, 'etcd', target));
      const store = { endpoint, ...(etcd.tls && { tls: etcd.tls }) };
      return startAllocator(run, {
        etcd: store,
        name,
        tls: certificates?.allocator(name),
        ...(archive && { archive }),
      });
    }),
  );
  return { etcd, allocators, certificates };
}
