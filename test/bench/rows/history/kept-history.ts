/**
 * Keeps the etcd of a long history in .cache, so that the next run of a row begins with it: to
 * build a million events takes many minutes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventVersions } from '../../../../ledger/domain/events/schema-version.ts';
import { type Etcd, maintenanceMs } from '../../../harness/etcd.ts';
import { cacheFolder, root } from '../../../harness/paths.ts';
import { mustRun } from '../../../harness/processes/command.ts';
import { findProgram } from '../../../harness/programs/find-program.ts';
import type { Run } from '../../../harness/run.ts';

const folder = join(cacheFolder, 'history');
/** What the events depend on, beside their number. */
const sources = ['build-history.ts', 'pod-lifecycles.ts'].map((file) => join(root, 'test/history', file));

const comments = /\/\*.*?\*\/|^ *\/\/.*$/gms;

/** The backup of a history. Another version of its sources has another name. */
export function keptFile(events: number, livePods: number): string {
  const hash = createHash('sha256').update(String(eventVersions));
  for (const file of sources) hash.update(readFileSync(file, 'utf8').replaceAll(comments, ''));
  return join(folder, `${events}-${livePods}-${hash.digest('hex').slice(0, 12)}.db`);
}

/** Writes the backup into the folder of an etcd that has not started. Returns false without one. */
export async function restoreHistory(run: Run, file: string, name: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const peer = 'http://127.0.0.1:0';
  const member = [`--name=${name}`, `--initial-cluster=${name}=${peer}`, `--initial-advertise-peer-urls=${peer}`];
  const args = ['snapshot', 'restore', file, `--data-dir=${join(run.folder, name)}`, ...member];
  await mustRun(await findProgram('etcdutl', run.signal), args, { timeoutMs: maintenanceMs, signal: run.signal });
  return true;
}

/** Saves the backup, and deletes those of other versions with this number of events. */
export async function keepHistory(etcd: Etcd, file: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const begun = `${file}.part`;
  await etcd.etcdctl(['snapshot', 'save', begun], { timeoutMs: maintenanceMs });
  renameSync(begun, file);
  for (const other of readdirSync(folder).map((each) => join(folder, each))) if (other !== file) rmSync(other);
}
