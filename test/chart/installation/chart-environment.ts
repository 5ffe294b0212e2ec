/**
 * Workers, cert-manager and storage for the chart, and calls of helm and the command line there.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createKubernetesClient, type KubernetesClient } from '../../harness/kubernetes/kubernetes-client.ts';
import { startCertManager } from '../../harness/kubernetes/cert-manager.ts';
import type { Cluster } from '../../harness/kubernetes/cluster.ts';
import { tagImage } from '../../harness/node/containerd.ts';
import { podImage } from '../../harness/node/pod-image.ts';
import { startWorkerCluster } from '../../harness/node/worker-cluster.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { root } from '../../harness/paths.ts';
import { type CommandResult, runCommand } from '../../harness/processes/command.ts';
import { childEnvironment } from '../../harness/processes/launch.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import type { Run } from '../../harness/run.ts';
import { tlsVariables } from '../../harness/services.ts';
import { type HelmProgram, namespace } from '../render-chart.ts';
import { buildEtcdImage } from './etcd-image.ts';
import { type Guide, readCommands } from './install-guide.ts';
import { pushImages, type PushedImages } from './push-images.ts';
import { createStorage } from './storage.ts';

/** The operator whose certificate the command line uses. */
const operator = 'test';
const commandsTimeoutMs = 700_000;
const volumesPerWorker = 4;

export interface ChartEnvironment {
  readonly cluster: Cluster;
  readonly kubernetes: KubernetesClient;
  readonly workers: readonly Worker[];
  /**
   * Writes my-values.yaml. Initially it has the lines that `make push-images` prints, an operator,
   * and the console where the values of the number of nodes have a read model.
   */
  setValues(change: ValuesChange): void;
  /**
   * Runs the commands of a section, with the values for the number of nodes instead of those of
   * deploy/ha/. Returns what they print.
   * @throws Error with their output if one fails
   */
  follow(section: string, options?: FollowOptions): Promise<string>;
  /** Runs commands as `follow` does. */
  shell(commands: string): Promise<string>;
  /**
   * Runs the command line on a worker, as the operator. It reaches the allocators by their Service.
   */
  ipledger(args: readonly string[]): Promise<CommandResult>;
}

export interface ChartSettings {
  /** The number of nodes, from 1 to 3. */
  readonly nodes: number;
  readonly helm: HelmProgram;
}

export interface FollowOptions {
  /** The document; default install.md. */
  readonly guide?: Guide;
  /** The replacements of texts in the commands. */
  readonly replace?: Readonly<Record<string, string>>;
}

export interface ValuesChange {
  /** The tag of all images, instead of their digests. */
  readonly tag?: string;
  /** Further values of etcd.managed. */
  readonly etcd?: object;
}

/** The folder of the values for a number of nodes. */
const valuesFolders: Readonly<Record<number, string>> = { 1: 'single', 2: 'two-nodes' };

/** The tag of the images of an upgrade. */
export const upgradeTag = 'next';

const valuesWith = (
  { image, nodeImage }: PushedImages,
  { tag, etcd }: ValuesChange,
  console: { readonly enabled: boolean },
): object => ({
  image: tag === undefined ? image : { registry: image.registry, tag },
  nodeImage: tag === undefined ? nodeImage : { registry: nodeImage.registry, tag },
  tls: { operators: [operator] },
  etcd: { managed: { ...(tag !== undefined && { image: { tag } }), ...etcd } },
  console,
});

const etcdImage = 'quay.io/coreos/etcd:v3.7.3';

/** Starts workers, cert-manager and storage, without the chart. Needs archives of `make images`. */
export async function startChartEnvironment(run: Run, { nodes, helm }: ChartSettings): Promise<ChartEnvironment> {
  const etcdArchive = join(run.folder, 'etcd.oci.tar');
  await buildEtcdImage(etcdImage, etcdArchive);
  const { cluster, workers } = await startWorkerCluster(run, {
    names: ['node-a', 'node-b', 'node-c'].slice(0, nodes),
    images: [etcdArchive],
  });
  const [pushed] = await Promise.all([
    pushImages(run, workers, upgradeTag),
    startCertManager(run, cluster),
    ...workers.map(({ machine }) =>
      tagImage(machine, etcdImage, etcdImage.replace(/:[^:]*$/, `:${upgradeTag}`), run.signal),
    ),
  ]);
  const storage = createStorage(workers, volumesPerWorker);
  await cluster.apply(storage.map((object) => `---\n${stringify(object)}`).join(''));
  const folder = await createOperatorFolder(run, helm);
  const setValues = (change: ValuesChange): void =>
    writeFileSync(join(folder, 'my-values.yaml'), stringify(valuesWith(pushed, change, { enabled: nodes > 1 })));
  setValues({});
  const shell = (commands: string): Promise<string> => runCommands(run, { folder, cluster }, commands);
  return {
    cluster,
    workers,
    kubernetes: createKubernetesClient(cluster.kubeconfig, run.signal),
    setValues,
    shell,
    follow(section, { guide = 'install.md', replace = {} } = {}) {
      const commands = readCommands(guide, section);
      // The images of `make push-images` alone are pulled
      const all = {
        'registry.k8s.io/pause:3.10': podImage,
        'deploy/ha/': `deploy/${valuesFolders[nodes] ?? 'ha'}/`,
        ...replace,
      };
      return shell(Object.entries(all).reduce((text, [from, to]) => text.replaceAll(from, to), commands));
    },
    ipledger: (args) => runOnWorker(run, { cluster, worker: workers[0] as Worker }, args),
  };
}

/** Creates the folder in which an operator works: with deploy/, and the programs on PATH. */
async function createOperatorFolder(run: Run, helm: HelmProgram): Promise<string> {
  const folder = join(run.folder, 'operator-folder');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
  symlinkSync(await findProgram(helm), join(folder, 'bin', 'helm'));
  symlinkSync(await findProgram('kubectl'), join(folder, 'bin', 'kubectl'));
  symlinkSync(join(root, 'cli', 'kubectl-ipledger'), join(folder, 'bin', 'kubectl-ipledger'));
  return folder;
}

async function runCommands(
  run: Run,
  { folder, cluster }: { readonly folder: string; readonly cluster: Cluster },
  commands: string,
): Promise<string> {
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`;
  const env = childEnvironment({ PATH: path, KUBECONFIG: cluster.kubeconfig, HOME: run.folder });
  const options = { folder, env, timeoutMs: commandsTimeoutMs, signal: run.signal };
  const { code, stdout, stderr } = await runCommand('sh', ['-euc', commands], options);
  if (code !== 0) throw new Error(`${commands}: exit ${code}\n${stdout}\n${stderr}`);
  return stdout;
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
