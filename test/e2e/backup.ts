/** etcd saved to a backup, and restored from it, as its documentation says. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../harness/command.ts';
import type { Etcd } from '../harness/etcd.ts';
import { findProgram } from '../harness/programs.ts';
import type { Run } from '../harness/run.ts';

/** Gives the file. */
export async function backUp(run: Run, etcd: Etcd): Promise<string> {
  const file = join(run.folder, `backup-${Date.now()}.db`);
  await etcd.etcdctl(['snapshot', 'save', file]);
  return file;
}

/** Revisions go on where they might have been: no client takes an old one for a new one. */
export async function restore(run: Run, etcd: Etcd, file: string): Promise<void> {
  const data = join(run.folder, etcd.name);
  await etcd.stop();
  await rm(data, { recursive: true });
  const peer = 'http://127.0.0.1:0';
  const how = ['snapshot', 'restore', file, `--data-dir=${data}`, '--bump-revision=1000000', '--mark-compacted'];
  const member = [
    `--name=${etcd.name}`,
    `--initial-cluster=${etcd.name}=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
  ];
  await mustRun(await findProgram('etcdutl', run.signal), [...how, ...member]);
  await etcd.start();
}
