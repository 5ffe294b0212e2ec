/** The Pods of the release, and the end of their containers. */
import { eventually } from '../../e2e/support/eventually.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { packagedProgram } from '../../harness/programs/packaged-programs.ts';
import { namespace } from '../render-chart.ts';
import type { ChartEnvironment } from './chart-environment.ts';

export interface ReleasePod {
  readonly name: string;
  readonly node: string;
  readonly address: string;
  /** The image of the Pod's first container. */
  readonly image: string;
  /** The id of the first container in the runtime. */
  readonly containerId: string;
}

interface PodObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName: string; readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly containerID?: string }[];
  };
}

/** Lists the Pods of a component, also those that are being deleted. */
export async function podsOf({ cluster }: ChartEnvironment, component: string): Promise<ReleasePod[]> {
  const selector = `--selector=app.kubernetes.io/component=${component}`;
  const pods = (await cluster.get(['pods', `--namespace=${namespace}`, selector])) as PodObject[];
  return pods.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    node: spec.nodeName,
    address: status.podIP ?? '',
    image: spec.containers[0]?.image ?? '',
    containerId: status.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '',
  }));
}

/** Finds the allocator that writes, by its metrics. @throws Error without a writer */
export async function findWriter(environment: ChartEnvironment): Promise<ReleasePod> {
  const [worker] = environment.workers;
  for (const pod of await podsOf(environment, 'allocator')) {
    const url = `http://${pod.address}:8081/metrics`;
    const metrics = await worker?.machine.run(['curl', '--silent', '--max-time', '5', url]);
    if (/^ipledger_is_leader(\{.*\})? 1$/m.test(metrics?.stdout ?? '')) return pod;
  }
  throw new Error('no allocator is the writer');
}

/** Sends SIGKILL to the processes of a Pod's container. Its kubelet starts it again. */
export async function killContainer(environment: ChartEnvironment, pod: ReleasePod): Promise<void> {
  const worker = environment.workers.find(({ name }) => name === pod.node) as Worker;
  const kill = ['--namespace=k8s.io', 'task', 'kill', '--all', '--signal=SIGKILL', pod.containerId];
  const { code, stderr } = await worker.machine.run([packagedProgram('ctr'), ...kill]);
  if (code !== 0) throw new Error(`kill of ${pod.name}: ${stderr}`);
}

/** Makes a pod-watcher on this worker active: deletes Pods of active watchers on other workers. */
export async function moveActiveWatcher(environment: ChartEnvironment, worker: Worker): Promise<void> {
  await eventually(async () => {
    const { spec } = (await environment.cluster.get(['lease', 'ipledger-pod-watcher', `--namespace=${namespace}`])) as {
      spec: { holderIdentity?: string };
    };
    const active = (await podsOf(environment, 'pod-watcher')).find(({ name }) => spec.holderIdentity?.startsWith(name));
    if (active?.node === worker.name) return;
    if (active) await environment.cluster.kubectl(['delete', 'pod', active.name, `--namespace=${namespace}`]);
    throw new Error(`the active pod-watcher ${active?.name} is not on ${worker.name}`);
  }, 120_000);
}
