/** Workers, cert-manager and storage for the chart, and calls of helm and the command line there. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createKubernetesClient, type KubernetesClient } from '../../e2e/support/kubernetes-client.ts';
import { startCertManager } from '../../harness/kubernetes/cert-manager.ts';
import type { Cluster } from '../../harness/kubernetes/cluster.ts';
import { tagImage } from '../../harness/node/containerd.ts';
import { startWorkerCluster } from '../../harness/node/worker-cluster.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { root } from '../../harness/paths.ts';
import { type CommandResult, runCommand } from '../../harness/processes/command.ts';
import { childEnvironment } from '../../harness/processes/launch.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import type { Run } from '../../harness/run.ts';
import { tlsVariables } from '../../harness/services.ts';
import { version } from '../../../lib/process/version.ts';
import { chartFolder, namespace } from '../render-chart.ts';
import { buildEtcdImage } from './etcd-image.ts';
import { createStorage } from './storage.ts';

/** The operator whose certificate the command line uses. */
const operator = 'test';
const helmTimeoutMs = 600_000;
const volumesPerWorker = 3;

export interface ChartEnvironment {
  readonly cluster: Cluster;
  readonly kubernetes: KubernetesClient;
  readonly workers: readonly Worker[];
  /** Runs helm for the release. @throws Error with its output if it fails */
  helm(command: 'install' | 'upgrade' | 'rollback' | 'uninstall', args?: readonly string[]): Promise<void>;
  /** Runs the command line on a worker, as the operator. It reaches the allocators by their Service. */
  ipledger(args: readonly string[]): Promise<CommandResult>;
}

/** The values: the defaults, the names of the imported images, and an operator. */
const values = {
  image: { registry: 'localhost' },
  nodeImage: { registry: 'localhost' },
  tls: { operators: [operator] },
  readModel: { enabled: true },
};

/** The values of an upgrade to images with other names. */
export const upgradeTag = 'next';
const upgradedValues = {
  image: { tag: upgradeTag },
  nodeImage: { tag: upgradeTag },
  etcd: { managed: { image: { tag: upgradeTag } } },
};

const etcdImage = 'quay.io/coreos/etcd:v3.7.3';
const images = [`localhost/ipledger:${version}`, `localhost/ipledger-node:${version}`, etcdImage];

/** Starts all of it. The chart is not yet installed. Needs the archives of `make images`. */
export async function startChartEnvironment(run: Run): Promise<ChartEnvironment> {
  const etcdArchive = join(run.folder, 'etcd.oci.tar');
  await buildEtcdImage(etcdImage, etcdArchive);
  const archives = ['ipledger', 'ipledger-node'].map((name) => join(root, 'dist', `${name}.oci.tar`));
  const { cluster, workers } = await startWorkerCluster(run, {
    names: ['node-a', 'node-b', 'node-c'],
    images: [...archives, etcdArchive],
  });
  await Promise.all([startCertManager(run, cluster), ...workers.map((worker) => tagImages(worker, run.signal))]);
  const enforced = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  const namespaceObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: enforced } };
  const objects = [namespaceObject, ...createStorage(workers, volumesPerWorker)];
  await cluster.apply(objects.map((object) => `---\n${stringify(object)}`).join(''));
  const files = writeValues(join(run.folder, 'values'));
  return {
    cluster,
    workers,
    kubernetes: createKubernetesClient(cluster.kubeconfig, run.signal),
    helm: (command, args = []) => runHelm(run, cluster, [command, 'ipledger', ...args, ...flagsOf(command, files)]),
    ipledger: (args) => runOnWorker(run, { cluster, worker: workers[0] as Worker }, args),
  };
}

async function tagImages({ machine }: Worker, signal: AbortSignal): Promise<void> {
  for (const image of images) await tagImage(machine, image, image.replace(/:[^:]*$/, `:${upgradeTag}`), signal);
}

interface ValueFiles {
  readonly install: string;
  readonly upgrade: string;
}

function writeValues(folder: string): ValueFiles {
  mkdirSync(folder);
  const files = { install: join(folder, 'values.yaml'), upgrade: join(folder, 'upgrade.yaml') };
  writeFileSync(files.install, stringify(values));
  writeFileSync(files.upgrade, stringify(upgradedValues));
  return files;
}

function flagsOf(command: string, files: ValueFiles): string[] {
  const isApply = command === 'install' || command === 'upgrade';
  return [
    ...(isApply ? [chartFolder, `--values=${files.install}`] : []),
    ...(command === 'upgrade' ? [`--values=${files.upgrade}`] : []),
    `--namespace=${namespace}`,
    '--wait',
    `--timeout=${helmTimeoutMs / 1_000}s`,
  ];
}

async function runHelm(run: Run, { kubeconfig }: Cluster, args: readonly string[]): Promise<void> {
  const env = childEnvironment({ KUBECONFIG: kubeconfig, HOME: run.folder });
  const options = { env, timeoutMs: helmTimeoutMs + 60_000, signal: run.signal };
  const { code, stdout, stderr } = await runCommand(await findProgram('helm'), args, options);
  if (code !== 0) throw new Error(`helm ${args.join(' ')}: exit ${code}\n${stdout}\n${stderr}`);
}

async function runOnWorker(
  run: Run,
  { cluster, worker }: { readonly cluster: Cluster; readonly worker: Worker },
  args: readonly string[],
): Promise<CommandResult> {
  const tls = await readOperatorFiles(run, cluster);
  const env = childEnvironment({
    KUBECONFIG: cluster.kubeconfig,
    IPLEDGER_ENDPOINT: `ipledger-allocator.${namespace}.svc:7411`,
    ...tlsVariables(tls),
  });
  const options = { env, timeoutMs: 120_000, signal: run.signal };
  return worker.machine.run([process.execPath, join(root, 'cli', 'main.ts'), ...args], options);
}

async function readOperatorFiles(run: Run, cluster: Cluster) {
  const folder = join(run.folder, 'operator');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `ipledger-operator-${operator}`;
  const { data } = (await cluster.get(['secret', name, `--namespace=${namespace}`])) as {
    data: Record<string, string>;
  };
  const write = (key: string): string => {
    writeFileSync(join(folder, key), Buffer.from(data[key] ?? '', 'base64'), { mode: 0o600 });
    return join(folder, key);
  };
  return { ca: write('ca.crt'), cert: write('tls.crt'), key: write('tls.key') };
}
