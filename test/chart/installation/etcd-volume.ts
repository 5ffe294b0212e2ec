/** The volumes of the release on the workers: of the members of etcd, and of the backups. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { namespace } from '../render-chart.ts';
import type { ChartEnvironment } from './chart-environment.ts';

const limitMs = 300_000;

/** The folder of a claim, as the test sees it. */
export async function volumeOf({ cluster, workers }: ChartEnvironment, claim: string): Promise<string> {
  const { spec } = (await cluster.get(['pvc', claim, `--namespace=${namespace}`])) as { spec: { volumeName: string } };
  const { spec: volume } = (await cluster.get(['pv', spec.volumeName])) as { spec: { local: { path: string } } };
  const worker = workers.find(({ name }) => spec.volumeName.startsWith(`${name}-`)) as Worker;
  return worker.machine.path(volume.local.path);
}

/**
 * Deletes the data of a member of etcd, and its Pod, as when the disk of its node is replaced.
 * Resolves when the next Pod refuses to start, with the reason in its status.
 */
export async function loseVolume(environment: ChartEnvironment, member: string): Promise<void> {
  const { cluster } = environment;
  const folder = join(await volumeOf(environment, `data-${member}`), 'etcd');
  rmSync(folder, { recursive: true });
  await cluster.kubectl(['delete', 'pod', member, `--namespace=${namespace}`, '--grace-period=0', '--force']);
  await eventually(async () => {
    const pod = (await cluster.get(['pod', member, `--namespace=${namespace}`])) as {
      status: { initContainerStatuses?: readonly [ContainerStatus] };
    };
    const { state, lastState } = pod.status.initContainerStatuses?.[0] ?? {};
    const { message = '' } = state?.terminated ?? lastState?.terminated ?? {};
    if (!message.includes('has lost its data')) throw new Error(`${member} does not refuse to start: ${message}`);
  }, limitMs);
}

interface ContainerStatus {
  readonly state: { readonly terminated?: { readonly message?: string } };
  readonly lastState: { readonly terminated?: { readonly message?: string } };
}

/** The files of the backups, oldest first. */
export async function listBackups(environment: ChartEnvironment): Promise<string[]> {
  const files = readdirSync(await volumeOf(environment, 'ipledger-etcd-backup'));
  return files.filter((name) => name.endsWith('.db'));
}
