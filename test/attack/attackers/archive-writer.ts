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
import type { Attack } from '../target.ts';
import { callAsWatcher } from './readers.ts';
import { repeat } from './repeat.ts';

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

/**
 * Replaces files of all segments in turns. A viewer reads the history from its oldest event, and a
 * watcher adds events to seal.
 */
export const spoilArchive: Attack = async (target, signal, count) => {
  const { archive, certificates, endpoint } = target;
  const viewer = connect(endpoint, loadTls(certificateFolder(certificates).viewer));
  const spoil = async (): Promise<void> => {
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
  };
  const readHistory = repeat({ concurrent: 8, signal, count }, () =>
    call(
      viewer,
      LedgerService.history,
      { pageSize: 1_000, until: new Date(Date.now() - pauseMs).toISOString() },
      options,
    ),
  );
  await Promise.all([spoil(), readHistory, callAsWatcher(target, signal, () => undefined)]);
};
