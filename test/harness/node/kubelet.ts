/** The kubelet of a node. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Launch } from '../processes/launch.ts';
import { findProgram } from '../programs/find-program.ts';
import { type MachineState, type Machine, probeInside } from './machine.ts';

const healthPort = 10_248;

/** The domain of the names of Services. */
export const clusterDomain = 'cluster.local';

export interface KubeletSettings {
  readonly kubeconfig: string;
  /** Address of the node on `eth0`. Its Pods find the cluster DNS there, if it runs. */
  readonly address: string;
}

/** The launch of a kubelet. It is ready when it reports healthy. */
export async function kubeletLaunch(state: MachineState, machine: Machine, settings: KubeletSettings): Promise<Launch> {
  const { name, folder, cgroup } = state;
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
    ready: (signal) => probeInside(machine, `http://127.0.0.1:${healthPort}/healthz`, signal),
    readyWithinMs: 60_000,
  });
}

/** Creates the kubeconfig of a kubelet. */
export function kubeletUser(cluster: Cluster, node: string): Promise<string> {
  return cluster.kubeconfigFor(`system:node:${node}`, ['system:nodes']);
}

const configuration = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  clusterDomain,
  resolvConf: '', // the name servers of the machine
  enableServer: false, // no test reads logs through it
  healthzPort: healthPort,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  oomScoreAdj: 0, // a lower score needs CAP_SYS_RESOURCE, which root may not have
  makeIPTablesUtilChains: false,
  // Pods must not be evicted for the disk usage of the machine
  evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
  imageGCHighThresholdPercent: 100,
};
