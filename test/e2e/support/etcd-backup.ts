/** Backs up and restores etcd, as its documentation describes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../../harness/processes/command.ts';
import type { Etcd } from '../../harness/etcd.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import type { Run } from '../../harness/run.ts';

/** Saves a backup. Returns its path. */
export async function backUpEtcd(run: Run, etcd: Etcd): Promise<string> {
  const file = join(run.folder, `backup-${Date.now()}.db`);
  await etcd.etcdctl(['snapshot', 'save', file]);
  return file;
}

/**
 * Restores a backup. Revisions jump ahead, so that a revision is never used twice. They jump less
 * than documented: only clients that have seen later events freeze the ledger.
 */
export async function restoreEtcd(run: Run, etcd: Etcd, file: string): Promise<void> {
  const data = join(run.folder, etcd.name);
  await etcd.stop();
  await rm(data, { recursive: true });
  const peer = 'http://127.0.0.1:0';
  const options = ['snapshot', 'restore', file, `--data-dir=${data}`, '--bump-revision=1000000', '--mark-compacted'];
  const member = [
    `--name=${etcd.name}`,
    `--initial-cluster=${etcd.name}=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
  ];
  await mustRun(await findProgram('etcdutl', run.signal), [...options, ...member]);
  await etcd.start();
}
