/**
 * The servers of a fault test: two allocators and two pod-watchers, each a leader and a standby, an
 * agent, etcd for the ledger, and a Kubernetes API with its own etcd.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';
import { makeNetwork, makeSubnet, type TestEnvironment } from '../e2e/support/test-environment.ts';
import { startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import type { Server } from '../harness/processes/server.ts';
import {
  type AllocatorServer,
  startAgent,
  startAllocator,
  startWatcher,
  type WatcherServer,
} from '../harness/services.ts';
import { borrowCluster } from '../harness/kubernetes/shared-cluster.ts';

export interface FaultEnvironment extends TestEnvironment {
  readonly allocators: readonly AllocatorServer[];
  readonly watchers: readonly WatcherServer[];
  /** The servers that a test may kill, including the agent, etcd and kube-apiserver. */
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
}

/**
 * Starts all servers, with the networks `lan` (IPv4) and `dual` and their Subnets; `run.end()`
 * stops them. There is no kubelet and no controller: only the test creates and deletes Pods.
 */
export async function startFaultEnvironment({
  proxyFor = (_run, _link, target) => Promise.resolve(target),
}: FaultEnvironmentOptions = {}): Promise<FaultEnvironment> {
  const run = openRun();
  const [cluster, etcd] = await Promise.all([borrowCluster(run, { controllers: false }), startEtcd(run)]);
  const allocators = await Promise.all(
    ['allocator-1', 'allocator-2'].map(async (name) => {
      const endpoint = `http://${await proxyFor(run, 'etcd', `127.0.0.1:${etcd.port}`)}`;
      return startAllocator(run, { etcd: { endpoint }, name });
    }),
  );
  const endpoints = allocators.map(({ endpoint }) => endpoint);
  const reached = async () => {
    const each = await Promise.all(endpoints.map((endpoint) => proxyFor(run, 'allocator', endpoint)));
    return { endpoint: each.join(',') };
  };
  const { host } = new URL(cluster.url);
  const kubeconfig = join(run.folder, 'kubeconfig-of-watchers');
  const text = readFileSync(cluster.kubeconfig, 'utf8').replaceAll(host, await proxyFor(run, 'kubernetes', host));
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const [agent, ...watchers] = await Promise.all([
    startAgent(run, { allocator: await reached(), cluster }),
    ...['pod-watcher-1', 'pod-watcher-2'].map(async (name) =>
      startWatcher(run, { allocator: await reached(), cluster: { kubeconfig }, name }),
    ),
  ]);
  const allocator = { ...(allocators[0] as AllocatorServer), endpoint: endpoints.join(',') };
  const configFolder = join(run.folder, 'net.d');
  mkdirSync(configFolder);
  const environment = {
    run,
    stack: { etcd, cluster, allocator, watcher: watchers[0] as WatcherServer, agents: [agent] as const },
    kubernetes: createKubernetesClient(cluster.kubeconfig, run.signal),
    configFolder,
    allocators,
    watchers,
    servers: [...allocators, ...watchers, agent, etcd, cluster.apiServer],
  };
  await Promise.all([
    makeNetwork(environment, 'lan'),
    makeSubnet(environment, 'lan', { cidrBlock: '10.16.0.0/16' }),
    makeNetwork(environment, 'dual'),
    makeSubnet(environment, 'dual', { cidrBlock: '10.17.0.0/16,fd00:17::/64' }),
  ]);
  return environment;
}
