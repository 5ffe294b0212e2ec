/** The kube-proxy of a node, which implements its Services with nftables. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Launch } from '../processes/launch.ts';
import { findProgram } from '../programs/find-program.ts';
import { type Machine, type MachineState, probeInside } from './machine.ts';

const healthPort = 10_256;

export interface KubeProxySettings {
  readonly kubeconfig: string;
  /** The addresses of all Pods. The source address of other clients is replaced. */
  readonly podRange: string;
}

/**
 * The launch of a kube-proxy. It is ready when it has made rules. Its /healthz also needs the Node
 * object.
 */
export async function kubeProxyLaunch(
  { name, folder }: MachineState,
  machine: Machine,
  { kubeconfig, podRange }: KubeProxySettings,
): Promise<Launch> {
  const file = join(folder, 'kube-proxy.yaml');
  const configuration = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: name,
    clusterCIDR: podRange,
    clientConnection: { kubeconfig },
    healthzBindAddress: `127.0.0.1:${healthPort}`,
    metricsBindAddress: '',
    // Zero leaves the machine’s limits of connection tracking as they are
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  writeFileSync(file, stringify(configuration));
  return machine.inside({
    name: `kube-proxy-${name}`,
    program: await findProgram('kube-proxy'),
    args: [`--config=${file}`],
    ready: (signal) => probeInside(machine, `http://127.0.0.1:${healthPort}/livez`, signal),
    readyWithinMs: 60_000,
  });
}
