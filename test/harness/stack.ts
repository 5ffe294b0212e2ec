/** Everything at once: etcd, a Kubernetes API, an allocator, a pod-watcher and an agent for each node. */
import { join } from 'node:path';
import type { TlsFiles } from '../../lib/tls.ts';
import { type CertificateFolder, certificateFolder, makeCertificates } from './certificates.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import type { Run } from './run.ts';
import { type Agent, type Allocator, startAgent, startAllocator, startWatcher, type Watcher } from './services.ts';

export interface Stack {
  /** The ledger's; the cluster has its own. */
  readonly etcd: Etcd;
  readonly cluster: Cluster;
  readonly allocator: Allocator;
  readonly watcher: Watcher;
  /** One a node, in the order of `nodes`. */
  readonly agents: readonly [Agent, ...Agent[]];
  /** With TLS: what an operator shows the allocator. */
  readonly tls?: TlsFiles;
  /** With TLS: those of all parts. */
  readonly certificates?: CertificateFolder;
}

export interface StackOptions {
  /** Node names (default `node-1` alone). */
  readonly nodes?: readonly [string, ...string[]];
  /** Whether all speak TLS, etcd too, each with a certificate of its own. */
  readonly tls?: boolean;
}

/** Starts the whole path; resolves when a Pod could be applied. About 7 s. */
export async function startStack(run: Run, { nodes = ['node-1'], tls = false }: StackOptions = {}): Promise<Stack> {
  const certificates = tls ? await certificatesOf(run, nodes) : undefined;
  const [cluster, [etcd, allocator]] = await Promise.all([
    startCluster(run, { nodes }),
    startLedger(run, certificates),
  ]);
  const agentOf = (node: string): Promise<Agent> =>
    startAgent(run, { allocator, cluster, node, tls: certificates?.agent(node) });
  const [watcher, first, ...others] = await Promise.all([
    startWatcher(run, { allocator, cluster, tls: certificates?.watcher }),
    agentOf(nodes[0]),
    ...nodes.slice(1).map(agentOf),
  ]);
  const secured = certificates && { certificates, tls: certificates.operator('test') };
  return { etcd, cluster, allocator, watcher, agents: [first, ...others], ...secured };
}

/** etcd and an allocator on it: all that somebody without Kubernetes needs. */
export async function startLedger(run: Run, certificates?: CertificateFolder): Promise<[Etcd, Allocator]> {
  const { server, allocator: client } = certificates?.etcd ?? {};
  const etcd = await startEtcd(run, { ...(server && client && { tls: { server, client } }) });
  return [etcd, await startAllocator(run, { etcd, tls: certificates?.allocator('allocator') })];
}

async function certificatesOf(run: Run, nodes: readonly string[]): Promise<CertificateFolder> {
  const folder = join(run.folder, 'certificates');
  await makeCertificates({ folder, allocators: ['allocator'], nodes, operators: ['test'] });
  return certificateFolder(folder);
}
