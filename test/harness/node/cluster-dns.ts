/** The cluster DNS of a node: CoreDNS on the node's address, for the Pods of this node. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from '../processes/launch.ts';
import { findProgram } from '../programs/find-program.ts';
import { clusterDomain } from './kubelet.ts';
import { type Machine, type MachineState, probeInside } from './machine.ts';

const readyPort = 8_181;

export interface ClusterDnsSettings {
  /** kubeconfig file of a user that may list Services, EndpointSlices and Namespaces. */
  readonly kubeconfig: string;
  /** Address of the node. */
  readonly address: string;
}

/** The launch of CoreDNS. It is ready when it has read the Services. */
export async function clusterDnsLaunch(
  { name, folder }: MachineState,
  machine: Machine,
  { kubeconfig, address }: ClusterDnsSettings,
): Promise<Launch> {
  const file = join(folder, 'Corefile');
  const plugins = [
    `bind ${address}`,
    'errors',
    `ready 127.0.0.1:${readyPort}`,
    `kubernetes ${clusterDomain} {\n    kubeconfig ${kubeconfig}\n  }`,
  ];
  writeFileSync(file, `. {\n  ${plugins.join('\n  ')}\n}\n`);
  return machine.inside({
    name: `coredns-${name}`,
    program: await findProgram('coredns'),
    args: ['-conf', file],
    ready: (signal) => probeInside(machine, `http://127.0.0.1:${readyPort}/ready`, signal),
    readyWithinMs: 60_000,
  });
}
