/**
 * Everything as it is run for real, with parts that may be lost: two allocators and two pod-watchers, of which one works and
 * the other stands by, an agent, etcd for the ledger, and a Kubernetes API on an etcd of its own.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubernetesOf } from '../e2e/kubernetes.ts';
import { makeNetwork, makeSubnet, type Scene } from '../e2e/scene.ts';
import { startCluster } from '../harness/cluster.ts';
import { startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import type { Server } from '../harness/server.ts';
import { type Allocator, startAgent, startAllocator, startWatcher, type Watcher } from '../harness/services.ts';

export interface Stage extends Scene {
  readonly allocators: readonly Allocator[];
  readonly watchers: readonly Watcher[];
  /** All that may be killed, the agent, etcd and kube-apiserver among them. */
  readonly servers: readonly Server[];
}

/** From whom to whom: allocators to etcd, watchers and agent to the allocators, watchers to the Kubernetes API. */
export type Link = 'etcd' | 'allocator' | 'kubernetes';

export interface StageOptions {
  /** Puts something in between: gives "host:port" that stands in for "host:port". */
  readonly between?: (run: Run, link: Link, target: string) => Promise<string>;
}

/**
 * Starts all of it, with the networks `lan` (IPv4) and `dual` and their Subnets; end it with `stage.run.end()`. No kubelet and
 * no controller interferes: Pods come and go as a test says.
 */
export async function openStage({
  between = (_run, _link, target) => Promise.resolve(target),
}: StageOptions = {}): Promise<Stage> {
  const run = openRun();
  const [cluster, etcd] = await Promise.all([startCluster(run, { controllers: false }), startEtcd(run)]);
  const allocators = await Promise.all(
    ['allocator-1', 'allocator-2'].map(async (name) => {
      const endpoint = `http://${await between(run, 'etcd', `127.0.0.1:${etcd.port}`)}`;
      return startAllocator(run, { etcd: { endpoint }, name });
    }),
  );
  const endpoints = allocators.map(({ endpoint }) => endpoint);
  const reached = async () => {
    const each = await Promise.all(endpoints.map((endpoint) => between(run, 'allocator', endpoint)));
    return { endpoint: each.join(',') };
  };
  const { host } = new URL(cluster.url);
  const kubeconfig = join(run.folder, 'kubeconfig-of-watchers');
  const text = readFileSync(cluster.kubeconfig, 'utf8').replaceAll(host, await between(run, 'kubernetes', host));
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const [agent, ...watchers] = await Promise.all([
    startAgent(run, { allocator: await reached(), cluster }),
    ...['pod-watcher-1', 'pod-watcher-2'].map(async (name) =>
      startWatcher(run, { allocator: await reached(), cluster: { kubeconfig }, name }),
    ),
  ]);
  const allocator = { ...(allocators[0] as Allocator), endpoint: endpoints.join(',') };
  const configFolder = join(run.folder, 'net.d');
  mkdirSync(configFolder);
  const stage = {
    run,
    stack: { etcd, cluster, allocator, watcher: watchers[0] as Watcher, agents: [agent] as const },
    kubernetes: kubernetesOf(cluster.kubeconfig, run.signal),
    configFolder,
    allocators,
    watchers,
    servers: [...allocators, ...watchers, agent, etcd, cluster.apiServer],
  };
  await Promise.all([
    makeNetwork(stage, 'lan'),
    makeSubnet(stage, 'lan', { cidrBlock: '10.16.0.0/16' }),
    makeNetwork(stage, 'dual'),
    makeSubnet(stage, 'dual', { cidrBlock: '10.17.0.0/16,fd00:17::/64' }),
  ]);
  return stage;
}
