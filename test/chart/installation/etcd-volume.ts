/** The volumes of the release on the workers: those of the members of etcd, and of the backups. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from '../../harness/node/worker.ts';
import { namespace } from '../render-chart.ts';
import type { ChartEnvironment } from './chart-environment.ts';

/** The folder of a claim, as the test sees it. */
export async function volumeOf({ cluster, workers }: ChartEnvironment, claim: string): Promise<string> {
  const { spec } = (await cluster.get(['pvc', claim, `--namespace=${namespace}`])) as { spec: { volumeName: string } };
  const { spec: volume } = (await cluster.get(['pv', spec.volumeName])) as { spec: { local: { path: string } } };
  const worker = workers.find(({ name }) => spec.volumeName.startsWith(`${name}-`)) as Worker;
  return worker.machine.path(volume.local.path);
}

/** Deletes the data of a member of etcd, also while it runs. Returns whether the member has created a folder since then. */
export async function wipeMember(environment: ChartEnvironment, member: string): Promise<() => boolean> {
  const folder = join(await volumeOf(environment, `data-${member}`), 'etcd');
  rmSync(folder, { recursive: true });
  return () => existsSync(join(folder, 'member', 'wal'));
}

/** The files of the backups, oldest first. */
export async function listBackups(environment: ChartEnvironment): Promise<string[]> {
  const files = readdirSync(await volumeOf(environment, 'ipledger-etcd-backup'));
  return files.filter((name) => name.endsWith('.db'));
}
