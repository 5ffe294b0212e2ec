/**
 * Starts the complete stack: etcd, a Kubernetes API, an allocator, a pod-watcher and an agent for
 * each node.
 */
import { join } from 'node:path';
import type { TlsFiles } from '../../lib/tls/credentials.ts';
import { type CertificateFolder, certificateFolder, makeCertificates } from './certificates/certificates.ts';
import { type Cluster, startCluster } from './kubernetes/cluster.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import type { Run } from './run.ts';
import {
  type AgentProgram,
  type AgentServer,
  type AllocatorServer,
  startAgent,
  startAllocator,
  startWatcher,
  type WatcherServer,
} from './services.ts';
import { borrowCluster } from './kubernetes/shared-cluster.ts';

export interface Stack {
  /** etcd of the ledger. The cluster has another etcd. */
  readonly etcd: Etcd;
  readonly cluster: Cluster;
  readonly allocator: AllocatorServer;
  readonly watcher: WatcherServer;
  /** An agent for each node, in the order of `nodes`. */
  readonly agents: readonly [AgentServer, ...AgentServer[]];
  /** The client certificate of an operator, with TLS. */
  readonly tls?: TlsFiles;
  /** The certificates of all programs, with TLS. */
  readonly certificates?: CertificateFolder;
}

export interface StackOptions {
  /** Node names (default: `node-1`). */
  readonly nodes?: readonly [string, ...string[]];
  /** Whether all programs and etcd use TLS, each with its own certificate. */
  readonly tls?: boolean;
  /** Whether the run has its own Kubernetes API (default: a shared one). */
  readonly ownCluster?: boolean;
  /** Base URL of the collector of traces (default: none). */
  readonly traceEndpoint?: string;
  /** The program of all agents. */
  readonly agentProgram?: AgentProgram;
}

/** Starts the stack. Resolves when it can serve a Pod, after about 7 s. */
export async function startStack(
  run: Run,
  { nodes = ['node-1'], tls = false, ownCluster = false, traceEndpoint, agentProgram }: StackOptions = {},
): Promise<Stack> {
  const certificates = tls ? await issueCertificates(run, { allocators: ['allocator'], nodes }) : undefined;
  const [cluster, [etcd, allocator]] = await Promise.all([
    ownCluster ? startCluster(run, { nodes }) : borrowCluster(run, { nodes }),
    startLedger(run, certificates, traceEndpoint),
  ]);
  const agentOf = (node: string): Promise<AgentServer> =>
    startAgent(run, { allocator, cluster, node, tls: certificates?.agent(node), traceEndpoint, program: agentProgram });
  const [watcher, first, ...others] = await Promise.all([
    // Runs with many Pods have their own Kubernetes API, and all their Pods are in one namespace
    startWatcher(run, {
      allocator,
      cluster,
      tls: certificates?.watcher,
      traceEndpoint,
      namespaceRate: ownCluster ? 0 : undefined,
    }),
    agentOf(nodes[0]),
    ...nodes.slice(1).map(agentOf),
  ]);
  const secured = certificates && { certificates, tls: certificates.operator('test') };
  return { etcd, cluster, allocator, watcher, agents: [first, ...others], ...secured };
}

/** Starts etcd and an allocator, for tests without Kubernetes. */
export async function startLedger(
  run: Run,
  certificates?: CertificateFolder,
  traceEndpoint?: string,
): Promise<[Etcd, AllocatorServer]> {
  const { server, allocator: client } = certificates?.etcd ?? {};
  const etcd = await startEtcd(run, { ...(server && client && { tls: { server, client } }) });
  return [etcd, await startAllocator(run, { etcd, tls: certificates?.allocator('allocator'), traceEndpoint })];
}

/**
 * Makes the certificates of all programs, and of the operator `test`.
 * @param renew whether those that exist are made again
 */
export async function issueCertificates(
  run: Run,
  subjects: { readonly allocators: readonly string[]; readonly nodes: readonly string[] },
  renew = false,
): Promise<CertificateFolder> {
  const folder = join(run.folder, 'certificates');
  await makeCertificates({ folder, ...subjects, operators: ['test'], renew });
  return certificateFolder(folder);
}
