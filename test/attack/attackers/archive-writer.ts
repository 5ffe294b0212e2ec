/**
 * A client that may write the archive: it replaces files of sealed segments, while history is read
 * from them and more is sealed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { call, connect } from '../../../lib/grpc/client.ts';
import { loadTls } from '../../../lib/tls/credentials.ts';
import { LedgerService } from '../../../proto/generated/ipledger.ts';
import { certificateFolder } from '../../harness/certificates/certificates.ts';
import type { Attack, Target } from '../target.ts';
import { callAsWatcher, createPodsSteadily } from './readers.ts';
import { repeat, type Repetition } from './repeat.ts';

const pauseMs = 20;
const options = { timeoutMs: 60_000 };
/** The size of a sparse file, and of an unpacked one: more than the chart's memory limit. */
const hugeBytes = 2 * 1_024 ** 3;
const bomb = gzipSync(Buffer.alloc(256 * 1_024 ** 2));

const replacements: readonly ((file: string) => void)[] = [
  (file) => void spawnSync('mkfifo', [file]),
  (file) => {
    writeFileSync(file, '');
    truncateSync(file, hugeBytes);
  },
  (file) => writeFileSync(file, bomb),
  (file) => symlinkSync('/dev/zero', file),
  (file) => writeFileSync(file, 'not compressed'),
];

/** Replaces files of all segments in turns. */
async function replaceFiles({ archive }: Target, signal: AbortSignal, count: (outcome: string) => void): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const files = readdirSync(archive, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.gz'));
    const file = files[turn % files.length];
    if (file !== undefined) {
      // Renames, because the allocator may write the same file between a removal and a creation.
      const spoiled = `${archive}.spoiled`;
      replacements[turn % replacements.length]?.(spoiled);
      renameSync(spoiled, join(archive, file));
      count('replaced');
    }
    await sleep(pauseMs);
  }
}

/** Reads the history from its oldest event, with this number of searches at a time. */
function readHistory({ endpoint, certificates }: Target, { concurrent, signal, count }: Repetition): Promise<void> {
  const viewer = connect(endpoint, loadTls(certificateFolder(certificates).viewer));
  return repeat({ concurrent, signal, count }, () =>
    call(
      viewer,
      LedgerService.history,
      { pageSize: 1_000, until: new Date(Date.now() - pauseMs).toISOString() },
      options,
    ),
  );
}

/** Replaces files, beside the Pods of an ordinary cluster and one reader of the history. */
export const spoilArchive: Attack = async (target, signal, count) => {
  await Promise.all([
    replaceFiles(target, signal, count),
    readHistory(target, { concurrent: 1, signal, count }),
    createPodsSteadily(target, signal),
  ]);
};

/** Replaces files, while a watcher and viewers send as much as they can. */
export const spoilArchiveOfBusyLedger: Attack = async (target, signal, count) => {
  await Promise.all([
    replaceFiles(target, signal, count),
    readHistory(target, { concurrent: 8, signal, count }),
    callAsWatcher(target, signal, () => undefined),
  ]);
};
