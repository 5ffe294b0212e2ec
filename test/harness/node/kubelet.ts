/** The kubelet of a node. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Cluster } from '../cluster.ts';
import type { Launch } from '../launch.ts';
import { findProgram } from '../programs.ts';
import type { Body, Machine } from './machine.ts';

const healthPort = 10_248;

export interface KubeletSettings {
  readonly kubeconfig: string;
  /** The node's own, at its `eth0`. */
  readonly address: string;
}

/** How a kubelet is started; ready when it says that it is healthy. */
export async function kubeletLaunch(body: Body, machine: Machine, settings: KubeletSettings): Promise<Launch> {
  const { name, folder, cgroup } = body;
  const config = join(folder, 'kubelet.yaml');
  writeFileSync(config, stringify({ ...configuration, cgroupRoot: `/${cgroup}`, clusterDNS: [settings.address] }));
  return machine.inside({
    name: `kubelet-${name}`,
    program: await findProgram('kubelet'),
    args: [
      `--config=${config}`,
      `--kubeconfig=${settings.kubeconfig}`,
      `--hostname-override=${name}`,
      `--node-ip=${settings.address}`,
    ],
    ready: async (signal) => {
      const url = `http://127.0.0.1:${healthPort}/healthz`;
      const { code, stderr } = await machine.run(['curl', '--silent', '--show-error', '--fail', url], { signal });
      if (code !== 0) throw new Error(stderr.trim());
    },
    readyWithinMs: 60_000,
  });
}

/** Who a kubelet is to the Kubernetes API. */
export function kubeletUser(cluster: Cluster, node: string): Promise<string> {
  return cluster.kubeconfigFor(`system:node:${node}`, ['system:nodes']);
}

const configuration = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  enableServer: false, // nobody asks it for logs
  healthzPort: healthPort,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  oomScoreAdj: 0, // to lower it takes CAP_SYS_RESOURCE, which root of a small machine may not have
  makeIPTablesUtilChains: false,
  // The machine's own fill is no concern of a test.
  evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
  imageGCHighThresholdPercent: 100,
};
