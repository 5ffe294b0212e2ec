/**
 * A worker: a node on which ipledger is not installed. Its Pods have a routed network and reach
 * each other, Services, their names and the Kubernetes API, as on a usual cluster. Multus attaches
 * the networks of their annotations.
 */
import { writeFileSync } from 'node:fs';
import type { Cluster } from '../kubernetes/cluster.ts';
import { ip } from '../network/network-namespaces.ts';
import { type Server, startServer } from '../processes/server.ts';
import type { Run } from '../run.ts';
import { clusterDnsLaunch } from './cluster-dns.ts';
import { containerdLaunch, importImage, installBareRuntime } from './containerd.ts';
import { kubeProxyLaunch } from './kube-proxy.ts';
import { clusterDomain, kubeletLaunch, kubeletUser } from './kubelet.ts';
import { bootMachine, createMachineState, diskPath, type Machine, type MachineState } from './machine.ts';
import { type Multus, startMultusDaemon } from './multus.ts';
import { forwardPort } from './port-forward.ts';

const allPods = '10.244.0.0/16';
const podRange = (number: number): string => `10.244.${number}.0/24`;
/** Address of the worker with a number, from 1 to 200. */
export const workerAddress = (number: number): string => `192.0.2.${10 + number}`;

export interface WorkerSettings {
  readonly name: string;
  /** The number of the worker, from 1 to `workers`. */
  readonly number: number;
  /** The number of workers. Each has a route to the Pods of the others. */
  readonly workers: number;
  readonly cluster: Cluster;
  /** kubeconfig files of kube-proxy and cluster DNS. */
  readonly users: { readonly proxy: string; readonly dns: string };
  readonly multus: Multus;
  /** OCI archives of the images of Pods that are not pulled. */
  readonly images: readonly string[];
}

export interface Worker {
  readonly name: string;
  readonly address: string;
  readonly state: MachineState;
  readonly machine: Machine;
  readonly kubelet: Server;
  readonly multus: Multus;
  /** The server of a thick Multus. */
  readonly multusDaemon?: Server;
}

/** Creates and boots a worker. It ends with the run. */
export async function startWorker(run: Run, settings: WorkerSettings): Promise<Worker> {
  const { name, number, cluster, users, multus, images } = settings;
  const address = workerAddress(number);
  const state = createMachineState(run, name);
  await installBareRuntime(state, { podRange: podRange(number), multus, kubeconfig: cluster.kubeconfig });
  const resolver = `nameserver ${address}\nsearch ${clusterDomain}\noptions ndots:5\n`;
  writeFileSync(diskPath(state, '/etc/resolv.conf'), resolver);
  const machine = await bootMachine(run, state);
  await connect(run, machine, settings);
  const containerd = await startServer(run, await containerdLaunch(state, machine));
  await Promise.all([
    ...images.map((image) => importImage(machine, image, run.signal)),
    startServer(run, await kubeProxyLaunch(state, machine, { kubeconfig: users.proxy, podRange: allPods })),
    startServer(run, await clusterDnsLaunch(state, machine, { kubeconfig: users.dns, address })),
  ]);
  const multusDaemon =
    multus.daemon && (await startMultusDaemon(run, { daemon: multus.daemon, cluster, state, machine }));
  const kubeconfig = await kubeletUser(cluster, name);
  const kubelet = await startServer(run, await kubeletLaunch(state, machine, { kubeconfig, address }));
  run.onEnd(() => containerd.kill());
  return { name, address, state, machine, kubelet, multus, ...(multusDaemon && { multusDaemon }) };
}

/**
 * Gives the worker its address, its routes, and the port of the Kubernetes API at loopback and at
 * its address.
 */
async function connect(run: Run, machine: Machine, { number, workers, cluster }: WorkerSettings): Promise<void> {
  await ip(machine.network, ['address', 'add', `${workerAddress(number)}/24`, 'dev', 'eth0']);
  for (let other = 1; other <= workers; other += 1)
    if (other !== number) await ip(machine.network, ['route', 'add', podRange(other), 'via', workerAddress(other)]);
  // A default route for addresses of Services: kube-proxy replaces them after the kernel has found
  // a route
  await ip(machine.network, ['route', 'add', 'default', 'dev', 'eth0']);
  const { code, stderr } = await machine.run(['sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward']);
  if (code !== 0) throw new Error(stderr);
  const port = Number(new URL(cluster.url).port);
  for (const address of ['127.0.0.1', workerAddress(number)]) {
    const forward = await forwardPort(machine.network, port, { address });
    run.onEnd(() => forward.close());
  }
}
